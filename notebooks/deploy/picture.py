"""The figure of the load test is drawn here."""

import numpy as np
from matplotlib import ticker

from ldpbo import plots

GREYS = {"tell": {"color": "#222222"}, "ask": {"color": "#888888", "linestyle": "--"}}
NAMES = {"tell": "a report is counted", "ask": "an arm is handed out"}


def load(found, killed):
    """Draw the reports counted by time, and how long users waited -> (figure, data).

    killed: reports after which the server was killed.
    """
    figure, (progress, waits) = plots.axes(1, 2)
    hundredths = np.arange(1, 100)
    counted = found["counted"] * hundredths / 100
    data = {"percent": hundredths, "seconds": found["done"]}
    progress.plot(found["done"], counted, color=GREYS["tell"]["color"])
    when = np.interp(killed, counted, found["done"])
    progress.plot(when, killed, "x", color="black", markersize=8, label="server killed")
    progress.legend(loc="upper left")
    progress.set(xlabel="seconds", ylabel="reports counted", xlim=0, ylim=0)
    for call, style in GREYS.items():
        milliseconds = 1000 * np.array(found[call])
        data[f"{call}, ms"] = milliseconds
        waits.plot(milliseconds, hundredths, label=NAMES[call], **style)
    waits.set(xscale="log", xlabel="milliseconds until …", ylabel="% of the calls", ylim=(0, 100))
    waits.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
    waits.xaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    waits.xaxis.set_minor_formatter(ticker.NullFormatter())
    waits.legend(loc="upper left")
    return figure, data

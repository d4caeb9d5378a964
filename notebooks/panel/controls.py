"""Sliders over a panel's parameters, for a person in Jupyter."""

import ipywidgets as widgets
import numpy as np
from IPython import get_ipython

import ldpbo_core as core
from ldpbo import plots, results, show
from notebooks.panel import parameters

ALGORITHMS = [name for name in plots.COLORS if name != "uniform"]


def make(**given):
    """Return widgets over a panel's parameters: change them, press Run, see the curves.

    Anywhere but in a notebook front end the answer is None: a front end says which cell it runs,
    papermill and the build do not. delta and acc stay as they are.
    """
    kernel_app = getattr(get_ipython(), "kernel", None)
    if kernel_app is None or "cellId" not in kernel_app.get_parent("shell").get("metadata", {}):
        return None
    parts = _widgets(**given)
    fixed = {name: given[name] for name in ("delta", "acc")}
    button = widgets.Button(description="Run", button_style="primary")
    out = widgets.Output()

    @out.capture(clear_output=True, wait=True)
    def run(_):
        try:
            _run({name: part.value for name, part in parts.items()}, fixed)
        except ValueError as error:  # a setting that is refused says why
            print(error)

    button.on_click(run)
    columns = widgets.Layout(grid_template_columns="repeat(auto-fill, minmax(22em, 1fr))")
    return widgets.VBox([widgets.GridBox(list(parts.values()), layout=columns), button, out])


def _widgets(problem, kernel, eps, T, trials, seed, names, constants, k, **given):
    """Make a widget for each parameter; sizes start small, so that an answer takes seconds."""
    parts = {
        "problem": widgets.Dropdown(options=["synthetic", "light", "stock"], value=problem),
        "kernel": widgets.Dropdown(options=["matern", "se"], value=kernel),
        "lengthscale": _log_slider(given["lengthscale"], 0.02, 2),
        "private": widgets.Checkbox(value=eps is not None),
        "eps": _log_slider(eps or 1.0, 0.05, 50),
        "T": widgets.BoundedIntText(value=min(T, 2000), min=20, max=100_000),
        "trials": widgets.BoundedIntText(value=min(trials, 4), min=1, max=50),
        "seed": widgets.BoundedIntText(value=seed, min=0, max=2**31 - 1),
        "names": widgets.SelectMultiple(options=ALGORITHMS, value=names, rows=4),
        "lam": _log_slider(given["lam"], 0.01, 100),
        "constants": widgets.Dropdown(options=["order", "printed", "proved"], value=constants),
        "beta_scale": _log_slider(given["beta_scale"], 0.001, 10),
        "k": widgets.BoundedIntText(value=k or 0, min=0, max=10_000),
    }
    for name, part in parts.items():
        part.description = "k (0: from T)" if name == "k" else name
        part.style.description_width = "7em"
    return parts


def _log_slider(value, low, high):
    """Make a slider with a logarithmic scale from low to high."""
    ends = dict(min=np.log10(low), max=np.log10(high), step=0.02)
    return widgets.FloatLogSlider(
        value=value, **ends, readout_format=".3g", continuous_update=False
    )


def _run(chosen, fixed):
    """Simulate with the chosen parameters and show the curves."""
    eps = chosen["eps"] if chosen["private"] else None
    where = chosen["problem"], chosen["kernel"], chosen["lengthscale"]
    options = {name: chosen[name] for name in ("trials", "seed", "lam", "constants", "beta_scale")}
    source = parameters.make_problem(*where, eps)
    settings = options | fixed | {"eps": eps, "k": chosen["k"] or None}
    run = core.simulate(source, chosen["names"], chosen["T"], **settings)
    curves = results.curves({"": run})
    figure, ax = plots.axes()
    plots.regret_curves(ax, results.means(curves), private=chosen["private"])
    ax.set_ylabel("cumulative regret $R_t$")
    ax.legend(loc="upper left")
    note = "{trials} trials, {constants} constants, seed {seed}".format(**chosen)
    show.figure(figure, "panel", data=curves, note=note)

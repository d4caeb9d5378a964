"""Pictures that one steps through on the page: SVG frames, buttons and arrow keys, no network.

Without JavaScript, and on paper, all frames are seen one below the other.
"""

import html
import math

import numpy as np
from IPython.display import HTML

from ldpbo import plots

WIDTH = 480
HEIGHT = 300
LEFT = 34
TOP = 22
BOTTOM = 60
SPAN = 2  # the vertical axis goes from -SPAN to SPAN, unless a picture says otherwise
COLOR = plots.COLORS["GP-UCB"]
SCRIPT = """<script>(() => {
  const box = document.currentScript.closest(".ldpbo-steps");
  const frames = [...box.querySelectorAll(".ldpbo-frame")];
  const [back, next] = box.querySelectorAll("button");
  const count = box.querySelector(".ldpbo-count");
  let at = 0;
  const go = (to) => {
    at = Math.max(0, Math.min(frames.length - 1, to));
    const held = document.activeElement;
    frames.forEach((frame, i) => { frame.hidden = i !== at; });
    back.disabled = at === 0;
    next.disabled = at === frames.length - 1;
    if (held.disabled && box.contains(held)) box.focus(); // else the arrow keys would go nowhere
    count.textContent = `${at + 1} of ${frames.length}`;
  };
  back.addEventListener("click", () => go(at - 1));
  next.addEventListener("click", () => go(at + 1));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { go(at + step); event.preventDefault(); event.stopPropagation(); }
  });
  box.querySelector(".ldpbo-buttons").hidden = false;
  go(0);
})();</script>"""


def show(label, frames):
    """Return the output of a cell: frames (SVG, caption) with buttons to step through them."""
    body = "".join(
        f'<div class="ldpbo-frame">{svg}<p>{html.escape(text)}</p></div>' for svg, text in frames
    )
    buttons = (
        '<div class="ldpbo-buttons" hidden><button type="button">◀ back</button>'
        '<span class="ldpbo-count" role="status"></span>'
        '<button type="button">next ▶</button></div>'
    )
    name = html.escape(label, quote=True)
    group = f'class="ldpbo-steps" role="group" tabindex="0" aria-label="{name}"'
    return HTML(f"<div {group}>{body}{buttons}{SCRIPT}</div>")


# ---- Parts of a picture --------------------------------------------------------------------------


def drawing(parts, label):
    """Put parts into an SVG that takes the page's colours and width."""
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    name = html.escape(label, quote=True)
    return f'<svg {size} role="img" aria-label="{name}" font-size="13">{"".join(parts)}</svg>'


def text(x, y, words, anchor="middle", **options):
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in options.items())
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor"{more}>{html.escape(str(words))}</text>'


def line(x1, y1, x2, y2, **options):
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in options.items())
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="currentColor"{more}/>'


def dot(x, y, radius=4.0, color=COLOR, opacity=1.0):
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="{radius}"'
    return f'<circle {place} fill="{color}" fill-opacity="{opacity}"/>'


def column(arm):
    return LEFT + (arm + 0.5) * (WIDTH - LEFT - 6) / 10


def level(value, span=SPAN):
    inside = np.clip(value, -span, span)
    return TOP + (span - inside) / (2 * span) * (HEIGHT - TOP - BOTTOM)


def needed(states):
    """Return the smallest even span that holds every band of these states."""
    ends = [np.abs(state["mean"]) + state["half"] for state in states]
    return 2 * math.ceil(np.max(ends) / 2)


def frame_axes(span=SPAN):
    """Draw the score axis and the numbers of the arms."""
    parts = []
    for value in (-span, -span // 2, 0, span // 2, span):
        y = level(value, span)
        parts.append(line(LEFT, y, WIDTH - 6, y, stroke_opacity=0.15))
        parts.append(text(LEFT - 6, y + 4, f"{value}".replace("-", "−"), "end"))
    for arm in range(10):
        parts.append(text(column(arm), HEIGHT - BOTTOM + 16, arm + 1))
    return parts


# ---- Pictures ------------------------------------------------------------------------------------


def truth(means):
    """Draw what visitors like on average: a bar for each arm."""
    parts = frame_axes()
    for arm, mean in enumerate(means):
        x, y = column(arm), level(mean)
        parts.append(line(x - 13, y, x + 13, y, stroke_width=3))
    parts.append(text(WIDTH / 2, HEIGHT - BOTTOM + 34, "version (arm)"))
    return drawing(parts, "The mean scores of ten versions, highest at version 7.")


def band(means, state, span=SPAN):
    """Draw the band of each arm, the estimate in it, the truth as a bar, and the next arm."""
    parts = frame_axes(span)
    for arm, mean in enumerate(means):
        x = column(arm)
        high = level(state["mean"][arm] + state["half"][arm], span)
        low = level(state["mean"][arm] - state["half"][arm], span)
        box = f'x="{x - 13:.1f}" y="{high:.1f}" width="26" height="{low - high:.1f}" rx="3"'
        parts.append(f'<rect {box} fill="{COLOR}" fill-opacity="0.35"/>')
        parts.append(line(x - 13, level(mean, span), x + 13, level(mean, span), stroke_width=3))
        parts.append(dot(x, level(state["mean"][arm], span)))
        parts.append(text(x, HEIGHT - BOTTOM + 32, f"{state['counts'][arm]:,}", font_size=11))
    parts.append(text(column(state["next"]), 14, "▼ next"))
    parts.append(text(WIDTH / 2, HEIGHT - 5, "visitors of each version so far"))
    return drawing(parts, "A band over each of ten arms, with the estimate and the truth inside.")


def rows_of_dots(rows, ticks, label, wide=0):
    """Draw reports as dots, one row for each (title, reports); a vertical bar is their mean.

    wide: by how much dots are spread sideways, so that equal reports are seen one by one.
    """
    parts = []
    reach = 1.1 * max(np.abs(reports).max() for _, reports in rows)
    scale = (WIDTH - 40) / (2 * reach)
    for value in ticks:
        if abs(value) > reach:
            continue
        x = WIDTH / 2 + scale * value
        parts.append(line(x, 46, x, HEIGHT - 36, stroke_opacity=0.15))
        parts.append(text(x, HEIGHT - 20, f"{value:.3g}".replace("-", "−")))
    for i, (title, reports) in enumerate(rows):
        middle = 88 + i * 114
        parts.append(text(20, middle - 46, title, "start"))
        parts.append(line(20, middle, WIDTH - 20, middle, stroke_opacity=0.3))
        for j, report in enumerate(reports):
            high, aside = (j * 0.618) % 1 - 0.5, (j * 0.414) % 1 - 0.5  # not on top of each other
            x = WIDTH / 2 + scale * report + wide * aside
            parts.append(dot(x, middle + 56 * high, 3, COLOR, 0.55))
        mean = WIDTH / 2 + scale * float(np.mean(reports))
        parts.append(line(mean, middle - 36, mean, middle + 36, stroke_width=3))
    return drawing(parts, label)

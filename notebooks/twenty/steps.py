"""Pictures that one steps through on the page: SVG frames, buttons and arrow keys, no network.

Without JavaScript, and on paper, all frames are seen one below the other.
"""

import html

import numpy as np
from IPython.display import HTML

from ldpbo import plots

WIDTH = 480
HEIGHT = 300
LEFT = 34
TOP = 22
BOTTOM = 60
SPAN = 2.0  # the vertical axis goes from -SPAN to SPAN
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


def level(value):
    inside = np.clip(value, -SPAN, SPAN)
    return TOP + (SPAN - inside) / (2 * SPAN) * (HEIGHT - TOP - BOTTOM)


def frame_axes():
    """Draw the score axis and the numbers of the arms."""
    parts = []
    for value in (-2, -1, 0, 1, 2):
        y = level(value)
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


def band(means, state):
    """Draw the band of each arm, the estimate in it, the truth as a bar, and the next arm."""
    parts = frame_axes()
    for arm, mean in enumerate(means):
        x = column(arm)
        high = level(state["mean"][arm] + state["half"][arm])
        low = level(state["mean"][arm] - state["half"][arm])
        box = f'x="{x - 13:.1f}" y="{high:.1f}" width="26" height="{low - high:.1f}" rx="3"'
        parts.append(f'<rect {box} fill="{COLOR}" fill-opacity="0.35"/>')
        parts.append(line(x - 13, level(mean), x + 13, level(mean), stroke_width=3))
        parts.append(dot(x, level(state["mean"][arm])))
        parts.append(text(x, HEIGHT - BOTTOM + 32, f"{state['counts'][arm]:,}", font_size=11))
    parts.append(text(column(state["next"]), 14, "▼ next"))
    parts.append(text(WIDTH / 2, HEIGHT - 5, "visitors of each version so far"))
    return drawing(parts, "A band over each of ten arms, with the estimate and the truth inside.")


def rows_of_dots(rows, reach, label):
    """Draw reports as dots, one row for each (title, reports); a vertical bar is their mean."""
    parts = []
    scale = (WIDTH - 40) / (2 * reach)
    for i, (title, reports) in enumerate(rows):
        middle = 88 + i * 114
        parts.append(text(20, middle - 46, title, "start"))
        parts.append(line(20, middle, WIDTH - 20, middle, stroke_opacity=0.3))
        for j, report in enumerate(reports):
            x = WIDTH / 2 + scale * np.clip(report, -reach, reach)
            spread = ((j * 0.618) % 1 - 0.5) * 56  # beside each other, not on top
            wide = ((j * 0.414) % 1 - 0.5) * 24
            parts.append(dot(x + wide, middle + spread, 3, COLOR, 0.55))
        mean = WIDTH / 2 + scale * float(np.mean(reports))
        parts.append(line(mean, middle - 36, mean, middle + 36, stroke_width=3))
    for value in (-reach, 0, reach):
        name = f"{value:.3g}".replace("-", "−")
        x = np.clip(WIDTH / 2 + scale * value, 22, WIDTH - 22)
        parts.append(text(x, HEIGHT - 20, name))
    return drawing(parts, label)

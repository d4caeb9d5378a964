/* SVG from numbers: axes, lines, bands, markers, legends, heat maps. Knows nothing of the page; a
   figure is a list of SVG strings. */
window.LDPBO_PLOT = (() => {
  "use strict";
  /* One colour, marker and name for an algorithm in the whole book: those of the figures come with
     live-data.js. */
  const { colors: COLORS = {}, markers: MARKERS = {}, labels: LABELS = {} } =
    window.LDPBO_LIVE ?? window.LDPBO_WIDGETS ?? {};
  /* One style for the page and for saved files: the variables are the theme's, the values after the
     comma those of a file. */
  const STYLE = `
text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--pst-color-text-base,#222)}
.grid{stroke:var(--pst-color-border,#e3e3e3);stroke-width:.6}
.heading{font-style:italic}
.hollow{fill:var(--pst-color-background,#ffffff);stroke-width:1.4}
.axis{stroke:var(--pst-color-text-muted,#555);stroke-width:1;fill:none}
.uniform{stroke:var(--live-uniform,#666666);stroke-width:1.6;stroke-dasharray:2 3;fill:none}
.truth{stroke:var(--pst-color-text-base,#222);stroke-width:1.8;fill:none}
.truthdot{fill:var(--pst-color-text-base,#222)}
.now{stroke:var(--pst-color-text-muted,#555);stroke-width:1;stroke-dasharray:4 3}
.edge{stroke:var(--live-uniform,#666666);stroke-width:1;stroke-dasharray:1 3;fill:none}
.rival{fill:none;stroke-width:1.2;stroke-dasharray:9 3 2 3}
.trial{fill:none;stroke-width:.8;stroke-opacity:var(--live-trial,.45)}
.band{fill-opacity:var(--live-band,.2)}
.dots{fill-opacity:var(--live-dots,.55)}
.bars{fill-opacity:var(--live-bars,.55)}
.cut{fill:none;stroke:var(--live-uniform,#666666);stroke-width:1}
.bit{fill:var(--live-uniform,#666666);fill-opacity:.6}
.at-curve{font-size:11px;paint-order:stroke}
.at-curve{stroke:var(--pst-color-background,#ffffff);stroke-width:3px}
.ring{fill:none;stroke:var(--live-ring,#ffffff);stroke-width:2}
.ring2{fill:none;stroke:#000000;stroke-width:1}`;

  // ---------------------------------------------------------------- words
  const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ENTITIES[c]);
  const minus = (text) => text.replace("-", "−");

  /* A number with three digits, for people. */
  function short(x, digits = 3) {
    if (!Number.isFinite(x)) return "–";
    const rounded = Number(x.toPrecision(digits));
    return minus(Math.abs(x) < 1e4 ? String(rounded) : rounded.toLocaleString("en"));
  }

  /* 10⁶ for 1000000; other numbers as they are. */
  function power(x) {
    const exponent = Math.round(Math.log10(x));
    if (Math.abs(x / 10 ** exponent - 1) >= 1e-9) return short(x);
    return "10" + [...String(exponent)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
  }

  // ---------------------------------------------------------------- elements
  /* An SVG element; an attribute that is undefined is left out. */
  function element(name, attributes, content = "") {
    const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
    const start = [name, ...given.map(([key, value]) => `${key}="${value}"`)].join(" ");
    return `<${start}>${content}</${name}>`;
  }
  const line = (x1, y1, x2, y2, style) => element("line", { x1, y1, x2, y2, ...style });
  const circle = (cx, cy, r, style) => element("circle", { cx, cy, r, ...style });
  const shape = (d, style) => element("path", { d, ...style });
  const text = (x, y, words, style) => element("text", { x, y, ...style }, escape(words));
  const rect = (x, y, width, height, style) => element("rect", { x, y, width, height, ...style });

  /* The outline of a curve, and of the band between two; `a` is what axes() returned. */
  const point = (x, y, a) => `${a.px(x).toFixed(2)} ${a.py(y).toFixed(2)}`;
  const path = (xs, ys, a) => xs.map((x, i) => (i ? "L" : "M") + point(x, ys[i], a)).join("");
  function band(xs, low, high, a) {
    const back = [...xs.keys()].reverse().map((i) => "L" + point(xs[i], low[i], a));
    return path(xs, high, a) + back.join("") + "Z";
  }

  /* Everything drawn inside `inner` is cut at the axes. */
  function clip(id, a, inner) {
    const width = a.width - a.left - a.right;
    const height = a.height - a.top - a.bottom;
    const frame = element("clipPath", { id }, rect(a.left, a.top, width, height));
    return frame + element("g", { "clip-path": `url(#${id})` }, inner);
  }

  /* The sign of an algorithm, r pixels in size; hollow: only its outline. */
  function marker(name, x, y, r = 4, hollow = false) {
    const color = COLORS[name];
    const style = hollow ? { class: "hollow", stroke: color } : { fill: color };
    style["data-marker"] = MARKERS[name];
    const corners = (points) =>
      shape(`M${points.map(([dx, dy]) => `${x + r * dx} ${y + r * dy}`).join("L")}Z`, style);
    const signs = {
      s: () => rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7, style),
      "^": () => corners([[0, -1], [1, 0.8], [-1, 0.8]]),
      D: () => corners([[0, -1], [1, 0], [0, 1], [-1, 0]]),
      "*": () => corners(STAR),
    };
    return signs[MARKERS[name]]?.() ?? circle(x, y, r * 0.9, style);
  }
  /* The ten corners of a star, from its tip. */
  const STAR = [...Array(10).keys()].map((i) => {
    const [angle, radius] = [(i * Math.PI) / 5, i % 2 ? 0.55 : 1.35];
    return [radius * Math.sin(angle), -radius * Math.cos(angle)];
  });

  // ---------------------------------------------------------------- axes
  /* Round numbers for an axis, about n of them; powers of ten on a logarithmic one. */
  function ticks(low, high, n, log = false) {
    const out = [];
    if (log) {
      const first = Math.ceil(Math.log10(low) - 1e-9);
      for (let e = first; e <= Math.log10(high) + 1e-9; e++) out.push(10 ** e);
      return out;
    }
    const rough = (high - low) / Math.max(1, n) || 1;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = unit * [1, 2, 5, 10].find((m) => m * unit >= rough * 0.999);
    for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + step * 1e-9; x += step)
      out.push(Math.abs(x) < step * 1e-9 ? 0 : Number(x.toPrecision(12)));
    return out;
  }
  function tickText(x, log) {
    if (log) return x >= 1e3 || x < 0.01 ? power(x) : short(x);
    if (Math.abs(x) >= 1e6) return minus(x.toExponential(0));
    return minus(x.toLocaleString("en", { maximumFractionDigits: 6 }));
  }
  /* Pixels that the numbers of a vertical axis need. */
  function margin(y, height, log) {
    const lengths = ticks(...y, height / 55, log).map((v) => tickText(v, log).length);
    return 26 + 7 * Math.max(2, ...lengths);
  }

  /* Axes with grid; gives the scales px and py and a list of SVG strings to add to.
     marks: [{at, text}] instead of numbers on the x axis, written only if all fit; yticks: the same
     for the y axis, where all are written. */
  function axes(given) {
    const { width, height, x, y, xlabel, ylabel, top, marks = null } = given;
    const { xlog = false, ylog = false, left = margin(y, height, ylog), yticks = null } = given;
    const right = 18;
    const room = (width - left - right) / (x[1] - x[0]);
    const named = marks && marks.every((m) => m.text.length * 8 < room);
    const bottom = !marks || named ? 40 : 24;
    const floor = height - bottom;
    const px = (v) => left + place(v, x, xlog) * (width - left - right);
    const py = (v) => floor - place(v, y, ylog) * (floor - top);
    const out = [];
    const numbers = () =>
      ticks(...y, height / 55, ylog).map((v) => ({ at: v, text: tickText(v, ylog) }));
    for (const { at, text: words } of yticks ?? numbers()) {
      out.push(line(left, py(at), width - right, py(at), { class: "grid" }));
      out.push(text(left - 6, py(at) + 4, words, { "text-anchor": "end" }));
    }
    const below = (at, words) => text(px(at), floor + 16, words, { "text-anchor": "middle" });
    if (named) for (const mark of marks) out.push(below(mark.at, mark.text));
    for (const v of marks ? [] : ticks(...x, width / 90, xlog)) {
      out.push(line(px(v), top, px(v), floor, { class: "grid" }));
      out.push(below(v, tickText(v, xlog)));
    }
    out.push(shape(`M${left} ${top}V${floor}H${width - right}`, { class: "axis" }));
    const middle = { "text-anchor": "middle" };
    out.push(text((left + width - right) / 2, height - 6, xlabel, middle));
    const turned = `translate(13 ${(top + floor) / 2}) rotate(-90)`;
    out.push(element("text", { transform: turned, ...middle }, escape(ylabel)));
    return { out, px, py, left, right, top, bottom, width, height };
  }
  /* Where v is between the ends of an axis, from 0 to 1. */
  function place(v, [low, high], log) {
    if (log) return Math.log(v / low) / Math.log(high / low);
    return (v - low) / (high - low || 1);
  }

  /* Legend items {text, draw} in rows that fit; returns the height used. An item that draws nothing
     is the heading of those that follow. */
  function legend(items, width, out, y = 14) {
    let x = 16;
    for (const item of items) {
      const letters = [...item.text].map((c) => (/[A-Z]/.test(c) ? 8 : 6.4)); // about their width
      const sign = item.draw ? 28 : 0;
      const size = sign + 6 + letters.reduce((sum, letter) => sum + letter, 0);
      if (x + size > width && x > 16) {
        x = 16;
        y += 18;
      }
      const style = item.draw ? {} : { class: "heading" };
      out.push(item.draw?.(x, y) ?? "", text(x + sign, y + 4, item.text, style));
      x += size + 8;
    }
    return y + 14;
  }
  /* A legend item that is a line of this style, with a marker on it if it is an algorithm's. */
  function lineItem(words, style, name = "", hollow = false) {
    const sign = (x, y) => name && marker(name, x + 12, y, 4, hollow);
    const draw = (x, y) => line(x, y, x + 24, y, style) + sign(x, y);
    return { text: words, draw };
  }

  // ---------------------------------------------------------------- heat maps
  /* A colour between the stops for u in [0, 1]: dark to light, readable in grey and by the
     colour-blind. */
  const VIRIDIS = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
  ];
  function colour(u) {
    const at = Math.max(0, Math.min(1, u)) * (VIRIDIS.length - 1);
    const i = Math.min(VIRIDIS.length - 2, Math.floor(at));
    const mixed = VIRIDIS[i].map((c, j) => Math.round(c + (VIRIDIS[i + 1][j] - c) * (at - i)));
    return `rgb(${mixed.join(",")})`;
  }
  /* A square map of side² values (row by row from the bottom) with title and colour bar; `rings`
     are cells to mark. */
  function heat({ left, top, size, values, side, title, range, rings = [] }) {
    const [low, high] = range;
    const cell = size / side;
    const x = (i) => left + (i % side) * cell;
    const y = (i) => top + 20 + (side - 1 - Math.floor(i / side)) * cell;
    const wide = (cell + 0.3).toFixed(2); // no seams between cells
    const cells = values.map((v, i) => {
      const fill = colour((v - low) / (high - low || 1));
      return rect(x(i).toFixed(2), y(i).toFixed(2), wide, wide, { fill });
    });
    const out = [text(left, top + 12, title)];
    out.push(element("g", { "shape-rendering": "crispEdges" }, cells.join("")));
    for (const i of rings) {
      const centre = [(x(i) + cell / 2).toFixed(2), (y(i) + cell / 2).toFixed(2)];
      out.push(circle(...centre, (cell * 0.62).toFixed(2), { class: "ring" }));
      out.push(circle(...centre, (cell * 0.8).toFixed(2), { class: "ring2" }));
    }
    const bar = top + 20 + size + 8;
    for (let k = 0; k < 40; k++)
      out.push(rect(left + (k * size) / 40, bar, size / 40 + 0.3, 8, { fill: colour(k / 39) }));
    out.push(text(left, bar + 21, short(low)));
    out.push(text(left + size, bar + 21, short(high), { "text-anchor": "end" }));
    return out;
  }

  /* The whole figure; `words` say to those who do not see it what it shows. */
  function svg(width, height, out, words) {
    const xmlns = "http://www.w3.org/2000/svg";
    const box = { xmlns, viewBox: `0 0 ${width} ${height}`, width, height };
    const label = { role: "img", "aria-label": escape(words) };
    return element("svg", { ...box, ...label }, element("style", {}, STYLE) + out.join(""));
  }

  const numbers = { short, minus, power, escape };
  const elements = { element, line, circle, shape, text, rect, path, band, clip, marker };
  const parts = { margin, axes, legend, lineItem, heat, svg };
  return { COLORS, LABELS, STYLE, ...numbers, ...elements, ...parts };
})();

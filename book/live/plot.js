/* SVG from numbers: axes, lines, bands, markers, legends, heat maps. Knows nothing of the page; a figure is a list of SVG strings. */
window.LDPBO_PLOT = (() => {
"use strict";
const COLORS = { TGP: "#0072B2", ATA: "#D55E00", MoMA: "#009E73", "GP-UCB": "#CC79A7", PE: "#7A4FBF" };
/* One style for the page and for saved files: the variables are the theme's, the values after the comma those of a file. */
const STYLE = `text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--pst-color-text-base,#222)}
.grid{stroke:var(--pst-color-border,#e3e3e3);stroke-width:.6}.axis{stroke:var(--pst-color-text-muted,#555);stroke-width:1;fill:none}
.uniform{stroke:var(--live-uniform,#666666);stroke-width:1.6;stroke-dasharray:2 3;fill:none}.truth{stroke:var(--pst-color-text-base,#222);stroke-width:1.8;fill:none}
.truthdot{fill:var(--pst-color-text-base,#222)}.now{stroke:var(--pst-color-text-muted,#555);stroke-width:1;stroke-dasharray:4 3}.edge{stroke:var(--live-uniform,#666666);stroke-width:1;stroke-dasharray:1 3;fill:none}
.trial{fill:none;stroke-width:.8;stroke-opacity:var(--live-trial,.45)}.band{fill-opacity:var(--live-band,.2)}.dots{fill-opacity:var(--live-dots,.55)}.bars{fill-opacity:var(--live-bars,.55)}
.at-curve{font-size:11px;paint-order:stroke;stroke:var(--pst-color-background,#ffffff);stroke-width:3px}
.ring{fill:none;stroke:var(--live-ring,#ffffff);stroke-width:2}.ring2{fill:none;stroke:#000000;stroke-width:1}`;
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const minus = (text) => text.replace("-", "−");
const short = (x, digits = 3) => (!Number.isFinite(x) ? "–" : minus(Math.abs(x) < 1e4 ? String(Number(x.toPrecision(digits))) : Number(x.toPrecision(digits)).toLocaleString("en")));
/* 10⁶ for 1000000; other numbers as they are. */
const power = (x) => { const e = Math.round(Math.log10(x)); return Math.abs(x / 10 ** e - 1) < 1e-9 ? "10" + [...String(e)].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("") : short(x); };

/* Round numbers for an axis, about n of them; powers of ten on a logarithmic one. */
function ticks(low, high, n, log = false) {
  const out = [];
  if (log) {
    for (let e = Math.ceil(Math.log10(low) - 1e-9); e <= Math.log10(high) + 1e-9; e++) out.push(10 ** e);
    return out;
  }
  const rough = (high - low) / Math.max(1, n) || 1, unit = 10 ** Math.floor(Math.log10(rough)), step = unit * [1, 2, 5, 10].find((m) => m * unit >= rough * 0.999);
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + step * 1e-9; x += step) out.push(Math.abs(x) < step * 1e-9 ? 0 : Number(x.toPrecision(12)));
  return out;
}
const tickText = (x, log) => (log ? (x >= 1e3 || x < 0.01 ? power(x) : short(x)) : minus(Math.abs(x) >= 1e6 ? x.toExponential(0) : x.toLocaleString("en", { maximumFractionDigits: 6 })));
const margin = (y, height, log) => 26 + 7 * Math.max(2, ...ticks(...y, height / 55, log).map((v) => tickText(v, log).length));
/* Axes with grid; gives the scales px and py and a list of SVG strings to add to. marks: [{at, text}] instead of numbers on the x axis. */
function axes({ width, height, x, y, xlabel, ylabel, top, marks = null, xlog = false, ylog = false, left = margin(y, height, ylog) }) {
  const right = 18, room = (width - left - right) / (x[1] - x[0]), named = marks && marks.every((m) => m.text.length * 8 < room);      // names only if all fit
  const bottom = !marks || named ? 40 : 24, place = (v, [a, b], log) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a || 1));
  const px = (v) => left + place(v, x, xlog) * (width - left - right), py = (v) => height - bottom - place(v, y, ylog) * (height - top - bottom);
  const out = [];
  for (const v of ticks(...y, height / 55, ylog)) out.push(`<line class="grid" x1="${left}" x2="${width - right}" y1="${py(v)}" y2="${py(v)}"/><text x="${left - 6}" y="${py(v) + 4}" text-anchor="end">${tickText(v, ylog)}</text>`);
  if (named) for (const { at, text } of marks) out.push(`<text x="${px(at)}" y="${height - bottom + 16}" text-anchor="middle">${escape(text)}</text>`);
  if (!marks) for (const v of ticks(...x, width / 90, xlog)) out.push(`<line class="grid" x1="${px(v)}" x2="${px(v)}" y1="${top}" y2="${height - bottom}"/><text x="${px(v)}" y="${height - bottom + 16}" text-anchor="middle">${tickText(v, xlog)}</text>`);
  out.push(`<path class="axis" d="M${left} ${top}V${height - bottom}H${width - right}"/>`);
  out.push(`<text x="${(left + width - right) / 2}" y="${height - 6}" text-anchor="middle">${escape(xlabel)}</text>`);
  out.push(`<text transform="translate(13 ${(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">${escape(ylabel)}</text>`);
  return { out, px, py, left, right, top, bottom, width, height };
}
const path = (xs, ys, a) => xs.map((x, i) => `${i ? "L" : "M"}${a.px(x).toFixed(2)} ${a.py(ys[i]).toFixed(2)}`).join("");
const band = (xs, low, high, a) => path(xs, high, a) + [...xs.keys()].reverse().map((i) => `L${a.px(xs[i]).toFixed(2)} ${a.py(low[i]).toFixed(2)}`).join("") + "Z";
/* Everything drawn inside `inner` is cut at the axes. */
const clip = (id, a, inner) => `<clipPath id="${id}"><rect x="${a.left}" y="${a.top}" width="${a.width - a.left - a.right}" height="${a.height - a.top - a.bottom}"/></clipPath><g clip-path="url(#${id})">${inner}</g>`;
function marker(name, x, y, r = 4) {
  const fill = `fill="${COLORS[name]}"`;
  if (name === "ATA") return `<rect x="${x - r * 0.85}" y="${y - r * 0.85}" width="${r * 1.7}" height="${r * 1.7}" ${fill}/>`;
  if (name === "MoMA") return `<path d="M${x} ${y - r}L${x + r} ${y + r * 0.8}H${x - r}Z" ${fill}/>`;
  if (name === "GP-UCB") return `<path d="M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z" ${fill}/>`;
  if (name === "PE") return `<path d="M${x} ${y + r}L${x + r} ${y - r * 0.8}H${x - r}Z" ${fill}/>`;
  return `<circle cx="${x}" cy="${y}" r="${r * 0.9}" ${fill}/>`;
}
/* Legend items in rows that fit; returns the height used. */
function legend(items, width, out, y = 14) {
  let x = 16;
  for (const { text, draw } of items) {
    const size = 34 + [...text].reduce((sum, c) => sum + (/[A-Z]/.test(c) ? 8 : 6.4), 0);      // about as wide as it is drawn
    if (x + size > width && x > 16) { x = 16; y += 18; }
    out.push(draw(x, y), `<text x="${x + 28}" y="${y + 4}">${escape(text)}</text>`);
    x += size + 8;
  }
  return y + 14;
}
/* A colour between the stops for u in [0, 1]: dark to light, readable in grey and by the colour-blind. */
const VIRIDIS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]];
function colour(u) {
  const at = Math.max(0, Math.min(1, u)) * (VIRIDIS.length - 1), i = Math.min(VIRIDIS.length - 2, Math.floor(at));
  return `rgb(${VIRIDIS[i].map((c, j) => Math.round(c + (VIRIDIS[i + 1][j] - c) * (at - i))).join(",")})`;
}
/* A square map of side² values (row by row from the bottom) with title and colour bar; `rings` are cells to mark. */
function heat({ left, top, size, values, side, title, range, rings = [] }) {
  const cell = size / side, [low, high] = range, x = (i) => left + (i % side) * cell, y = (i) => top + 20 + (side - 1 - Math.floor(i / side)) * cell;
  const out = [`<text x="${left}" y="${top + 12}">${escape(title)}</text><g shape-rendering="crispEdges">`];      // no seams between cells
  values.forEach((v, i) => out.push(`<rect x="${x(i).toFixed(2)}" y="${y(i).toFixed(2)}" width="${(cell + 0.3).toFixed(2)}" height="${(cell + 0.3).toFixed(2)}" fill="${colour((v - low) / (high - low || 1))}"/>`));
  out.push("</g>");
  for (const i of rings) for (const [kind, r] of [["ring", 0.62], ["ring2", 0.8]]) out.push(`<circle class="${kind}" cx="${(x(i) + cell / 2).toFixed(2)}" cy="${(y(i) + cell / 2).toFixed(2)}" r="${(cell * r).toFixed(2)}"/>`);
  const bar = top + 20 + size + 8;
  for (let k = 0; k < 40; k++) out.push(`<rect x="${left + (k * size) / 40}" y="${bar}" width="${size / 40 + 0.3}" height="8" fill="${colour(k / 39)}"/>`);
  out.push(`<text x="${left}" y="${bar + 21}">${short(low)}</text><text x="${left + size}" y="${bar + 21}" text-anchor="end">${short(high)}</text>`);
  return out;
}
const svg = (width, height, out, words) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(words)}"><style>${STYLE}</style>${out.join("")}</svg>`;
return { COLORS, STYLE, escape, short, minus, power, ticks, margin, axes, path, band, clip, marker, legend, heat, svg };
})();

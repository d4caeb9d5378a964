/* Small pictures in the pages that answer to a slider, each in a <div class="ldpbo-widget">.
   formulas.js computes, plot.js draws; widgets-data.js brings users that the core drew. What stands
   in the element before is what a reader without JavaScript, or on paper, sees. */
(() => {
  "use strict";
  const DATA = window.LDPBO_WIDGETS;
  if (!DATA) return; // the sentence in the element stays
  const FORMULAS = globalThis.LDPBO_FORMULAS;
  const { COLORS, short, minus, svg, axes, legend, lineItem } = window.LDPBO_PLOT;
  const { path, band, shape, line, circle, rect, text, clip, marker } = window.LDPBO_PLOT;
  const EPS = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10];
  const range = (low, high, n) =>
    [...Array(n + 1).keys()].map((i) => low + ((high - low) * i) / n);
  const times = (x) => short(x, 3);

  // ---------------------------------------------------------------- the curator
  /* Two rewards: the densities of their reports, and the odds between them. */
  function drawCurator({ eps, y, other }, width) {
    const { bound } = DATA.curator;
    const { density, odds } = FORMULAS.laplace(eps, bound);
    const z = range(-4 * bound, 4 * bound, 320);
    const wide = width >= 620 ? width / 2 : width;
    const first = { stroke: "currentColor", "stroke-width": 2 };
    const second = { ...first, "stroke-dasharray": "6 4" };
    const key = [];
    const items = [lineItem(`report of y = ${short(y)}`, first)];
    items.push(lineItem(`of y′ = ${short(other)}`, second));
    const top = legend(items, wide, key);
    const size = { width: wide, height: 190 + top, x: [z[0], z.at(-1)], top };
    const highest = 1.1 * density(0, 0);
    const a = axes({ ...size, y: [0, highest], xlabel: "report", ylabel: "density" });
    a.out.push(...key);
    for (const [reward, style] of [
      [y, first],
      [other, second],
    ]) {
      const values = z.map((report) => density(report, reward));
      a.out.push(shape(path(z, values, a), { fill: "none", ...style }));
    }
    const limit = Math.exp(eps);
    const b = axes({
      ...size,
      y: [Math.exp(-1.25 * eps), Math.exp(1.25 * eps)],
      ylog: true,
      yticks: [1 / limit, 1, limit].map((at) => ({ at, text: times(at) })),
      left: 52,
      xlabel: "report",
      ylabel: "odds, y : y′",
    });
    for (const v of [limit, 1 / limit]) {
      b.out.push(line(b.left, b.py(v), wide - b.right, b.py(v), { class: "uniform" }));
    }
    const last = { "text-anchor": "end" };
    b.out.push(text(wide - b.right, b.py(limit) - 6, "eᵋ", last));
    b.out.push(text(wide - b.right, b.py(1 / limit) - 6, "e⁻ᵋ", last));
    const ratio = z.map((report) => odds(report, y, other));
    b.out.push(shape(path(z, ratio, b), { fill: "none", ...first }));
    const most = Math.max(odds(y, y, other), odds(other, other, y));
    const words =
      `Rewards ${short(y)} and ${short(other)}, ε = ${eps}: ` +
      (y === other
        ? "no report tells one from the other. "
        : `a report makes one of them at most ${times(most)} times as likely as the other. `) +
      `The promise allows a factor of ${times(limit)}.`;
    return { words, drawings: [a, b] };
  }

  // ---------------------------------------------------------------- the threshold of TGP
  /* Reports of one arm: which are cut, and where the mean goes. */
  function drawThreshold({ b }, width) {
    const { reports, mean: truth, eps, bound } = DATA.tgp;
    const { scale } = FORMULAS.laplace(eps, bound);
    const cut = reports.filter((report) => Math.abs(report) > b).length;
    const all = FORMULAS.meanOf(reports);
    const kept = FORMULAS.meanOf(FORMULAS.truncate(reports, b));
    const color = COLORS.TGP;
    const dot = (x, y, r, away) =>
      circle(x, y, r, away ? { class: "cut" } : { class: "dots", fill: color });
    const key = [];
    const items = [
      { text: "a report that counts", draw: (x, y) => dot(x + 12, y, 3, false) },
      { text: "cut: counts as 0", draw: (x, y) => dot(x + 12, y, 3, true) },
      lineItem("threshold ±b", { class: "now" }),
    ];
    const top = legend(items, width, key);
    const reach = 1.05 * Math.max(...reports.map(Math.abs));
    const size = { width, left: 92 };
    const a = axes({
      ...size,
      ...{ height: 130 + top, top, x: [-reach, reach], y: [0, 1], yticks: [] },
      ...{ xlabel: "report", ylabel: "" },
    });
    a.out.push(...key);
    reports.forEach((report, i) => {
      const jitter = 0.06 + 0.88 * ((i * 0.618034) % 1);
      a.out.push(dot(a.px(report).toFixed(1), a.py(jitter).toFixed(1), 2.6, Math.abs(report) > b));
    });
    for (const v of [-b, b])
      a.out.push(line(a.px(v), a.top, a.px(v), a.height - a.bottom, { class: "now" }));
    const rows = [
      { at: 2, text: "all reports", found: all },
      { at: 1, text: "after the cut", found: kept },
    ];
    const c = axes({
      ...size,
      ...{ height: 126, top: 14, x: [-0.5, 2], y: [0.4, 2.6], yticks: rows },
      ...{ xlabel: "mean ± 2 standard errors", ylabel: "" },
    });
    const floor = c.height - c.bottom;
    c.out.push(line(c.px(truth), c.top, c.px(truth), floor, { class: "truth" }));
    c.out.push(text(c.px(truth) + 6, c.top + 8, "truth"));
    const bars = rows.map(({ at, found: [mean, error] }) => {
      const ends = [mean - 2 * error, mean + 2 * error];
      const style = { stroke: color, "stroke-width": 2, fill: "none" };
      const bar = shape(path(ends, [at, at], c), style);
      return bar + marker("TGP", c.px(mean), c.py(at), 5);
    });
    c.out.push(clip("widget-means", c, bars.join("")));
    const round = Math.exp((b - bound) / scale);
    const when =
      round < 1
        ? "The paper’s threshold is never as low"
        : `The paper’s threshold reaches this in round ${times(Math.ceil(round - 1e-9))}`;
    const expected = times(FORMULAS.truncatedMean(truth, b, scale));
    const words =
      `Threshold ${b.toFixed(1)}: ${cut} of ${reports.length} reports are cut. The mean goes ` +
      `from ${times(all[0])} to ${times(kept[0])}; the truth is ${times(truth)}, and the mean ` +
      `to expect after the cut is ${expected}. ${when}.`;
    return { words, drawings: [a, c] };
  }

  // ---------------------------------------------------------------- one bit
  const SHOWN = 400; // users whose bits are drawn
  /* Two rows of bits, and the estimate that comes out of them. */
  function drawBits({ eps, users }, width) {
    const data = DATA.onebit;
    const found = FORMULAS.onebitBand(data, eps, users);
    const { scale, reports, mu, sigma, beta } = found;
    const color = COLORS["GP-UCB"];
    const estimate = { stroke: color, "stroke-width": 2 };
    const between = { class: "band", fill: color };
    const key = [];
    const items = [
      { text: "a bit", draw: (x, y) => circle(x + 12, y, 2.4, { class: "bit" }) },
      lineItem("true mean f", { class: "truth" }),
      lineItem("estimate", estimate),
      { text: "proved band", draw: (x, y) => rect(x, y - 6, 24, 12, between) },
    ];
    const top = legend(items, width, key);
    const inner = 2 * data.F; // what the middle shows; the rows of bits are no scale
    const row = 1.25 * inner;
    const s = times(scale);
    const a = axes({
      ...{ width, height: 300 + top, top, left: 84, x: [0, 1], y: [-1.45 * inner, 1.45 * inner] },
      ...{ xlabel: "arm x", ylabel: "" },
      yticks: [
        { at: row, text: `+s = ${s}` },
        { at: data.F, text: `F = ${times(data.F)}` },
        { at: 0, text: "0" },
        { at: -data.F, text: `−F = −${times(data.F)}` },
        { at: -row, text: `−s = −${s}` },
      ],
    });
    a.out.push(...key);
    const x = data.f.map((_, i) => (i + 1) / data.f.length);
    reports.slice(0, SHOWN).forEach((report, i) => {
      const jitter = (((i * 0.618034) % 1) - 0.5) * 0.22 * inner;
      const shift = (((i * 0.414214) % 1) - 0.5) * 0.018;
      const at = a.px(Math.min(1, Math.max(0, x[data.arms[i]] + shift)));
      const height = a.py((report > 0 ? row : -row) + jitter);
      a.out.push(circle(at.toFixed(1), height.toFixed(1), 1.8, { class: "bit" }));
    });
    const edge = (sign) => mu.map((m, i) => clamp(m + sign * beta * sigma[i], 1.07 * inner));
    a.out.push(shape(band(x, edge(-1), edge(1), a), between));
    a.out.push(shape(path(x, mu, a), { fill: "none", ...estimate }));
    a.out.push(shape(path(x, data.f, a), { class: "truth" }));
    const half = beta * (sigma.reduce((p, q) => p + q, 0) / sigma.length);
    const inside = data.f.every((v, i) => Math.abs(v - mu[i]) <= beta * sigma[i]);
    const missed = Math.max(...data.f.map((v, i) => Math.abs(v - mu[i])));
    const words =
      `ε = ${eps}, ${users.toLocaleString("en")} users: every report is +s or −s with s = ${s}. ` +
      `The estimate misses f by at most ${times(missed)}. The proved band is ± ${times(half)} on ` +
      `average; f, which lies within ± ${times(data.F)}, is ${inside ? "inside" : "outside"}.`;
    return { words, drawings: [a] };
  }
  const clamp = (v, limit) => Math.max(-limit, Math.min(limit, v));

  // ---------------------------------------------------------------- the element
  const thresholds = range(0, 30, 60);
  const rewards = range(-2, 2, 40).map((v) => Number(v.toFixed(1)));
  const USERS = [20, 50, 100, 200, 400, 1000, 2000, 4000];
  const epsSlider = { label: "privacy ε", stops: EPS, start: 1 };
  const WIDGETS = {
    curator: {
      title: "Try it: two rewards, and what a report tells of them",
      sliders: {
        y: { label: "reward y", stops: rewards, start: 1 },
        other: { label: "reward y′", stops: rewards, start: -1 },
        eps: epsSlider,
      },
      draw: drawCurator,
    },
    tgp: {
      title: "Try it: where to cut",
      sliders: { b: { label: "threshold b", stops: thresholds, start: 8 } },
      draw: drawThreshold,
    },
    onebit: {
      title: "Try it: a curve out of bits",
      sliders: { eps: epsSlider, users: { label: "users", stops: USERS, start: 1000 } },
      draw: drawBits,
    },
  };

  /* The element gets its sliders, and is drawn anew whenever one moves or its width changes. */
  function start(root) {
    const kind = root.dataset.widget;
    const { title, sliders, draw } = WIDGETS[kind];
    const fixed = root.innerHTML;
    const control = ([key, { label, stops, start: at }]) =>
      `<label><span>${label}</span><input type="range" data-key="${key}" min="0" step="1"
        max="${stops.length - 1}" value="${stops.indexOf(at)}"><output></output></label>`;
    root.innerHTML = `<div class="widget-fixed">${fixed}</div><div class="widget-live">
      <p class="widget-title">${title}</p>
      <div class="widget-controls">${Object.entries(sliders).map(control).join("")}</div>
      <div class="widget-figure"></div><p role="status" aria-live="polite"></p>
      <p class="ldpbo-note">${DATA[kind].note}</p></div>`;
    const inputs = [...root.querySelectorAll("input")];
    const figure = root.querySelector(".widget-figure");
    let drawn = 0;
    function update() {
      const state = {};
      for (const input of inputs) {
        const value = sliders[input.dataset.key].stops[Number(input.value)];
        state[input.dataset.key] = value;
        input.nextElementSibling.textContent = minus(value.toLocaleString("en"));
        input.setAttribute("aria-valuetext", String(value));
      }
      drawn = Math.max(260, figure.clientWidth || 640);
      const { words, drawings } = draw(state, drawn);
      figure.innerHTML = drawings.map((a) => svg(a.width, a.height, a.out, words)).join("");
      root.querySelector("[role=status]").textContent = words;
      root.dataset.state = "drawn";
    }
    for (const input of inputs) input.addEventListener("input", update);
    new ResizeObserver(() => {
      if (Math.abs(figure.clientWidth - drawn) > 2) update();
    }).observe(figure);
    update();
  }
  for (const root of document.querySelectorAll(".ldpbo-widget[data-widget]")) start(root);
})();

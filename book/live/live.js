/* The live page: controls, scheduling of the Python workers, and SVG figures. No library, no request to any server.
   Sections: settings · address · own table · workers · drawing · figures · results · words to copy · page. */
(() => {
"use strict";
const root = document.getElementById("ldpbo-live");
if (!root) return;
const BASE = document.currentScript.src.replace(/[^/]*$/, "");
const LIVE = window.LDPBO_LIVE;
if (!LIVE) { root.innerHTML = "<p>The live page was not built: <code>live-data.js</code> is missing. Run <code>make book</code>.</p>"; return; }

// ---------------------------------------------------------------- settings
const NAMES = ["TGP", "ATA", "MoMA", "GP-UCB"];
const LONG = { TGP: "TGP-UCB", ATA: "ATA-GP-UCB", MoMA: "MoMA-GP-UCB", "GP-UCB": "GP-UCB" };
const PROBLEMS = { se: "synthetic, SE kernel", matern: "synthetic, Matérn kernel (ν = 5/2)", light: "light sensors (stand-in data)",
                   stock: "stocks (stand-in data)", table: "your own table" };
const CONSTANTS = { order: "order: same orders, constant 1", theorem: "theorem: as proved", repaired: "repaired: after the errata" };
const NUMBERS = {   // key -> label, range, scale of the slider; the hint is read out with the label
  eps:         { label: "Privacy ε", low: 0.05, high: 50, log: true, none: "not private" },
  T:           { label: "Rounds T", low: 20, high: 20000, log: true, whole: true },
  trials:      { label: "Trials", low: 1, high: 20, whole: true },
  seed:        { label: "Seed", low: 0, high: 4294967295, whole: true, slider: false },
  lengthscale: { label: "Length-scale", low: 0.02, high: 2, log: true },
  lam:         { label: "Ridge λ", low: 0.01, high: 100, log: true },
  beta_scale:  { label: "β scale", low: 0.001, high: 10, log: true },
  k:           { label: "MoMA’s k", low: 1, high: 500, log: true, whole: true, none: "from T and δ", start: 5 },
};
const DEFAULTS = LIVE.precomputed.settings;
let state = { ...DEFAULTS, names: [...DEFAULTS.names], look: DEFAULTS.names[0], t: null, zoom: false };
const synthetic = (s) => s.problem === "se" || s.problem === "matern";
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const short = (x, digits = 3) => (Number.isFinite(x) ? String(Number(x.toPrecision(digits))) : "–");

/* A number inside the allowed range, or a message. */
function checked(key, text) {
  const rule = NUMBERS[key], x = Number(text);
  if (String(text).trim() === "" || !Number.isFinite(x)) throw new Error(`${rule.label}: “${text}” is not a number.`);
  if (rule.whole && !Number.isInteger(x)) throw new Error(`${rule.label}: ${text} must be a whole number.`);
  if (x < rule.low || x > rule.high) throw new Error(`${rule.label}: ${text} must be from ${rule.low} to ${rule.high}.`);
  return x;
}

// ---------------------------------------------------------------- address
const KEYS = { problem: "problem", eps: "eps", T: "T", trials: "trials", ls: "lengthscale", lam: "lam", constants: "constants", beta: "beta_scale", k: "k", seed: "seed" };
function toAddress() {
  const parts = Object.entries(KEYS).map(([short, key]) => `${short}=${state[key] === null ? "none" : state[key]}`);
  parts.push(`algs=${state.names.join(",")}`, `look=${state.look}`, `trial=${state.shown + 1}`);
  if (state.t !== null) parts.push(`t=${state.t}`);
  if (state.problem === "table" && table) parts.push(`file=${encodeURIComponent(table.name)}`);
  return "#" + parts.join("&");
}
/* Settings from an address; what it does not know or cannot use is named in `complaints`. */
function fromAddress(hash) {
  const next = { ...DEFAULTS, names: [...DEFAULTS.names], look: DEFAULTS.names[0], t: null, zoom: state.zoom }, complaints = [];
  for (const part of hash.replace(/^#/, "").split("&").filter((p) => p.includes("="))) {
    const short = part.slice(0, part.indexOf("=")), key = KEYS[short];
    let raw = part.slice(part.indexOf("=") + 1);
    try { raw = decodeURIComponent(raw); } catch { /* a stray % stays as it is */ }
    try {
      if (key === "problem" || key === "constants") {
        if (!(raw in (key === "problem" ? PROBLEMS : CONSTANTS))) throw new Error(`${key}: “${raw}” is unknown.`);
        next[key] = raw;
      } else if (key) next[key] = NUMBERS[key].none && raw === "none" ? null : checked(key, raw);
      else if (short === "algs") {
        next.names = NAMES.filter((n) => raw.split(",").includes(n));
        if (!next.names.length) throw new Error(`algorithms: “${raw}” names none of ${NAMES.join(", ")}.`);
      } else if (short === "look" && NAMES.includes(raw)) next.look = raw;
      else if (short === "trial") next.shown = Math.max(0, Math.round(Number(raw)) - 1) || 0;
      else if (short === "t") next.t = Math.max(0, Math.round(Number(raw))) || 0;
      else if (short === "file") next.file = raw;
    } catch (error) { complaints.push(error.message); }
  }
  if (!next.names.length) next.names = [...DEFAULTS.names];
  return [next, complaints];
}
function writeAddress() {
  try { history.replaceState(null, "", toAddress()); } catch { location.hash = toAddress(); }
}

// ---------------------------------------------------------------- own table
let table = null;   // {name, columns: [names], rows, samples: Float64Array}
/* Cells of a CSV text; quotes as in RFC 4180; the delimiter is the most frequent of , ; and tab in the first line. */
function cells(text) {
  const first = text.split(/\r?\n/, 1)[0], mark = [",", ";", "\t"].sort((a, b) => first.split(b).length - first.split(a).length)[0];
  const rows = [[]];
  let cell = "", quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { cell += '"'; i++; } else if (c === '"') quoted = false; else cell += c;
    } else if (c === '"' && cell.trim() === "") { quoted = true; cell = ""; }
    else if (c === mark) { rows.at(-1).push(cell.trim()); cell = ""; }
    else if (c === "\n") { rows.at(-1).push(cell.trim()); cell = ""; rows.push([]); }
    else if (c !== "\r") cell += c;
  }
  rows.at(-1).push(cell.trim());
  return rows.map((row, i) => ({ row, line: i + 1 })).filter(({ row }) => row.some((c) => c !== ""));
}
/* A table from CSV text. Errors name row and column as a spreadsheet counts them, the header being row 1. */
function parseTable(name, text) {
  const lines = cells(text.replace(/^\uFEFF/, "")), number = (c) => c !== "" && Number.isFinite(Number(c));
  if (!lines.length) throw new Error("The file is empty.");
  const headed = !lines[0].row.every(number);
  const head = headed ? lines[0].row.map((c, j) => c || `column ${j + 1}`) : lines[0].row.map((_, j) => `column ${j + 1}`);
  const body = headed ? lines.slice(1) : lines;
  const columnName = (j) => `column ${j + 1}${headed ? ` (“${head[j]}”)` : ""}`;
  for (const { row, line } of body)
    if (row.length !== head.length) throw new Error(`Row ${line} has ${row.length} values, ${headed ? "the header" : "the first row"} has ${head.length}.`);
  if (body.length < 3) throw new Error(`The file has ${body.length} rows of numbers; at least 3 are needed.`);
  const first = body.every(({ row }) => !number(row[0])) ? 1 : 0;      // a first column of dates or names is left out
  if (head.length - first < 2) throw new Error(`The file has ${head.length - first} columns of numbers; at least 2 arms are needed.`);
  const columns = head.slice(first), samples = new Float64Array(body.length * columns.length);
  if (columns.length > 200 || samples.length > 400000) throw new Error(`The table has ${body.length} rows and ${columns.length} columns; at most 200 columns and 400,000 numbers fit here. Use the Python lines below.`);
  body.forEach(({ row, line }, i) => columns.forEach((_, j) => {
    const text = row[j + first];
    if (!number(text)) throw new Error(`Row ${line}, ${columnName(j + first)}: ${text === "" ? "the value is missing" : `“${text.slice(0, 40)}” is not a number`}.`);
    samples[i * columns.length + j] = Number(text);
  }));
  columns.forEach((_, j) => {
    if (body.every((_, i) => samples[i * columns.length + j] === samples[j]))
      throw new Error(`${columnName(j + first).replace(/^c/, "C")} is ${samples[j]} in every row from row ${body[0].line} on; an arm that never varies has no correlation with the others.`);
  });
  return { name, columns, rows: body.length, samples, first, headed };
}

// ---------------------------------------------------------------- workers
const pool = { workers: [], module: null, about: null, started: false, size: matchMedia("(pointer: coarse)").matches ? 1 : Math.max(1, Math.min(3, navigator.hardwareConcurrency || 1)) };      // one where memory is short
let job = { id: 0 }, result = null, broken = "";
function missing() {
  return [["WebAssembly", typeof WebAssembly === "object"], ["web workers", typeof Worker === "function"],
          ["decompression streams", LIVE.runtime.mode === "cdn" || typeof DecompressionStream === "function"]].filter(([, ok]) => !ok).map(([name]) => name);
}
function startPython() {
  if (pool.started) return;
  pool.started = true;
  const lacks = missing();
  if (lacks.length) return giveUp(`This browser cannot run Python in a page (it lacks ${lacks.join(" and ")}).`);
  tell(LIVE.runtime.mode === "cdn" ? "Loading Python from cdn.jsdelivr.net …" : "Loading Python …");
  if (LIVE.runtime.mode === "cdn") return addWorker();
  const script = document.createElement("script");
  script.src = BASE + LIVE.runtime.file;
  script.onload = addWorker;
  script.onerror = () => giveUp(`The file ${LIVE.runtime.file} could not be loaded.`);
  document.head.append(script);
}
function addWorker() {
  let worker;
  try { worker = new Worker(URL.createObjectURL(new Blob([LIVE.worker], { type: "text/javascript" }))); }
  catch (error) { return giveUp(`This browser does not allow a worker here (${error.message}).`); }
  worker.onmessage = ({ data }) => heard(worker, data);
  worker.onerror = (event) => { if (!worker.ready) lost(worker, event.message || "the worker stopped"); };
  const files = { "ldpbo_core.py": LIVE.core, "bridge.py": LIVE.bridge, ...LIVE.data };
  worker.postMessage({ type: "start", cdn: LIVE.runtime.url, assets: window.LDPBO_RUNTIME, module: pool.module, files });
  pool.workers.push(worker);
}
function lost(worker, why) {
  pool.workers = pool.workers.filter((w) => w !== worker);
  worker.terminate();
  if (!pool.workers.length) giveUp(LIVE.runtime.mode === "cdn" ? `Python could not be loaded from cdn.jsdelivr.net (${why}). Is the network reachable?` : `Python did not start in this browser (${why}).`);
}
function giveUp(why) {
  broken = why + " What is drawn was computed when the book was built, at the default settings.";
  tell(broken, true);
  form.querySelectorAll("input, select").forEach((e) => { if (!e.closest(".live-keep")) e.disabled = true; });
  $("native").open = true;
  root.dataset.state = "broken";
}
function heard(worker, m) {
  if (m.type === "stage" && !pool.about) tell(m.text[0].toUpperCase() + m.text.slice(1) + " …");
  if (m.type === "module") pool.module = m.module;
  if (m.type === "ready") {
    worker.ready = true;
    if (!pool.about) { pool.about = m; run(); } else feed(worker);
  }
  if (m.type === "failed" && !worker.ready) return lost(worker, m.text);
  if (m.type === "failed" && m.id === job.id) { stop(); tell(m.text, true); root.dataset.state = "failed"; }
  if (m.type === "progress" && m.id === job.id) {
    job.pieces.push(...m.pieces);
    worker.done = m.finished ? 0 : m.done;
    if (m.finished) { job.finished += m.total; worker.trial = null; }
    const done = job.finished + pool.workers.reduce((sum, w) => sum + (w.trial === null ? 0 : w.done || 0), 0);
    $("progress").value = done / job.rounds;
    if (m.pieces.length) offer();
    if (m.finished) feed(worker);
    if (job.pieces.length === job.expected) finish();
  }
}
/* Trials are dealt to the workers one by one, the shown trial first. */
function feed(worker) {
  if (!job.queue || !job.queue.length || !worker.ready) return;
  worker.trial = job.queue.shift();
  worker.done = 0;
  const { settings, samples, columns, id } = job;
  worker.postMessage({ type: "run", id, settings, samples, columns, only: worker.trial });
}
const numeric = (s) => Object.fromEntries(Object.keys(DEFAULTS).map((key) => [key, s[key]]));
function run() {
  if (broken) return;
  if (!pool.about) { startPython(); return; }
  stop();
  if (state.problem === "table" && !table) { tell(state.file ? `This link was made with the file ${state.file}. Choose that file to run: a link carries the settings, not the data.` : "Choose a CSV file to run."); root.dataset.state = "waiting"; return; }
  state.shown = Math.min(state.shown, state.trials - 1);
  const settings = numeric(state), trials = [...Array(settings.trials).keys()];
  job = { id: job.id + 1, settings, pieces: [], finished: 0, queue: [settings.shown, ...trials.filter((i) => i !== settings.shown)],
          expected: trials.length * settings.names.length, rounds: trials.length * settings.names.length * settings.T, begun: performance.now(),
          samples: state.problem === "table" ? table.samples : null, columns: state.problem === "table" ? table.columns.length : null, table: state.problem === "table" ? table : null };
  pool.workers.forEach((w) => { w.trial = null; feed(w); });
  root.dataset.state = "running";
  $("stop").disabled = false;
  $("progress").hidden = false;
  $("progress").value = 0;
  tell("Running …");
}
function stop() {
  pool.workers.forEach((w) => { w.trial = null; w.postMessage({ type: "cancel" }); });
  job = { id: job.id + 1 };
  $("stop").disabled = true;
  $("progress").hidden = true;
}
/* Draw the trials that all algorithms have finished, so that means are over the same ones. */
function offer() {
  const { settings, pieces, table, expected } = job, count = (trial) => pieces.filter((p) => p.trial === trial).length;
  const ready = pieces.filter((p) => count(p.trial) === settings.names.length).sort((p, q) => p.trial - q.trial || settings.names.indexOf(p.name) - settings.names.indexOf(q.name));
  if (!ready.some((p) => p.trial === settings.shown)) return;
  const before = result && result.settings === settings ? result.pieces.length : 0;
  if (ready.length === before) return;
  result = { settings, pieces: ready, table, complete: pieces.length === expected };
  draw();
}
function finish() {
  const seconds = (performance.now() - job.begun) / 1000, runs = Number(root.dataset.runs || 0) + 1;
  const settings = job.settings;
  offer();
  stop();
  Object.assign(root.dataset, { state: "done", runs, seconds: seconds.toFixed(3), ...(runs === 1 && { first: (performance.now() / 1000).toFixed(3) }) });
  tell(`Done in ${seconds.toFixed(1)} s: ${summary(settings)}`);
  if (pool.workers.length < pool.size && pool.workers.every((w) => w.ready) && pool.about && runs === 1) while (pool.workers.length < pool.size) addWorker();
}

// ---------------------------------------------------------------- drawing
const COLORS = { TGP: "#0072B2", ATA: "#D55E00", MoMA: "#009E73", "GP-UCB": "#CC79A7" };
/* One style for the page and for saved files: the variables are the theme's, the values after the comma those of a file. */
const STYLE = `text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--pst-color-text-base,#222)}
.grid{stroke:var(--pst-color-border,#e3e3e3);stroke-width:.6}.axis{stroke:var(--pst-color-text-muted,#555);stroke-width:1;fill:none}
.uniform{stroke:var(--live-uniform,#666666);stroke-width:1.6;stroke-dasharray:2 3;fill:none}.truth{stroke:var(--pst-color-text-base,#222);stroke-width:1.8;fill:none}
.truthdot{fill:var(--pst-color-text-base,#222)}.now{stroke:var(--pst-color-text-muted,#555);stroke-width:1;stroke-dasharray:4 3}.edge{stroke:var(--live-uniform,#666666);stroke-width:1;stroke-dasharray:1 3;fill:none}
.band{fill-opacity:var(--live-band,.2)}.dots{fill-opacity:var(--live-dots,.55)}.bars{fill-opacity:var(--live-bars,.55)}`;
const $ = (id) => document.getElementById("live-" + id);
/* Round numbers for an axis, about n of them. */
function ticks(low, high, n) {
  const rough = (high - low) / Math.max(1, n) || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const out = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + step * 1e-9; x += step) out.push(Math.abs(x) < step * 1e-9 ? 0 : Number(x.toPrecision(12)));
  return out;
}
const tickText = (x) => (Math.abs(x) >= 1e6 ? x.toExponential(0) : x.toLocaleString("en", { maximumFractionDigits: 6 }));
/* Axes with grid; gives the scales and a list of SVG strings to add to. */
const margin = (y, height) => 26 + 7 * Math.max(2, ...ticks(...y, height / 55).map((v) => tickText(v).length));
function axes({ width, height, x, y, xlabel, ylabel, top, marks = null, left = margin(y, height) }) {
  const right = 18, room = (width - left - right) / (x[1] - x[0]), named = marks && marks.every((m) => m.text.length * 8 < room);      // names only if all fit
  const bottom = !marks || named ? 40 : 24;
  const px = (v) => left + ((v - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const py = (v) => height - bottom - ((v - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  const out = [];
  for (const v of ticks(...y, height / 55)) out.push(`<line class="grid" x1="${left}" x2="${width - right}" y1="${py(v)}" y2="${py(v)}"/><text x="${left - 6}" y="${py(v) + 4}" text-anchor="end">${tickText(v)}</text>`);
  if (named) for (const { at, text } of marks) out.push(`<text x="${px(at)}" y="${height - bottom + 16}" text-anchor="middle">${escape(text)}</text>`);
  if (!marks) for (const v of ticks(...x, width / 90)) out.push(`<line class="grid" x1="${px(v)}" x2="${px(v)}" y1="${top}" y2="${height - bottom}"/><text x="${px(v)}" y="${height - bottom + 16}" text-anchor="middle">${tickText(v)}</text>`);
  out.push(`<path class="axis" d="M${left} ${top}V${height - bottom}H${width - right}"/>`);
  out.push(`<text x="${(left + width - right) / 2}" y="${height - 6}" text-anchor="middle">${escape(xlabel)}</text>`);
  out.push(`<text transform="translate(13 ${(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">${escape(ylabel)}</text>`);
  return { out, px, py, left, right, top, bottom, width, height };
}
const path = (xs, ys, a) => xs.map((x, i) => `${i ? "L" : "M"}${a.px(x).toFixed(2)} ${a.py(ys[i]).toFixed(2)}`).join("");
const band = (xs, low, high, a) => path(xs, high, a) + [...xs.keys()].reverse().map((i) => `L${a.px(xs[i]).toFixed(2)} ${a.py(low[i]).toFixed(2)}`).join("") + "Z";
function marker(name, x, y, r = 4) {
  const fill = `fill="${COLORS[name]}"`;
  if (name === "ATA") return `<rect x="${x - r * 0.85}" y="${y - r * 0.85}" width="${r * 1.7}" height="${r * 1.7}" ${fill}/>`;
  if (name === "MoMA") return `<path d="M${x} ${y - r}L${x + r} ${y + r * 0.8}H${x - r}Z" ${fill}/>`;
  if (name === "GP-UCB") return `<path d="M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z" ${fill}/>`;
  return `<circle cx="${x}" cy="${y}" r="${r * 0.9}" ${fill}/>`;
}
/* Legend items in rows that fit; returns the height used. */
function legend(items, width, out, y = 30) {
  let x = 16;
  for (const { text, draw } of items) {
    const size = 34 + text.length * 7;
    if (x + size > width && x > 16) { x = 16; y += 18; }
    out.push(draw(x, y), `<text x="${x + 28}" y="${y + 4}">${escape(text)}</text>`);
    x += size + 8;
  }
  return y + 14;
}
function put(id, width, height, out, words) {
  const holder = $(id);
  holder.innerHTML = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(words)}"><style>${STYLE}</style>${out.join("")}</svg>`;
}

// ---------------------------------------------------------------- figures
/* Two-sided 95 % points of Student's t with 1, 2, ... degrees of freedom. */
const T95 = [12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135, 2.262157163, 2.228138852,
             2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.100922040, 2.093024054];
function interval(values) {
  const n = values.length, mean = values.reduce((a, b) => a + b, 0) / n;
  if (n < 2) return [mean, NaN, NaN];
  const half = T95[n - 2] * Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1) / n);
  return [mean, mean - half, mean + half];
}
const piecesOf = (name) => result.pieces.filter((p) => p.name === name && !p.error);
/* Mean curves as the book's regret_columns gives them: t, uniform, and per algorithm mean, low, high. */
function curves() {
  const first = result.pieces.find((p) => !p.error);
  if (!first) return null;
  const uniform = new Map(result.pieces.filter((p) => !p.error).map((p) => [p.trial, p.uniform]));
  const slope = [...uniform.values()].reduce((a, b) => a + b, 0) / uniform.size;
  const out = { t: first.t, uniform: first.t.map((t) => t * slope), slope, names: {} };
  for (const name of result.settings.names) {
    const pieces = piecesOf(name);
    if (!pieces.length) continue;
    const columns = first.t.map((_, i) => interval(pieces.map((p) => p.regret[i])));
    out.names[name] = { mean: columns.map((c) => c[0]), low: columns.map((c) => c[1]), high: columns.map((c) => c[2]), trials: pieces.length,
                        share: interval(pieces.map((p) => p.regret.at(-1) / (result.settings.T * p.uniform))),
                        best: pieces.reduce((sum, p) => sum + p.pulls[p.best], 0) / (pieces.length * result.settings.T), k: pieces[0].k };
  }
  return out;
}
function summary(settings) {
  const c = curves();
  if (!c) return "no algorithm could run with these settings; the table says why.";
  const rows = Object.entries(c.names).map(([name, s]) => `${name} ${short(s.mean.at(-1))}`);
  return `mean regret after ${settings.T} rounds ${rows.join(", ")}; uniform play ${short(c.uniform.at(-1))}.`;
}
function drawRegret(width) {
  const c = curves();
  if (!c) { $("regret").innerHTML = ""; return; }
  const { T, eps } = result.settings, dash = eps === null ? 'stroke-dasharray="7 4"' : "", names = Object.keys(c.names);
  const items = names.map((name) => ({ text: (eps !== null && name !== "GP-UCB" ? "LDP-" : "") + LONG[name], draw: (x, y) => `<line x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}" stroke="${COLORS[name]}" stroke-width="1.8" ${dash}/>${marker(name, x + 12, y)}` }));
  items.push({ text: "uniform play (expected)", draw: (x, y) => `<line class="uniform" x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}"/>` });
  const key = [], top = legend(items, width, key, 14), height = 260 + top;
  const high = 1.1 * Math.max(c.uniform.at(-1), ...names.map((n) => c.names[n].mean.at(-1)));      // the means set the scale, not the bands
  const a = axes({ width, height, x: [0, T], y: [0, high], xlabel: "round t", ylabel: "cumulative regret", top });
  a.out.push(...key, `<clipPath id="live-clip"><rect x="${a.left}" y="${top}" width="${width - a.left - a.right}" height="${height - top - a.bottom}"/></clipPath>`);
  a.out.push(`<path class="uniform" d="${path([0, T], [0, c.slope * T], a)}"/>`);
  for (const name of names) {
    const s = c.names[name], color = COLORS[name];
    if (s.trials > 1) a.out.push(`<path d="${band(c.t, s.low.map((v) => Math.max(0, v)), s.high, a)}" class="band" fill="${color}" clip-path="url(#live-clip)"/>`);
    a.out.push(`<path d="${path(c.t, s.mean, a)}" fill="none" stroke="${color}" stroke-width="1.8" ${dash}/>`);
    for (let j = 1; j <= 5; j++) { const i = Math.round((j / 5) * (c.t.length - 1) * (1 - names.indexOf(name) * 0.02)); a.out.push(marker(name, a.px(c.t[i]), a.py(s.mean[i]))); }
  }
  const now = moment();
  if (now && now.t > 0 && now.t < T) a.out.push(`<line class="now" x1="${a.px(now.t)}" x2="${a.px(now.t)}" y1="${top}" y2="${height - a.bottom}"/>`);
  put("regret", width, height, a.out, `Cumulative regret against rounds. ${summary(result.settings)}`);
  const trials = Math.max(...names.map((n) => c.names[n].trials));
  $("regret-note").textContent = `Mean over ${trials} trial${trials > 1 ? "s, band: 95 % interval of the mean (Student t)" : ""}; ${result.settings.constants} constants, β scale ${result.settings.beta_scale}, λ = ${result.settings.lam}, ${eps === null ? "not private" : `ε = ${eps}`}, seed ${result.settings.seed}.`;
}
function fillTable() {
  const c = curves(), cell = (x) => `<td>${x}</td>`, range = (v) => (Number.isFinite(v[1]) ? `${v[0].toFixed(2)} [${v[1].toFixed(2)}, ${v[2].toFixed(2)}]` : v[0].toFixed(2));
  const rows = result.settings.names.map((name) => {
    const s = c && c.names[name], error = result.pieces.find((p) => p.name === name && p.error);
    if (error) return `<tr><th scope="row">${name}</th><td colspan="3" class="live-error">${escape(error.error)}</td></tr>`;
    if (!s) return `<tr><th scope="row">${name}</th><td colspan="3">…</td></tr>`;
    return `<tr><th scope="row"><span class="live-dot" style="background:${COLORS[name]}"></span>${name}${s.k && name === "MoMA" ? ` (k = ${s.k})` : ""}</th>${cell(short(s.mean.at(-1), 4))}${cell(range(s.share))}${cell((100 * s.best).toFixed(1) + " %")}</tr>`;
  });
  if (c) rows.push(`<tr><th scope="row">uniform play</th>${cell(short(c.uniform.at(-1), 4))}${cell("1")}${cell((100 / first().pulls.length).toFixed(1) + " %")}</tr>`);
  $("table").innerHTML = `<caption>After ${result.settings.T} rounds</caption><thead><tr><th scope="col">algorithm</th><th scope="col">regret</th><th scope="col">÷ uniform play</th><th scope="col">plays of the best arm</th></tr></thead><tbody>${rows.join("")}</tbody>`;
}
const first = () => result.pieces.find((p) => !p.error);
/* The piece that the lower figures show, and its snapshot at the chosen time. */
function shown() {
  const pieces = result.pieces.filter((p) => p.inside);
  return pieces.find((p) => p.name === state.look) || pieces[0];
}
function moment() {
  const piece = shown();
  if (!piece) return null;
  const wanted = state.t === null ? Infinity : state.t;
  return piece.inside.reduce((best, s) => (Math.abs(s.t - wanted) < Math.abs(best.t - wanted) ? s : best), piece.inside.at(-1));
}
function armNames() {
  const { problem } = result.settings;
  if (problem === "table") return result.table.columns;
  if (problem === "light" || problem === "stock") return LIVE.data[`data/${problem === "light" ? "light" : "stocks"}.csv`].split("\n", 1)[0].split(",").slice(1);
  return null;
}
/* Positions of the arms: the points of [0, 1], or ranks by true mean where arms have no order. */
function domain(piece) {
  const n = piece.f.length, ordered = result.settings.problem === "se" || result.settings.problem === "matern";
  const order = [...Array(n).keys()].sort((i, j) => (ordered ? i - j : piece.f[j] - piece.f[i] || i - j)), x = Array(n);
  order.forEach((arm, rank) => { x[arm] = ordered ? (arm + 1) / n : rank + 1; });
  return { ordered, order, x, range: ordered ? [0, 1] : [0.3, n + 0.7], xlabel: ordered ? "x" : "arms, best true mean first" };
}
function drawInside(width) {
  const piece = shown(), s = moment();
  $("inside").hidden = !piece;
  if (!piece) return;
  const d = domain(piece), color = COLORS[piece.name], n = piece.f.length, xs = d.order.map((i) => d.x[i]), at = (v) => d.order.map((i) => v[i]);
  const low = s.mu.map((m, i) => m - s.beta * s.sigma[i]), high = s.mu.map((m, i) => m + s.beta * s.sigma[i]);
  const who = `${piece.name}, trial ${piece.trial + 1}, after ${s.t} of ${result.settings.T} rounds`;
  // Posterior. The vertical scale covers all times, so that scrubbing does not move it.
  const all = piece.inside.flatMap((m) => [Math.max(...m.mu.map((v, i) => v + m.beta * m.sigma[i])), Math.min(...m.mu.map((v, i) => v - m.beta * m.sigma[i]))]);
  const span = Math.max(...piece.f) - Math.min(...piece.f);
  const y = state.zoom ? [Math.min(...piece.f) - span * 0.6, Math.max(...piece.f) + span * 0.6] : [Math.min(...all, ...piece.f), Math.max(...all, ...piece.f)];
  const sizes = piece.reports.map(Math.abs).sort((p, q) => p - q), reach = Math.max(sizes[Math.floor(0.99 * (sizes.length - 1))], ...piece.f.map(Math.abs)) * 1.05;
  const yr = piece.scale === null ? [Math.min(...piece.reports), Math.max(...piece.reports)] : [-reach, reach], yp = [0, Math.max(1, ...piece.pulls)];
  const left = Math.max(margin(y, 260), margin(yr, 240), margin(yp, 150));      // one margin, so that the three figures line up
  const names = armNames(), armName = (i) => (names ? names[i] : `x = ${((i + 1) / n).toFixed(2)}`), marks = d.ordered ? null : d.order.map((i) => ({ at: d.x[i], text: armName(i) }));
  const key = [], items = [{ text: "true mean f", draw: (x, y) => (d.ordered ? `<line class="truth" x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}"/>` : `<line class="truth" x1="${x + 5}" x2="${x + 19}" y1="${y}" y2="${y}"/>`) },
    { text: "estimate μ", draw: (x, y) => (d.ordered ? `<line x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="1.8" stroke-dasharray="6 3"/>` : marker(piece.name, x + 12, y)) },
    { text: "μ ± β σ", draw: (x, y) => `<rect x="${x}" y="${y - 6}" width="24" height="12" class="band" fill="${color}"/>` }];
  const top = legend(items, width, key, 14), a = axes({ width, height: 240 + top, x: d.range, y, xlabel: d.xlabel, ylabel: "reward", top, marks, left });
  a.out.push(...key, `<clipPath id="live-clip2"><rect x="${a.left}" y="${top}" width="${width - a.left - a.right}" height="${a.height - top - a.bottom}"/></clipPath><g clip-path="url(#live-clip2)">`);
  const step = a.px(d.x[d.order[1]]) - a.px(d.x[d.order[0]]);
  if (d.ordered) a.out.push(`<path d="${band(xs, at(low), at(high), a)}" class="band" fill="${color}"/><path d="${path(xs, at(s.mu), a)}" fill="none" stroke="${color}" stroke-width="1.8" stroke-dasharray="6 3"/><path class="truth" d="${path(xs, at(piece.f), a)}"/>`);
  else for (const i of d.order) {
    const x = a.px(d.x[i]), w = Math.max(2, Math.min(14, step * 0.6)), yh = a.py(high[i]), yl = a.py(low[i]);
    a.out.push(`<rect x="${x - w / 2}" y="${yh}" width="${w}" height="${Math.max(0, yl - yh)}" class="band" fill="${color}"/>${marker(piece.name, x, a.py(s.mu[i]), Math.min(4, w / 2))}<line class="truth" x1="${x - w / 2}" x2="${x + w / 2}" y1="${a.py(piece.f[i])}" y2="${a.py(piece.f[i])}"/>`);
  }
  a.out.push("</g>");
  const best = d.order.reduce((b, i) => (s.mu[i] > s.mu[b] ? i : b), d.order[0]);
  put("posterior", width, a.height, a.out, `Posterior of ${who}: β = ${short(s.beta)}, largest estimate at ${armName(best)}; the best arm is ${armName(piece.best)}.`);
  $("posterior-note").textContent = `${who}: β = ${short(s.beta)}; the estimate is largest at ${armName(best)}, the truth at ${armName(piece.best)} (f = ${short(piece.f[piece.best])}).`;
  // Reports: at most 1,500 points, evenly through time; what lies outside the scale sits on its edge.
  const seen = s.t, stride = Math.max(1, Math.ceil(seen / 1500));
  const key2 = [], items2 = [{ text: "true mean f", draw: items[0].draw }, { text: piece.scale === null ? "a reward" : "a private report", draw: (x, y) => `<circle cx="${x + 12}" cy="${y}" r="2.4" class="dots" fill="${color}"/>` }];
  if (piece.scale !== null) items2.push({ text: "±(B + R)", draw: (x, y) => `<line class="edge" x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}"/>` });
  const top2 = legend(items2, width, key2, 14), b = axes({ width, height: 220 + top2, x: d.range, y: yr, xlabel: d.xlabel, ylabel: "what the learner sees", top: top2, marks, left });
  b.out.push(...key2);
  let outside = 0;
  for (let t = 0; t < seen; t += stride) {
    const r = piece.reports[t], x = b.px(d.x[piece.arms[t]]);
    if (r > yr[1] || r < yr[0]) { outside++; const y0 = b.py(r > 0 ? yr[1] : yr[0]), w = r > 0 ? 5 : -5; b.out.push(`<path d="M${x.toFixed(1)} ${y0}l3 ${w}h-6z" class="dots" fill="${color}"/>`); }
    else b.out.push(`<circle cx="${x.toFixed(1)}" cy="${b.py(r).toFixed(1)}" r="2" class="dots" fill="${color}"/>`);
  }
  if (piece.scale !== null) for (const v of [piece.B + piece.R, -piece.B - piece.R]) b.out.push(`<line class="edge" x1="${b.left}" x2="${width - b.right}" y1="${b.py(v)}" y2="${b.py(v)}"/>`);
  if (d.ordered) b.out.push(`<path class="truth" d="${path(xs, at(piece.f), b)}"/>`);
  else for (const i of d.order) b.out.push(`<line class="truth" x1="${b.px(d.x[i]) - 5}" x2="${b.px(d.x[i]) + 5}" y1="${b.py(piece.f[i])}" y2="${b.py(piece.f[i])}"/>`);
  const privacy = piece.scale === null ? "Not private: the learner sees the rewards themselves." : `Every report carries Laplace noise of scale 2(B+R)/ε = ${short(piece.scale)}, while f spans ${short(span)}.`;
  put("reports", width, b.height, b.out, `What the learner saw by arm, ${who}. ${privacy}`);
  $("reports-note").textContent = privacy + (stride > 1 ? ` One in ${stride} is drawn.` : "") + (outside ? ` Outside the scale: ${outside} (triangles).` : "");
  // Pulls up to the chosen time.
  const pulls = Array(n).fill(0);
  for (let t = 0; t < seen; t++) pulls[piece.arms[t]]++;
  const c = axes({ width, height: 150, x: d.range, y: yp, xlabel: d.xlabel, ylabel: "plays", top: 10, marks, left }), w = Math.max(1.5, Math.abs(step) * 0.7);
  for (const i of d.order) if (pulls[i]) c.out.push(`<rect x="${(c.px(d.x[i]) - w / 2).toFixed(1)}" y="${c.py(pulls[i]).toFixed(1)}" width="${w.toFixed(1)}" height="${(c.py(0) - c.py(pulls[i])).toFixed(1)}" fill="${color}"${i === piece.best ? "" : ' class="bars"'}/>`);
  if (d.ordered) c.out.push(`<path class="truthdot" d="M${c.px(d.x[piece.best])} ${c.py(0) + 2}l5 8h-10z"/>`);
  const most = pulls.indexOf(Math.max(...pulls));
  put("pulls", width, c.height, c.out, `Plays per arm, ${who}: ${pulls.filter(Boolean).length} of ${n} arms played, most often ${armName(most)} (${pulls[most]} times); the best arm ${pulls[piece.best]} times.`);
  $("pulls-note").textContent = `${pulls.filter(Boolean).length} of ${n} arms played; most often ${armName(most)}, ${pulls[most]} times. The best arm, ${armName(piece.best)}${d.ordered ? " (triangle)" : ""}: ${pulls[piece.best]} times.`;
  // Controls of this part
  const slider = $("time");
  slider.max = piece.inside.length - 1;
  slider.value = piece.inside.indexOf(s);
  slider.setAttribute("aria-valuetext", `after ${s.t} rounds`);
  $("time-text").textContent = `t = ${s.t}`;
  $("look").innerHTML = result.pieces.filter((p) => p.inside).map((p) => `<option${p === piece ? " selected" : ""}>${p.name}</option>`).join("");
  $("trial").innerHTML = [...Array(result.settings.trials).keys()].map((i) => `<option value="${i}"${i === result.settings.shown ? " selected" : ""}>${i + 1}</option>`).join("");
  $("provenance").textContent = `Data: ${piece.provenance}.`;
}
let drawn = 0;
function draw() {
  if (!result || !first()) { if (result) fillTable(); return; }
  const width = Math.max(280, Math.floor($("results").clientWidth)) || 640;
  drawn = width;
  drawRegret(width);
  fillTable();
  drawInside(width);
}

// ---------------------------------------------------------------- words to copy, files to save
const python = (value) => (value === null ? "None" : Array.isArray(value) ? `[${value.map(python).join(", ")}]` : typeof value === "string" ? JSON.stringify(value) : String(value));
function snippet() {
  const s = state, noise = s.eps === null ? "t3" : "uniform", lines = ["import ldpbo_core as core"];
  let problem = `core.${s.problem}_problem()`;
  if (synthetic(s)) problem = `lambda seed: core.synthetic_problem(kernel="${s.problem}", noise="${noise}", lengthscale=${s.lengthscale}, seed=seed)`;
  if (s.problem === "table") {
    const columns = table && table.first ? `, usecols=range(1, ${table.columns.length + 1})` : "";
    lines.unshift("import numpy as np");
    problem = `core.table_problem(np.genfromtxt(${python(table ? table.name : "table.csv")}, delimiter=","${!table || table.headed ? ", skip_header=1" : ""}${columns}))`;
  }
  lines.push("", `problem = ${problem}`, `result = core.simulate(problem, ${python(s.names)}, ${s.T}, trials=${s.trials}, seed=${s.seed}, eps=${python(s.eps)},`,
    `                       lam=${s.lam}, constants="${s.constants}", beta_scale=${s.beta_scale}, k=${python(s.k)})`,
    "print(dict(zip(result.records[\"names\"], result.regret[:, :, -1].mean(axis=1))))");
  return lines.join("\n");
}
function command() {
  const s = state, value = (v) => (v === null ? "None" : v);
  if (s.problem === "table") return "# The panel notebook has no parameter for a table of your own; use the Python lines below.";
  const pairs = [["problem", synthetic(s) ? "synthetic" : s.problem], ...(synthetic(s) ? [["kernel", s.problem], ["lengthscale", s.lengthscale]] : []), ["eps", value(s.eps)],
    ["T", s.T], ["trials", s.trials], ["seed", s.seed], ["lam", s.lam], ["constants", s.constants], ["k", value(s.k)]];
  const second = Number((s.beta_scale / 10).toPrecision(6));        // the notebook shows two settings side by side; the first is this one
  return `papermill notebooks/panel.ipynb out.ipynb ${pairs.map(([k, v]) => `-p ${k} ${v}`).join(" ")} -y "names: [${s.names.join(", ")}]" -y "beta_scale: [${s.beta_scale}, ${second}]"`;
}
function words() {
  $("python").textContent = snippet();
  $("command").textContent = command();
}
async function copy(text, button) {
  let done = true;
  try { await navigator.clipboard.writeText(text); } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  const before = button.dataset.label || (button.dataset.label = button.textContent);
  button.textContent = done ? "Copied" : "Could not copy";
  $("said").textContent = done ? "Copied to the clipboard." : "The browser refused to copy.";
  setTimeout(() => { button.textContent = before; }, 1500);
}
function save(name, type, text) {
  const link = Object.assign(document.createElement("a"), { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
/* The figure as a file of its own: white ground, colours of the light theme instead of the theme's variables. */
function svgFile(id) {
  const svg = $(id).querySelector("svg").cloneNode(true), box = svg.viewBox.baseVal;
  svg.querySelector("style").textContent = STYLE.replace(/var\([^,]+,\s*([^)]+)\)/g, "$1");
  svg.querySelector("style").insertAdjacentHTML("afterend", `<rect width="${box.width}" height="${box.height}" fill="#ffffff"/>`);
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg) + "\n";
}
const csv = (columns) => [Object.keys(columns).map((k) => (/[",]/.test(k) ? `"${k.replace(/"/g, '""')}"` : k)).join(","), ...Object.values(columns)[0].map((_, i) => Object.values(columns).map((c) => (Number.isNaN(c[i]) ? "" : typeof c[i] === "string" && /[",]/.test(c[i]) ? `"${c[i].replace(/"/g, '""')}"` : c[i])).join(","))].join("\n") + "\n";
function csvFile(id) {
  if (id === "regret") {
    const c = curves(), columns = { t: c.t, uniform: c.uniform };
    for (const [name, s] of Object.entries(c.names)) Object.assign(columns, { [name]: s.mean, [`${name} low`]: s.low, [`${name} high`]: s.high });
    for (const name of Object.keys(c.names)) for (const p of piecesOf(name)) columns[`${name} trial ${p.trial + 1}`] = p.regret;
    return csv(columns);
  }
  const piece = shown(), s = moment(), arms = piece.f.map((_, i) => i), names = armNames();
  if (id === "reports") return csv({ round: piece.arms.slice(0, s.t).map((_, t) => t + 1), arm: piece.arms.slice(0, s.t), report: piece.reports.slice(0, s.t), f: piece.arms.slice(0, s.t).map((a) => piece.f[a]) });
  const pulls = Array(piece.f.length).fill(0);
  for (let t = 0; t < s.t; t++) pulls[piece.arms[t]]++;
  return csv({ arm: arms, name: names || arms.map((i) => String((i + 1) / arms.length)), f: piece.f, mu: s.mu, sigma: s.sigma, low: s.mu.map((m, i) => m - s.beta * s.sigma[i]), high: s.mu.map((m, i) => m + s.beta * s.sigma[i]), plays: pulls });
}

// ---------------------------------------------------------------- page
function slot(key) {
  const r = NUMBERS[key], id = `live-${key}`;
  return `<div class="live-field" data-key="${key}"><label for="${id}">${r.label}</label>
    ${r.slider === false ? "" : `<input type="range" id="${id}-slider" min="0" max="1000" step="1" aria-label="${r.label}, slider">`}
    <input type="number" id="${id}" min="${r.low}" max="${r.high}" step="${r.whole ? 1 : "any"}" inputmode="decimal">
    ${r.none ? `<label class="live-check"><input type="checkbox" id="${id}-none"> ${r.none}</label>` : ""}</div>`;
}
const choice = (id, text, options) => `<div class="live-field" data-key="${id}"><label for="live-${id}">${text}</label><select id="live-${id}">${Object.entries(options).map(([v, t]) => `<option value="${v}">${t}</option>`).join("")}</select></div>`;
const figure = (id, title) => `<figure class="live-figure"><div class="live-title">${title}</div><div id="live-${id}" class="live-svg"></div><figcaption class="ldpbo-note"><span id="live-${id}-note"></span> <span class="live-links"><button type="button" data-save="svg" data-id="${id}" aria-label="Download ${title} as SVG">SVG</button> <button type="button" data-save="csv" data-id="${id}" aria-label="Download ${title} data as CSV">CSV</button></span></figcaption></figure>`;
const source = LIVE.runtime.mode === "cdn"
  ? `This copy of the book was built without npm, so the page loads Pyodide ${LIVE.pyodide} from cdn.jsdelivr.net: that server sees that you came. To stay offline, run the Python lines at the end of the page on your machine.`
  : `Pyodide ${LIVE.pyodide} comes with the book and runs inside this page, also offline.`;
root.innerHTML = `
<form class="live-controls" aria-label="Settings" autocomplete="off">
  <fieldset><legend>Problem</legend>${choice("problem", "Problem", PROBLEMS)}${slot("lengthscale")}
    <div id="live-drop" class="live-drop" hidden><label for="live-file">CSV file: one column per arm, one row per observation</label><input type="file" id="live-file" accept=".csv,.txt,.tsv,text/csv" aria-describedby="live-file-note"><p id="live-file-note">Or drop the file here. It is read by this page only: nothing leaves your machine.</p><p id="live-file-error" class="live-error" role="alert"></p></div></fieldset>
  <fieldset><legend>Algorithms</legend><div class="live-names">${NAMES.map((n) => `<label class="live-check"><input type="checkbox" name="alg" value="${n}"> <span class="live-dot" style="background:${COLORS[n]}"></span>${n}</label>`).join("")}</div></fieldset>
  <fieldset><legend>Privacy and size</legend>${slot("eps")}${slot("T")}${slot("trials")}${slot("seed")}</fieldset>
  <details id="live-more"><summary>Constants: <span id="live-more-text"></span></summary><fieldset aria-label="Constants">${choice("constants", "Preset", CONSTANTS)}${slot("beta_scale")}${slot("lam")}${slot("k")}</fieldset></details>
</form>
<div class="live-bar"><progress id="live-progress" max="1" value="0" aria-label="Share of the run that is done" hidden></progress>
  <p id="live-status" role="status" aria-live="polite"></p><p id="live-complaint" class="live-error" role="alert"></p>
  <p class="live-buttons live-keep"><button type="button" id="live-start" hidden>Start Python (12 MB)</button> <button type="button" id="live-stop" disabled>Stop</button> <button type="button" id="live-reset">Reset</button> <button type="button" id="live-share">Copy link</button> <span id="live-said" class="live-hidden" role="status"></span></p></div>
<div id="live-results">
  ${figure("regret", "Regret")}
  <div class="ldpbo-table live-scroll" tabindex="0" role="region" aria-label="Results"><table class="table" id="live-table"></table></div>
  <section id="live-inside" aria-label="Inside one trial" hidden>
    <div class="live-look live-keep"><div><label for="live-look">Algorithm</label> <select id="live-look"></select></div><div><label for="live-trial">Trial</label> <select id="live-trial"></select></div>
      <div class="live-time"><label for="live-time">Time</label> <input type="range" id="live-time" min="0" max="1" step="1"> <output id="live-time-text" for="live-time"></output></div>
      <label class="live-check"><input type="checkbox" id="live-zoom"> zoom to the truth</label></div>
    ${figure("posterior", "Posterior and confidence band")}${figure("reports", "Reports against the truth")}${figure("pulls", "Plays per arm")}
    <p id="live-provenance" class="ldpbo-note"></p>
  </section></div>
<details id="live-native" class="live-native live-keep"><summary>The same with papermill or Python</summary>
  <p>From a checkout of the repository, the settings above are:</p>
  <pre id="live-command" tabindex="0" aria-label="papermill command"></pre><button type="button" id="live-copy-command">Copy papermill command</button>
  <pre id="live-python" tabindex="0" aria-label="Python lines"></pre><button type="button" id="live-copy-python">Copy Python lines</button></details>
<p class="ldpbo-note">Core <code id="live-hash">${LIVE.sha256.slice(0, 12)}</code> (sha256 of ldpbo_core.py). ${source} <a href="${BASE}licences/README.txt">Licences</a> of what is shipped with it.</p>`;
const form = root.querySelector("form");

function tell(text, bad = false) {
  $("status").textContent = text;
  $("status").classList.toggle("live-error", bad);
}
const toSlider = (key, x) => { const r = NUMBERS[key]; return Math.round(1000 * (r.log ? Math.log(x / r.low) / Math.log(r.high / r.low) : (x - r.low) / (r.high - r.low))); };
function fromSlider(key, v) {
  const r = NUMBERS[key], x = r.log ? r.low * (r.high / r.low) ** (v / 1000) : r.low + ((r.high - r.low) * v) / 1000;
  const rounded = Number(x.toPrecision(2));
  return Math.min(r.high, Math.max(r.low, r.whole ? Math.round(x > 100 ? rounded : x) : rounded));
}
/* State -> controls. */
function show() {
  for (const key of Object.keys(NUMBERS)) {
    const value = state[key], none = $(`${key}-none`), shownValue = value === null ? NUMBERS[key].start ?? DEFAULTS[key] : value;
    if (none) none.checked = value === null;
    for (const control of [$(key), $(`${key}-slider`)]) if (control) control.disabled = value === null;
    if (document.activeElement !== $(key) || Number($(key).value) !== value) $(key).value = shownValue;
    const slider = $(`${key}-slider`);
    if (slider) { if (document.activeElement !== slider) slider.value = toSlider(key, shownValue); slider.setAttribute("aria-valuetext", value === null ? NUMBERS[key].none : String(value)); }
    $(key).setCustomValidity("");
  }
  $("problem").value = state.problem;
  $("constants").value = state.constants;
  form.querySelectorAll("[name=alg]").forEach((box) => { box.checked = state.names.includes(box.value); });
  form.querySelector('[data-key="lengthscale"]').hidden = !synthetic(state);
  form.querySelector('[data-key="k"]').hidden = !state.names.includes("MoMA");
  $("drop").hidden = state.problem !== "table";
  $("zoom").checked = state.zoom;
  $("more-text").textContent = [state.constants, `β scale ${state.beta_scale}`, `λ = ${state.lam}`, ...(state.names.includes("MoMA") ? [state.k === null ? "k from T" : `k = ${state.k}`] : [])].join(", ");
  words();
}
let timer = null;
/* A setting changed: the old run stops at once, the new one starts when the hand rests. */
function changed(delay = 120) {
  complain("");
  show();
  writeAddress();
  if (broken) return;
  stop();
  root.dataset.state = "waiting";
  clearTimeout(timer);
  timer = setTimeout(run, delay);
}
const complain = (text) => { $("complaint").textContent = text; };

for (const key of Object.keys(NUMBERS)) {
  $(key).addEventListener("input", () => {
    try { state[key] = checked(key, $(key).value); changed(350); } catch (error) { complain(error.message); $(key).setCustomValidity(error.message); }
  });
  const slider = $(`${key}-slider`), none = $(`${key}-none`);
  if (slider) slider.addEventListener("input", () => { state[key] = fromSlider(key, Number(slider.value)); changed(); });
  if (none) none.addEventListener("change", () => { state[key] = none.checked ? null : NUMBERS[key].start ?? DEFAULTS[key]; changed(0); });
}
for (const key of ["problem", "constants"]) $(key).addEventListener("change", () => { state[key] = $(key).value; changed(0); });
form.querySelectorAll("[name=alg]").forEach((box) => box.addEventListener("change", () => {
  const names = NAMES.filter((n) => form.querySelector(`[name=alg][value="${n}"]`).checked);
  if (!names.length) { box.checked = true; complain("At least one algorithm must stay."); return; }
  state.names = names;
  changed(0);
}));
form.addEventListener("submit", (event) => event.preventDefault());
$("time").addEventListener("input", () => {
  const piece = shown(), i = Number($("time").value);
  state.t = i === piece.inside.length - 1 ? null : piece.inside[i].t;
  writeAddress();
  draw();
});
$("look").addEventListener("change", () => { state.look = $("look").value; writeAddress(); draw(); });
$("trial").addEventListener("change", () => { state.shown = Number($("trial").value); changed(0); });
$("zoom").addEventListener("change", () => { state.zoom = $("zoom").checked; draw(); });
$("stop").addEventListener("click", () => { clearTimeout(timer); stop(); tell("Stopped. Change a setting to run again."); root.dataset.state = "stopped"; });
$("reset").addEventListener("click", () => { state = { ...DEFAULTS, names: [...DEFAULTS.names], look: DEFAULTS.names[0], t: null, zoom: false }; changed(0); });
$("start").addEventListener("click", () => { $("start").hidden = true; startPython(); });
$("share").addEventListener("click", () => copy(location.href.split("#")[0] + toAddress(), $("share")));
$("copy-command").addEventListener("click", () => copy(command(), $("copy-command")));
$("copy-python").addEventListener("click", () => copy(snippet(), $("copy-python")));
root.addEventListener("click", ({ target }) => {
  if (!target.dataset || !target.dataset.save || !result || !first()) return;
  const { save: kind, id } = target.dataset, name = `ldpbo-${id}-${result.settings.problem}`;
  if (kind === "svg") save(`${name}.svg`, "image/svg+xml", svgFile(id)); else save(`${name}.csv`, "text/csv", csvFile(id));
});
async function take(file) {
  if (!file) return;
  try {
    if (file.size > 2e7) throw new Error(`The file is ${(file.size / 1e6).toFixed(0)} MB; at most 20 MB fit here.`);
    table = parseTable(file.name, await file.text());
    $("file-error").textContent = "";
    $("file-note").textContent = `${file.name}: ${table.columns.length} arms, ${table.rows} rows${table.first ? ", first column left out because it holds no numbers" : ""}. It stays on this machine.`;
    changed(0);
  } catch (error) {
    table = null;
    stop();
    $("file-error").textContent = `${file.name}: ${error.message}`;
    $("file-note").textContent = "Or drop a file here. It is read by this page only: nothing leaves your machine.";
    tell("The file was not used; see the message beside it.", true);
    root.dataset.state = "waiting";
  }
}
$("file").addEventListener("change", () => take($("file").files[0]).then(() => { $("file").value = ""; }));
for (const kind of ["dragover", "drop"]) $("drop").addEventListener(kind, (event) => { event.preventDefault(); $("drop").classList.toggle("live-over", kind === "dragover"); if (kind === "drop") take(event.dataTransfer.files[0]); });
$("drop").addEventListener("dragleave", () => $("drop").classList.remove("live-over"));
window.addEventListener("hashchange", () => read());
new ResizeObserver(() => { if (Math.abs($("results").clientWidth - drawn) > 2) draw(); }).observe($("results"));

/* Settings from the address, if it holds any. */
function read() {
  if (!/[#&](problem|eps|T)=/.test(location.hash)) return false;
  const [next, complaints] = fromAddress(location.hash);
  state = next;
  show();
  complain(complaints.length ? `The address has a setting that cannot be used: ${complaints.join(" ")}` : "");
  if (pool.about) { stop(); clearTimeout(timer); run(); }
  return true;
}
const asked = read();
show();
result = { ...LIVE.precomputed, complete: true };
draw();
root.dataset.state = "precomputed";
const patience = asked && JSON.stringify(numeric(state)) !== JSON.stringify(DEFAULTS) ? "The default settings are drawn until then; yours follow." : "The result drawn was computed when the book was built.";
root.ldpbo = { get state() { return state; }, get result() { return result; }, get about() { return pool.about; }, get workers() { return pool.workers.filter((w) => w.ready).length; }, parseTable, csvFile, svgFile, snippet, command, toAddress };
if (navigator.connection && navigator.connection.saveData) { $("start").hidden = false; tell(`Python is not started because this browser saves data. ${patience}`); }
else {
  startPython();
  if (!broken) tell(`${$("status").textContent} ${patience}`);
}
})();

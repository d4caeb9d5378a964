/* The live page: controls, scheduling of the Python workers, and figures (drawn by plot.js). No library, no request to any server.
   Sections: settings · address · own table · workers · figures · words to copy · page. */
(() => {
"use strict";
const root = document.getElementById("ldpbo-live");
if (!root) return;
const BASE = document.currentScript.src.replace(/[^/]*$/, "");
const LIVE = window.LDPBO_LIVE;
if (!LIVE) { root.innerHTML = "<p>The live page was not built: <code>live-data.js</code> is missing. Run <code>make book</code>.</p>"; return; }

// ---------------------------------------------------------------- settings
const { COLORS, STYLE, escape, short, minus, power, margin, axes, path, band, clip, marker, legend, heat, svg } = window.LDPBO_PLOT;
const NAMES = ["TGP", "ATA", "MoMA", "GP-UCB", "PE"];
const LONG = { TGP: "TGP-UCB", ATA: "ATA-GP-UCB", MoMA: "MoMA-GP-UCB", "GP-UCB": "GP-UCB", PE: "elimination (PE)" };
const PROBLEMS = { se: "synthetic, SE kernel", matern: "synthetic, Matérn 5/2 kernel", branin: "Branin’s function in 2-d", light: "light (stand-in data)",
                   stock: "stocks (stand-in data)", table: "your own table" };
const REPORTS = { laplace: "Laplace noise", onebit: "one bit", none: "not private" };
const CONSTANTS = { order: "order: factors of 1", theorem: "theorem: as proved", repaired: "repaired: after the errata" };
const NUMBERS = {   // key -> label, range, scale of the slider; the hint is read out with the label
  eps:         { label: "Privacy ε", low: 0.05, high: 50, log: true },
  T:           { label: "Rounds T", low: 20, high: 20000, log: true, whole: true },
  trials:      { label: "Trials", low: 1, high: 20, whole: true, slider: false },
  seed:        { label: "Seed", low: 0, high: 4294967295, whole: true, slider: false },
  lengthscale: { label: "Length-scale", low: 0.02, high: 2, log: true },
  lam:         { label: "Ridge λ", low: 0.01, high: 100, log: true, none: "1; for PE from the noise", start: 1 },
  beta_scale:  { label: "β ×", low: 0.001, high: 10, log: true },
  k:           { label: "MoMA’s k", low: 1, high: 500, log: true, whole: true, none: "from T and δ", start: 5 },
};
const DEFAULTS = LIVE.precomputed.settings;
const initial = () => ({ ...DEFAULTS, names: [...DEFAULTS.names], look: DEFAULTS.names[0], t: null, zoom: false, index: false });
const PRESETS = {   // what differs from the defaults, and what to look at
  learn: { title: "Watch ε", change: {}, note: "Move ε. At 0.1 the reports are mostly noise and the curves stay near uniform play or above it; at 10 they leave it at once." },
  panel: { title: "A panel of the paper", change: { beta_scale: 1, T: 2000, trials: 3 },
           note: "Panel 3a, a tenth of its rounds, order constants as they stand: the bands stay wider than the function, so the three mostly explore." },
  constants: { title: "Why constants decide", change: { constants: "theorem", beta_scale: 1 },
               note: "At the proved constants TGP and ATA stay on uniform play. Choose “order”, then lower β: same algorithms, same data, another picture." },
  tails: { title: "Heavy tails", change: { eps: null, names: NAMES.filter((n) => n !== "PE") },
           note: "Student-t₃ noise, no privacy: what the three were made for. GP-UCB, which truncates nothing, is ahead all the same; change the seed." },
  table: { title: "Your table", change: { problem: "table" }, note: "Columns are arms, rows are observations. The file is read inside this page and sent nowhere." },
};
const VIEWS = {     // what each view opens with; a setting that the reader changed is kept
  rounds: { title: "Regret by rounds", constants: DEFAULTS.constants, beta_scale: DEFAULTS.beta_scale, curator: DEFAULTS.curator },
  users: { title: "Users needed", constants: "theorem", beta_scale: 1, curator: "onebit" },
};
const PLANE_NOTE = "Maps of truth, estimate, confidence and plays are below the table; move Time to watch them. ATA takes minutes here.";
const USERS_NOTE = "Elimination with 10³ to 10⁹ users, at theorem constants unless you change them: move ε and the curve and the table gain a line.";
const PLANE = { eps: 10, T: 300, trials: 2, names: ["TGP", "MoMA"] };      // what Branin's function opens with: 400 arms take their time
let state = initial();
/* Settings that are still what `from` opened with become those of `to`; what the reader changed stays. */
function reopen(from, to, keys) {
  for (const key of keys) if (JSON.stringify(state[key]) === JSON.stringify(from[key])) state[key] = to[key];
}
const synthetic = (s) => s.problem === "se" || s.problem === "matern";

/* A number inside the allowed range, or a message. */
function checked(key, text) {
  const rule = NUMBERS[key], x = Number(text);
  if (String(text).trim() === "") throw new Error(`${rule.label}: a number from ${rule.low} to ${rule.high} is needed.`);
  if (!Number.isFinite(x)) throw new Error(`${rule.label}: “${text}” is not a number.`);
  if (rule.whole && !Number.isInteger(x)) throw new Error(`${rule.label}: ${text} must be a whole number.`);
  if (x < rule.low || x > rule.high) throw new Error(`${rule.label}: ${text} must be from ${rule.low} to ${rule.high}.`);
  return x;
}

/* The values a slider stops at: ten a decade on a logarithmic scale, so that an arrow key is a step one can see. */
function stops(key) {
  const { low, high, log, whole } = NUMBERS[key], out = [];
  if (!log) return Array.from({ length: high - low + 1 }, (_, i) => low + i);
  for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) for (const m of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) out.push(Number((m * 10 ** e).toPrecision(2)));
  return out.filter((x) => x >= low && x <= high && (!whole || Number.isInteger(x)));
}
const STOPS = Object.fromEntries(Object.keys(NUMBERS).filter((key) => NUMBERS[key].slider !== false).map((key) => [key, stops(key)]));
const nearest = (list, x) => list.reduce((best, v, i) => (Math.abs(v - x) < Math.abs(list[best] - x) ? i : best), 0);

// ---------------------------------------------------------------- address
const KEYS = { view: "view", problem: "problem", eps: "eps", curator: "curator", T: "T", trials: "trials", ls: "lengthscale", lam: "lam", constants: "constants", beta: "beta_scale", k: "k", seed: "seed" };
function toAddress() {
  const parts = Object.entries(KEYS).map(([short, key]) => `${short}=${state[key] === null ? "none" : state[key]}`);
  parts.push(`algs=${state.names.join(",")}`, `look=${state.look}`, `trial=${state.shown + 1}`);
  if (state.t !== null) parts.push(`t=${state.t}`);
  if (state.zoom) parts.push("zoom=1");
  if (state.index) parts.push("index=1");
  if (state.problem === "table" && table) parts.push(`file=${encodeURIComponent(table.name)}`);
  return "#" + parts.join("&");
}
/* Settings from an address; what it does not know or cannot use is named in `complaints`. */
function fromAddress(hash) {
  const next = initial(), complaints = [], words = { view: VIEWS, problem: PROBLEMS, constants: CONSTANTS, curator: { laplace: 1, onebit: 1 } };
  for (const part of hash.replace(/^#/, "").split("&").filter((p) => p.includes("="))) {
    const short = part.slice(0, part.indexOf("=")), key = Object.hasOwn(KEYS, short) ? KEYS[short] : null;
    let raw = part.slice(part.indexOf("=") + 1);
    try { raw = decodeURIComponent(raw); } catch { /* a stray % stays as it is */ }
    try {
      if (key && words[key]) {
        if (!Object.hasOwn(words[key], raw)) throw new Error(`${key}: “${raw}” is unknown.`);
        next[key] = raw;
      } else if (key) next[key] = raw === "none" && (key === "eps" || NUMBERS[key].none) ? null : checked(key, raw);
      else if (short === "algs") {
        next.names = NAMES.filter((n) => raw.split(",").includes(n));
        if (!next.names.length) throw new Error(`algorithms: “${raw}” names none of ${NAMES.join(", ")}.`);
      } else if (short === "look" && NAMES.includes(raw)) next.look = raw;
      else if (short === "trial") next.shown = Math.max(0, Math.round(Number(raw)) - 1) || 0;
      else if (short === "t") next.t = Math.max(0, Math.round(Number(raw))) || 0;
      else if (short === "zoom" || short === "index") next[short] = raw === "1";
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
let table = null;   // what parseTable returns
/* Cells of a CSV text split at `mark`; quotes as in RFC 4180. */
function cells(text, mark) {
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
/* The delimiter: the first of tab, ; and , that cuts every line into equally many cells; else the one that cuts the first line most. */
function delimiter(text) {
  const width = (mark) => { const lines = cells(text, mark); return lines.length && lines.every(({ row }) => row.length === lines[0].row.length) ? lines[0].row.length : 1; };
  const first = text.split(/\r?\n/, 1)[0];
  return ["\t", ";", ","].find((mark) => width(mark) > 1) ?? [",", ";", "\t"].sort((a, b) => first.split(b).length - first.split(a).length)[0];
}
/* A table from CSV text. Errors name row and column as a spreadsheet counts them, the header being row 1.
   A first column without numbers, or one that counts up by 1, is left out; the latter only unless `keep`. */
function parseTable(name, text, keep = false) {
  text = text.replace(/^\uFEFF/, "");
  if (text.includes("\0")) throw new Error("This is not a text file. Save the table as CSV (UTF-8) and choose that file.");
  const mark = delimiter(text), lines = cells(text, mark);
  if (!lines.length) throw new Error("The file is empty.");
  const decimal = mark !== "," && lines.some(({ row }) => row.some((c) => /^[+-]?\d*,\d+(e[+-]?\d+)?$/i.test(c))) && !lines.slice(1).some(({ row }) => row.some((c) => /^[+-]?\d*\.\d+$/.test(c))) ? "," : ".";
  const plain = (c) => (decimal === "," ? c.replace(",", ".") : c), number = (c) => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain(c)) && Number.isFinite(Number(plain(c)));
  if (lines[0].row.length < 2) throw new Error("The file has one column; at least 2 arms are needed. Columns are split at commas, semicolons or tabs.");
  const headed = !lines[0].row.every(number);
  const head = headed ? lines[0].row.map((c, j) => c || `column ${j + 1}`) : lines[0].row.map((_, j) => `column ${j + 1}`);
  const body = headed ? lines.slice(1) : lines;
  const columnName = (j) => `column ${j + 1}${headed ? ` (“${head[j]}”)` : ""}`;
  for (const { row, line } of body)
    if (row.length !== head.length) throw new Error(`Row ${line} has ${row.length} values, ${headed ? "the header" : "the first row"} has ${head.length}.`);
  if (body.length < 3) throw new Error(`The file has ${body.length} rows of numbers; at least 3 are needed.`);
  const labels = body.every(({ row }) => !number(row[0]));
  const counts = !labels && body.every(({ row }, i) => number(row[0]) && Number(plain(row[0])) === Number(plain(body[0].row[0])) + i);
  const first = labels || (counts && !keep) ? 1 : 0;
  if (head.length - first < 2) throw Object.assign(new Error(`The file has ${head.length - first} columns of numbers${first && counts ? " besides one that counts" : ""}; at least 2 arms are needed.`), { counts });
  const columns = head.slice(first), samples = new Float64Array(body.length * columns.length);
  if (columns.length > 200 || samples.length > 400000) throw new Error(`The table has ${body.length} rows and ${columns.length} columns; at most 200 columns and 400,000 numbers fit here. Use the Python lines below.`);
  body.forEach(({ row, line }, i) => columns.forEach((_, j) => {
    const text = row[j + first];
    if (!number(text)) throw new Error(`Row ${line}, ${columnName(j + first)}: ${text === "" ? "the value is missing" : `“${text.slice(0, 40)}” is not a number`}.`);
    samples[i * columns.length + j] = Number(plain(text));
  }));
  columns.forEach((_, j) => {
    if (body.every((_, i) => samples[i * columns.length + j] === samples[j]))
      throw new Error(`${columnName(j + first).replace(/^c/, "C")} is ${samples[j]} in every row from row ${body[0].line} on; an arm that never varies has no correlation with the others.`);
  });
  return { name, text, columns, rows: body.length, samples, first, headed, mark, decimal, counts: counts ? columnName(0) : "" };
}

// ---------------------------------------------------------------- workers
const pool = { workers: [], module: null, about: null, started: false, size: matchMedia("(pointer: coarse)").matches ? 1 : Math.max(1, Math.min(3, navigator.hardwareConcurrency || 1)) };      // one where memory is short
let job = { id: 0 }, result = null, broken = "";
const host = LIVE.runtime.url ? new URL(LIVE.runtime.url).host : "";
function missing() {
  return [["WebAssembly", typeof WebAssembly === "object"], ["web workers", typeof Worker === "function"],
          ["decompression streams", LIVE.runtime.mode === "cdn" || typeof DecompressionStream === "function"]].filter(([, ok]) => !ok).map(([name]) => name);
}
function startPython() {
  if (pool.started) return;
  pool.started = true;
  const lacks = missing();
  if (lacks.length) return giveUp(`This browser cannot run Python in a page (it lacks ${lacks.join(" and ")}).`);
  tell(LIVE.runtime.mode === "cdn" ? `Loading Python from ${host} …` : "Loading Python …");
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
  const files = { "ldpbo_core.py": LIVE.core, ...LIVE.beside, "bridge.py": LIVE.bridge, ...LIVE.data };
  worker.postMessage({ type: "start", cdn: LIVE.runtime.url, pins: LIVE.runtime.pins, assets: window.LDPBO_RUNTIME, module: pool.module, files });
  pool.workers.push(worker);
}
function lost(worker, why) {
  pool.workers = pool.workers.filter((w) => w !== worker);
  worker.terminate();
  if (!pool.workers.length) giveUp(LIVE.runtime.mode === "cdn" ? `Python could not be loaded from ${host} (${why}). Is the network reachable?` : `Python did not start in this browser (${why}).`);
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
  if (m.type === "failed" && m.id === job.id) { stop(); tell(m.text, true); rest("failed"); }
  if (m.type === "progress" && m.id === job.id) {
    job.pieces.push(...m.pieces);
    for (const p of m.pieces) if (!p.error) learnRate(job.settings, p);
    worker.done = m.finished ? 0 : m.done;
    if (m.finished) { job.finished++; worker.trial = null; }
    const share = (job.finished + pool.workers.reduce((sum, w) => sum + (w.trial === null ? 0 : job.part(w.done || 0)), 0)) / job.units;
    $("progress").value = share;
    const spent = (performance.now() - job.begun) / 1000, left = spent * (1 / share - 1);
    $("left").textContent = spent > 3 && left > 3 ? `about ${duration(left)} left` : "";
    if (m.pieces.length) offer();
    if (m.finished) feed(worker);
    if (job.pieces.length === job.expected) finish();
  }
}
/* Trials are dealt to the workers one by one, the shown trial first; in the users view it is the horizons. */
function feed(worker) {
  if (!job.queue || !job.queue.length || !worker.ready) return;
  worker.trial = job.queue.shift();
  worker.done = 0;
  const { settings, samples, columns, id } = job;
  worker.postMessage({ type: "run", id, settings, samples, columns, only: worker.trial });
}
/* Seconds that a run will take: what each algorithm needed here for a round (elimination, which works by batches: for a trial) with as many
   arms. What was not measured yet is guessed: so long at 100 arms, a power of the arms, times how this machine did against the other guesses. */
const rates = {}, GUESS = { TGP: 4e-4, ATA: 2e-3, MoMA: 3e-4, "GP-UCB": 4e-4, PE: 0.15 }, GROWTH = { TGP: 2.2, ATA: 2.6, MoMA: 1.2, "GP-UCB": 1.2, PE: 2.9 };
const armsOf = (s) => ({ se: 100, matern: 100, branin: 400, light: 41, stock: 20 })[s.problem] ?? (table ? table.columns.length : 100);
const guess = (name, n) => GUESS[name] * Math.max(0.5, (n / 100) ** GROWTH[name]);
function learnRate(s, p) {
  const name = s.view === "users" ? "PE" : p.name, units = s.view === "users" ? s.trials : name === "PE" ? 1 : s.T;
  (rates[name] ??= {})[armsOf(s)] = p.seconds / units;
}
function trialSeconds(s, name) {
  const n = armsOf(s), known = Object.entries(rates).flatMap(([name, by]) => Object.entries(by).map(([arms, rate]) => rate / guess(name, Number(arms))));
  return (rates[name]?.[n] ?? (known.length ? average(known) : 1) * guess(name, n)) * (name === "PE" ? 1 : s.T);
}
function estimate(s) {
  if (s.view === "users") return (HORIZONS * s.trials * trialSeconds(s, "PE")) / pool.size;
  return s.names.reduce((sum, name) => sum + trialSeconds(s, name), 0) * Math.ceil(s.trials / pool.size);
}
/* The share of a trial's work that is behind after `done` of its rounds: the algorithms play one after the other, and ATA takes longest. */
function partOf(s) {
  if (s.view === "users") return (done) => done;
  const costs = s.names.map((name) => trialSeconds(s, name)), all = costs.reduce((a, b) => a + b, 0);
  return (done) => costs.reduce((sum, cost, i) => sum + cost * Math.max(0, Math.min(1, done / s.T - i)), 0) / all;
}
const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`);
const LONG_RUN = 30;      // seconds; a longer run waits for its button
const numeric = (s) => Object.fromEntries(Object.keys(DEFAULTS).map((key) => [key, s[key]]));
function run(sure = false) {
  if (broken) return;
  if (!pool.about) { startPython(); return; }
  stop();
  if (state.problem === "table" && !table) {
    if (state.file === EXAMPLE) return $("example").click();
    wipe();
    tell(state.file ? `This link was made with the file ${state.file}. Choose that file to run: a link carries the settings, not the data.` : "Choose a CSV file to run.");
    return rest("waiting");
  }
  const seconds = estimate(state);
  if (seconds > LONG_RUN && !sure) {
    tell(`This run takes about ${duration(seconds)}. Start it with Run, or lower T or the trials.`);
    return rest("asking");
  }
  campaigns = campaigns.filter(whole);      // half a curve of a run that was given up goes
  state.shown = Math.min(state.shown, state.trials - 1);
  const settings = numeric(state), users = settings.view === "users", trials = [...Array(users ? HORIZONS : settings.trials).keys()];
  job = { id: job.id + 1, settings, pieces: [], finished: 0, queue: users ? trials : [settings.shown, ...trials.filter((i) => i !== settings.shown)],
          expected: users ? HORIZONS : trials.length * settings.names.length, units: trials.length, part: partOf(settings), begun: performance.now(),
          samples: state.problem === "table" ? table.samples : null, columns: state.problem === "table" ? table.columns.length : null, table: state.problem === "table" ? table : null };
  pool.workers.forEach((w) => { w.trial = null; feed(w); });
  rest("running");
  $("stop").disabled = false;
  $("progress").parentElement.hidden = false;
  $("progress").value = 0;
  $("left").textContent = "";
  tell(seconds > 5 ? `Running, about ${duration(seconds)} …` : "Running …");
}
/* Nothing runs; Run is offered where there is something to run. */
function rest(state) {
  root.dataset.state = state;
  $("run").hidden = !["asking", "stopped"].includes(state);
}
function stop() {
  pool.workers.forEach((w) => { w.trial = null; w.postMessage({ type: "cancel" }); });
  job = { id: job.id + 1 };
  $("stop").disabled = true;
  $("progress").parentElement.hidden = true;
}
/* Draw the trials that all algorithms have finished, so that means are over the same ones. */
function offer() {
  if (job.settings.view === "users") { remember(job); return draw(); }
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

// ---------------------------------------------------------------- figures
const $ = (id) => document.getElementById("live-" + id);
const put = (id, width, height, out, words) => { $(id).innerHTML = svg(width, height, out, words); };
const FIGURES = ["regret", "posterior", "maps", "reports", "pulls", "users", "needed"];
/* No result: what was drawn belonged to something else. */
function wipe() {
  result = null;
  for (const id of FIGURES) { $(id).innerHTML = ""; $(`${id}-note`).textContent = ""; }
  for (const id of ["table", "users-table"]) $(id).innerHTML = "";
  $("inside").hidden = true;
  $("drawn").hidden = true;
}
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
                        shares: pieces.map((p) => p.regret.at(-1) / (result.settings.T * p.uniform)),
                        best: pieces.reduce((sum, p) => sum + p.pulls[p.best], 0) / (pieces.length * result.settings.T), k: pieces[0].k };
  }
  return out;
}
function summary(settings) {
  if (settings.view === "users") return usersWords(campaigns.find((c) => c.settings === settings) ?? campaigns[0]);
  const c = curves();
  if (!c) return "no algorithm could run with these settings; the table says why.";
  const rows = Object.entries(c.names).map(([name, s]) => `${name} ${short(s.mean.at(-1))}`);
  return `mean regret after ${settings.T} rounds ${rows.join(", ")}; uniform play ${short(c.uniform.at(-1))}.`;
}
const FEW = 6;      // below that many trials each is drawn: an interval from three or four says little
function drawRegret(width) {
  const c = curves();
  if (!c) { $("regret").innerHTML = ""; return; }
  const { T, eps } = result.settings, dash = eps === null ? 'stroke-dasharray="7 4"' : "", names = Object.keys(c.names);
  const items = names.map((name) => ({ text: (eps !== null && name !== "GP-UCB" ? "LDP-" : "") + LONG[name], draw: (x, y) => `<line x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}" stroke="${COLORS[name]}" stroke-width="1.8" ${dash}/>${marker(name, x + 12, y)}` }));
  items.push({ text: "uniform play (expected)", draw: (x, y) => `<line class="uniform" x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}"/>` });
  const key = [], top = legend(items, width, key), height = 250 + top;
  const high = 1.1 * Math.max(c.uniform.at(-1), ...names.map((n) => c.names[n].mean.at(-1)));      // the means set the scale, not the bands
  const a = axes({ width, height, x: [0, T], y: [0, high], xlabel: "round t", ylabel: "cumulative regret", top });
  a.out.push(...key, `<path class="uniform" d="${path([0, T], [0, c.slope * T], a)}"/>`);
  for (const name of names) {
    const s = c.names[name], color = COLORS[name];
    const trials = s.trials < FEW ? piecesOf(name).map((p) => `<path d="${path(c.t, p.regret, a)}" class="trial" stroke="${color}"/>`).join("")
      : `<path d="${band(c.t, s.low.map((v) => Math.max(0, v)), s.high, a)}" class="band" fill="${color}"/>`;
    a.out.push(clip(`live-clip-${name}`, a, trials));
    a.out.push(`<path d="${path(c.t, s.mean, a)}" fill="none" stroke="${color}" stroke-width="1.8" ${dash}/>`);
    for (let j = 1; j <= 5; j++) { const i = Math.round((j / 5) * (c.t.length - 1) * (1 - names.indexOf(name) * 0.02)); a.out.push(marker(name, a.px(c.t[i]), a.py(s.mean[i]))); }
  }
  const now = moment();
  if (now && now.t > 0 && now.t < T) a.out.push(`<line class="now" x1="${a.px(now.t)}" x2="${a.px(now.t)}" y1="${top}" y2="${height - a.bottom}"/>`);
  put("regret", width, height, a.out, `Cumulative regret against rounds. ${summary(result.settings)}`);
  const trials = Math.max(...names.map((n) => c.names[n].trials));
  $("regret-note").textContent = `Mean over ${trials} trial${trials === 1 ? "" : trials < FEW ? "s, each drawn thin" : "s, band: 95 % interval of the mean (Student t)"}; ${result.settings.constants} constants, β × ${result.settings.beta_scale}, λ = ${result.settings.lam ?? (result.settings.names.includes("PE") ? "1 (PE: from the noise)" : 1)}, ${eps === null ? "not private" : `ε = ${eps}, ${REPORTS[result.settings.curator]}`}, seed ${result.settings.seed}.`;
}
function fillTable() {
  const c = curves(), cell = (x) => `<td>${x}</td>`, few = result.settings.trials < FEW, two = (x) => minus(x.toFixed(2));
  const range = (v) => { const [mean, low, high] = interval(v); return v.length < 2 ? two(mean) : `${two(mean)} ${few ? `(${two(Math.min(...v))}–${two(Math.max(...v))})` : `[${two(low)}, ${two(high)}]`}`; };
  const caption = `After ${result.settings.T} rounds${result.settings.trials < 2 ? "" : few ? "; in parentheses the best and the worst trial" : "; in brackets the 95 % interval of the mean"}`;
  const rows = result.settings.names.map((name) => {
    const s = c && c.names[name], error = result.pieces.find((p) => p.name === name && p.error);
    if (error) return `<tr><th scope="row">${name}</th><td colspan="3" class="live-error">${escape(error.error)}</td></tr>`;
    if (!s) return `<tr><th scope="row">${name}</th><td colspan="3">…</td></tr>`;
    return `<tr><th scope="row"><span class="live-dot" style="background:${COLORS[name]}"></span>${name}${s.k && name === "MoMA" ? ` (k = ${s.k})` : ""}</th>${cell(short(s.mean.at(-1), 4))}${cell(range(s.shares))}${cell((100 * s.best).toFixed(1) + " %")}</tr>`;
  });
  if (c) rows.push(`<tr><th scope="row">uniform play</th>${cell(short(c.uniform.at(-1), 4))}${cell("1")}${cell((100 / first().pulls.length).toFixed(1) + " %")}</tr>`);
  $("table").innerHTML = `<caption>${caption}</caption><thead><tr><th scope="col">algorithm</th><th scope="col">regret</th><th scope="col">÷ uniform play</th><th scope="col">plays of the best arm</th></tr></thead><tbody>${rows.join("")}</tbody>`;
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
  const n = first().pulls.length, side = Math.sqrt(n), at = (i) => ((i + 0.5) / side).toFixed(3);
  return Array.from({ length: n }, (_, i) => (problem === "branin" ? `(${at(i % side)}, ${at(Math.floor(i / side))})` : `x = ${((i + 1) / n).toFixed(2)}`));
}
/* Positions of the arms: the points of [0, 1], or ranks by true mean where arms have no order on a line. */
function domain(piece) {
  const n = piece.f.length, ordered = synthetic(result.settings), plane = result.settings.problem === "branin";
  const order = [...Array(n).keys()].sort((i, j) => (ordered ? i - j : piece.f[j] - piece.f[i] || i - j)), x = Array(n);
  order.forEach((arm, rank) => { x[arm] = ordered ? (arm + 1) / n : rank + 1; });
  const names = armNames(), marks = ordered ? null : order.map((i) => ({ at: x[i], text: names[i] }));
  return { ordered, plane, order, x, names, marks, range: ordered ? [0, 1] : [0.3, n + 0.7], xlabel: ordered ? "x" : "arms, best true mean first" };
}
/* Plays of each arm up to round t. */
function playsUntil(piece, t) {
  const plays = Array(piece.f.length).fill(0);
  for (let i = 0; i < t; i++) plays[piece.arms[i]]++;
  return plays;
}
/* The lower figures: one algorithm in one trial at one moment. */
function drawInside(width) {
  const piece = shown(), s = moment();
  $("inside").hidden = !piece;
  if (!piece) return;
  const d = domain(piece), span = Math.max(...piece.f) - Math.min(...piece.f);
  const view = { width, piece, s, d, span, color: COLORS[piece.name], plays: playsUntil(piece, s.t), who: `${piece.name}, trial ${piece.trial + 1}, after ${s.t} of ${result.settings.T} rounds` };
  // Vertical scales cover all times, so that scrubbing does not move them; one left margin, so that the figures line up.
  const all = piece.inside.flatMap((m) => [Math.max(...m.mu.map((v, i) => v + m.beta * m.sigma[i])), Math.min(...m.mu.map((v, i) => v - m.beta * m.sigma[i]))]);
  view.y = state.zoom ? [Math.min(...piece.f) - span * 0.6, Math.max(...piece.f) + span * 0.6] : [Math.min(...all, ...piece.f), Math.max(...all, ...piece.f)];
  const sizes = piece.reports.map(Math.abs).sort((p, q) => p - q), reach = Math.max(sizes[Math.floor(0.99 * (sizes.length - 1))], ...piece.f.map(Math.abs)) * 1.05;
  view.yr = piece.scale === null ? [Math.min(...piece.reports), Math.max(...piece.reports)] : [-reach, reach];
  view.yp = [0, Math.max(1, ...piece.pulls)];
  view.left = Math.max(margin(view.y, 260), margin(view.yr, 240), margin(view.yp, 150));
  for (const id of ["posterior", "pulls"]) $(id).closest("figure").hidden = d.plane;
  $("maps").closest("figure").hidden = !d.plane;
  $("zoom").closest("label").hidden = d.plane;
  if (d.plane) drawMaps(view); else { drawPosterior(view); drawPulls(view); }
  drawReports(view);
  const slider = $("time");
  slider.max = piece.inside.length - 1;
  slider.value = piece.inside.indexOf(s);
  slider.setAttribute("aria-valuetext", `after ${s.t} rounds`);
  $("time-text").textContent = `t = ${s.t}`;
  $("look").innerHTML = result.pieces.filter((p) => p.inside).map((p) => `<option${p === piece ? " selected" : ""}>${p.name}</option>`).join("");
  $("trial").innerHTML = [...Array(result.settings.trials).keys()].map((i) => `<option value="${i}"${i === result.settings.shown ? " selected" : ""}>${i + 1}</option>`).join("");
  $("provenance").textContent = `Data: ${piece.provenance}.`;
}
const truthKey = (d) => ({ text: "true mean f", draw: (x, y) => `<line class="truth" x1="${x + (d.ordered ? 0 : 5)}" x2="${x + (d.ordered ? 24 : 19)}" y1="${y}" y2="${y}"/>` });
const top1 = (values) => values.indexOf(Math.max(...values));
function estimateWords({ piece, s, d, who }) {
  const missed = piece.f.filter((f, i) => Math.abs(f - s.mu[i]) > s.beta * s.sigma[i] + 1e-6).length;
  return `${who}: β = ${short(s.beta)}; the estimate is largest at ${d.names[top1(s.mu)]}, the truth at ${d.names[piece.best]} (f = ${short(piece.f[piece.best])}). The truth is ${missed ? `outside μ ± β σ at ${missed} of the ${piece.f.length} arms` : "inside μ ± β σ at every arm"}.`;
}
function drawPosterior(view) {
  const { width, piece, s, d, color, left } = view, xs = d.order.map((i) => d.x[i]), at = (v) => d.order.map((i) => v[i]);
  const low = s.mu.map((m, i) => m - s.beta * s.sigma[i]), high = s.mu.map((m, i) => m + s.beta * s.sigma[i]);
  const key = [], items = [truthKey(d),
    { text: "estimate μ", draw: (x, y) => (d.ordered ? `<line x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="1.8" stroke-dasharray="6 3"/>` : marker(piece.name, x + 12, y)) },
    { text: "μ ± β σ", draw: (x, y) => `<rect x="${x}" y="${y - 6}" width="24" height="12" class="band" fill="${color}"/>` }];
  const top = legend(items, width, key), a = axes({ width, height: 240 + top, x: d.range, y: view.y, xlabel: d.xlabel, ylabel: "reward", top, marks: d.marks, left });
  const step = a.px(d.x[d.order[1]]) - a.px(d.x[d.order[0]]), inner = [];
  if (d.ordered) inner.push(`<path d="${band(xs, at(low), at(high), a)}" class="band" fill="${color}"/><path d="${path(xs, at(s.mu), a)}" fill="none" stroke="${color}" stroke-width="1.8" stroke-dasharray="6 3"/><path class="truth" d="${path(xs, at(piece.f), a)}"/>`);
  else for (const i of d.order) {
    const x = a.px(d.x[i]), w = Math.max(2, Math.min(14, step * 0.6)), yh = a.py(high[i]), yl = a.py(low[i]);
    inner.push(`<rect x="${x - w / 2}" y="${yh}" width="${w}" height="${Math.max(0, yl - yh)}" class="band" fill="${color}"/>${marker(piece.name, x, a.py(s.mu[i]), Math.min(4, w / 2))}<line class="truth" x1="${x - w / 2}" x2="${x + w / 2}" y1="${a.py(piece.f[i])}" y2="${a.py(piece.f[i])}"/>`);
  }
  a.out.push(...key, clip("live-clip-posterior", a, inner.join("")));
  put("posterior", width, a.height, a.out, `Posterior. ${estimateWords(view)}`);
  $("posterior-note").textContent = estimateWords(view);
}
/* Four maps of the plane; the truth and the estimate share one scale. */
function drawMaps(view) {
  const { width, piece, s, plays, d } = view, side = Math.round(Math.sqrt(piece.f.length)), across = width < 520 ? 2 : 4, gap = 14;
  const size = Math.min(240, (width - gap * (across - 1)) / across - 4), scale = [Math.min(...piece.f, ...s.mu), Math.max(...piece.f, ...s.mu)], width1 = s.sigma.map((v) => s.beta * v);
  const maps = [{ title: "true mean f", values: piece.f, range: scale, rings: [piece.best] }, { title: "estimate μ", values: s.mu, range: scale, rings: [top1(s.mu)] },
                { title: "half-width β σ", values: width1, range: [0, Math.max(...width1)] }, { title: "plays", values: plays, range: [0, Math.max(1, ...plays)] }];
  const out = maps.flatMap((m, k) => heat({ rings: [], ...m, left: 2 + (k % across) * (size + gap), top: Math.floor(k / across) * (size + 62), size, side }));
  const most = top1(plays), words = `${estimateWords(view)} Rings mark both. Most plays: ${d.names[most]}, ${plays[most]} of ${s.t}.`;
  put("maps", width, Math.ceil(4 / across) * (size + 62), out, `Heat maps over the unit square. ${words}`);
  $("maps-note").textContent = words;
}
/* At most 1,500 points, evenly through time; what lies outside the scale sits on its edge. */
function drawReports({ width, piece, s, d, color, left, yr, span, who }) {
  const stride = Math.max(1, Math.ceil(s.t / 1500)), onebit = result.settings.curator === "onebit" && piece.scale !== null;
  const key = [], items = [truthKey(d), { text: piece.scale === null ? "a reward" : "a private report", draw: (x, y) => `<circle cx="${x + 12}" cy="${y}" r="2.4" class="dots" fill="${color}"/>` }];
  if (piece.scale !== null) items.push({ text: "±(B + R)", draw: (x, y) => `<line class="edge" x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}"/>` });
  const top = legend(items, width, key), a = axes({ width, height: 220 + top, x: d.range, y: yr, xlabel: d.xlabel, ylabel: "what the learner sees", top, marks: d.marks, left });
  a.out.push(...key);
  let outside = 0;
  for (let t = 0; t < s.t; t += stride) {
    const r = piece.reports[t], x = a.px(d.x[piece.arms[t]]);
    if (r > yr[1] || r < yr[0]) { outside++; const y0 = a.py(r > 0 ? yr[1] : yr[0]), w = r > 0 ? 5 : -5; a.out.push(`<path d="M${x.toFixed(1)} ${y0}l3 ${w}h-6z" class="dots" fill="${color}"/>`); }
    else a.out.push(`<circle cx="${x.toFixed(1)}" cy="${a.py(r).toFixed(1)}" r="2" class="dots" fill="${color}"/>`);
  }
  if (piece.scale !== null) for (const v of [piece.B + piece.R, -piece.B - piece.R]) a.out.push(`<line class="edge" x1="${a.left}" x2="${width - a.right}" y1="${a.py(v)}" y2="${a.py(v)}"/>`);
  if (d.ordered) a.out.push(`<path class="truth" d="${path(d.order.map((i) => d.x[i]), d.order.map((i) => piece.f[i]), a)}"/>`);
  else for (const i of d.order) a.out.push(`<line class="truth" x1="${a.px(d.x[i]) - (d.plane ? 1 : 5)}" x2="${a.px(d.x[i]) + (d.plane ? 1 : 5)}" y1="${a.py(piece.f[i])}" y2="${a.py(piece.f[i])}"/>`);
  const privacy = piece.scale === null ? "Not private: the learner sees the rewards themselves."
    : onebit ? `Every report is one bit, +s or −s with s = (B+R) coth(ε/2) = ${short(piece.scale)}, while f spans ${short(span)}.`
    : `Every report carries Laplace noise of scale 2(B+R)/ε = ${short(piece.scale)}, while f spans ${short(span)}.`;
  put("reports", width, a.height, a.out, `What the learner saw by arm, ${who}. ${privacy}`);
  $("reports-note").textContent = privacy + (stride > 1 ? ` One in ${stride} is drawn.` : "") + (outside ? ` Outside the scale: ${outside} (triangles).` : "");
}
function drawPulls({ width, piece, s, d, color, left, yp, plays, who }) {
  const n = plays.length, a = axes({ width, height: 150, x: d.range, y: yp, xlabel: d.xlabel, ylabel: "plays", top: 10, marks: d.marks, left });
  const w = Math.max(1.5, Math.abs(a.px(d.x[d.order[1]]) - a.px(d.x[d.order[0]])) * 0.7);
  for (const i of d.order) if (plays[i]) a.out.push(`<rect x="${(a.px(d.x[i]) - w / 2).toFixed(1)}" y="${a.py(plays[i]).toFixed(1)}" width="${w.toFixed(1)}" height="${(a.py(0) - a.py(plays[i])).toFixed(1)}" fill="${color}"${i === piece.best ? "" : ' class="bars"'}/>`);
  if (d.ordered) a.out.push(`<path class="truthdot" d="M${a.px(d.x[piece.best])} ${a.py(0) + 2}l5 8h-10z"/>`);
  const most = top1(plays), words = `${plays.filter(Boolean).length} of ${n} arms played; most often ${d.names[most]}, ${plays[most]} times. The best arm, ${d.names[piece.best]}${d.ordered ? " (triangle)" : ""}: ${plays[piece.best]} times.`;
  put("pulls", width, a.height, a.out, `Plays per arm, ${who}: ${words}`);
  $("pulls-note").textContent = words;
}
/* The second view: relative regret of elimination against the number of users, one curve for each ε tried at the same other settings. */
const HORIZONS = LIVE.precomputed.campaigns[0].pieces.length, LEVELS = [0.5, 0.1, 0.01];
let campaigns = LIVE.precomputed.campaigns;
const sameBut = (s) => JSON.stringify({ ...s, eps: 0, T: 0, names: 0, shown: 0, k: 0 }), average = (v) => v.reduce((a, b) => a + b, 0) / v.length;
function remember({ settings, pieces, table }) {
  const sorted = [...pieces].sort((p, q) => p.T - q.T), same = (c) => c.settings.eps === settings.eps && sameBut(c.settings) === sameBut(settings) && (c.table ?? null) === table;
  if (pieces.length < HORIZONS && campaigns.some((c) => same(c) && whole(c))) return;      // the whole curve stays until there is another
  campaigns = [...campaigns.filter((c) => !same(c)), { settings, pieces: sorted, table }];
}
const whole = (c) => c.pieces.length === HORIZONS;
/* Those to draw: the same settings as now but for ε (null: not private, last). */
const comparable = () => campaigns.filter((c) => sameBut(c.settings) === sameBut(numeric(state)) && (state.problem !== "table" || c.table === table)).sort((p, q) => (p.settings.eps ?? 1e9) - (q.settings.eps ?? 1e9));
const points = (c) => c.pieces.filter((p) => !p.error).map((p) => [p.T, average(p.share)]);
/* Users at which the mean last falls below `level`, between two horizons on log scales; 0: fewer than the first, Infinity: more than the last. */
function needed(c, level) {
  const at = points(c), i = at.findLastIndex(([, y]) => y > level);
  if (!at.length || i === at.length - 1) return Infinity;
  if (i < 0) return 0;
  const [[x0, y0], [x1, y1]] = [at[i], at[i + 1]], u = y1 > 0 ? Math.log(y0 / level) / Math.log(y0 / y1) : 1;
  return x0 * (x1 / x0) ** u;
}
const count = (x, c) => (x === 0 ? `fewer than ${power(c.pieces[0].T)}` : x === Infinity ? `more than ${power(points(c).at(-1)?.[0] ?? c.pieces[0].T)}` : x < 1e4 ? short(x, 2) : `${short(x / 10 ** Math.floor(Math.log10(x)), 2)} · ${power(10 ** Math.floor(Math.log10(x)))}`);
const named = (eps) => (eps === null ? "not private" : `ε = ${eps}`);
const usersWords = (c) => `${named(c.settings.eps)}: relative regret falls below ${LEVELS.map((level) => `${level} at ${count(needed(c, level), c)} users`).join(", ")}.`;
function drawUsers(width) {
  const all = comparable(), now = all.find((c) => c.settings.eps === state.eps);
  $("users-figures").hidden = !all.length;
  if (!all.length) return;
  const lowest = Math.min(0.01, ...all.flatMap((c) => points(c).map(([, y]) => y)).filter((y) => y > 0)), x = [1e3, 1e9], y = [10 ** Math.floor(Math.log10(lowest)), 2], color = COLORS.PE;
  const key = [], items = [{ text: now ? named(state.eps) : "running", draw: (x, y) => `<line x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="2.4"/>${marker("PE", x + 12, y)}` },
    { text: "other ε, thin", draw: (x, y) => `<line x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="1"/>` }, { text: "uniform play (expected)", draw: (x, y) => `<line class="uniform" x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}"/>` }];
  const top = legend(items, width, key), a = axes({ width, height: 260 + top, x, y, xlog: true, ylog: true, xlabel: "users T", ylabel: "regret ÷ uniform play", top });
  a.out.push(...key, `<path class="uniform" d="${path(x, [1, 1], a)}"/>`, ...LEVELS.map((v) => `<path class="edge" d="${path(x, [v, v], a)}"/>`));
  const inner = [];
  for (const c of all) {
    const at = points(c).filter(([, v]) => v > 0), bold = c === now;
    inner.push(`<path d="${path(at.map((p) => p[0]), at.map((p) => p[1]), a)}" fill="none" stroke="${color}" stroke-width="${bold ? 2.4 : 1}"${c.settings.eps === null ? ' stroke-dasharray="7 4"' : ""}/>`);
    if (bold) inner.push(...at.map(([T, v]) => marker("PE", a.px(T), a.py(v))), ...c.pieces.filter((p) => !p.error).flatMap((p) => p.share.filter((v) => v > 0).map((v) => `<circle cx="${a.px(p.T)}" cy="${a.py(v)}" r="1.6" class="dots" fill="${color}"/>`)));
  }
  a.out.push(clip("live-clip-users", a, inner.join("")));
  let last = -Infinity;      // each curve is named below its end, from the lowest ε down, as far as there is room; on a phone there is none
  for (const c of width < 480 ? [] : all) {
    const [T, v] = points(c).at(-1) ?? [], at = T === x[1] && v > 0 ? a.py(v) + 12 : Infinity;
    if (at < last + 13 || at > a.height - a.bottom) continue;
    a.out.push(`<text x="${a.px(T)}" y="${at}" text-anchor="end" class="at-curve">${named(c.settings.eps)}</text>`);
    last = at;
  }
  const error = now && now.pieces.find((p) => p.error);
  const words = (now ? usersWords(now) : "Running.") + (error ? ` ${error.error}.` : "");
  put("users", width, a.height, a.out, `Relative regret of elimination against the number of users. ${words}`);
  const s = numeric(state);
  $("users-note").textContent = `${words} Mean over ${s.trials} trials (dots); ${s.constants} constants, β × ${s.beta_scale}, ${s.eps === null ? "bounded rewards" : REPORTS[s.curator]}, seed ${s.seed}. A horizon is a run of its own.`;
  const private_ = all.filter((c) => c.settings.eps !== null && whole(c)), key2 = [], dash = ["", "6 3", "2 3"];
  const items2 = LEVELS.map((v, k) => ({ text: `below ${v}`, draw: (x, y) => `<line x1="${x}" x2="${x + 24}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="1.8" stroke-dasharray="${dash[k]}"/>` }));
  const top2 = legend(items2, width, key2), b = axes({ width, height: 200 + top2, x: [0.05, 50], y: x, xlog: true, ylog: true, xlabel: "privacy ε", ylabel: "users needed", top: top2 });
  b.out.push(...key2);
  LEVELS.forEach((v, k) => {
    const at = private_.map((c) => [c.settings.eps, needed(c, v)]).filter(([, n]) => n > 0 && n < Infinity);
    b.out.push(`<path d="${path(at.map((p) => p[0]), at.map((p) => p[1]), b)}" fill="none" stroke="${color}" stroke-width="1.8" stroke-dasharray="${dash[k]}"/>`, ...at.map(([e, n]) => marker("PE", b.px(e), b.py(n), e === state.eps ? 5 : 3)));
  });
  put("needed", width, b.height, b.out, `Users needed against ε for relative regret below ${LEVELS.join(", ")}. ${all.map(usersWords).join(" ")}`);
  $("needed-note").textContent = "One mark for each ε tried at these settings; points outside 10³ to 10⁹ users are left out.";
  $("users-table").innerHTML = `<caption>Users needed for a relative regret below</caption><thead><tr><th scope="col">privacy</th>${LEVELS.map((v) => `<th scope="col">${v}</th>`).join("")}</tr></thead><tbody>${all.map((c) => `<tr><th scope="row">${c === now ? "<b>" : ""}${named(c.settings.eps)}${c === now ? "</b>" : ""}</th>${LEVELS.map((v) => `<td>${whole(c) ? count(needed(c, v), c) : "…"}</td>`).join("")}</tr>`).join("")}</tbody>`;
}
let drawn = 0;
function draw() {
  const users = state.view === "users";
  $("drawn").hidden = users || !result;
  $("users-view").hidden = !users;
  if (users) { drawn = Math.max(280, Math.floor($("results").clientWidth)) || 640; return drawUsers(drawn); }
  if (!result || !first()) { if (result) fillTable(); return; }
  const width = Math.max(280, Math.floor($("results").clientWidth)) || 640;
  drawn = width;
  drawRegret(width);
  fillTable();
  drawInside(width);
}

// ---------------------------------------------------------------- words to copy, files to save
const python = (value) => (value === null ? "None" : Array.isArray(value) ? `[${value.map(python).join(", ")}]` : typeof value === "string" ? JSON.stringify(value) : String(value));
/* Lines that make the same problem outside the page: what it imports, and the rest. */
function problemLines(s) {
  const noise = s.eps === null && s.view === "rounds" ? "t3" : "uniform";
  if (synthetic(s)) return [[], [`problem = lambda seed: core.synthetic_problem(kernel="${s.problem}", noise="${noise}", lengthscale=${s.lengthscale}, seed=seed)`]];
  if (s.problem === "branin") return [["import sys"], ['sys.path.append("book/live")      # of the repository', "from bridge import branin_problem", `problem = branin_problem("${noise}", ${s.lengthscale})`]];
  if (s.problem !== "table") return [[], [`problem = core.${s.problem}_problem()`]];
  const t = table ?? { name: "table.csv", mark: ",", decimal: ".", headed: true, first: 0 };
  const read = `core.read_table(${python(t.name)}, delimiter=${python(t.mark)}${t.decimal === "," ? ', decimal=","' : ""}, header=${t.headed ? "True" : "False"})`;
  if (!t.counts || t.first) return [[], [`problem = core.table_problem(${read}.values)`]];
  return [["import numpy as np"], [`table = ${read}`, "first = np.array(*table.left_out.values(), dtype=float)      # it counts, and is kept as an arm",
          "problem = core.table_problem(np.column_stack([first, table.values]))"]];
}
function snippet() {
  const s = state, onebit = s.eps !== null && s.curator === "onebit" ? ", curator=core.OneBit" : "", lam = s.lam === null ? "" : `, lam=${s.lam}`, [imports, lines] = problemLines(s);
  const options = `trials=${s.trials}, seed=${s.seed}, eps=${python(s.eps)}${onebit}${lam},`, constants = `constants="${s.constants}", beta_scale=${s.beta_scale}, k=${python(s.k)})`;
  const run = s.view === "users" ? ["for T in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9):", `    got = core.simulate_batches(problem, T, ${options}`, `                                ${constants}`, "    print(T, (got.regret[:, -1] / (T * got.uniform)).mean())"]
    : [`result = core.simulate(problem, ${python(s.names)}, ${s.T}, ${options}`, `                       ${constants}`, "print(dict(zip(result.records[\"names\"], result.regret[:, :, -1].mean(axis=1))))"];
  return [...imports, "import ldpbo_core as core", "", ...lines, ...run].join("\n");
}
function command() {
  const s = state, value = (v) => (v === null ? "None" : v);
  if (s.problem === "table" || s.problem === "branin") return `# The panel notebook has no parameter for ${PROBLEMS[s.problem]}; use the Python lines below.`;
  if (s.view === "users") return "# The panel notebook plays round by round; for users needed take the Python lines below.";
  if (s.eps !== null && s.curator === "onebit") return "# The panel notebook uses Laplace noise; for one bit a report use the Python lines below.";
  const pairs = [["problem", synthetic(s) ? "synthetic" : s.problem], ...(synthetic(s) ? [["kernel", s.problem], ["lengthscale", s.lengthscale]] : []), ["eps", value(s.eps)],
    ["T", s.T], ["trials", s.trials], ["seed", s.seed], ["lam", s.lam ?? 1], ["constants", s.constants], ["k", value(s.k)]];
  const second = Number((s.beta_scale / 10).toPrecision(6));        // the notebook shows two settings side by side; the first is this one
  return `papermill notebooks/panel.ipynb out.ipynb ${pairs.map(([k, v]) => `-p ${k} ${v}`).join(" ")} -y "names: [${s.names.join(", ")}]" -y "beta_scale: [${s.beta_scale}, ${second}]"`;
}
function words() {
  $("python").textContent = snippet();
  $("command").textContent = command();
  $("copy-command").hidden = command().startsWith("#");      // a remark, not a command
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
const quoted = (x) => (typeof x === "string" && /[",\r\n]/.test(x) ? `"${x.replace(/"/g, '""')}"` : Number.isNaN(x) ? "" : x);
const csv = (columns) => [Object.keys(columns), ...Object.values(columns)[0].map((_, i) => Object.values(columns).map((c) => c[i]))].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
function csvFile(id) {
  if (id === "users") {
    const all = comparable().filter((c) => whole(c) && !c.pieces.some((p) => p.error));
    return csv({ users: all[0].pieces.map((p) => p.T), ...Object.fromEntries(all.map((c) => [named(c.settings.eps), c.pieces.map((p) => average(p.share))])) });
  }
  if (id === "needed") return csv({ eps: comparable().map((c) => c.settings.eps ?? "none"), ...Object.fromEntries(LEVELS.map((v) => [`below ${v}`, comparable().map((c) => needed(c, v) || NaN)])) });
  if (id === "regret") {
    const c = curves(), columns = { t: c.t, uniform: c.uniform };
    for (const [name, s] of Object.entries(c.names)) Object.assign(columns, { [name]: s.mean, [`${name} low`]: s.low, [`${name} high`]: s.high });
    for (const name of Object.keys(c.names)) for (const p of piecesOf(name)) columns[`${name} trial ${p.trial + 1}`] = p.regret;
    return csv(columns);
  }
  const piece = shown(), s = moment(), seen = piece.arms.slice(0, s.t);
  if (id === "reports") return csv({ round: seen.map((_, t) => t + 1), arm: seen, report: piece.reports.slice(0, s.t), f: seen.map((a) => piece.f[a]) });
  return csv({ arm: piece.f.map((_, i) => i), name: armNames(), f: piece.f, mu: s.mu, sigma: s.sigma, low: s.mu.map((m, i) => m - s.beta * s.sigma[i]), high: s.mu.map((m, i) => m + s.beta * s.sigma[i]), plays: playsUntil(piece, s.t) });
}

// ---------------------------------------------------------------- page
function slot(key) {
  const r = NUMBERS[key], id = `live-${key}`;
  return `<div class="live-field" data-key="${key}"><label for="${id}">${r.label}</label>
    ${r.slider === false ? "" : `<input type="range" id="${id}-slider" min="0" max="${STOPS[key].length - 1}" step="1" aria-label="${r.label}, slider">`}
    <input type="number" id="${id}" min="${r.low}" max="${r.high}" step="${r.whole ? 1 : "any"}" inputmode="decimal">
    ${r.none ? `<label class="live-check"><input type="checkbox" id="${id}-none"> ${r.none}</label>` : ""}</div>`;
}
const choice = (id, text, options) => `<div class="live-field" data-key="${id}"><label for="live-${id}">${text}</label><select id="live-${id}">${Object.entries(options).map(([v, t]) => `<option value="${v}">${t}</option>`).join("")}</select></div>`;
const figure = (id, title) => `<figure class="live-figure"><div class="live-title">${title}</div><div id="live-${id}" class="live-svg"></div><figcaption class="ldpbo-note"><span id="live-${id}-note"></span> <span class="live-links"><button type="button" data-save="svg" data-id="${id}" aria-label="Download ${title} as SVG">SVG</button> <button type="button" data-save="csv" data-id="${id}" aria-label="Download ${title} data as CSV">CSV</button></span></figcaption></figure>`;
const EXAMPLE = "data/stocks.csv";      // of the repository, so that the copied lines find it
const FILE_NOTE = "One column per arm, one row per observation. Or drop the file here. It is read by this page only: nothing leaves your machine.";
const source = LIVE.runtime.mode === "cdn"
  ? `This copy of the book was built without npm, so the page loads Pyodide ${LIVE.pyodide} from ${host}: that server sees that you came. To stay offline, run the Python lines at the end of the page on your machine.`
  : `Pyodide ${LIVE.pyodide} comes with the book and runs inside this page, also offline.`;
root.innerHTML = `
<div class="live-presets live-keep" role="group" aria-label="View and presets">${Object.entries(VIEWS).map(([id, v]) => `<button type="button" data-view="${id}" aria-pressed="false">${v.title}</button>`).join("")}<span class="live-gap"></span>${Object.entries(PRESETS).map(([id, p]) => `<button type="button" data-preset="${id}" aria-pressed="false">${p.title}</button>`).join("")}</div>
<p id="live-preset-note" class="ldpbo-note"></p>
<div class="live-grid">
<div class="live-side">
<form class="live-controls" aria-label="Settings" autocomplete="off">
  ${choice("problem", "Problem", PROBLEMS)}
  <div id="live-drop" class="live-drop" hidden><input type="file" id="live-file" class="live-hidden" accept=".csv,.txt,.tsv,text/csv" aria-describedby="live-file-note"><div class="live-buttons"><label for="live-file" class="live-choose" id="live-choose">Choose a CSV file</label> <button type="button" id="live-example">Try an example</button></div>
    <p id="live-file-note">${FILE_NOTE}</p><label class="live-check" id="live-index-line" hidden><input type="checkbox" id="live-index"> use that column as an arm</label><p id="live-file-error" class="live-error" role="alert"></p></div>
  ${slot("lengthscale")}
  <fieldset class="live-names"><legend class="live-hidden">Algorithms</legend>${NAMES.map((n) => `<label class="live-check"><input type="checkbox" name="alg" value="${n}"> <span class="live-dot" style="background:${COLORS[n]}"></span>${n}</label>`).join("")}</fieldset>
  ${choice("curator", "Reports", REPORTS)}${slot("eps")}${slot("T")}
  <div class="live-pair">${slot("trials")}${slot("seed")}</div>
  <details id="live-more"><summary>Constants: <span id="live-more-text"></span></summary>${choice("constants", "Preset", CONSTANTS)}${slot("beta_scale")}${slot("lam")}${slot("k")}</details>
</form>
<div class="live-bar"><div class="live-progress" hidden><progress id="live-progress" max="1" value="0" aria-label="Share of the run that is done"></progress><span id="live-left"></span></div>
  <p id="live-status" role="status" aria-live="polite"></p><p id="live-complaint" class="live-error" role="alert"></p>
  <p class="live-buttons live-keep"><button type="button" id="live-start" hidden>Start Python (12 MB)</button> <button type="button" id="live-run" hidden>Run</button> <button type="button" id="live-stop" disabled>Stop</button> <button type="button" id="live-reset">Reset</button> <button type="button" id="live-share">Copy link</button> <span id="live-said" class="live-hidden" role="status"></span></p></div>
</div>
<div id="live-results">
<div id="live-empty" hidden><p>No table yet. A file may look like this, a column for each arm and a row for each observation:</p>
<pre>north,east,south
3.1,2.4,0.9
2.7,2.9,1.4
3.3,2.2,1.1</pre></div>
<div id="live-users-view" hidden><div id="live-users-figures">${figure("users", "Regret against the number of users")}
  <div class="ldpbo-table live-scroll" tabindex="0" role="region" aria-label="Users needed"><table class="table live-table" id="live-users-table"></table></div>${figure("needed", "Users needed")}</div></div>
<div id="live-drawn">
  ${figure("regret", "Regret")}
  <div class="ldpbo-table live-scroll" tabindex="0" role="region" aria-label="Results"><table class="table live-table" id="live-table"></table></div>
  <section id="live-inside" aria-label="Inside one trial" hidden>
    <div class="live-look live-keep"><div><label for="live-look">Algorithm</label> <select id="live-look"></select></div><div><label for="live-trial">Trial</label> <select id="live-trial"></select></div>
      <div class="live-time"><label for="live-time">Time</label> <input type="range" id="live-time" min="0" max="1" step="1"> <output id="live-time-text" for="live-time"></output></div>
      <label class="live-check"><input type="checkbox" id="live-zoom"> zoom to the truth</label></div>
    ${figure("posterior", "Posterior and confidence band")}${figure("maps", "Truth, estimate, confidence and plays")}${figure("reports", "Reports against the truth")}${figure("pulls", "Plays per arm")}
    <p id="live-provenance" class="ldpbo-note"></p>
  </section></div></div></div>
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
let noted = "";      // the preset whose note is shown
/* State -> controls. */
function show() {
  for (const key of Object.keys(NUMBERS)) {
    const value = state[key], none = $(`${key}-none`), shownValue = value === null ? NUMBERS[key].start ?? DEFAULTS[key] : value;
    if (none) none.checked = value === null;
    for (const control of [$(key), $(`${key}-slider`)]) if (control) control.disabled = value === null || Boolean(broken);
    if (document.activeElement !== $(key) || Number($(key).value) !== value) $(key).value = shownValue;
    const slider = $(`${key}-slider`);
    if (slider) { if (document.activeElement !== slider) slider.value = nearest(STOPS[key], shownValue); slider.setAttribute("aria-valuetext", value === null ? NUMBERS[key].none ?? REPORTS.none : String(value)); }
    $(key).setCustomValidity("");
  }
  for (const key of ["problem", "constants"]) $(key).value = state[key];
  const users = state.view === "users";
  root.querySelectorAll("[data-view]").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.view === state.view)));
  for (const element of [form.querySelector('[data-key="T"]'), form.querySelector(".live-names")]) element.hidden = users;
  $("curator").value = state.eps === null ? "none" : state.curator;
  const preset = Object.keys(PRESETS).find((id) => JSON.stringify(numeric({ ...state, shown: 0 })) === JSON.stringify({ ...DEFAULTS, ...PRESETS[id].change }));
  root.querySelectorAll("[data-preset]").forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.preset === preset)));
  // The note of the last preset stays while its advice is followed, and goes with its problem.
  noted = preset ?? (noted && (PRESETS[noted].change.problem ?? DEFAULTS.problem) === state.problem ? noted : "");
  $("preset-note").textContent = users ? USERS_NOTE : noted ? PRESETS[noted].note : state.problem === "branin" ? PLANE_NOTE : "";
  form.querySelectorAll("[name=alg]").forEach((box) => { box.checked = state.names.includes(box.value); });
  form.querySelector('[data-key="lengthscale"]').hidden = !synthetic(state) && state.problem !== "branin";
  form.querySelector('[data-key="k"]').hidden = users || !state.names.includes("MoMA");
  $("drop").hidden = state.problem !== "table";
  $("empty").hidden = state.problem !== "table" || Boolean(table);
  $("zoom").checked = state.zoom;
  $("more-text").textContent = [state.constants, `β × ${state.beta_scale}`, ...(state.lam === null ? [] : [`λ = ${state.lam}`]), ...(!users && state.names.includes("MoMA") && state.k !== null ? [`k = ${state.k}`] : [])].join(", ");
  words();
  fit();
}
let timer = null;
/* A setting changed: the old run stops at once, the new one starts when the hand rests. */
function changed(delay = 120) {
  complain("");
  show();
  writeAddress();
  if (broken) return;
  stop();
  rest("waiting");
  clearTimeout(timer);
  timer = setTimeout(run, delay);
}
/* Said at once, or only if it is still so when the hand rests: on the way to 150 the field holds 1, which nobody meant. */
let grumble = null;
function complain(text, delay = 0) {
  clearTimeout(grumble);
  if (delay) grumble = setTimeout(() => complain(text), delay);
  else $("complaint").textContent = text;
}

for (const key of Object.keys(NUMBERS)) {
  $(key).addEventListener("input", () => {
    try { state[key] = checked(key, $(key).value); changed(350); } catch (error) { complain(error.message, 700); $(key).setCustomValidity(error.message); }
  });
  const slider = $(`${key}-slider`), none = $(`${key}-none`);
  if (slider) $(key).addEventListener("keydown", (event) => {      // the arrows go where the slider stops, not up by 1
    const up = event.key === "ArrowUp", list = STOPS[key], at = Number($(key).value);
    if (!up && event.key !== "ArrowDown") return;
    event.preventDefault();
    $(key).value = (up ? list.find((v) => v > at) : list.findLast((v) => v < at)) ?? at;
    $(key).dispatchEvent(new Event("input"));
  });
  if (slider) slider.addEventListener("input", () => { state[key] = STOPS[key][Number(slider.value)]; changed(); });
  if (none) none.addEventListener("change", () => { state[key] = none.checked ? null : NUMBERS[key].start ?? DEFAULTS[key]; changed(0); });
}
$("constants").addEventListener("change", () => { state.constants = $("constants").value; changed(0); });
$("problem").addEventListener("change", () => {
  const opening = () => (state.problem === "branin" ? PLANE : DEFAULTS), before = opening();
  state.problem = $("problem").value;
  reopen(before, opening(), Object.keys(PLANE));
  changed(0);
});
$("curator").addEventListener("change", () => {
  const kind = $("curator").value;
  state.eps = kind === "none" ? null : state.eps ?? DEFAULTS.eps;
  if (kind !== "none") state.curator = kind;
  changed(0);
});
root.querySelectorAll("[data-view]").forEach((button) => button.addEventListener("click", () => {
  const from = VIEWS[state.view], to = VIEWS[button.dataset.view];
  reopen(from, to, ["constants", "beta_scale", "curator"]);
  state.view = button.dataset.view;
  draw();
  changed(0);
}));
root.querySelectorAll("[data-preset]").forEach((button) => button.addEventListener("click", () => {
  const { change } = PRESETS[button.dataset.preset];
  state = { ...initial(), ...change };
  draw();
  if (change.constants) $("more").open = true;
  changed(0);
}));
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
$("zoom").addEventListener("change", () => { state.zoom = $("zoom").checked; writeAddress(); draw(); });
$("stop").addEventListener("click", () => { clearTimeout(timer); stop(); tell("Stopped."); rest("stopped"); });
$("run").addEventListener("click", () => run(true));
$("reset").addEventListener("click", () => { state = initial(); draw(); changed(0); });
$("start").addEventListener("click", () => { $("start").hidden = true; startPython(); });
$("share").addEventListener("click", () => copy(location.href.split("#")[0] + toAddress(), $("share")));
$("copy-command").addEventListener("click", () => copy(command(), $("copy-command")));
$("copy-python").addEventListener("click", () => copy(snippet(), $("copy-python")));
root.addEventListener("click", ({ target }) => {
  if (!target.dataset || !target.dataset.save || (state.view === "rounds" && (!result || !first()))) return;
  const { save: kind, id } = target.dataset, name = `ldpbo-${id}-${state.problem}`;
  if (kind === "svg") save(`${name}.svg`, "image/svg+xml", svgFile(id)); else save(`${name}.csv`, "text/csv", csvFile(id));
});
/* A file was chosen, or its index column wanted or not: read it, and run or say what is wrong. */
function use(name, text) {
  try {
    table = parseTable(name, text, state.index);
    $("file-error").textContent = "";
    $("file-note").textContent = `${name}: ${table.columns.length} arms, ${table.rows} rows. ${table.first && !table.counts ? "The first column is left out because it holds no numbers. " : ""}${table.counts ? `${table.counts.replace(/^c/, "C")} counts up by one${table.first ? " and is left out" : ""}. ` : ""}It stays on this machine.`;
    $("choose").textContent = "Another CSV file";
    $("index-line").hidden = !table.counts;
    $("index").checked = state.index;
    changed(0);
  } catch (error) { refuse(name, error.message, error.counts); }
}
/* The file cannot be used: say why, and take away what belonged to the one before. */
function refuse(name, why, counts = "") {
  table = null;
  clearTimeout(timer);
  stop();
  wipe();
  show();
  $("file-error").textContent = `${name}: ${why}`;
  $("file-note").textContent = FILE_NOTE;
  $("index-line").hidden = !counts;
  tell("The file was not used; see the message beside it.", true);
  rest("waiting");
}
let chosen = null;      // {name, text} of the last file, also if it was refused
async function take(file) {
  if (!file) return;
  chosen = null;
  if (file.size > 2e7) return refuse(file.name, `The file has ${(file.size / 1e6).toFixed(0)} MB; at most 20 MB fit here. Use the Python lines below.`);
  try { chosen = { name: file.name, text: await file.text() }; } catch (error) { return refuse(file.name, `The browser could not read it (${error.message}).`); }
  use(chosen.name, chosen.text);
}
$("index").addEventListener("change", () => { state.index = $("index").checked; if (chosen) use(chosen.name, chosen.text); });
$("example").addEventListener("click", () => { chosen = { name: EXAMPLE, text: LIVE.data[EXAMPLE] }; use(chosen.name, chosen.text); });
$("file").addEventListener("click", () => { $("file").value = ""; });      // so that the same file can be read again
$("file").addEventListener("change", () => take($("file").files[0]));
for (const kind of ["dragover", "drop"]) $("drop").addEventListener(kind, (event) => { event.preventDefault(); $("drop").classList.toggle("live-over", kind === "dragover"); if (kind === "drop") take(event.dataTransfer.files[0]); });
$("drop").addEventListener("dragleave", () => $("drop").classList.remove("live-over"));
/* Beside the figures the controls end within the window, scrolled or not: else the status and Run lie below its edge. */
function fit() {
  const side = root.querySelector(".live-side"), beside = getComputedStyle(side).position === "sticky";
  side.style.maxHeight = beside ? `${Math.max(200, innerHeight - Math.max(0, side.getBoundingClientRect().top) - 6)}px` : "";
}
for (const kind of ["scroll", "resize"]) window.addEventListener(kind, fit, { passive: true, capture: true });
$("more").addEventListener("toggle", fit);
window.addEventListener("hashchange", () => read());
new ResizeObserver(() => { if (Math.abs($("results").clientWidth - drawn) > 2) draw(); }).observe($("results"));

/* Settings from the address, if it holds any. */
function read() {
  if (!/[#&](problem|eps|T|view)=/.test(location.hash)) return false;
  const [next, complaints] = fromAddress(location.hash);
  state = next;
  show();
  complain(complaints.length ? `The address has a setting that cannot be used: ${complaints.join(" ")}` : "");
  if (result) draw();
  if (pool.about) { stop(); clearTimeout(timer); run(); }
  return true;
}
const asked = read();
show();
result = { settings: DEFAULTS, pieces: LIVE.precomputed.pieces, complete: true };
draw();
root.dataset.state = "precomputed";
const patience = asked && JSON.stringify(numeric(state)) !== JSON.stringify(DEFAULTS) ? "The default settings are drawn until then; yours follow." : "The result drawn was computed when the book was built.";
root.ldpbo = { get state() { return state; }, get result() { return result; }, get campaigns() { return campaigns; }, needed, get about() { return pool.about; }, get workers() { return pool.workers.filter((w) => w.ready).length; }, stops: STOPS, estimate, parseTable, csvFile, svgFile, snippet, command, toAddress };
if (navigator.connection && navigator.connection.saveData) { $("start").hidden = false; tell(`Python is not started because this browser saves data. ${patience}`); }
else {
  startPython();
  if (!broken) tell(`${$("status").textContent} ${patience}`);
}
})();

/* The live page: scheduling of the Python workers, and what is shown when. No library, no request
   to any server. Beside it: settings.js, page.js (its elements), table.js (reads a file),
   results.js (computes), figures.js and plot.js (draw), snippets.js (lines to copy), worker.js
   (runs Python).
   Sections: state · workers · time · runs · results on the page · copies and files · state to
   controls · controls · own table · beginning. */
(() => {
  "use strict";
  const root = document.getElementById("ldpbo-live");
  if (!root) return;
  const BASE = document.currentScript.src.replace(/[^/]*$/, "");
  const LIVE = window.LDPBO_LIVE;
  if (!LIVE) {
    root.innerHTML =
      "<p>The live page was not built: <code>live-data.js</code> is missing. " +
      "Run <code>make book</code>.</p>";
    return;
  }
  const { STYLE, svg } = window.LDPBO_PLOT;
  const { parseTable } = window.LDPBO_TABLE;
  const RESULTS = window.LDPBO_RESULTS;
  const FIGURES = window.LDPBO_FIGURES;
  const SETTINGS = window.LDPBO_SETTINGS;
  const SNIPPETS = window.LDPBO_SNIPPETS;
  const { pageHtml, host, FILE_NOTE } = window.LDPBO_PAGE;
  const { DEFAULTS, NAMES, NUMBERS, PROBLEMS, STOPS, PRESETS, VIEWS, PLANE } = SETTINGS;
  const { initial, numeric, same, checked } = SETTINGS;
  const { REPORTS, epsName, plain } = FIGURES;
  const { sum, average, firstPiece, synthetic, needed, linesOf } = RESULTS;
  const $ = (id) => document.getElementById("live-" + id);

  // ---------------------------------------------------------------- state
  root.innerHTML = pageHtml(BASE);
  const form = root.querySelector("form");
  let state = initial();
  let table = null; // the reader's own, as parseTable returned it
  let job = { id: 0 };
  let result = null;
  let campaigns = LIVE.precomputed.campaigns; // of the users view, one for each ε tried

  const snippet = () => SNIPPETS.snippet(state, table);
  const command = () => SNIPPETS.command(state);
  const toAddress = () => SETTINGS.toAddress(state, table?.name);
  function writeAddress() {
    try {
      history.replaceState(null, "", toAddress());
    } catch {
      location.hash = toAddress();
    }
  }

  // ---------------------------------------------------------------- workers
  const coarse = matchMedia("(pointer: coarse)").matches; // a phone, where memory is short
  const cores = navigator.hardwareConcurrency || 1;
  const pool = {
    workers: [],
    module: null,
    about: null,
    started: false,
    size: coarse ? 1 : Math.max(1, Math.min(3, cores)),
  };
  const CDN = LIVE.runtime.mode === "cdn";
  let broken = ""; // why Python cannot run here

  /* What this browser lacks. */
  function missing() {
    const needs = {
      WebAssembly: typeof WebAssembly === "object",
      "web workers": typeof Worker === "function",
      "decompression streams": CDN || typeof DecompressionStream === "function",
    };
    return Object.keys(needs).filter((name) => !needs[name]);
  }
  function startPython() {
    if (pool.started) return;
    pool.started = true;
    const lacks = missing().join(" and ");
    if (lacks) return giveUp(`This browser cannot run Python in a page (it lacks ${lacks}).`);
    tell(CDN ? `Loading Python from ${host} …` : "Loading Python …");
    if (CDN) return addWorker();
    const script = document.createElement("script");
    script.src = BASE + LIVE.runtime.file;
    script.onload = addWorker;
    script.onerror = () => giveUp(`The file ${LIVE.runtime.file} could not be loaded.`);
    document.head.append(script);
  }
  function addWorker() {
    let worker;
    try {
      const program = new Blob([LIVE.worker], { type: "text/javascript" });
      worker = new Worker(URL.createObjectURL(program));
    } catch (error) {
      return giveUp(`This browser does not allow a worker here (${error.message}).`);
    }
    worker.onmessage = ({ data }) => heard(worker, data);
    worker.onerror = (event) => {
      if (!worker.ready) lost(worker, event.message || "the worker stopped");
    };
    const programs = { "ldpbo_core.py": LIVE.core, ...LIVE.beside, "bridge.py": LIVE.bridge };
    worker.postMessage({
      type: "start",
      cdn: LIVE.runtime.url,
      pins: LIVE.runtime.pins,
      assets: window.LDPBO_RUNTIME,
      module: pool.module,
      files: { ...programs, ...LIVE.data },
    });
    worker.growing = []; // pieces of curves that it has not ended
    pool.workers.push(worker);
  }
  function lost(worker, why) {
    pool.workers = pool.workers.filter((w) => w !== worker);
    worker.terminate();
    if (pool.workers.length) return;
    if (CDN) giveUp(`Python could not be loaded from ${host} (${why}). Is the network reachable?`);
    else giveUp(`Python did not start in this browser (${why}).`);
  }
  function giveUp(why) {
    broken = `${why} What is drawn was computed when the book was built, at the default settings.`;
    tell(broken, true);
    for (const control of form.querySelectorAll("input, select"))
      if (!control.closest(".live-keep")) control.disabled = true;
    $("native").open = true;
    root.dataset.state = "broken";
  }
  /* A message from a worker; those about a run that was given up are not for us. */
  function heard(worker, message) {
    const { type, text } = message;
    const current = message.id === job.id;
    if (type === "stage" && !pool.about) tell(`${text[0].toUpperCase()}${text.slice(1)} …`);
    else if (type === "module") pool.module = message.module;
    else if (type === "ready") ready(worker, message);
    else if (type === "failed" && !worker.ready) lost(worker, text);
    else if (type === "failed" && current) fail(text);
    else if (type === "progress" && current) proceed(worker, message);
  }
  function ready(worker, message) {
    worker.ready = true;
    if (pool.about) return feed(worker);
    pool.about = message;
    root.dataset.ready = (performance.now() / 1000).toFixed(3);
    run();
  }
  function fail(text) {
    stop();
    tell(text, true);
    rest("failed");
  }
  /* Trials are dealt to the workers one by one, the shown trial first; in the users view it is the
     horizons. */
  function feed(worker) {
    if (!job.queue || !job.queue.length || !worker.ready) return;
    worker.trial = job.queue.shift();
    worker.done = 0;
    const { settings, samples, columns, id } = job;
    worker.postMessage({ type: "run", id, settings, samples, columns, only: worker.trial });
  }
  /* A worker got on with its trial. */
  function proceed(worker, { pieces, growing, done, finished }) {
    job.pieces.push(...pieces);
    for (const piece of pieces) if (!piece.error) learnRate(job.settings, piece);
    worker.done = finished ? 0 : done;
    const ended = (p) => job.pieces.some((q) => q.trial === p.trial && q.line === p.line);
    worker.growing = (growing ?? worker.growing).filter((p) => !ended(p));
    if (finished) {
      job.finished++;
      worker.trial = null;
    }
    showProgress();
    offer(pieces.length > 0);
    if (finished) feed(worker);
    if (job.pieces.length === job.expected) finish();
  }
  function showProgress() {
    const parts = pool.workers.map((w) => (w.trial === null ? 0 : job.part(w.done || 0)));
    const share = (job.finished + sum(parts)) / job.units;
    const spent = (performance.now() - job.begun) / 1000;
    const left = spent * (1 / share - 1);
    $("progress").value = share;
    $("left").textContent = spent > 3 && left > 3 ? `about ${duration(left)} left` : "";
  }

  // ---------------------------------------------------------------- time
  /* Seconds that a run will take: what each algorithm needed here for a round (elimination, which
     works by batches: for a trial) with as many arms. What was not measured yet is guessed: so long
     at 100 arms, a power of the arms, times how this machine did against the other guesses. */
  const rates = {}; // rates[name][arms]
  const GUESS = { TGP: 4e-4, ATA: 2e-3, MoMA: 3e-4, "GP-UCB": 4e-4, PE: 0.15 };
  const GROWTH = { TGP: 2.2, ATA: 2.6, MoMA: 1.2, "GP-UCB": 1.2, PE: 2.9 };
  const ARMS = { se: 100, matern: 100, branin: 400, light: 41, stock: 20 };
  const armsOf = (s) => ARMS[s.problem] ?? (table ? table.columns.length : 100);
  const guess = (name, n) => GUESS[name] * Math.max(0.5, (n / 100) ** GROWTH[name]);

  function learnRate(s, piece) {
    const users = s.view === "users";
    const name = users ? "PE" : piece.name;
    let units = name === "PE" ? 1 : s.T;
    if (users) units = s.trials;
    // A long horizon takes longer than a short one: the mean of those that were run.
    const measured = users ? job.pieces.filter((p) => !p.error) : [piece];
    rates[name] ??= {};
    rates[name][armsOf(s)] = average(measured.map((p) => p.seconds)) / units;
  }
  /* How this machine did against the guesses. */
  function slowness() {
    const known = Object.entries(rates).flatMap(([name, by]) =>
      Object.entries(by).map(([arms, rate]) => rate / guess(name, Number(arms))),
    );
    return known.length ? average(known) : 1;
  }
  function trialSeconds(s, name) {
    const n = armsOf(s);
    const rate = rates[name]?.[n] ?? slowness() * guess(name, n);
    return rate * (name === "PE" ? 1 : s.T);
  }
  /* Workers that could begin now: before the first own run is done there is one. */
  const atWork = () => Math.max(1, pool.workers.filter((w) => w.ready).length);
  function estimate(s) {
    if (s.view === "users") return (HORIZONS * s.trials * trialSeconds(s, "PE")) / atWork();
    const trial = sum(linesOf(s).map(({ name }) => trialSeconds(s, name)));
    return trial * Math.ceil(s.trials / atWork());
  }
  /* The share of a trial's work that is behind after `done` of its rounds. */
  function partOf(s) {
    if (s.view === "users") return (done) => done;
    return (done) => done / (s.T * linesOf(s).length);
  }
  function duration(seconds) {
    if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
    if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
    return `${Math.round(seconds / 3600)} h`;
  }

  // ---------------------------------------------------------------- runs
  const LONG_RUN = 30; // seconds; a longer run waits for its button
  const HORIZONS = LIVE.precomputed.campaigns[0].pieces.length;
  function run(sure = false) {
    if (broken) return;
    if (!pool.started) return askForPython();
    if (!pool.about) return; // it runs as soon as it can
    stop();
    if (state.problem === "table" && !table) return askForTable();
    const seconds = estimate(state);
    if (seconds > LONG_RUN && !sure) {
      const time = duration(seconds);
      tell(`This run takes about ${time}. Start it with Run, or lower T or the trials.`);
      return rest("asking");
    }
    campaigns = campaigns.filter(whole); // half a curve of a run that was given up goes
    state.shown = Math.min(state.shown, state.trials - 1);
    job = newJob(numeric(state));
    for (const worker of pool.workers) {
      worker.trial = null;
      worker.growing = [];
      feed(worker);
    }
    rest("running");
    $("stop").disabled = false;
    $("progress").parentElement.hidden = false;
    $("progress").value = 0;
    $("left").textContent = "";
    tell(seconds > 5 ? `Running, about ${duration(seconds)} …` : "Running …");
  }
  /* Nothing was loaded yet, because a network is paid for or a stranger would be asked. */
  function askForPython() {
    $("start").hidden = false;
    const why = CDN
      ? `This copy of the book has no Python of its own: Start loads 12 MB from ${host}.`
      : "Python is not started because this browser saves data.";
    tell(`${why} ${patience}`);
    rest("waiting");
  }
  function askForTable() {
    if (state.file === EXAMPLE) return $("example").click();
    wipe();
    const link =
      `This link was made with the file ${state.file}. Choose that file to run: ` +
      "a link carries the settings, not the data.";
    tell(state.file ? link : "Choose a CSV file to run.");
    rest("waiting");
  }
  /* Trials, or horizons in the users view, that wait to be dealt. */
  function newJob(settings) {
    const users = settings.view === "users";
    const units = users ? HORIZONS : settings.trials;
    const all = [...Array(units).keys()];
    const own = settings.problem === "table" ? table : null;
    return {
      id: job.id + 1,
      settings,
      pieces: [],
      finished: 0,
      queue: users ? all : [settings.shown, ...all.filter((i) => i !== settings.shown)],
      expected: users ? HORIZONS : units * linesOf(settings).length,
      units,
      part: partOf(settings),
      begun: performance.now(),
      samples: own && own.samples,
      columns: own && own.columns.length,
      table: own,
    };
  }
  /* Nothing runs; Run is offered where there is something to run. */
  function rest(state) {
    root.dataset.state = state;
    $("run").hidden = !["asking", "stopped"].includes(state);
  }
  function stop() {
    for (const worker of pool.workers) {
      worker.trial = null;
      worker.postMessage({ type: "cancel" });
    }
    job = { id: job.id + 1 };
    $("stop").disabled = true;
    $("progress").parentElement.hidden = true;
  }
  /* Draw what there is: the trials that all curves have finished, so that means are over the same
     ones, or the shown trial while it grows. News are drawn at once, growth now and then. */
  const FRAME = 120; // milliseconds between two drawings of curves that grow
  let offered = 0;
  function offer(news) {
    const { settings, pieces, expected } = job;
    const now = performance.now();
    if (!news && now - offered < FRAME) return;
    offered = now;
    if (settings.view === "users") {
      if (news) remember(job);
      return news && draw();
    }
    const lines = linesOf(settings);
    const place = (p) => lines.findIndex(({ line }) => line === p.line);
    const complete = (p) => pieces.filter((q) => q.trial === p.trial).length === lines.length;
    const order = (p, q) => p.trial - q.trial || place(p) - place(q);
    const growing = pool.workers.flatMap((worker) => worker.growing);
    let drawable = pieces.filter(complete);
    const ofShown = (p) => p.trial === settings.shown;
    if (!drawable.some(ofShown)) drawable = [...pieces, ...growing].filter(ofShown);
    if (drawable.length < lines.length) return;
    const done = pieces.length === expected;
    const others = growing.filter((p) => !drawable.includes(p));
    const found = { pieces: drawable.sort(order), growing: done ? [] : others };
    result = { settings, ...found, table: job.table, complete: done };
    root.dataset.drawn ??= (now / 1000).toFixed(3);
    draw();
  }
  function finish() {
    const { settings, begun } = job;
    const seconds = (performance.now() - begun) / 1000;
    const runs = Number(root.dataset.runs || 0) + 1;
    offer(true);
    stop();
    Object.assign(root.dataset, { state: "done", runs, seconds: seconds.toFixed(3) });
    if (runs === 1) root.dataset.first = (performance.now() / 1000).toFixed(3);
    tell(`Done in ${seconds.toFixed(1)} s: ${summary(settings)}`);
    if (runs === 1 && pool.workers.every((w) => w.ready))
      while (pool.workers.length < pool.size) addWorker();
  }
  function summary(settings) {
    if (settings.view !== "users") return FIGURES.regretWords(result);
    return FIGURES.usersWords(campaigns.find((c) => c.settings === settings) ?? campaigns[0]);
  }

  /* Campaigns are compared if all that matters to elimination but ε is the same. */
  const sameBut = (s) => JSON.stringify({ ...s, eps: 0, T: 0, names: 0, shown: 0, k: 0 });
  const whole = (c) => c.pieces.length === HORIZONS;
  function remember({ settings, pieces, table }) {
    const again = (c) =>
      c.settings.eps === settings.eps &&
      sameBut(c.settings) === sameBut(settings) &&
      (c.table ?? null) === table;
    // The whole curve stays until there is another.
    if (pieces.length < HORIZONS && campaigns.some((c) => again(c) && whole(c))) return;
    const sorted = [...pieces].sort((p, q) => p.T - q.T);
    campaigns = [...campaigns.filter((c) => !again(c)), { settings, pieces: sorted, table }];
  }
  /* Those to draw: the same settings as now but for ε (null: not private, last). */
  function comparable() {
    const now = sameBut(numeric(state));
    const own = (c) => state.problem !== "table" || c.table === table;
    const eps = (c) => c.settings.eps ?? 1e9;
    const found = campaigns.filter((c) => sameBut(c.settings) === now && own(c));
    return found.sort((p, q) => eps(p) - eps(q));
  }

  // ---------------------------------------------------------------- results on the page
  const FIGURE_IDS = ["regret", "posterior", "maps", "reports", "pulls", "users", "needed"];
  let drawn = 0; // the width of what is drawn
  function put(id, { width, height, out, label, note }) {
    $(id).innerHTML = svg(width, height, out, label);
    $(`${id}-note`).textContent = note;
  }
  /* No result: what was drawn belonged to something else. */
  function wipe() {
    result = null;
    for (const id of FIGURE_IDS) {
      $(id).innerHTML = "";
      $(`${id}-note`).textContent = "";
    }
    for (const id of ["table", "users-table"]) $(id).innerHTML = "";
    $("inside").hidden = true;
    $("drawn").hidden = true;
  }
  function draw() {
    const users = state.view === "users";
    $("drawn").hidden = users || !result;
    $("users-view").hidden = !users;
    if (!users && !result) return;
    if (!users) $("table").innerHTML = FIGURES.regretTable(result);
    if (!users && !firstPiece(result)) return;
    drawn = Math.max(280, Math.floor($("results").clientWidth)) || 640;
    if (users) return drawUsers(drawn);
    const [, moment] = shown();
    put("regret", FIGURES.regretFigure(result, drawn, moment?.t));
    drawInside(drawn);
  }
  /* The piece that the lower figures show, and its snapshot at the chosen time. */
  function shown() {
    const piece = RESULTS.shownPiece(result, state.look);
    return piece ? [piece, RESULTS.snapshotAt(piece, state.t)] : [];
  }
  /* The lower figures: one algorithm in one trial at one moment. */
  function drawInside(width) {
    const [piece, moment] = shown();
    $("inside").hidden = !piece;
    if (!piece) return;
    const domain = RESULTS.domain(result, piece);
    const { zoom } = state;
    const rival = RESULTS.rivalOf(result, piece, moment.t);
    const view = FIGURES.insideView({ result, piece, moment, rival, domain, zoom, width });
    for (const id of ["posterior", "pulls"]) $(id).closest("figure").hidden = domain.plane;
    $("maps").closest("figure").hidden = !domain.plane;
    $("zoom").closest("label").hidden = domain.plane;
    if (domain.plane) put("maps", FIGURES.mapsFigure(view));
    else {
      put("posterior", FIGURES.posteriorFigure(view));
      put("pulls", FIGURES.pullsFigure(view));
    }
    put("reports", FIGURES.reportsFigure(view));
    showChoices(piece, moment);
    const made = `${PROBLEMS[result.settings.problem]}, data seed of this trial`;
    const data = piece.provenance.replace(/^synthetic, \w+ kernel, seed/, made);
    $("provenance").textContent = `Data: ${data}.`;
  }
  /* Time, algorithm and trial above the lower figures. */
  function showChoices(piece, moment) {
    const slider = $("time");
    slider.max = piece.inside.length - 1;
    slider.value = piece.inside.indexOf(moment);
    slider.setAttribute("aria-valuetext", `after ${moment.t} rounds`);
    $("time-text").textContent = `t = ${moment.t}`;
    const option = (value, text, chosen) =>
      `<option value="${value}"${chosen ? " selected" : ""}>${text}</option>`;
    const pieces = result.pieces.filter((p) => p.inside);
    $("look").innerHTML = pieces
      .map((p) => option(p.line, plain(p.line), p === piece))
      .join("");
    const trials = [...Array(result.settings.trials).keys()];
    const trial = (i) => option(i, i + 1, i === result.settings.shown);
    $("trial").innerHTML = trials.map(trial).join("");
  }
  /* The second view: a curve for each ε tried at the same other settings. */
  function drawUsers(width) {
    const all = comparable();
    const now = all.find((c) => c.settings.eps === state.eps);
    $("users-figures").hidden = !all.length;
    if (!all.length) return;
    put("users", FIGURES.usersFigure(all, now, numeric(state), width));
    put("needed", FIGURES.neededFigure(all, whole, state.eps, width));
    $("users-table").innerHTML = FIGURES.usersTable(all, now, whole, state.day);
  }

  // ---------------------------------------------------------------- copies and files
  async function copy(text, button) {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    button.dataset.label ||= button.textContent;
    button.textContent = done ? "Copied" : "Could not copy";
    $("said").textContent = done ? "Copied to the clipboard." : "The browser refused to copy.";
    setTimeout(() => {
      button.textContent = button.dataset.label;
    }, 1500);
  }
  function save(name, type, text) {
    const href = URL.createObjectURL(new Blob([text], { type }));
    const link = Object.assign(document.createElement("a"), { download: name, href });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(href), 10000);
  }
  /* The figure as a file of its own: white ground, colours of the light theme instead of the
     theme's variables. */
  function svgFile(id) {
    const figure = $(id).querySelector("svg").cloneNode(true);
    const { width, height } = figure.viewBox.baseVal;
    const style = figure.querySelector("style");
    style.textContent = STYLE.replace(/var\([^,]+,\s*([^)]+)\)/g, "$1");
    const ground = `<rect width="${width}" height="${height}" fill="#ffffff"/>`;
    style.insertAdjacentHTML("afterend", ground);
    const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
    return head + new XMLSerializer().serializeToString(figure) + "\n";
  }
  function csvFile(id) {
    if (id === "users") {
      const finished = comparable().filter((c) => whole(c) && !c.pieces.some((p) => p.error));
      return RESULTS.usersCsv(finished, (c) => epsName(c.settings.eps));
    }
    if (id === "needed") return RESULTS.neededCsv(comparable());
    if (id === "regret") return RESULTS.regretCsv(result);
    const [piece, moment] = shown();
    if (id === "reports") return RESULTS.reportsCsv(piece, moment);
    return RESULTS.armsCsv(result, piece, moment);
  }

  // ---------------------------------------------------------------- state to controls
  function tell(text, bad = false) {
    $("status").textContent = text;
    $("status").classList.toggle("live-error", bad);
  }
  function showLines() {
    $("python").textContent = snippet();
    $("command").textContent = command();
    $("copy-command").hidden = command().startsWith("#"); // a remark, not a command
  }
  function show() {
    for (const key of Object.keys(NUMBERS)) showNumber(key);
    for (const key of ["problem", "constants"]) $(key).value = state[key];
    $("curator").value = state.eps === null ? "none" : state.curator;
    for (const box of form.querySelectorAll("[name=alg]"))
      box.checked = state.names.includes(box.value);
    $("zoom").checked = state.zoom;
    showPresets();
    showWhatApplies();
    showLines();
    fit();
  }
  function showNumber(key) {
    const value = state[key];
    const { none, start } = NUMBERS[key];
    const visible = value === null ? (start ?? DEFAULTS[key]) : value;
    const [field, slider, box] = [$(key), $(`${key}-slider`), $(`${key}-none`)];
    if (box) box.checked = value === null;
    for (const control of [field, slider])
      if (control) control.disabled = value === null || Boolean(broken);
    if (document.activeElement !== field || Number(field.value) !== value) field.value = visible;
    if (slider) {
      if (document.activeElement !== slider) slider.value = SETTINGS.nearest(STOPS[key], visible);
      const words = value === null ? (none ?? REPORTS.none) : String(value);
      slider.setAttribute("aria-valuetext", words);
    }
    field.setCustomValidity("");
  }
  let noted = ""; // the preset whose note is shown
  /* The note of the last preset stays while its advice is followed, and goes with its problem. */
  function showPresets() {
    const now = numeric({ ...state, shown: DEFAULTS.shown });
    const preset = Object.keys(PRESETS).find((id) =>
      same(now, { ...DEFAULTS, ...PRESETS[id].change }),
    );
    const pressed = (button, yes) => button.setAttribute("aria-pressed", String(yes));
    for (const button of root.querySelectorAll("[data-view]"))
      pressed(button, button.dataset.view === state.view);
    for (const button of root.querySelectorAll("[data-preset]"))
      pressed(button, button.dataset.preset === preset);
    const about = noted && (PRESETS[noted].change.problem ?? DEFAULTS.problem);
    if (preset) noted = preset;
    else if (about !== state.problem) noted = "";
    let note = state.problem === "branin" ? SETTINGS.PLANE_NOTE : "";
    if (noted) note = PRESETS[noted].note;
    if (state.view === "users") note = SETTINGS.USERS_NOTE;
    $("preset-note").textContent = note;
  }
  /* Controls that mean nothing at these settings are hidden. */
  function showWhatApplies() {
    const users = state.view === "users";
    const moma = !users && state.names.includes("MoMA");
    const field = (key) => form.querySelector(`[data-key="${key}"]`);
    field("T").hidden = users;
    field("day").hidden = !users;
    $("curator").querySelector("[value=both]").hidden = users;
    form.querySelector(".live-names").hidden = users;
    field("lengthscale").hidden = !synthetic(state) && state.problem !== "branin";
    field("k").hidden = !moma;
    $("drop").hidden = state.problem !== "table";
    $("empty").hidden = state.problem !== "table" || Boolean(table);
    const constants = [state.constants, `β × ${state.beta_scale}`];
    if (state.lam !== null) constants.push(`λ = ${state.lam}`);
    if (moma && state.k !== null) constants.push(`k = ${state.k}`);
    $("more-text").textContent = constants.join(", ");
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
  let grumble = null;
  /* Said at once, or only if it is still so when the hand rests: on the way to 150 the field holds
     1, which nobody meant. */
  function complain(text, delay = 0) {
    clearTimeout(grumble);
    if (delay) grumble = setTimeout(() => complain(text), delay);
    else $("complaint").textContent = text;
  }
  /* Beside the figures the controls end within the window, scrolled or not: else the status and Run
     lie below its edge. */
  function fit() {
    const side = root.querySelector(".live-side");
    const sticky = getComputedStyle(side).position === "sticky";
    const top = Math.max(0, side.getBoundingClientRect().top);
    side.style.maxHeight = sticky ? `${Math.max(200, innerHeight - top - 6)}px` : "";
  }

  // ---------------------------------------------------------------- controls
  const on = (id, kind, action) => $(id).addEventListener(kind, action);
  function onClick(selector, action) {
    for (const button of root.querySelectorAll(selector))
      button.addEventListener("click", () => action(button.dataset));
  }
  /* A number changed. Users a day change what is said of a result, not the result. */
  function set(key, value, delay) {
    if (key !== "day") {
      state[key] = value;
      return changed(delay);
    }
    complain("");
    look({ day: value });
    showNumber(key);
  }
  for (const key of Object.keys(NUMBERS)) {
    on(key, "input", () => {
      try {
        set(key, checked(key, $(key).value), 350);
      } catch (error) {
        complain(error.message, 700);
        $(key).setCustomValidity(error.message);
      }
    });
    if ($(`${key}-slider`)) connectSlider(key, $(`${key}-slider`));
    const none = $(`${key}-none`);
    if (none)
      none.addEventListener("change", () => {
        state[key] = none.checked ? null : (NUMBERS[key].start ?? DEFAULTS[key]);
        changed(0);
      });
  }
  /* The arrows in a field go where its slider stops, not up by 1. */
  function connectSlider(key, slider) {
    on(key, "keydown", (event) => {
      const up = event.key === "ArrowUp";
      if (!up && event.key !== "ArrowDown") return;
      event.preventDefault();
      const at = Number($(key).value);
      const next = up ? STOPS[key].find((v) => v > at) : STOPS[key].findLast((v) => v < at);
      $(key).value = next ?? at;
      $(key).dispatchEvent(new Event("input"));
    });
    slider.addEventListener("input", () => {
      set(key, STOPS[key][Number(slider.value)]);
    });
  }
  on("constants", "change", () => {
    state.constants = $("constants").value;
    changed(0);
  });
  on("problem", "change", () => {
    const opening = () => (state.problem === "branin" ? PLANE : DEFAULTS);
    const before = opening();
    state.problem = $("problem").value;
    SETTINGS.reopen(state, before, opening(), Object.keys(PLANE));
    changed(0);
  });
  on("curator", "change", () => {
    const kind = $("curator").value;
    state.eps = kind === "none" ? null : (state.eps ?? DEFAULTS.eps);
    if (kind !== "none") state.curator = kind;
    changed(0);
  });
  onClick("[data-view]", ({ view }) => {
    SETTINGS.reopen(state, VIEWS[state.view], VIEWS[view], ["constants", "beta_scale", "curator"]);
    state.view = view;
    draw();
    changed(0);
  });
  onClick("[data-preset]", ({ preset }) => {
    const { change } = PRESETS[preset];
    state = { ...initial(), ...change };
    draw();
    if (preset === "constants") $("more").open = true;
    changed(0);
  });
  for (const box of form.querySelectorAll("[name=alg]"))
    box.addEventListener("change", () => {
      const chosen = [...form.querySelectorAll("[name=alg]:checked")].map((one) => one.value);
      if (!chosen.length) {
        box.checked = true;
        return complain("At least one algorithm must stay.");
      }
      state.names = NAMES.filter((n) => chosen.includes(n));
      changed(0);
    });
  form.addEventListener("submit", (event) => event.preventDefault());
  on("trial", "change", () => {
    state.shown = Number($("trial").value);
    changed(0);
  });
  /* What changes the view of a result, but not the result. */
  function look(change) {
    Object.assign(state, change);
    writeAddress();
    draw();
  }
  on("time", "input", () => {
    const { inside } = shown()[0];
    const i = Number($("time").value);
    look({ t: i === inside.length - 1 ? null : inside[i].t });
  });
  on("look", "change", () => look({ look: $("look").value }));
  on("zoom", "change", () => look({ zoom: $("zoom").checked }));
  on("stop", "click", () => {
    clearTimeout(timer);
    stop();
    tell("Stopped.");
    rest("stopped");
  });
  on("run", "click", () => run(true));
  on("reset", "click", () => {
    state = initial();
    draw();
    changed(0);
  });
  on("start", "click", () => {
    $("start").hidden = true;
    startPython();
  });
  on("share", "click", () => copy(location.href.split("#")[0] + toAddress(), $("share")));
  on("copy-command", "click", () => copy(command(), $("copy-command")));
  on("copy-python", "click", () => copy(snippet(), $("copy-python")));
  onClick("[data-save]", ({ save: kind, id }) => {
    if (state.view === "rounds" && (!result || !firstPiece(result))) return;
    const name = `ldpbo-${id}-${state.problem}`;
    if (kind === "svg") save(`${name}.svg`, "image/svg+xml", svgFile(id));
    else save(`${name}.csv`, "text/csv", csvFile(id));
  });

  // ---------------------------------------------------------------- own table
  const EXAMPLE = "data/stocks.csv"; // of the repository, so that the copied lines find it
  let chosen = null; // {name, text} of the last file, also if it was refused
  /* A file was chosen, or its index column wanted or not: read it, and run or say what is wrong. */
  function use({ name, text }) {
    try {
      table = parseTable(name, text, state.index);
    } catch (error) {
      return refuse(name, error.message, error.counts);
    }
    $("file-error").textContent = "";
    $("file-note").textContent = tableNote(table);
    $("choose").textContent = "Another CSV file";
    $("index-line").hidden = !table.counts;
    $("index").checked = state.index;
    changed(0);
  }
  function tableNote({ name, columns, rows, first, counts }) {
    let left = "";
    if (first && !counts) left = "The first column is left out because it holds no numbers. ";
    if (counts) {
      const out = first ? " and is left out" : "";
      left = `${counts.replace(/^c/, "C")} counts up by one${out}. `;
    }
    return `${name}: ${columns.length} arms, ${rows} rows. ${left}It stays on this machine.`;
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
  async function take(file) {
    if (!file) return;
    chosen = null;
    if (file.size > 2e7) {
      const size = (file.size / 1e6).toFixed(0);
      const limit = "at most 20 MB fit here. Use the Python lines below.";
      return refuse(file.name, `The file has ${size} MB; ${limit}`);
    }
    try {
      chosen = { name: file.name, text: await file.text() };
    } catch (error) {
      return refuse(file.name, `The browser could not read it (${error.message}).`);
    }
    use(chosen);
  }
  on("index", "change", () => {
    state.index = $("index").checked;
    if (chosen) use(chosen);
  });
  on("example", "click", () => {
    chosen = { name: EXAMPLE, text: LIVE.data[EXAMPLE] };
    use(chosen);
  });
  on("file", "click", () => {
    $("file").value = ""; // so that the same file can be read again
  });
  on("file", "change", () => take($("file").files[0]));
  for (const kind of ["dragover", "drop"])
    on("drop", kind, (event) => {
      event.preventDefault();
      $("drop").classList.toggle("live-over", kind === "dragover");
      if (kind === "drop") take(event.dataTransfer.files[0]);
    });
  on("drop", "dragleave", () => $("drop").classList.remove("live-over"));

  // ---------------------------------------------------------------- beginning
  for (const kind of ["scroll", "resize"])
    window.addEventListener(kind, fit, { passive: true, capture: true });
  on("more", "toggle", fit);
  window.addEventListener("hashchange", () => readAddress());
  new ResizeObserver(() => {
    if (Math.abs($("results").clientWidth - drawn) > 2) draw();
  }).observe($("results"));

  /* Settings from the address, if it holds any. */
  function readAddress() {
    if (!/[#&](problem|eps|T|view)=/.test(location.hash)) return false;
    const [next, complaints] = SETTINGS.fromAddress(location.hash);
    state = next;
    show();
    const unusable = "The address has a setting that cannot be used: ";
    complain(complaints.length ? unusable + complaints.join(" ") : "");
    if (result) draw();
    if (pool.about) {
      stop();
      clearTimeout(timer);
      run();
    }
    return true;
  }
  const asked = readAddress();
  show();
  result = { settings: DEFAULTS, pieces: LIVE.precomputed.pieces, complete: true };
  draw();
  if ($("answer")) $("answer").textContent = FIGURES.openingWords(result);
  root.dataset.state = "precomputed";
  const patience =
    asked && !same(numeric(state), DEFAULTS)
      ? "The default settings are drawn until then; yours follow."
      : "The result drawn was computed when the book was built.";
  /* For the tests, and for the curious in the console. */
  root.ldpbo = {
    get state() {
      return state;
    },
    get result() {
      return result;
    },
    get campaigns() {
      return campaigns;
    },
    get about() {
      return pool.about;
    },
    get workers() {
      return atWork();
    },
    stops: STOPS,
    ...{ needed, estimate, parseTable, csvFile, svgFile, snippet, command, toAddress },
  };
  if (CDN || navigator.connection?.saveData) askForPython();
  else {
    startPython();
    if (!broken) tell(`${$("status").textContent} ${patience}`);
  }
})();

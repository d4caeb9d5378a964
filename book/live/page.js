/* The elements of the live page, as HTML. */
window.LDPBO_PAGE = (() => {
  "use strict";
  const LIVE = window.LDPBO_LIVE;
  const { COLORS } = window.LDPBO_PLOT;
  const { REPORTS, plain } = window.LDPBO_FIGURES;
  const { NAMES, PROBLEMS, CONSTANTS, NUMBERS, STOPS, PRESETS, VIEWS } = window.LDPBO_SETTINGS;

  const FILE_NOTE =
    "One column per arm, one row per observation. Or drop the file here. It is read by this page " +
    "only: nothing leaves your machine.";
  const host = LIVE?.runtime.url ? new URL(LIVE.runtime.url).host : "";
  /* Where Python comes from. */
  const source = () =>
    LIVE.runtime.mode === "cdn"
      ? "This copy of the book was built without npm. Start, and nothing else, loads Pyodide " +
        `${LIVE.pyodide} from ${host}: that server sees that you came. To stay offline, run the ` +
        "Python lines at the end of the page on your machine."
      : `Pyodide ${LIVE.pyodide} comes with the book and runs inside this page, also offline.`;

  /* A number with its slider and, where it may be left out, a box to do so. */
  function numberField(key) {
    const { label, low, high, whole, slider, none } = NUMBERS[key];
    const id = `live-${key}`;
    const range = `<input type="range" id="${id}-slider" min="0" max="${STOPS[key]?.length - 1}"
      step="1" aria-label="${label}, slider">`;
    const box = `<label class="live-check"><input type="checkbox" id="${id}-none"> ${none}</label>`;
    return `<div class="live-field" data-key="${key}"><label for="${id}">${label}</label>
      ${slider === false ? "" : range}
      <input type="number" id="${id}" min="${low}" max="${high}" step="${whole ? 1 : "any"}"
        inputmode="decimal">
      ${none ? box : ""}</div>`;
  }
  function choiceField(id, text, options) {
    const option = ([value, words]) => `<option value="${value}">${words}</option>`;
    return `<div class="live-field" data-key="${id}"><label for="live-${id}">${text}</label>
      <select id="live-${id}">${Object.entries(options).map(option).join("")}</select></div>`;
  }
  function figureBox(id, title) {
    return `<figure class="live-figure"><div class="live-title">${title}</div>
      <div id="live-${id}" class="live-svg"></div>
      <figcaption class="ldpbo-note"><span id="live-${id}-note"></span>
        <span class="live-links"><button type="button" data-save="svg" data-id="${id}"
          aria-label="Download ${title} as SVG">SVG</button>
        <button type="button" data-save="csv" data-id="${id}"
          aria-label="Download ${title} data as CSV">CSV</button></span></figcaption></figure>`;
  }
  function tableBox(id, label) {
    return `<div class="ldpbo-table live-scroll" tabindex="0" role="region" aria-label="${label}">
      <table class="table live-table" id="live-${id}"></table></div>`;
  }
  function choiceButtons(kind, choices) {
    const button = ([id, { title }]) =>
      `<button type="button" data-${kind}="${id}" aria-pressed="false">${title}</button>`;
    return Object.entries(choices).map(button).join("");
  }
  function algorithmBox(name) {
    const dot = `<span class="live-dot" style="background:${COLORS[name]}"></span>`;
    return `<label class="live-check"><input type="checkbox" name="alg" value="${name}">
      ${dot}${plain(name)}</label>`;
  }
  const fileBox = () => `
    <div id="live-drop" class="live-drop" hidden>
      <input type="file" id="live-file" class="live-hidden" accept=".csv,.txt,.tsv,text/csv"
        aria-describedby="live-file-note"><div class="live-buttons">
        <label for="live-file" class="live-choose" id="live-choose">Choose a CSV file</label>
        <button type="button" id="live-example">Try an example</button></div>
      <p id="live-file-note">${FILE_NOTE}</p>
      <label class="live-check" id="live-index-line" hidden><input type="checkbox"
        id="live-index"> use that column as an arm</label>
      <p id="live-file-error" class="live-error" role="alert"></p></div>`;
  const settingsForm = () => `
    <form class="live-controls" aria-label="Settings" autocomplete="off">
      ${choiceField("problem", "Problem", PROBLEMS)}
      ${fileBox()}
      ${numberField("lengthscale")}
      <fieldset class="live-names"><legend class="live-hidden">Algorithms</legend>
        ${NAMES.map(algorithmBox).join("")}</fieldset>
      ${choiceField("curator", "Reports", REPORTS)}${numberField("eps")}${numberField("T")}
      ${numberField("day")}
      <div class="live-pair">${numberField("trials")}${numberField("seed")}</div>
      <details id="live-more">
        <summary>Constants: <span id="live-more-text"></span></summary>
        ${choiceField("constants", "Preset", CONSTANTS)}
        ${numberField("beta_scale")}${numberField("lam")}${numberField("k")}</details>
    </form>`;
  const statusBar = () => `
    <div class="live-bar">
      <div class="live-progress" hidden><progress id="live-progress" max="1" value="0"
        aria-label="Share of the run that is done"></progress><span id="live-left"></span></div>
      <p id="live-status" role="status" aria-live="polite"></p>
      <p id="live-complaint" class="live-error" role="alert"></p>
      <p class="live-buttons live-keep">
        <button type="button" id="live-start" hidden>Start Python (12 MB)</button>
        <button type="button" id="live-run" hidden>Run</button>
        <button type="button" id="live-stop" disabled>Stop</button>
        <button type="button" id="live-reset">Reset</button>
        <button type="button" id="live-share">Copy link</button>
        <span id="live-said" class="live-hidden" role="status"></span></p></div>`;
  const insideSection = () => `
    <section id="live-inside" aria-label="Inside one trial" hidden>
      <div class="live-look live-keep">
        <div><label for="live-look">Algorithm</label> <select id="live-look"></select></div>
        <div><label for="live-trial">Trial</label> <select id="live-trial"></select></div>
        <div class="live-time"><label for="live-time">Time</label>
          <input type="range" id="live-time" min="0" max="1" step="1">
          <output id="live-time-text" for="live-time"></output></div>
        <label class="live-check"><input type="checkbox" id="live-zoom"> zoom to the truth</label>
      </div>
      ${figureBox("posterior", "Posterior and confidence band")}
      ${figureBox("maps", "Truth, estimate, confidence and plays")}
      ${figureBox("reports", "Reports against the truth")}
      ${figureBox("pulls", "Plays per arm")}
      <p id="live-provenance" class="ldpbo-note"></p>
    </section>`;
  const resultsBox = () => `
    <div id="live-results">
      <div id="live-empty" hidden><p>No table yet. A file may look like this, a column for each arm
        and a row for each observation:</p>
<pre>north,east,south
3.1,2.4,0.9
2.7,2.9,1.4
3.3,2.2,1.1</pre></div>
      <div id="live-users-view" hidden><div id="live-users-figures">
        ${figureBox("users", "Regret against the number of users")}
        ${tableBox("users-table", "Users needed")}
        ${figureBox("needed", "Users needed")}</div></div>
      <div id="live-drawn">
        ${figureBox("regret", "Regret")}
        ${tableBox("table", "Results")}
        ${insideSection()}</div></div>`;
  const linesToCopy = () => `
    <details id="live-native" class="live-native live-keep">
      <summary>The same with papermill or Python</summary>
      <p>From a checkout of the repository, the settings above are:</p>
      <pre id="live-command" tabindex="0" aria-label="papermill command"></pre>
      <button type="button" id="live-copy-command">Copy papermill command</button>
      <pre id="live-python" tabindex="0" aria-label="Python lines"></pre>
      <button type="button" id="live-copy-python">Copy Python lines</button></details>`;
  /* All of it; `base` is the folder of the scripts. */
  const pageHtml = (base) => `
    <div class="live-presets live-keep" role="group" aria-label="View and presets">
      ${choiceButtons("view", VIEWS)}<span class="live-gap"></span>
      ${choiceButtons("preset", PRESETS)}</div>
    <p id="live-preset-note" class="ldpbo-note"></p>
    <div class="live-grid">
      <div class="live-side">${settingsForm()}${statusBar()}</div>
      ${resultsBox()}</div>
    ${linesToCopy()}
    <p class="ldpbo-note">Core <code id="live-hash">${LIVE.sha256.slice(0, 12)}</code>
      (sha256 of ldpbo_core.py). ${source()}
      <a href="${base}licences/README.txt">Licences</a> of what is shipped with it.</p>`;

  return { pageHtml, host, FILE_NOTE };
})();

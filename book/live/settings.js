/* The settings of the live page: what they may be, what they open with, and how an address holds
   them. */
window.LDPBO_SETTINGS = (() => {
  "use strict";
  if (!window.LDPBO_LIVE) return {}; // live.js says that it is missing
  const { REPORTS } = window.LDPBO_FIGURES;
  const { linesOf } = window.LDPBO_RESULTS;

  const NAMES = ["TGP", "ATA", "MoMA", "GP-UCB", "PE"];
  const PROBLEMS = {
    se: "synthetic, SE kernel",
    matern: "synthetic, Matérn 5/2 kernel",
    branin: "Branin’s function in 2-d",
    light: "light (stand-in data)",
    stock: "stocks (stand-in data)",
    table: "your own table",
  };
  const CONSTANTS = {
    order: "order: constants 1, no proof",
    printed: "printed: as in the paper",
    proved: "proved: with a proof, if B ≥ ‖f‖",
  };
  /* key -> label, range, scale of the slider; `none`: what stands for no value, `start`: the value
     that is shown then */
  const NUMBERS = {
    eps: { label: "Privacy ε", low: 0.05, high: 50, log: true },
    T: { label: "Rounds T", low: 20, high: 20000, log: true, whole: true },
    trials: { label: "Trials", low: 1, high: 20, whole: true, slider: false },
    seed: { label: "Seed", low: 0, high: 4294967295, whole: true, slider: false },
    lengthscale: { label: "Length-scale", low: 0.02, high: 2, log: true },
    lam: { label: "Ridge λ", low: 0.01, high: 100, log: true },
    beta_scale: { label: "β ×", low: 0.001, high: 10, log: true },
    k: { label: "MoMA’s k", low: 1, high: 500, log: true, whole: true },
    day: { label: "Users a day", low: 10, high: 100000000, log: true, whole: true },
  };
  Object.assign(NUMBERS.lam, { none: "1; for elimination from the noise", start: 1 });
  Object.assign(NUMBERS.k, { none: "from T and δ", start: 5 });

  const DEFAULTS = window.LDPBO_LIVE.precomputed.settings;
  function initial() {
    const look = linesOf(DEFAULTS)[0].line;
    const shown = { look, t: null, zoom: false, index: false, day: 50000 };
    return { ...DEFAULTS, names: [...DEFAULTS.names], ...shown };
  }
  /* The settings that a result depends on. */
  const numeric = (s) => Object.fromEntries(Object.keys(DEFAULTS).map((key) => [key, s[key]]));
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  /* What differs from the defaults, and what to look at. */
  const THREE = ["TGP", "ATA", "MoMA"];
  const ORDER = { constants: "order", beta_scale: 0.1, names: THREE };
  const PAPER = { curator: "laplace", T: 1000, trials: 4, ...ORDER };
  const PRESETS = {
    onebit: {
      title: "One bit or Laplace",
      change: {},
      note:
        "One learner, the same users, the same ε; only the reports differ. At ε = 1 the truth " +
        "stays inside both bands, and one bit’s band is narrower.",
    },
    low: {
      title: "Low ε",
      change: { ...PAPER, eps: 0.1 },
      note:
        "At ε = 0.1 the reports are mostly noise, and nobody beats uniform play but by luck. " +
        "Move ε to 10: the curves fall below it at once.",
    },
    constants: {
      title: "Constants decide",
      change: { ...PAPER, constants: "printed", beta_scale: 1 },
      note:
        "At the printed constants TGP and ATA stay on uniform play. Choose “order”, then lower " +
        "β: same algorithms, same data, another picture.",
    },
    panel: {
      title: "A panel of the paper",
      change: { ...PAPER, beta_scale: 1, T: 2000, trials: 3 },
      note:
        "Panel 3a, a tenth of its rounds, order constants as they stand: the bands stay wider " +
        "than the function, so the three mostly explore.",
    },
    tails: {
      title: "Heavy tails",
      change: { ...PAPER, eps: null, names: [...THREE, "GP-UCB"] },
      note:
        "Student-t₃ noise, no privacy: what the three were made for. GP-UCB, which truncates " +
        "nothing, is ahead all the same; change the seed.",
    },
    day: {
      title: "Users a day",
      change: { view: "users", curator: "onebit" },
      note: "",
    },
    table: {
      title: "Your table",
      change: { problem: "table", T: 1000, constants: "order" },
      note:
        "Columns are arms, rows are observations. The file is read inside this page and sent " +
        "nowhere.",
    },
  };
  /* What each view opens with; a setting that the reader changed is kept. */
  const VIEWS = {
    rounds: {
      title: "Regret by rounds",
      constants: DEFAULTS.constants,
      beta_scale: DEFAULTS.beta_scale,
      curator: DEFAULTS.curator,
    },
    users: { title: "Users needed", constants: "proved", beta_scale: 1, curator: "onebit" },
  };
  /* What Branin's function opens with: 400 arms take their time. */
  const PLANE = { ...PAPER, eps: 10, T: 300, trials: 2, names: ["TGP", "MoMA"] };
  const PLANE_NOTE =
    "Maps of truth, estimate, confidence and plays are below the table; move Time to watch them. " +
    "ATA takes minutes here.";
  const USERS_NOTE =
    "Elimination asks in batches, 10³ to 10⁹ users. Each ε that you try adds a curve and a row; " +
    "Users a day turns users into days.";
  /* Settings of `state` that are still what `from` opened with become those of `to`; what the
     reader changed stays. */
  function reopen(state, from, to, keys) {
    for (const key of keys) if (same(state[key], from[key])) state[key] = to[key];
  }

  /* A number inside the allowed range, or a message. */
  function checked(key, text) {
    const { label, low, high, whole } = NUMBERS[key];
    const x = Number(text);
    if (String(text).trim() === "")
      throw new Error(`${label}: a number from ${low} to ${high} is needed.`);
    if (!Number.isFinite(x)) throw new Error(`${label}: “${text}” is not a number.`);
    if (whole && !Number.isInteger(x)) throw new Error(`${label}: ${text} must be a whole number.`);
    if (x < low || x > high) throw new Error(`${label}: ${text} must be from ${low} to ${high}.`);
    return x;
  }

  /* The values a slider stops at: ten a decade on a logarithmic scale, so that an arrow key is a
     step one can see. */
  function stops(key) {
    const { low, high, whole } = NUMBERS[key];
    const out = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
      for (const m of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8])
        out.push(Number((m * 10 ** e).toPrecision(2)));
    return out.filter((x) => x >= low && x <= high && (!whole || Number.isInteger(x)));
  }
  const SLIDERS = Object.keys(NUMBERS).filter((key) => NUMBERS[key].slider !== false);
  const STOPS = Object.fromEntries(SLIDERS.map((key) => [key, stops(key)]));
  function nearest(list, x) {
    const closer = (best, v, i) => (Math.abs(v - x) < Math.abs(list[best] - x) ? i : best);
    return list.reduce(closer, 0);
  }

  // ---------------------------------------------------------------- address
  const KEYS = {
    view: "view",
    problem: "problem",
    eps: "eps",
    curator: "curator",
    T: "T",
    trials: "trials",
    ls: "lengthscale",
    lam: "lam",
    constants: "constants",
    beta: "beta_scale",
    k: "k",
    seed: "seed",
  };
  const WORDS = {
    view: VIEWS,
    problem: PROBLEMS,
    constants: CONSTANTS,
    curator: { laplace: REPORTS.laplace, onebit: REPORTS.onebit, both: REPORTS.both },
  };
  /* Words of older links, and what they are called now. */
  const RENAMED = { theorem: "printed", repaired: "proved" };
  /* The settings as an address; `file` is the name of the reader's own table. */
  function toAddress(state, file) {
    const parts = Object.entries(KEYS).map(([short, key]) => `${short}=${state[key] ?? "none"}`);
    parts.push(`algs=${state.names.join(",")}`, `look=${encodeURIComponent(state.look)}`);
    parts.push(`trial=${state.shown + 1}`);
    if (state.view === "users") parts.push(`day=${state.day}`);
    if (state.t !== null) parts.push(`t=${state.t}`);
    if (state.zoom) parts.push("zoom=1");
    if (state.index) parts.push("index=1");
    if (state.problem === "table" && file) parts.push(`file=${encodeURIComponent(file)}`);
    return "#" + parts.join("&");
  }
  /* Settings from an address; what it does not know or cannot use is named in `complaints`. */
  function fromAddress(hash) {
    const next = initial();
    const complaints = [];
    const parts = hash.replace(/^#/, "").split("&");
    for (const part of parts.filter((p) => p.includes("="))) {
      const sign = part.indexOf("=");
      try {
        takePart(next, part.slice(0, sign), decoded(part.slice(sign + 1)));
      } catch (error) {
        complaints.push(error.message);
      }
    }
    if (!next.names.length) next.names = [...DEFAULTS.names];
    const proved = next.view === "users" || next.names.every((n) => !THREE.includes(n));
    if (hash.includes("constants=theorem") && proved) next.constants = "proved";
    if (next.view === "users" && next.curator === "both") next.curator = "onebit";
    return [next, complaints];
  }
  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // a stray % stays as it is
    }
  }
  /* One part of an address goes into the settings `next`. */
  function takePart(next, short, raw) {
    const whole = Math.max(0, Math.round(Number(raw))) || 0;
    if (Object.hasOwn(KEYS, short)) next[KEYS[short]] = settingFrom(KEYS[short], raw);
    else if (short === "algs") {
      next.names = NAMES.filter((n) => raw.split(",").includes(n));
      if (!next.names.length)
        throw new Error(`algorithms: “${raw}” names none of ${NAMES.join(", ")}.`);
    } else if (short === "look" && NAMES.includes(raw.split(" ")[0])) next.look = raw;
    else if (short === "day") next.day = checked("day", raw);
    else if (short === "trial") next.shown = Math.max(0, whole - 1);
    else if (short === "t") next.t = whole;
    else if (short === "zoom" || short === "index") next[short] = raw === "1";
    else if (short === "file") next.file = raw;
  }
  function settingFrom(key, raw) {
    if (!WORDS[key]) {
      const none = key === "eps" || NUMBERS[key].none;
      return raw === "none" && none ? null : checked(key, raw);
    }
    const word = key === "constants" && Object.hasOwn(RENAMED, raw) ? RENAMED[raw] : raw;
    if (!Object.hasOwn(WORDS[key], word)) throw new Error(`${key}: “${raw}” is unknown.`);
    return word;
  }

  const choices = { NAMES, PROBLEMS, CONSTANTS, NUMBERS, STOPS, DEFAULTS, PRESETS, VIEWS, PLANE };
  const notes = { PLANE_NOTE, USERS_NOTE };
  const functions = { initial, numeric, same, reopen, checked, nearest, toAddress, fromAddress };
  return { ...choices, ...notes, ...functions };
})();

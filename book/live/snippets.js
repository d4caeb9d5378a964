/* The settings of the live page as lines to copy: Python that gives the same numbers, and a
   papermill command. */
window.LDPBO_SNIPPETS = (() => {
  "use strict";
  const { synthetic, heavyTails } = window.LDPBO_RESULTS;
  const { PROBLEMS } = window.LDPBO_SETTINGS;

  function python(value) {
    if (value === null) return "None";
    if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
    return typeof value === "string" ? JSON.stringify(value) : String(value);
  }
  /* Lines that make the same problem outside the page: what it imports, and the rest. */
  function problemLines(s, table) {
    const noise = heavyTails(s) ? "t3" : "uniform";
    if (synthetic(s)) {
      const shape = `kernel="${s.problem}", noise="${noise}", lengthscale=${s.lengthscale}`;
      const drawn = `core.synthetic_problem(${shape}, seed=seed)`;
      if (s.constants !== "proved") return [[], [`problem = lambda seed: ${drawn}`]];
      const lines = [
        "def problem(seed):      # B is the norm of f, as the proofs want",
        `    drawn = ${drawn}`,
        "    return experiments.told_norm(drawn, F=drawn.B)",
      ];
      return [["from ldpbo import experiments"], lines];
    }
    if (s.problem === "branin") {
      const lines = [
        'sys.path.append("book/live")      # of the repository',
        "from bridge import branin_problem",
        `problem = branin_problem("${noise}", ${s.lengthscale})`,
      ];
      return [["import sys"], lines];
    }
    if (s.problem !== "table") return [[], [`problem = core.${s.problem}_problem()`]];
    return tableLines(table);
  }
  function tableLines(table) {
    const blank = { name: "table.csv", mark: ",", decimal: ".", headed: true, first: 0 };
    const t = table ?? blank;
    const decimal = t.decimal === "," ? ', decimal=","' : "";
    const header = t.headed ? "True" : "False";
    const options = `delimiter=${python(t.mark)}${decimal}, header=${header}`;
    const read = `core.read_table(${python(t.name)}, ${options})`;
    if (!t.counts || t.first) return [[], [`problem = core.table_problem(${read}.values)`]];
    const kept = "# it counts, and is kept as an arm";
    const lines = [
      `table = ${read}`,
      `first = np.array(*table.left_out.values(), dtype=float)      ${kept}`,
      "problem = core.table_problem(np.column_stack([first, table.values]))",
    ];
    return [["import numpy as np"], lines];
  }
  /* Python lines that give the numbers of the page. */
  function snippet(s, table) {
    const both = s.eps !== null && s.curator === "both" && s.view === "rounds";
    const onebit = s.eps !== null && s.curator === "onebit";
    const lam = s.lam === null ? "" : `, lam=${s.lam}`;
    const curator = (both && ", curator=curator") || (onebit && ", curator=core.OneBit") || "";
    const options = `trials=${s.trials}, seed=${s.seed}, eps=${python(s.eps)}${curator}${lam},`;
    const constants =
      `constants="${s.constants}", beta_scale=${s.beta_scale}, ` + `k=${python(s.k)}`;
    const schedule = s.constants === "proved" ? ', schedule="double"' : "";
    const rounds = [
      `result = core.simulate(problem, ${python(s.names)}, ${s.T}, ${options}`,
      `                       ${constants})`,
      'print(dict(zip(result.records["names"], result.regret[:, :, -1].mean(axis=1))))',
    ];
    const compared = [
      "found = {}",
      'for words, curator in {"one bit": core.OneBit, "Laplace": core.CTL}.items():',
      ...rounds.slice(0, 2).map((line) => `    ${line}`),
      '    names = [f"{name} {words}" for name in result.records["names"]]',
      "    found |= zip(names, result.regret[:, :, -1].mean(axis=1))",
      "print(found)",
    ];
    const users = [
      "for T in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9):",
      `    got = core.simulate_batches(problem, T, ${options}`,
      `                                ${constants}${schedule})`,
      "    print(T, (got.regret[:, -1] / (T * got.uniform)).mean())",
    ];
    const [imports, problem] = problemLines(s, table);
    const lines = s.view === "users" ? users : (both && compared) || rounds;
    return [...imports, "import ldpbo_core as core", "", ...problem, ...lines].join("\n");
  }
  /* The same with the panel notebook, or a remark why not. */
  function command(s) {
    const refused = (why) => `# The panel notebook ${why} the Python lines below.`;
    if (s.problem === "table" || s.problem === "branin")
      return refused(`has no parameter for ${PROBLEMS[s.problem]}; use`);
    if (s.view === "users") return refused("plays round by round; for users needed take");
    if (s.eps !== null && s.curator !== "laplace")
      return refused("uses Laplace noise; for one bit a report use");
    if (s.constants === "proved" && synthetic(s))
      return refused("takes B = max |f|; for B = ‖f‖, as the proofs want, use");
    const value = (v) => (v === null ? "None" : v);
    const pairs = [
      ["problem", synthetic(s) ? "synthetic" : s.problem],
      ...(synthetic(s) ? [["kernel", s.problem]] : []),
      ...(synthetic(s) ? [["lengthscale", s.lengthscale]] : []),
      ["eps", value(s.eps)],
      ["T", s.T],
      ["trials", s.trials],
      ["seed", s.seed],
      ["lam", s.lam ?? 1],
      ["constants", s.constants],
      ["k", value(s.k)],
    ];
    const options = pairs.map(([k, v]) => `-p ${k} ${v}`).join(" ");
    const names = `-y "names: [${s.names.join(", ")}]"`;
    // The notebook shows two settings side by side; the first is this one.
    const second = Number((s.beta_scale / 10).toPrecision(6));
    const scales = `-y "beta_scale: [${s.beta_scale}, ${second}]"`;
    return `papermill notebooks/panel.ipynb out.ipynb ${options} ${names} ${scales}`;
  }

  return { snippet, command };
})();

/* What a result says, in numbers: curves and intervals, what a learner believed at a moment, how
   many users are needed. A result is {settings, pieces, table}; pieces come from bridge.py. */
window.LDPBO_RESULTS = (() => {
  "use strict";
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const average = (values) => sum(values) / values.length;
  const indexOfMax = (values) => values.indexOf(Math.max(...values));

  // ---------------------------------------------------------------- curves
  const CURATORS = { onebit: "one bit", laplace: "Laplace" };
  /* A curve for each algorithm, or for each algorithm and curator where two are compared: what
     bridge.py calls lines. */
  function linesOf({ names, curator, eps }) {
    if (curator !== "both" || eps === null)
      return names.map((name) => ({ line: name, name, curator }));
    const both = Object.entries(CURATORS);
    return names.flatMap((name) =>
      both.map(([key, words]) => ({ line: `${name} ${words}`, name, curator: key })),
    );
  }

  // ---------------------------------------------------------------- regret by rounds
  /* Two-sided 95 % points of Student's t with 1, 2, ... degrees of freedom. */
  const T95 = [
    12.706204736, 4.30265273, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252,
    2.306004135, 2.262157163, 2.228138852, 2.20098516, 2.17881283, 2.160368656, 2.144786688,
    2.131449546, 2.119905299, 2.109815578, 2.10092204, 2.093024054,
  ];
  /* Mean, and the ends of its 95 % interval. */
  function interval(values) {
    const n = values.length;
    const mean = average(values);
    if (n < 2) return [mean, NaN, NaN];
    const squares = sum(values.map((value) => (value - mean) ** 2));
    const half = T95[n - 2] * Math.sqrt(squares / (n - 1) / n);
    return [mean, mean - half, mean + half];
  }

  const firstPiece = (result) => result.pieces.find((p) => !p.error);
  const piecesOf = (result, line) => result.pieces.filter((p) => p.line === line && !p.error);

  /* Mean curves of a result, up to the round that all have reached: t, uniform, and of each curve
     mean, low, high; null if no algorithm could run. */
  function curves(result) {
    const first = firstPiece(result);
    if (!first) return null;
    const run = result.pieces.filter((p) => !p.error);
    const uniform = new Map(run.map((p) => [p.trial, p.uniform]));
    const slope = average([...uniform.values()]);
    const t = first.t.slice(0, Math.min(...run.map((p) => p.t.length)));
    const lines = {};
    for (const { line, name, curator } of linesOf(result.settings)) {
      const pieces = piecesOf(result, line);
      if (pieces.length) lines[line] = { name, curator, ...curve(pieces, t) };
    }
    return { t, uniform: t.map((round) => round * slope), slope, lines };
  }
  /* The share of the plays that the best tenth of the arms got. */
  const topShare = ({ top }, plays) => sum(top.map((arm) => plays[arm])) / Math.max(1, sum(plays));
  /* Where a piece stands among the trials of its curve, by regret. */
  function rankOf(result, piece) {
    const last = (p) => p.regret.at(-1) / p.uniform;
    const all = piecesOf(result, piece.line).map(last);
    return { rank: 1 + all.filter((value) => value < last(piece)).length, count: all.length };
  }
  /* One curve over its trials. */
  function curve(pieces, t) {
    const columns = t.map((_, i) => interval(pieces.map((p) => p.regret[i])));
    return {
      mean: columns.map((c) => c[0]),
      low: columns.map((c) => c[1]),
      high: columns.map((c) => c[2]),
      trials: pieces.length,
      shares: pieces.map((p) => p.regret[t.length - 1] / (t.at(-1) * p.uniform)),
      top: average(pieces.map((p) => topShare(p, p.pulls))),
      k: pieces[0].k,
    };
  }

  // ---------------------------------------------------------------- inside one trial
  /* The piece that the lower figures show: that of the curve asked for, or of its algorithm, or
     the first. */
  function shownPiece(result, line) {
    const pieces = result.pieces.filter((p) => p.inside);
    const same = (p) => p.name === line.split(" ")[0];
    return pieces.find((p) => p.line === line) || pieces.find(same) || pieces[0];
  }
  /* The snapshot of a piece that is nearest to round t; null: the last. */
  function snapshotAt(piece, t) {
    const wanted = t === null ? Infinity : t;
    const nearer = (best, s) => (Math.abs(s.t - wanted) < Math.abs(best.t - wanted) ? s : best);
    return piece.inside.reduce(nearer, piece.inside.at(-1));
  }
  /* Where two curators are compared: what the other one gave at about the same moment. */
  function rivalOf(result, piece, t) {
    const same = (p) => p.inside && p.name === piece.name && p.curator !== piece.curator;
    const other = result.pieces.find(same);
    return other && { words: CURATORS[other.curator], moment: snapshotAt(other, t) };
  }
  const lowerEnds = (s) => s.mu.map((m, i) => m - s.beta * s.sigma[i]);
  const upperEnds = (s) => s.mu.map((m, i) => m + s.beta * s.sigma[i]);
  /* Plays of each arm up to round t. */
  function playsUntil(piece, t) {
    const plays = Array(piece.f.length).fill(0);
    for (let i = 0; i < t; i++) plays[piece.arms[i]]++;
    return plays;
  }

  /* Not private means Student's noise, as in the paper; the proofs want bounded noise. */
  const heavyTails = (s) => s.eps === null && s.view === "rounds" && s.constants !== "proved";
  const synthetic = (settings) => settings.problem === "se" || settings.problem === "matern";
  function armNames(result) {
    const { problem } = result.settings;
    const files = { light: "data/light.csv", stock: "data/stocks.csv" };
    if (problem === "table") return result.table.columns;
    if (files[problem]) {
      const header = window.LDPBO_LIVE.data[files[problem]].split("\n", 1)[0];
      return header.split(",").slice(1);
    }
    const n = firstPiece(result).pulls.length;
    const arms = [...Array(n).keys()];
    if (problem !== "branin") return arms.map((i) => `x = ${((i + 1) / n).toFixed(2)}`);
    const side = Math.sqrt(n);
    const at = (i) => ((i + 0.5) / side).toFixed(3);
    return arms.map((i) => `(${at(i % side)}, ${at(Math.floor(i / side))})`);
  }
  /* Positions of the arms: the points of [0, 1], or ranks by true mean where arms have no order on
     a line. */
  function domain(result, piece) {
    const n = piece.f.length;
    const ordered = synthetic(result.settings);
    const plane = result.settings.problem === "branin";
    const order = [...Array(n).keys()];
    if (!ordered) order.sort((i, j) => piece.f[j] - piece.f[i] || i - j);
    const x = Array(n);
    order.forEach((arm, rank) => {
      x[arm] = ordered ? (arm + 1) / n : rank + 1;
    });
    const names = armNames(result);
    const marks = ordered ? null : order.map((i) => ({ at: x[i], text: names[i] }));
    const range = ordered ? [0, 1] : [0.3, n + 0.7];
    const xlabel = ordered ? "x" : "arms, best true mean first";
    return { ordered, plane, order, x, names, marks, range, xlabel };
  }

  // ---------------------------------------------------------------- users needed
  const LEVELS = [0.5, 0.1, 0.01];
  /* The curve of a campaign: [users, mean relative regret]. */
  function usersCurve(campaign) {
    return campaign.pieces.filter((p) => !p.error).map((p) => [p.T, average(p.share)]);
  }
  /* Users at which the mean last falls below `level`, between two horizons on log scales; 0: fewer
     than the first, Infinity: more than the last. */
  function needed(campaign, level) {
    const points = usersCurve(campaign);
    const i = points.findLastIndex(([, y]) => y > level);
    if (!points.length || i === points.length - 1) return Infinity;
    if (i < 0) return 0;
    const [[x0, y0], [x1, y1]] = [points[i], points[i + 1]];
    const u = y1 > 0 ? Math.log(y0 / level) / Math.log(y0 / y1) : 1;
    return x0 * (x1 / x0) ** u;
  }

  // ---------------------------------------------------------------- CSV
  function csvCell(x) {
    if (Number.isNaN(x)) return "";
    if (typeof x !== "string" || !/[",\r\n]/.test(x)) return x;
    return `"${x.replace(/"/g, '""')}"`;
  }
  /* {name: column} as text. */
  function csv(columns) {
    const values = Object.values(columns);
    const rows = values[0].map((_, i) => values.map((column) => column[i]));
    const lines = [Object.keys(columns), ...rows].map((row) => row.map(csvCell).join(","));
    return lines.join("\n") + "\n";
  }
  function regretCsv(result) {
    const found = curves(result);
    const columns = { t: found.t, uniform: found.uniform };
    for (const [line, s] of Object.entries(found.lines)) {
      columns[line] = s.mean;
      columns[`${line} low`] = s.low;
      columns[`${line} high`] = s.high;
    }
    for (const line of Object.keys(found.lines))
      for (const p of piecesOf(result, line)) columns[`${line} trial ${p.trial + 1}`] = p.regret;
    return csv(columns);
  }
  function reportsCsv(piece, s) {
    const arm = piece.arms.slice(0, s.t);
    const report = piece.reports.slice(0, s.t);
    return csv({ round: arm.map((_, t) => t + 1), arm, report, f: arm.map((a) => piece.f[a]) });
  }
  function armsCsv(result, piece, s) {
    return csv({
      arm: [...piece.f.keys()],
      name: armNames(result),
      f: piece.f,
      mu: s.mu,
      sigma: s.sigma,
      low: lowerEnds(s),
      high: upperEnds(s),
      plays: playsUntil(piece, s.t),
    });
  }
  /* Campaigns [{name, pieces}] that ran to the end. */
  function usersCsv(campaigns, nameOf) {
    const columns = { users: campaigns[0].pieces.map((p) => p.T) };
    for (const c of campaigns) columns[nameOf(c)] = c.pieces.map((p) => average(p.share));
    return csv(columns);
  }
  function neededCsv(campaigns) {
    const columns = { eps: campaigns.map((c) => c.settings.eps ?? "none") };
    for (const level of LEVELS)
      columns[`below ${level}`] = campaigns.map((c) => needed(c, level) || NaN);
    return csv(columns);
  }

  const rounds = { CURATORS, linesOf, interval, firstPiece, piecesOf, curves, topShare };
  const inside = { shownPiece, snapshotAt, rivalOf, rankOf };
  const arms = { lowerEnds, upperEnds, playsUntil, heavyTails, synthetic, armNames, domain };
  const users = { LEVELS, usersCurve, needed };
  const files = { regretCsv, reportsCsv, armsCsv, usersCsv, neededCsv };
  return { sum, average, indexOfMax, ...rounds, ...inside, ...arms, ...users, ...files };
})();

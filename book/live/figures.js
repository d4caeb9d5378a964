/* The figures and tables of the live page, drawn from a result. Each figure is a drawing {width,
   height, out, label, note}: SVG strings, words for those who do not see it, words below it. Knows
   nothing of the page. */
window.LDPBO_FIGURES = (() => {
  "use strict";
  const { COLORS, LABELS, escape, short, minus, power, line, circle, shape, text, rect } =
    window.LDPBO_PLOT;
  const { path, band, clip, marker, margin, axes, legend, lineItem, heat } = window.LDPBO_PLOT;
  const { LEVELS, indexOfMax, interval, firstPiece, piecesOf, linesOf } = window.LDPBO_RESULTS;
  const { synthetic, heavyTails, topShare, rankOf } = window.LDPBO_RESULTS;
  const { curves, lowerEnds, upperEnds, playsUntil, usersCurve, needed } = window.LDPBO_RESULTS;

  const REPORTS = {
    both: "one bit and Laplace",
    onebit: "one bit",
    laplace: "Laplace noise",
    none: "not private",
  };
  /* An algorithm, or a curve of it, in few words. */
  const plain = (line) => line.replace(/^PE/, LABELS.PE);
  const FEW = 6; // below that many trials each is drawn: an interval from three or four says little
  const UNIFORM = lineItem("uniform play (expected)", { class: "uniform" });

  // ---------------------------------------------------------------- regret by rounds
  /* What a finished run says in one sentence. */
  function regretWords(result) {
    const found = curves(result);
    if (!found) return "no algorithm could run with these settings; the table says why.";
    const rows = Object.entries(found.lines).map(
      ([line, s]) => `${plain(line)} ${short(s.mean.at(-1))}`,
    );
    const uniform = short(found.uniform.at(-1));
    return (
      `mean regret after ${found.t.at(-1)} rounds ${rows.join(", ")}; ` + `uniform play ${uniform}.`
    );
  }

  /* The run that the page opens with, in one sentence. */
  function openingWords(result) {
    const { T, eps, trials } = result.settings;
    const found = Object.values(curves(result).lines);
    const two = (x) => x.toFixed(2);
    const shares = (curator) => found.find((s) => s.curator === curator).shares;
    const mean = (curator) => two(interval(shares(curator))[0]);
    const range = (curator) =>
      `${two(Math.min(...shares(curator)))} to ${two(Math.max(...shares(curator)))}`;
    return (
      `It opens with one learner that meets the same ${T} users twice at ε = ${eps}: with one ` +
      `bit from each its regret is ${mean("onebit")} of uniform play’s, with Laplace noise ` +
      `${mean("laplace")} (means of ${trials} functions, which range from ${range("onebit")} and ` +
      `from ${range("laplace")}).`
    );
  }

  /* One bit is solid, Laplace dash-dotted with hollow marks where both are there; not private is
     dashed. */
  function lineStyle({ name, curator }, { eps, curator: chosen }) {
    const compared = chosen === "both" && eps !== null;
    const hollow = compared && curator === "laplace";
    let dash = hollow ? "9 3 2 3" : undefined;
    if (eps === null) dash = "7 4";
    const stroke = { stroke: COLORS[name], "stroke-width": 1.8, "stroke-dasharray": dash };
    return { stroke, hollow };
  }
  /* The legend says once whether all of this is private. */
  function regretLegend(lines, settings) {
    const { eps } = settings;
    const prefix = (name) => (eps !== null && /^(TGP|ATA|MoMA)$/.test(name) ? "LDP-" : "");
    const items = Object.entries(lines).map(([line, { name, curator }]) => {
      const { stroke, hollow } = lineStyle({ name, curator }, settings);
      const words = line.replace(name, prefix(name) + LABELS[name]);
      return lineItem(words, stroke, name, hollow);
    });
    return [{ text: eps === null ? "not private:" : `private, ε = ${eps}:` }, ...items, UNIFORM];
  }

  /* Mean curves, with each trial or with bands; `now` is the round that the lower figures show. */
  function regretFigure(result, width, now) {
    const found = curves(result);
    const lines = Object.entries(found.lines);
    const { T } = result.settings;
    const key = [];
    const top = legend(regretLegend(found.lines, result.settings), width, key);
    const height = 250 + top;
    // The means set the scale, not the bands.
    const ends = lines.map(([, s]) => s.mean.at(-1));
    const y = [0, 1.1 * Math.max(found.slope * T, ...ends)];
    const labels = { xlabel: "round t", ylabel: "cumulative regret" };
    const a = axes({ width, height, x: [0, T], y, top, ...labels });
    a.out.push(...key, shape(path([0, T], [0, found.slope * T], a), { class: "uniform" }));
    lines.forEach(([line, s], i) => {
      const { stroke, hollow } = lineStyle(s, result.settings);
      a.out.push(clip(`live-clip-${i}`, a, spread(result, line, found, a)));
      a.out.push(shape(path(found.t, s.mean, a), { fill: "none", ...stroke }));
      for (let j = 1; j <= 5; j++) {
        const at = Math.round((j / 5) * (found.t.length - 1) * (1 - i * 0.02));
        a.out.push(marker(s.name, a.px(found.t[at]), a.py(s.mean[at]), 4, hollow));
      }
    });
    if (now > 0 && now < found.t.at(-1))
      a.out.push(line(a.px(now), top, a.px(now), height - a.bottom, { class: "now" }));
    const label = `Cumulative regret against rounds. ${regretWords(result)}`;
    return { width, height, out: a.out, label, note: regretNote(result, found) };
  }
  /* A curve's trials, those under way included, or the band of its mean where there are many. */
  function spread(result, line, found, a) {
    const s = found.lines[line];
    const { stroke } = lineStyle(s, result.settings);
    const style = { ...stroke, class: "trial", "stroke-width": undefined };
    const thin = (p) => shape(path(p.t, p.regret, a), style);
    const growing = (result.growing ?? []).filter((p) => p.line === line).map(thin).join("");
    if (s.trials < FEW) return piecesOf(result, line).map(thin).join("") + growing;
    const low = s.low.map((v) => Math.max(0, v));
    const band95 = shape(band(found.t, low, s.high, a), { class: "band", fill: COLORS[s.name] });
    return band95 + growing;
  }
  function regretNote(result, found) {
    const s = result.settings;
    const trials = Math.max(...Object.values(found.lines).map((curve) => curve.trials));
    let drawn = "s, band: 95 % interval of the mean (Student t)";
    if (trials < FEW) drawn = "s, each drawn thin";
    if (trials === 1) drawn = "";
    const lam = s.lam ?? (s.names.includes("PE") ? "1 (elimination: from the noise)" : 1);
    const way = result.complete === false ? "Running. " : "";
    let norm = "";
    if (s.constants === "proved")
      norm = synthetic(s) ? " (B = ‖f‖, as the proof wants)" : " (but B = max |f|: not a proof)";
    return (
      `${way}Mean over ${trials} trial${drawn}; ${s.constants} constants${norm}, ` +
      `β × ${s.beta_scale}, λ = ${lam}, ${privacyWords(s)}, seed ${s.seed}.`
    );
  }
  function privacyWords(s) {
    if (s.eps !== null) return `ε = ${s.eps}, ${REPORTS[s.curator]}`;
    if (!synthetic(s) && s.problem !== "branin") return "not private";
    return heavyTails(s) ? "not private, Student-t₃ noise" : "not private, bounded noise";
  }

  /* The table below the curves, as HTML. */
  function regretTable(result) {
    const found = curves(result);
    const { T, trials } = result.settings;
    let spreads = "; in brackets the 95 % interval of the mean";
    if (trials < FEW) spreads = "; in parentheses the best and the worst trial";
    if (trials < 2) spreads = "";
    const regrets = found ? [found.uniform, ...Object.values(found.lines).map((s) => s.mean)] : [];
    const write = alike(regrets.map((values) => values.at(-1)));
    const rows = linesOf(result.settings).map((line) => regretRow(result, found, line, write));
    if (found) {
      const { top, pulls } = firstPiece(result);
      const share = percent(top.length / pulls.length);
      rows.push(row("uniform play", [write(found.uniform.at(-1)), "1", share]));
    }
    const head = ["algorithm", "regret", "÷ uniform play", "plays of the best tenth"];
    return htmlTable(`After ${found?.t.at(-1) ?? T} rounds${spreads}`, head, rows);
  }
  function regretRow(result, found, { line, name }, write) {
    const failed = result.pieces.find((p) => p.line === line && p.error);
    const title = plain(line);
    const wide = (kind, words) =>
      `<tr><th scope="row">${title}</th><td colspan="3"${kind}>${words}</td></tr>`;
    if (failed) return wide(' class="live-error"', escape(failed.error));
    const s = found && found.lines[line];
    if (!s) return wide("", "…");
    const k = s.k && name === "MoMA" ? ` (k = ${s.k})` : "";
    const dot = `<span class="live-dot" style="background:${COLORS[name]}"></span>`;
    const share = shareText(s.shares, result.settings.trials < FEW);
    return row(`${dot}${title}${k}`, [write(s.mean.at(-1)), share, percent(s.top)]);
  }
  /* Writes the numbers of a column with as many decimals each: three digits of the largest. */
  function alike(values) {
    const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.max(0.01, ...values))));
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    return (x) => minus(x.toLocaleString("en", { ...digits, useGrouping: x >= 1e4 }));
  }
  const percent = (share) => `${(100 * share).toFixed(0)} %`;
  /* Mean with range, or with interval. */
  function shareText(values, few) {
    const two = (x) => minus(x.toFixed(2));
    const [mean, low, high] = interval(values);
    if (values.length < 2) return two(mean);
    if (few) return `${two(mean)} (${two(Math.min(...values))}–${two(Math.max(...values))})`;
    return `${two(mean)} [${two(low)}, ${two(high)}]`;
  }
  const row = (title, cells) =>
    `<tr><th scope="row">${title}</th>${cells.map((c) => `<td>${c}</td>`).join("")}</tr>`;
  function htmlTable(caption, head, rows) {
    const titles = head.map((title) => `<th scope="col">${title}</th>`).join("");
    return (
      `<caption>${caption}</caption><thead><tr>${titles}</tr></thead>` +
      `<tbody>${rows.join("")}</tbody>`
    );
  }

  // ---------------------------------------------------------------- inside one trial
  /* One algorithm in one trial at one moment, ready to be drawn. Vertical scales cover all times,
     so that scrubbing does not move them; one left margin, so that the figures line up. */
  function insideView({ result, piece, moment, rival, domain, zoom, width }) {
    const { f } = piece;
    const span = Math.max(...f) - Math.min(...f);
    const lowest = piece.inside.map((s) => Math.min(...lowerEnds(s)));
    const highest = piece.inside.map((s) => Math.max(...upperEnds(s)));
    let rewards = [Math.min(...lowest, ...f), Math.max(...highest, ...f)];
    if (zoom) rewards = [Math.min(...f) - span * 0.6, Math.max(...f) + span * 0.6];
    const reports = reportRange(piece);
    const plays = [0, Math.max(1, ...piece.pulls)];
    return {
      width,
      piece,
      moment,
      rival,
      domain,
      span,
      ranges: { rewards, reports, plays },
      left: Math.max(margin(rewards, 260), margin(reports, 240), margin(plays, 150)),
      color: COLORS[piece.name],
      plays: playsUntil(piece, moment.t),
      onebit: piece.curator === "onebit" && piece.scale !== null,
      who:
        `${plain(piece.line)}, trial ${piece.trial + 1}${rankWords(result, piece)}, ` +
        `after ${moment.t} of ${result.settings.T} rounds`,
    };
  }
  /* How good a trial this is, once all of its curve are there. */
  function rankWords(result, piece) {
    const { rank, count } = rankOf(result, piece);
    if (count < 3 || count < result.settings.trials) return "";
    let place = `no. ${rank}`;
    if (2 * rank === count + 1) place = "the middle one";
    if (rank === 1) place = "the best";
    if (rank === count) place = "the worst";
    return ` (${place} of ${count} by final regret)`;
  }
  /* All rewards; or 99 of 100 private reports, of which a few are far out. */
  function reportRange({ reports, scale, f }) {
    if (scale === null) return [Math.min(...reports), Math.max(...reports)];
    const sizes = reports.map(Math.abs).sort((p, q) => p - q);
    const most = sizes[Math.floor(0.99 * (sizes.length - 1))];
    const reach = Math.max(most, ...f.map(Math.abs)) * 1.05;
    return [-reach, reach];
  }
  /* Axes over the arms. */
  function armAxes({ width, domain, left }, height, top, y, ylabel) {
    const { range: x, xlabel, marks } = domain;
    return axes({ width, height, x, y, xlabel, ylabel, top, marks, left });
  }
  /* The true mean in a legend: a line, or a short dash where arms have no order. */
  function truthItem({ ordered }) {
    const [from, to] = ordered ? [0, 24] : [5, 19];
    const draw = (x, y) => line(x + from, y, x + to, y, { class: "truth" });
    return { text: "true mean f", draw };
  }

  function estimateWords({ piece, moment, domain, who }) {
    const { f, best } = piece;
    const { mu, sigma, beta } = moment;
    const missed = f.filter((v, i) => Math.abs(v - mu[i]) > beta * sigma[i] + 1e-6).length;
    let where = "inside μ ± β σ at every arm";
    if (missed) where = `outside μ ± β σ at ${missed} of the ${f.length} arms`;
    const top = domain.names[indexOfMax(mu)];
    return (
      `${who}: β = ${short(beta)}; the estimate is largest at ${top}, ` +
      `the truth at ${domain.names[best]} (f = ${short(f[best])}). The truth is ${where}.`
    );
  }
  function posteriorFigure(view) {
    const { width, piece, domain, color, rival } = view;
    const dashed = { stroke: color, "stroke-width": 1.8, "stroke-dasharray": "6 3" };
    let estimate = lineItem("estimate μ", dashed);
    if (!domain.ordered) estimate.draw = (x, y) => marker(piece.name, x + 12, y);
    const shaded = { class: "band", fill: color };
    const between = { text: "μ ± β σ", draw: (x, y) => rect(x, y - 6, 24, 12, shaded) };
    const items = [truthItem(domain), estimate, between];
    const edges = { class: "rival", stroke: color };
    if (rival) items.push(lineItem(`the same with ${rival.words}`, edges));
    const key = [];
    const top = legend(items, width, key);
    const a = armAxes(view, 240 + top, top, view.ranges.rewards, "reward");
    let inner = domain.ordered ? posteriorCurves(view, a, dashed) : posteriorBars(view, a);
    if (rival) inner += rivalEdges(view, a, edges);
    a.out.push(...key, clip("live-clip-posterior", a, inner));
    const note = estimateWords(view);
    return { width, height: a.height, out: a.out, label: `Posterior. ${note}`, note };
  }
  /* The edges of the band that the other reports gave, at the same moment. */
  function rivalEdges({ rival, domain }, a, style) {
    const { order, x } = domain;
    const edge = (ends) => {
      const at = order.map((i) => x[i]);
      const values = order.map((i) => ends(rival.moment)[i]);
      return shape(path(at, values, a), style);
    };
    return edge(lowerEnds) + edge(upperEnds);
  }
  function posteriorCurves({ piece, moment, domain, color }, a, dashed) {
    const sorted = (values) => domain.order.map((i) => values[i]);
    const x = sorted(domain.x);
    const [low, high] = [sorted(lowerEnds(moment)), sorted(upperEnds(moment))];
    return (
      shape(band(x, low, high, a), { class: "band", fill: color }) +
      shape(path(x, sorted(moment.mu), a), { fill: "none", ...dashed }) +
      shape(path(x, sorted(piece.f), a), { class: "truth" })
    );
  }
  function posteriorBars({ piece, moment, domain, color }, a) {
    const { order, x } = domain;
    const step = a.px(x[order[1]]) - a.px(x[order[0]]);
    const w = Math.max(2, Math.min(14, step * 0.6));
    const [low, high] = [lowerEnds(moment), upperEnds(moment)];
    const out = [];
    for (const i of order) {
      const [at, top, truth] = [a.px(x[i]), a.py(high[i]), a.py(piece.f[i])];
      const tall = Math.max(0, a.py(low[i]) - top);
      out.push(rect(at - w / 2, top, w, tall, { class: "band", fill: color }));
      out.push(marker(piece.name, at, a.py(moment.mu[i]), Math.min(4, w / 2)));
      out.push(line(at - w / 2, truth, at + w / 2, truth, { class: "truth" }));
    }
    return out.join("");
  }

  /* Four maps of the plane; the truth and the estimate share one scale. */
  function mapsFigure(view) {
    const { width, piece, moment, plays, domain } = view;
    const side = Math.round(Math.sqrt(piece.f.length));
    const across = width < 520 ? 2 : 4;
    const gap = 14;
    const size = Math.min(240, (width - gap * (across - 1)) / across - 4);
    const both = [...piece.f, ...moment.mu];
    const range = [Math.min(...both), Math.max(...both)];
    const widths = moment.sigma.map((v) => moment.beta * v);
    const maps = [
      { title: "true mean f", values: piece.f, range, rings: [piece.best] },
      { title: "estimate μ", values: moment.mu, range, rings: [indexOfMax(moment.mu)] },
      { title: "half-width β σ", values: widths, range: [0, Math.max(...widths)] },
      { title: "plays", values: plays, range: [0, Math.max(1, ...plays)] },
    ];
    const out = maps.flatMap((map, k) => {
      const left = 2 + (k % across) * (size + gap);
      const top = Math.floor(k / across) * (size + 62);
      return heat({ ...map, left, top, size, side });
    });
    const most = indexOfMax(plays);
    const note =
      `${estimateWords(view)} Rings mark both. ` +
      `Most plays: ${domain.names[most]}, ${plays[most]} of ${moment.t}.`;
    const height = Math.ceil(4 / across) * (size + 62);
    return { width, height, out, label: `Heat maps over the unit square. ${note}`, note };
  }

  /* At most 1,500 reports, evenly through time; what lies outside the scale sits on its edge. */
  function reportsFigure(view) {
    const { width, piece, moment, domain, color } = view;
    const secret = piece.scale !== null;
    const stride = Math.max(1, Math.ceil(moment.t / 1500));
    const dots = { class: "dots", fill: color };
    const report = {
      text: secret ? "a private report" : "a reward",
      draw: (x, y) => circle(x + 12, y, 2.4, dots),
    };
    const items = [truthItem(domain), report];
    if (secret) items.push(lineItem("range of the rewards", { class: "edge" }));
    const key = [];
    const top = legend(items, width, key);
    const a = armAxes(view, 220 + top, top, view.ranges.reports, "what the learner sees");
    const [low, high] = view.ranges.reports;
    a.out.push(...key);
    let outside = 0;
    for (let t = 0; t < moment.t; t += stride) {
      const r = piece.reports[t];
      const x = a.px(domain.x[piece.arms[t]]).toFixed(1);
      if (r >= low && r <= high) a.out.push(circle(x, a.py(r).toFixed(1), 2, dots));
      else {
        outside++;
        const [edge, slope] = r > 0 ? [a.py(high), 5] : [a.py(low), -5];
        a.out.push(shape(`M${x} ${edge}l3 ${slope}h-6z`, dots));
      }
    }
    for (const v of secret ? [piece.most, -piece.most] : [])
      a.out.push(line(a.left, a.py(v), width - a.right, a.py(v), { class: "edge" }));
    a.out.push(truthMarks(view, a));
    const words = reportWords(view);
    const thinned = stride > 1 ? ` One in ${stride} is drawn.` : "";
    const far = outside ? ` Outside the scale: ${outside} (triangles).` : "";
    const label = `What the learner saw by arm, ${view.who}. ${words}`;
    return { width, height: a.height, out: a.out, label, note: words + thinned + far };
  }
  /* The true mean over the arms: a curve, or a dash at each. */
  function truthMarks({ piece, domain }, a) {
    const { order, x, ordered, plane } = domain;
    const at = order.map((i) => x[i]);
    const truth = order.map((i) => piece.f[i]);
    if (ordered) return shape(path(at, truth, a), { class: "truth" });
    const half = plane ? 1 : 5;
    const dash = (v, i) =>
      line(a.px(v) - half, a.py(truth[i]), a.px(v) + half, a.py(truth[i]), { class: "truth" });
    return at.map(dash).join("");
  }
  function reportWords({ piece, onebit, span }) {
    if (piece.scale === null) return "Not private: the learner sees the rewards themselves.";
    const scale = short(piece.scale);
    const kind = onebit
      ? `is one bit, +${scale} or −${scale}: coth(ε/2) times the largest reward`
      : `carries Laplace noise of scale ${scale}: 2/ε times the largest reward`;
    return `Every report ${kind}, ${short(piece.most)}. The true mean f spans ${short(span)}.`;
  }

  function pullsFigure(view) {
    const { width, piece, domain, color, plays } = view;
    const { order, x, names } = domain;
    const a = armAxes(view, 150, 10, view.ranges.plays, "plays");
    const w = Math.max(1.5, Math.abs(a.px(x[order[1]]) - a.px(x[order[0]])) * 0.7);
    for (const i of order.filter((arm) => plays[arm])) {
      const left = (a.px(x[i]) - w / 2).toFixed(1);
      const tall = (a.py(0) - a.py(plays[i])).toFixed(1);
      const style = { fill: color, class: piece.top.includes(i) ? undefined : "bars" };
      a.out.push(rect(left, a.py(plays[i]).toFixed(1), w.toFixed(1), tall, style));
    }
    if (domain.ordered) {
      const tip = `M${a.px(x[piece.best])} ${a.py(0) + 2}l5 8h-10z`;
      a.out.push(shape(tip, { class: "truthdot" }));
    }
    const most = indexOfMax(plays);
    const sign = domain.ordered ? " (triangle)" : "";
    const note =
      `${plays.filter(Boolean).length} of ${plays.length} arms played; ` +
      `most often ${names[most]}, ${plays[most]} times. ` +
      `The best arm, ${names[piece.best]}${sign}: ${plays[piece.best]} times; the best tenth of ` +
      `the arms (full colour): ${percent(topShare(piece, plays))} of the plays.`;
    return {
      width,
      height: a.height,
      out: a.out,
      label: `Plays per arm, ${view.who}: ${note}`,
      note,
    };
  }

  // ---------------------------------------------------------------- users needed
  const epsName = (eps) => (eps === null ? "not private" : `ε = ${eps}`);
  /* A number of users that `needed` found in campaign c. */
  function countText(x, c) {
    if (x === 0) return `fewer than ${power(c.pieces[0].T)}`;
    if (x === Infinity) {
      const last = usersCurve(c).at(-1)?.[0] ?? c.pieces[0].T;
      return `more than ${power(last)}`;
    }
    if (x < 1e4) return short(x, 2);
    const decade = 10 ** Math.floor(Math.log10(x));
    return `${short(x / decade, 2)} · ${power(decade)}`;
  }
  function usersWords(c) {
    const levels = LEVELS.map((level) => `${level} at ${countText(needed(c, level), c)} users`);
    return `${epsName(c.settings.eps)}: relative regret falls below ${levels.join(", ")}.`;
  }

  /* Relative regret of elimination against users: a curve for each campaign of `all`; that of the
     current ε, `now`, is bold. */
  function usersFigure(all, now, settings, width) {
    const color = COLORS.PE;
    const values = all.flatMap((c) => usersCurve(c).map(([, y]) => y)).filter((y) => y > 0);
    const lowest = Math.min(0.01, ...values);
    const x = [1e3, 1e9];
    const y = [10 ** Math.floor(Math.log10(lowest)), 2];
    const bold = { stroke: color, "stroke-width": 2.4 };
    const items = [
      lineItem(now ? epsName(settings.eps) : "running", bold, "PE"),
      lineItem("other ε, thin", { stroke: color, "stroke-width": 1 }),
      UNIFORM,
    ];
    const key = [];
    const top = legend(items, width, key);
    const labels = { xlabel: "users T", ylabel: "regret ÷ uniform play" };
    const a = axes({ width, height: 260 + top, x, y, xlog: true, ylog: true, top, ...labels });
    a.out.push(...key, shape(path(x, [1, 1], a), { class: "uniform" }));
    for (const v of LEVELS) a.out.push(shape(path(x, [v, v], a), { class: "edge" }));
    a.out.push(clip("live-clip-users", a, all.map((c) => usersLine(c, c === now, a)).join("")));
    if (width >= 480) a.out.push(...curveNames(all, x[1], a)); // on a phone there is no room
    const error = now && now.pieces.find((p) => p.error);
    const words = (now ? usersWords(now) : "Running.") + (error ? ` ${error.error}.` : "");
    const reports = settings.eps === null ? "bounded rewards" : REPORTS[settings.curator];
    const batches = settings.constants === "proved" ? "doubling" : "few large";
    const note =
      `${words} Elimination, mean over ${settings.trials} trials (dots); ` +
      `${settings.constants} constants, β × ${settings.beta_scale}, ${reports}, ` +
      `seed ${settings.seed}. A horizon is a run of its own, in ${batches} batches.`;
    const label = `Relative regret of elimination against the number of users. ${words}`;
    return { width, height: a.height, out: a.out, label, note };
  }
  /* The curve of one campaign; the bold one has markers and its trials as dots. */
  function usersLine(c, bold, a) {
    const color = COLORS.PE;
    const points = usersCurve(c).filter(([, v]) => v > 0);
    const outline = path(
      points.map((p) => p[0]),
      points.map((p) => p[1]),
      a,
    );
    const style = { fill: "none", stroke: color, "stroke-width": bold ? 2.4 : 1 };
    if (c.settings.eps === null) style["stroke-dasharray"] = "7 4";
    const out = [shape(outline, style)];
    if (!bold) return out[0];
    for (const [T, v] of points) out.push(marker("PE", a.px(T), a.py(v)));
    for (const p of c.pieces.filter((piece) => !piece.error))
      for (const v of p.share.filter((share) => share > 0))
        out.push(circle(a.px(p.T), a.py(v), 1.6, { class: "dots", fill: color }));
    return out.join("");
  }
  /* Each curve is named below its end, from the lowest ε down, as far as there is room. */
  function curveNames(all, end, a) {
    const out = [];
    let last = -Infinity;
    for (const c of all) {
      const [T, v] = usersCurve(c).at(-1) ?? [];
      if (T !== end || !(v > 0)) continue;
      const y = a.py(v) + 12;
      if (y < last + 13 || y > a.height - a.bottom) continue;
      const style = { class: "at-curve", "text-anchor": "end" };
      out.push(text(a.px(T), y, epsName(c.settings.eps), style));
      last = y;
    }
    return out;
  }

  /* Users needed against ε, a line for each level; of the campaigns of `all` that are private and
     whole. */
  function neededFigure(all, whole, eps, width) {
    const lines = LEVELS.map((level, k) => {
      const dash = ["", "6 3", "2 3"][k];
      const style = { stroke: COLORS.PE, "stroke-width": 1.8, "stroke-dasharray": dash };
      return { level, style };
    });
    const key = [];
    const items = lines.map(({ level, style }) => lineItem(`below ${level}`, style));
    const top = legend(items, width, key);
    const ranges = { x: [0.05, 50], y: [1e3, 1e9], xlog: true, ylog: true };
    const labels = { xlabel: "privacy ε", ylabel: "users needed" };
    const a = axes({ width, height: 200 + top, top, ...ranges, ...labels });
    a.out.push(...key);
    const drawn = all.filter((c) => c.settings.eps !== null && whole(c));
    for (const { level, style } of lines) {
      const found = drawn.map((c) => [c.settings.eps, needed(c, level)]);
      const points = found.filter(([, n]) => n > 0 && n < Infinity);
      const outline = path(
        points.map((p) => p[0]),
        points.map((p) => p[1]),
        a,
      );
      a.out.push(shape(outline, { fill: "none", ...style }));
      for (const [e, n] of points) a.out.push(marker("PE", a.px(e), a.py(n), e === eps ? 5 : 3));
    }
    const label =
      `Users needed against ε for relative regret below ${LEVELS.join(", ")}. ` +
      all.map(usersWords).join(" ");
    const note =
      "One mark for each ε tried at these settings; " +
      "points outside 10³ to 10⁹ users are left out.";
    return { width, height: a.height, out: a.out, label, note };
  }
  /* How long so many users take to come, `day` of them a day. */
  function daysText(users, day) {
    if (users === 0 || users === Infinity) return "";
    const days = users / day;
    if (days <= 1) return "within a day";
    if (days >= 730) return `${short(days / 365, 2)} years`;
    const shown = short(days, 2);
    return `${shown} ${shown === "1" ? "day" : "days"}`;
  }
  function usersTable(all, now, whole, day) {
    const rows = all.map((c) => {
      const name = epsName(c.settings.eps);
      const cells = LEVELS.map((v) => (whole(c) ? usersCell(needed(c, v), c, day) : "…"));
      return row(c === now ? `<b>${name}</b>` : name, cells);
    });
    const caption =
      "Users needed for a relative regret below these levels, and how long they take to come at " +
      `${day.toLocaleString("en")} a day`;
    return htmlTable(caption, ["privacy", ...LEVELS], rows);
  }
  function usersCell(users, c, day) {
    const days = daysText(users, day);
    return countText(users, c) + (days && `<br><small>${days}</small>`);
  }

  const rounds = { openingWords, regretWords, regretFigure, regretTable };
  const inside = { insideView, posteriorFigure, mapsFigure, reportsFigure, pullsFigure };
  const users = { epsName, usersWords, usersFigure, neededFigure, usersTable };
  return { REPORTS, plain, ...rounds, ...inside, ...users };
})();

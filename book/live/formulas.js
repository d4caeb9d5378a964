/* What the small pictures of the pages compute: the curators, the threshold of TGP and the band of
   one-bit GP-UCB. tests/test_widgets.py runs this file and holds it to ldpbo_core.py. */
globalThis.LDPBO_FORMULAS = (() => {
  "use strict";
  const clip = (y, bound) => Math.max(-bound, Math.min(bound, y));
  const sum = (values) => values.reduce((a, b) => a + b, 0);

  /* CTL of the core: a reward plus Laplace noise. `bound` is B + R. */
  function laplace(eps, bound) {
    const scale = (2 * bound) / eps;
    const away = (z, y) => Math.abs(z - clip(y, bound)) / scale;
    return {
      scale,
      density: (z, y) => Math.exp(-away(z, y)) / (2 * scale),
      odds: (z, y, other) => Math.exp(away(z, other) - away(z, y)),
      reach: (t) => bound + scale * Math.log(t),
    };
  }
  /* OneBit of the core: +s or −s, right on average. `bound` is F + R. */
  function onebit(eps, bound) {
    const scale = bound / Math.tanh(eps / 2);
    const chance = (y) => (1 + clip(y, bound) / scale) / 2;
    return { scale, chance, report: (y, draw) => (draw < chance(y) ? scale : -scale) };
  }

  /* Line 8 of TGP: a report beyond the threshold counts as 0. */
  const truncate = (reports, b) => reports.map((report) => (Math.abs(report) <= b ? report : 0));
  /* The mean of a truncated Laplace report of the reward y ≥ 0. */
  function truncatedMean(y, b, scale) {
    const below = (z) => ((z - scale) * Math.exp((z - y) / scale)) / 2;
    const above = (z) => (-(z + scale) * Math.exp((y - z) / scale)) / 2;
    const left = below(Math.min(b, y)) - below(-b);
    return b > y ? left + above(b) - above(y) : left;
  }
  /* Mean and standard error. */
  function meanOf(values) {
    const n = values.length;
    const mean = sum(values) / n;
    const squares = sum(values.map((value) => (value - mean) ** 2));
    return [mean, Math.sqrt(squares / (n - 1) / n)];
  }

  /* A with L Lᵀ = A, for a positive definite A. */
  function cholesky(A) {
    const L = A.map((row) => row.map(() => 0));
    A.forEach((row, i) => {
      for (let j = 0; j <= i; j++) {
        let rest = row[j];
        for (let k = 0; k < j; k++) rest -= L[i][k] * L[j][k];
        L[i][j] = i === j ? Math.sqrt(rest) : rest / L[j][j];
      }
    });
    return L;
  }
  /* x with L x = b. */
  function forward(L, b) {
    const x = [];
    L.forEach((row, i) => {
      let rest = b[i];
      for (let k = 0; k < i; k++) rest -= row[k] * x[k];
      x.push(rest / row[i]);
    });
    return x;
  }
  /* Kernel ridge regression after counts[i] reports of arm i that add up to sums[i]: estimate,
     width and information gain. */
  function posterior(K, counts, sums, lam) {
    const played = [...counts.keys()].filter((i) => counts[i]);
    const root = counts.map(Math.sqrt);
    const ridge = (i, j) => (i === j ? lam : 0);
    const inner = played.map((i) => played.map((j) => root[i] * K[i][j] * root[j] + ridge(i, j)));
    const L = cholesky(inner);
    const w = forward(
      L,
      played.map((i) => sums[i] / root[i]),
    );
    const columns = K.map((row) =>
      forward(
        L,
        played.map((i) => root[i] * row[i]),
      ),
    );
    const product = (v, u) => sum(v.map((value, i) => value * u[i]));
    return {
      mu: columns.map((v) => product(v, w)),
      sigma: columns.map((v, x) => Math.sqrt(Math.max(0, K[x][x] - product(v, v)))),
      gain: sum(L.map((row, i) => Math.log(row[i]))) - (played.length * Math.log(lam)) / 2,
    };
  }
  /* What one-bit GP-UCB knows after the first `users` of these, with its proved band and the
     matched ridge. data: K, F, R, B, delta, and of each user arm, reward and draw. */
  function onebitBand(data, eps, users) {
    const curator = onebit(eps, data.F + data.R);
    const lam = (curator.scale / data.B) ** 2;
    const counts = data.K.map(() => 0);
    const sums = data.K.map(() => 0);
    const reports = [];
    for (let i = 0; i < users; i++) {
      const report = curator.report(data.rewards[i], data.draws[i]);
      reports.push(report);
      counts[data.arms[i]] += 1;
      sums[data.arms[i]] += report;
    }
    const { mu, sigma, gain } = posterior(data.K, counts, sums, lam);
    const noise = curator.scale * Math.sqrt((2 * (gain + Math.log(1 / data.delta))) / lam);
    return { scale: curator.scale, reports, mu, sigma, beta: data.B + noise };
  }

  return { laplace, onebit, truncate, truncatedMean, meanOf, posterior, onebitBand };
})();

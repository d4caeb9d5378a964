"""The paper's algorithms written out line by line: slow, literal, and sharing no code with the core.

Everything here follows the pseudo-code of Zhou & Tan as the specification reads it. Each program keeps the whole list of plays and rewards and, after
each of them, rebuilds its t x t matrix (Alg. 2) or its m x t features (Alg. 1, Alg. 3) from nothing. The only import besides numpy and SciPy is `math`.

    o = oracle("ATA", K, T, B=1, R=1, v=2, c=1, eps=1.0)     # "TGP", "ATA" or "MoMA"
    arm = o.ask()                                            # the arm these rules would play now, Sec. "Ties" of the specification
    o.feed(arm, reward)                                      # teacher forcing: any arm may be fed, also one that ask() did not name

After each `feed`: `mu`, `sigma` (over all arms), `beta` (the width used in the next round), `b` (the threshold just used), `m`, `dictionary`, `kstar`, `r`,
`scores`, `plays`, and `margin`, a dict of distances from a discrete decision, so that two programs are compared only where rounding cannot tip it:
    "score"   the arm chosen against the tie band (relative to the largest score)
    "r"       the same for k* (MoMA)
    "cut"     smallest | |u y| - b | / b (ATA) or | |y| - b_t | / b_t (TGP)
    "sketch"  smallest |u_a - P(arm a is kept)| among the played arms
    "rank"    smallest | log10(w / (1e-12 max w)) | among the eigenvalues of K_D: 0 means that the pseudo-inverse may go either way
"""

import math

import numpy as np

INF = math.inf
E = math.e


# ------------------------------------------------------------------------------------------------------------------ kernels, Sec. 2 of the paper
def se(x, y, lengthscale):
    """k_SE(x, x') = exp(-s^2 / 2 l^2) of two points."""
    s = math.dist(np.atleast_1d(x), np.atleast_1d(y))
    return math.exp(-(s * s) / (2 * lengthscale * lengthscale))


def matern(x, y, lengthscale, nu):
    """k_Matern in its Bessel form (second kind); 1 at s = 0, where the formula is 0 * inf."""
    from scipy.special import kv

    s = math.dist(np.atleast_1d(x), np.atleast_1d(y))
    if s == 0:
        return 1.0
    z = s * math.sqrt(2 * nu) / lengthscale
    return 2 ** (1 - nu) / math.gamma(nu) * z**nu * kv(nu, z)


def gram(k, points):
    """[k(x, x')] entry by entry."""
    return np.array([[k(x, y) for y in points] for x in points])


def correlation(table):
    """Pearson correlation with ddof = 1, pair of columns by pair of columns."""
    rows, cols = len(table), len(table[0])
    mean = [math.fsum(row[j] for row in table) / rows for j in range(cols)]
    cov = [
        [
            math.fsum((row[i] - mean[i]) * (row[j] - mean[j]) for row in table) / (rows - 1)
            for j in range(cols)
        ]
        for i in range(cols)
    ]
    return np.array(
        [[cov[i][j] / math.sqrt(cov[i][i] * cov[j][j]) for j in range(cols)] for i in range(cols)]
    )


# ------------------------------------------------------------------------------------------------------------------ posterior and information gain
def exact_posterior(K, arms, y, lam):
    """Eqs. (mu) and (sigma): k_t(x)^T (K_t + lam I)^{-1} y and k(x,x) - k_t(x)^T (K_t + lam I)^{-1} k_t(x)."""
    n = len(K)
    if len(arms) == 0:
        return np.zeros(n), np.sqrt(np.diag(K))
    Kt = K[np.ix_(arms, arms)]
    inverse = np.linalg.inv(Kt + lam * np.eye(len(arms)))
    mu, sigma = np.zeros(n), np.zeros(n)
    for x in range(n):
        kt = K[arms, x]
        mu[x] = kt @ inverse @ np.asarray(y, float)
        sigma[x] = math.sqrt(max(0.0, K[x, x] - kt @ inverse @ kt))
    return mu, sigma


def gain(K, arms, lam):
    """1/2 ln det(I + K_A / lam) of a multiset A of arms."""
    if len(arms) == 0:
        return 0.0
    sign, logdet = np.linalg.slogdet(np.eye(len(arms)) + K[np.ix_(arms, arms)] / lam)
    assert sign > 0
    return 0.5 * logdet


def pick(scores):
    """Lowest index whose score is within 1e-9 max(1, |max|) of the maximum."""
    top = max(scores)
    for i, s in enumerate(scores):
        if s >= top - 1e-9 * max(1.0, abs(top)):
            return i


def pick_margin(scores):
    """How far, relative to max(1, |max|), any score that decides `pick` is from the edge of the tie band."""
    top = max(scores)
    scale = max(1.0, abs(top))
    edge = top - 1e-9 * scale
    chosen = pick(scores)
    return min([scores[chosen] - edge] + [edge - s for s in scores[:chosen]]) / scale


def greedy_gains(K, T, lam):
    """gamma_0..gamma_T of the greedy multiset: each step adds the arm with the largest posterior variance."""
    chosen, gains = [], [0.0]
    for _ in range(T):
        _, sigma = exact_posterior(K, chosen, [0.0] * len(chosen), lam)
        chosen.append(pick(list(sigma**2)))
        gains.append(gain(K, chosen, lam))
    return gains


# ------------------------------------------------------------------------------------------------------------------ Alg. 4: Nystroem embedding
def symmetric_power(A, power):
    """A^power of a symmetric positive definite matrix, from its eigenvectors."""
    w, U = np.linalg.eigh(A)
    return (U * w**power) @ U.T


def embedding(K, dictionary):
    """phi(x) = (K_D^{1/2})^+ k_D(x) for every arm x: rows are arms, columns the m coordinates. Eigenvalues below 1e-12 of the largest are dropped."""
    D = list(dictionary)
    w, U = np.linalg.eigh(K[np.ix_(D, D)])
    root = np.zeros((len(D), len(D)))
    for value, u in zip(w, U.T):
        if value > 0 and value >= 1e-12 * w[-1]:
            root += np.outer(u, u) / math.sqrt(value)
    margin = (
        min(abs(math.log10(max(value, 1e-300) / (1e-12 * w[-1]))) for value in w)
        if w[-1] > 0
        else INF
    )
    return np.array([root @ K[D, x] for x in range(len(K))]), margin


class _Oracle:
    """What the three programs share: the parameters, the list of plays, the argmax of the UCB score."""

    def __init__(
        self,
        K,
        T,
        *,
        B,
        R,
        v=None,
        c=None,
        alpha=1.0,
        eps=None,
        lam=1.0,
        delta=0.1,
        acc=0.1,
        constants="order",
        beta_scale=1.0,
        q=None,
        k=None,
        rng=None,
        weibull=None,
    ):
        self.K, self.T, self.n = np.asarray(K, float), T, len(K)
        self.B, self.R, self.eps, self.lam, self.delta, self.acc = B, R, eps, lam, delta, acc
        self.constants, self.beta_scale, self.weibull = constants, beta_scale, weibull
        if eps is None:
            self.alpha, self.v, self.c, self.L = alpha, v, c, None
        else:  # LDP: alpha = 1 and the moments follow from B, R and eps
            self.L = 2 * (B + R) / eps
            self.alpha, self.v, self.c = 1.0, B**2 + R**2 + 2 * self.L**2, R**2 + 2 * self.L**2
        rho = (1 + acc) / (1 - acc)
        self.q = (
            q
            if q is not None
            else (
                math.log(T) / acc**2
                if constants == "order"
                else 6 * rho * math.log(4 * T / delta) / acc**2
            )
        )
        self.k = k
        self.rng = rng
        self.plays, self.rewards = [], []
        self.mu, self.sigma = (
            np.zeros(self.n),
            np.array([math.sqrt(self.K[x, x]) for x in range(self.n)]),
        )
        self.b, self.m, self.dictionary, self.kstar, self.r = None, 0, (), None, None
        self.margin = dict(score=INF, r=INF, cut=INF, sketch=INF, rank=INF)
        self.setup()
        self.beta = self.first_part()

    def setup(self):
        pass

    def first_part(self):
        """B, or B(1 + 1/sqrt(1 - acc)) for ATA and MoMA at the constants of the theorems."""
        return self.B if self.constants == "order" else self.B * (1 + 1 / math.sqrt(1 - self.acc))

    def width(self, rest):
        return self.first_part() + self.beta_scale * rest

    @property
    def scores(self):
        return [self.mu[x] + self.beta * self.sigma[x] for x in range(self.n)]

    def ask(self):
        self.margin["score"] = pick_margin(self.scores)
        return pick(self.scores)

    def sketch(self, played):
        """Alg. 4, l. 3-6, one draw per arm instead of one per play: arm a, played n_a times, is kept with probability 1 - (1 - p_a)^{n_a}."""
        u = [0.0] * self.n if self.q == INF else self.rng.random(self.n)
        kept, margin = [], INF
        for a in range(self.n):
            times = played.count(a)
            if times == 0:
                continue
            p = 1.0 if self.q == INF else min(self.q * self.sigma[a] ** 2 / self.lam, 1.0)
            keep = 1 - (1 - p) ** times
            margin = min(margin, abs(u[a] - keep))
            if u[a] < keep:
                kept.append(a)
        self.dictionary, self.m, self.margin["sketch"] = tuple(kept), len(kept), margin


class _TGP(_Oracle):
    """Alg. 2, and TGP-UCB of Chowdhury & Gopalan when eps is None; with `weibull` = (theta, a, b) the sub-Weibull schedule."""

    def setup(self):
        self.gamma = None
        if self.constants != "order" and (self.eps is not None or self.weibull):
            self.gamma = greedy_gains(self.K, self.T, self.lam)
            if self.constants == "repaired":
                self.gamma = [g / (1 - 1 / E) for g in self.gamma]
        if self.constants != "order":  # the number of dyadic levels that b_1..b_T spans
            self.J = math.ceil(math.log2(self.threshold(self.T) / self.threshold(1))) + 1

    def first_part(self):
        return self.B

    def threshold(self, t):
        """b_t."""
        if self.weibull:
            theta, _, b = self.weibull
            return self.B + (math.log(t) / b) ** theta
        if self.eps is not None:
            return self.B + self.R + self.L * math.log(t)
        return self.v ** (1 / (1 + self.alpha)) * t ** (1 / (2 * (1 + self.alpha)))

    def feed(self, arm, reward):
        self.plays.append(arm)
        t = len(self.plays)
        self.b = self.threshold(t)
        self.rewards.append(reward if abs(reward) <= self.b else 0.0)  # l. 8
        self.margin["cut"] = abs(abs(reward) - self.b) / self.b if self.b else INF
        self.mu, self.sigma = exact_posterior(
            self.K, self.plays, self.rewards, self.lam
        )  # l. 9, 10
        # beta_{t+1}, l. 4 and 5 of the next round
        root_lam = math.sqrt(self.lam)
        if self.constants == "order":
            self.beta = self.width(self.b * math.sqrt(math.log(t + 1)) / root_lam)
            return
        level = (
            math.log(1 / self.delta)
            if self.constants == "theorem" and not self.weibull
            else math.log(self.J / self.delta)
        )
        if self.weibull:
            theta, a, b = self.weibull
            Kw = self.B**2 + a * math.gamma(2 * theta + 1) * b ** (-2 * theta)
            rest = 2 * math.sqrt(2 / self.lam) * self.b * math.sqrt(
                self.gamma[t] + level
            ) + math.sqrt(max(a, 1) * Kw * (math.log(t) + 1) / self.lam)
        elif self.eps is not None:
            Kc = self.B**2 + self.R**2 + 2 * self.L**2
            rest = (
                2 * math.sqrt(2) / root_lam * self.b * math.sqrt(self.gamma[t] + level)
                + math.sqrt(Kc * (math.log(t) + 1)) / root_lam
            )
        else:
            rest = (
                3
                * self.b
                * math.sqrt(2 * gain(self.K, self.plays, self.lam) + 2 * level)
                / root_lam
            )
        self.beta = self.width(rest)


class _ATA(_Oracle):
    """Alg. 1, with the current b_t in l. 10."""

    def feed(self, arm, reward):
        self.plays.append(arm)
        self.rewards.append(reward)
        t, T, lam, power = len(self.plays), self.T, self.lam, 1 / (1 + self.alpha)
        self.sketch(self.plays)  # l. 6, 7
        m = self.m
        if m == 0:
            self.mu, self.sigma, self.beta = (
                np.zeros(self.n),
                np.sqrt(np.diag(self.K)),
                self.first_part(),
            )
            self.b, self.margin["cut"], self.margin["rank"] = None, INF, INF
            return
        log = (
            math.log((m + 1) * T) if self.constants == "order" else math.log(4 * m * T / self.delta)
        )
        growth = t ** ((1 - self.alpha) / (2 * (1 + self.alpha)))
        self.b = (self.v / log) ** power * growth
        phi, self.margin["rank"] = embedding(self.K, self.dictionary)
        Phi = np.array([phi[x] for x in self.plays])  # l. 8, t x m
        V = Phi.T @ Phi + lam * np.eye(m)
        root = symmetric_power(V, -0.5)
        u = root @ Phi.T  # l. 9, m x t
        y = np.array(self.rewards)
        self.margin["cut"] = float(np.min(np.abs(np.abs(u * y) - self.b))) / self.b
        r = np.array([sum(z for z in u[i] * y if abs(z) <= self.b) for i in range(m)])  # l. 10
        theta = root @ r  # l. 11
        inverse = np.linalg.inv(V)
        self.mu = np.array([phi[x] @ theta for x in range(self.n)])  # l. 12, 13
        self.sigma = np.array(
            [
                math.sqrt(
                    max(0.0, self.K[x, x] - phi[x] @ phi[x] + lam * phi[x] @ inverse @ phi[x])
                )
                for x in range(self.n)
            ]
        )
        front = 1 if self.constants == "order" else 4
        self.beta = self.width(
            front
            * math.sqrt(m / lam)
            * self.v**power
            * log ** (self.alpha / (1 + self.alpha))
            * growth
        )


class _MoMA(_Oracle):
    """Alg. 3. The k-th reward of an epoch triggers the update; the T - Nk rounds left over change nothing."""

    def setup(self):
        if self.k is None:
            if self.constants == "repaired":
                self.k = 2
                while (
                    math.comb(self.k, math.ceil((self.k - 1) / 2))
                    * 8.0 ** -math.ceil((self.k - 1) / 2)
                    > self.delta / 2
                ):
                    self.k += 1
            else:
                self.k = math.ceil(
                    (24 if self.constants == "theorem" else 1)
                    * math.log(4 * E * self.T / self.delta)
                )
        self.N = self.T // self.k
        self.epochs, self.columns, self.pending = [], [], []
        if self.constants == "repaired":
            self.G = greedy_gains(self.K, self.N, self.lam)[-1] / (1 - 1 / E)

    def feed(self, arm, reward):
        self.plays.append(arm)
        if len(self.epochs) == self.N:
            return
        self.pending.append(reward)
        if len(self.pending) < self.k:
            return
        self.epochs.append(arm)  # l. 5, 6
        self.columns.append(self.pending)
        self.pending = []
        n, lam, power = len(self.epochs), self.lam, 1 / (1 + self.alpha)
        self.sketch(self.epochs)  # l. 7, 8
        m = self.m
        if m == 0:
            self.mu, self.sigma, self.kstar, self.r = (
                np.zeros(self.n),
                np.sqrt(np.diag(self.K)),
                0,
                [0.0] * self.k,
            )
            self.margin["rank"] = INF
        else:
            phi, self.margin["rank"] = embedding(self.K, self.dictionary)
            Phi = np.array([phi[x] for x in self.epochs])  # l. 9
            V = Phi.T @ Phi + lam * np.eye(m)
            inverse = np.linalg.inv(V)
            theta = [
                inverse @ sum(self.columns[i][j] * phi[self.epochs[i]] for i in range(n))
                for j in range(self.k)
            ]  # l. 10
            self.r = []
            for j in range(self.k):  # l. 11
                distances = [
                    math.sqrt(max(0.0, (theta[j] - theta[s]) @ V @ (theta[j] - theta[s])))
                    for s in range(self.k)
                    if s != j
                ]
                self.r.append(median(distances))
            self.kstar = pick([-r for r in self.r])  # l. 12
            self.margin["r"] = pick_margin([-r for r in self.r])
            self.mu = np.array([phi[x] @ theta[self.kstar] for x in range(self.n)])  # l. 13, 14
            self.sigma = np.array(
                [
                    math.sqrt(
                        max(0.0, self.K[x, x] - phi[x] @ phi[x] + lam * phi[x] @ inverse @ phi[x])
                    )
                    for x in range(self.n)
                ]
            )
        if self.constants == "repaired":
            rest = (
                3
                * (8 * 2 ** (1 - self.alpha) * self.c) ** power
                * self.N ** ((1 - self.alpha) / (2 * (1 + self.alpha)))
                * math.sqrt(2 * self.G / lam)
            )
        elif self.constants == "theorem":
            rest = (
                3
                * lam**-0.5
                * (9 * m * self.c) ** power
                * n ** ((1 - self.alpha) / (2 * (1 + self.alpha)))
            )
        else:
            rest = (
                lam**-0.5 * (m * self.c) ** power * n ** ((1 - self.alpha) / (2 * (1 + self.alpha)))
            )
        self.beta = self.width(rest)


class _OneSummary(_MoMA):
    """The baselines "MoM" and "MoMA-avg": an epoch's k rewards become one number, and one ridge estimate is made of these numbers."""

    middle = False

    def feed(self, arm, reward):
        self.plays.append(arm)
        if len(self.epochs) == self.N:
            return
        self.pending.append(reward)
        if len(self.pending) < self.k:
            return
        self.epochs.append(arm)
        self.columns.append(
            median(self.pending) if self.middle else math.fsum(self.pending) / self.k
        )
        self.pending = []
        n, lam = len(self.epochs), self.lam
        self.sketch(self.epochs)
        if self.m == 0:
            self.mu, self.sigma = np.zeros(self.n), np.sqrt(np.diag(self.K))
        else:
            phi, self.margin["rank"] = embedding(self.K, self.dictionary)
            V = lam * np.eye(self.m) + sum(np.outer(phi[x], phi[x]) for x in self.epochs)
            inverse = np.linalg.inv(V)
            theta = inverse @ sum(y * phi[x] for x, y in zip(self.epochs, self.columns))
            self.mu = np.array([phi[x] @ theta for x in range(self.n)])
            self.sigma = np.array(
                [
                    math.sqrt(
                        max(0.0, self.K[x, x] - phi[x] @ phi[x] + lam * phi[x] @ inverse @ phi[x])
                    )
                    for x in range(self.n)
                ]
            )
        moment = self.c / self.k**self.alpha  # of a mean of k rewards, up to a factor 2
        rest = (
            lam**-0.5
            * (self.m * moment) ** (1 / (1 + self.alpha))
            * n ** ((1 - self.alpha) / (2 * (1 + self.alpha)))
        )
        self.beta = self.width(rest)


class _MoM(_OneSummary):
    middle = True


class _GPUCB(_Oracle):
    """Plain GP-UCB: no truncation, exact posterior."""

    def first_part(self):
        return self.B

    def feed(self, arm, reward):
        self.plays.append(arm)
        self.rewards.append(reward)
        self.mu, self.sigma = exact_posterior(self.K, self.plays, self.rewards, self.lam)
        size, t = self.c ** (1 / (1 + self.alpha)), len(self.plays)
        log = (
            math.log(t + 1)
            if self.constants == "order"
            else 2 * (gain(self.K, self.plays, self.lam) + math.log(1 / self.delta))
        )
        self.beta = self.width(size * math.sqrt(log / self.lam))

    def covariance(self):
        """k(x, x') - k_t(x)^T (K_t + lam I)^{-1} k_t(x') for all pairs: what Thompson sampling draws from, times beta^2."""
        if not self.plays:
            return self.K
        columns = self.K[self.plays]
        return (
            self.K
            - columns.T
            @ np.linalg.inv(
                self.K[np.ix_(self.plays, self.plays)] + self.lam * np.eye(len(self.plays))
            )
            @ columns
        )


def median(values):
    """Middle value, or the mean of the two middle ones; of no values (k = 1), 0."""
    values = sorted(values)
    half = len(values) // 2
    if not values:
        return 0.0
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def oracle(name, K, T, **parameters):
    return {
        "TGP": _TGP,
        "ATA": _ATA,
        "MoMA": _MoMA,
        "MoM": _MoM,
        "MoMA-avg": _OneSummary,
        "GP-UCB": _GPUCB,
    }[name](K, T, **parameters)

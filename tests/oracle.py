"""The paper's algorithms written out line by line: slow, literal, sharing no code with the core.

Everything here follows the pseudo-code of Zhou & Tan as the specification reads it. Each program
keeps the whole list of plays and rewards and, after each of them, rebuilds its t x t matrix
(Alg. 2) or its m x t features (Alg. 1, Alg. 3) from nothing. The only import besides numpy and
SciPy is `math`.

    o = oracle("ATA", K, T, B=1, R=1, v=2, c=1, eps=1.0)     # "TGP", "ATA" or "MoMA"
    arm = o.ask()            # the arm these rules would play now, Sec. "Ties" of the specification
    o.feed(arm, reward)      # teacher forcing: any arm may be fed, also one that ask() did not name

After each `feed`: `mu`, `sigma` (over all arms), `beta` (the width used in the next round), `b`
(the threshold just used), `m`, `dictionary`, `kstar`, `r`, `scores`, `plays`, and `margin`, a dict
of distances from a discrete decision, so that two programs are compared only where rounding
cannot tip it:
    "score"   the arm chosen against the tie band (relative to the largest score)
    "r"       the same for k* (MoMA)
    "cut"     smallest | |u y| - b | / b (ATA) or | |y| - b_t | / b_t (TGP)
    "sketch"  smallest |u_a - P(arm a is kept)| among the played arms
    "rank"    smallest | log10(w / (1e-12 max w)) | among the eigenvalues of K_D: 0 means that the
              pseudo-inverse may go either way
"""

import math

import numpy as np

INF = math.inf
E = math.e


# ---- kernels, Sec. 2 of the paper ---------------------------------------------------------------


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
    rows = len(table)
    columns = range(len(table[0]))
    mean = [math.fsum(row[j] for row in table) / rows for j in columns]

    def covariance(i, j):
        products = [(row[i] - mean[i]) * (row[j] - mean[j]) for row in table]
        return math.fsum(products) / (rows - 1)

    variance = [covariance(i, i) for i in columns]

    def pearson(i, j):
        return covariance(i, j) / math.sqrt(variance[i] * variance[j])

    return np.array([[pearson(i, j) for j in columns] for i in columns])


# ---- posterior and information gain -------------------------------------------------------------


def exact_posterior(K, arms, y, lam):
    """Eqs. (mu) and (sigma) for every arm x, from the t x t matrix K_t of the plays.

    mu = k_t(x)^T (K_t + lam I)^{-1} y, sigma^2 = k(x,x) - k_t(x)^T (K_t + lam I)^{-1} k_t(x).
    """
    n = len(K)
    if len(arms) == 0:
        return np.zeros(n), np.sqrt(np.diag(K))
    Kt = K[np.ix_(arms, arms)]
    inverse = np.linalg.inv(Kt + lam * np.eye(len(arms)))
    mu = np.zeros(n)
    sigma = np.zeros(n)
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
    """How far any score that decides `pick` is from the edge of the tie band.

    Relative to max(1, |max|).
    """
    top = max(scores)
    scale = max(1.0, abs(top))
    edge = top - 1e-9 * scale
    chosen = pick(scores)
    above = scores[chosen] - edge
    below = [edge - s for s in scores[:chosen]]
    return min([above, *below]) / scale


def greedy_gains(K, T, lam):
    """gamma_0..gamma_T of the greedy multiset: each step adds the arm of largest variance."""
    chosen = []
    gains = [0.0]
    for _ in range(T):
        _, sigma = exact_posterior(K, chosen, [0.0] * len(chosen), lam)
        chosen.append(pick(list(sigma**2)))
        gains.append(gain(K, chosen, lam))
    return gains


# ---- Alg. 4: Nystroem embedding -----------------------------------------------------------------


def symmetric_power(A, power):
    """A^power of a symmetric positive definite matrix, from its eigenvectors."""
    w, U = np.linalg.eigh(A)
    return (U * w**power) @ U.T


def embedding(K, dictionary):
    """phi(x) = (K_D^{1/2})^+ k_D(x): rows are all arms x, columns the m coordinates; and a margin.

    Eigenvalues below 1e-12 of the largest are dropped.
    """
    D = list(dictionary)
    w, U = np.linalg.eigh(K[np.ix_(D, D)])
    cut = 1e-12 * w[-1]
    root = np.zeros((len(D), len(D)))
    for value, u in zip(w, U.T):
        if value > 0 and value >= cut:
            root += np.outer(u, u) / math.sqrt(value)
    margin = INF
    if w[-1] > 0:
        margin = min(abs(math.log10(max(value, 1e-300) / cut)) for value in w)
    return np.array([root @ K[D, x] for x in range(len(K))]), margin


# ---- what the programs share --------------------------------------------------------------------


class _Oracle:
    """What the programs share: the parameters, the list of plays, the argmax of the UCB score."""

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
        self.K = np.asarray(K, float)
        self.T = T
        self.n = len(K)
        self.B, self.R = B, R
        self.eps = eps
        self.lam = lam
        self.delta = delta
        self.acc = acc
        self.constants = constants
        self.beta_scale = beta_scale
        self.weibull = weibull
        self.k = k
        self.rng = rng
        self.alpha = alpha
        self.v = v
        self.c = c
        self.L = None
        if eps is not None:  # LDP: alpha = 1 and the moments follow from B, R and eps
            self.L = 2 * (B + R) / eps
            self.alpha = 1.0
            self.v = B**2 + R**2 + 2 * self.L**2
            self.c = R**2 + 2 * self.L**2
        self.q = self.oversampling() if q is None else q
        self.plays = []
        self.rewards = []
        self.prior()
        self.b = None
        self.m = 0
        self.dictionary = ()
        self.kstar, self.r = None, None
        self.margin = dict(score=INF, r=INF, cut=INF, sketch=INF, rank=INF)
        self.setup()
        self.beta = self.first_part()

    def oversampling(self):
        """q of Alg. 4."""
        if self.constants == "order":
            return math.log(self.T) / self.acc**2
        rho = (1 + self.acc) / (1 - self.acc)
        return 6 * rho * math.log(4 * self.T / self.delta) / self.acc**2

    def setup(self):
        pass

    def prior(self):
        """mu and sigma of a learner that knows nothing."""
        self.mu = np.zeros(self.n)
        self.sigma = np.sqrt(np.diag(self.K))

    def first_part(self):
        """B, or B(1 + 1/sqrt(1 - acc)) for ATA and MoMA at the constants of the theorems."""
        if self.constants == "order":
            return self.B
        return self.B * (1 + 1 / math.sqrt(1 - self.acc))

    def width(self, rest):
        return self.first_part() + self.beta_scale * rest

    def growth(self, t):
        """t^{(1 - alpha)/(2(1 + alpha))}: 1 where two moments exist."""
        return t ** ((1 - self.alpha) / (2 * (1 + self.alpha)))

    @property
    def scores(self):
        return [self.mu[x] + self.beta * self.sigma[x] for x in range(self.n)]

    def ask(self):
        self.margin["score"] = pick_margin(self.scores)
        return pick(self.scores)

    def sketch(self, played):
        """Alg. 4, l. 3-6, with one draw per arm instead of one per play.

        Arm a, played n_a times, is kept with probability 1 - (1 - p_a)^{n_a}.
        """
        u = [0.0] * self.n if self.q == INF else self.rng.random(self.n)
        kept = []
        margin = INF
        for a in range(self.n):
            times = played.count(a)
            if times == 0:
                continue
            p = 1.0 if self.q == INF else min(self.q * self.sigma[a] ** 2 / self.lam, 1.0)
            keep = 1 - (1 - p) ** times
            margin = min(margin, abs(u[a] - keep))
            if u[a] < keep:
                kept.append(a)
        self.dictionary = tuple(kept)
        self.m = len(kept)
        self.margin["sketch"] = margin

    def sketched_sigma(self, phi, inverse):
        """sigma^2 = k(x,x) - phi(x)^T phi(x) + lam phi(x)^T V^{-1} phi(x) of every arm x."""
        sigma = np.zeros(self.n)
        for x in range(self.n):
            outside = self.K[x, x] - phi[x] @ phi[x]
            inside = self.lam * phi[x] @ inverse @ phi[x]
            sigma[x] = math.sqrt(max(0.0, outside + inside))
        return sigma


# ---- Alg. 2 -------------------------------------------------------------------------------------


class _TGP(_Oracle):
    """Alg. 2, and TGP-UCB of Chowdhury & Gopalan when eps is None.

    With `weibull` = (theta, a, b) the sub-Weibull schedule.
    """

    def setup(self):
        self.gamma = None
        if self.constants == "order":
            return
        if self.eps is not None or self.weibull:
            self.gamma = greedy_gains(self.K, self.T, self.lam)
            if self.constants == "proved":
                self.gamma = [g / (1 - 1 / E) for g in self.gamma]
        # the number of dyadic levels that b_1..b_T spans
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
        p = 1 + self.alpha
        return self.v ** (1 / p) * t ** (1 / (2 * p))

    def feed(self, arm, reward):
        self.plays.append(arm)
        t = len(self.plays)
        self.b = self.threshold(t)
        self.rewards.append(reward if abs(reward) <= self.b else 0.0)  # l. 8
        self.margin["cut"] = abs(abs(reward) - self.b) / self.b if self.b else INF
        self.mu, self.sigma = exact_posterior(self.K, self.plays, self.rewards, self.lam)  # l. 9-10
        self.beta = self.width(self.rest(t))  # beta_{t+1}, l. 4 and 5 of the next round

    def rest(self, t):
        """What beta_{t+1} adds to B."""
        b, lam = self.b, self.lam
        if self.constants == "order":
            return b * math.sqrt(math.log(t + 1)) / math.sqrt(lam)
        levels = 1 if self.constants == "printed" and not self.weibull else self.J
        level = math.log(levels / self.delta)
        if self.weibull:
            theta, a, rate = self.weibull
            Kw = self.B**2 + a * math.gamma(2 * theta + 1) * rate ** (-2 * theta)
            noise = 2 * math.sqrt(2 / lam) * b * math.sqrt(self.gamma[t] + level)
            return noise + math.sqrt(max(a, 1) * Kw * (math.log(t) + 1) / lam)
        if self.eps is not None:
            Kc = self.B**2 + self.R**2 + 2 * self.L**2
            noise = 2 * math.sqrt(2) / math.sqrt(lam) * b * math.sqrt(self.gamma[t] + level)
            return noise + math.sqrt(Kc * (math.log(t) + 1)) / math.sqrt(lam)
        played = gain(self.K, self.plays, lam)
        return 3 * b * math.sqrt(2 * played + 2 * level) / math.sqrt(lam)


# ---- Alg. 1 -------------------------------------------------------------------------------------


class _ATA(_Oracle):
    """Alg. 1, with the current b_t in l. 10."""

    def feed(self, arm, reward):
        self.plays.append(arm)
        self.rewards.append(reward)
        self.sketch(self.plays)  # l. 6, 7
        if self.m == 0:
            self.prior()
            self.beta = self.first_part()
            self.b = None
            self.margin["cut"] = self.margin["rank"] = INF
            return
        self.schedule(len(self.plays))
        self.estimate()

    def schedule(self, t):
        """b_t, and beta_{t+1}."""
        m = self.m
        power = 1 / (1 + self.alpha)
        growth = self.growth(t)
        if self.constants == "order":
            front = 1
            log = math.log((m + 1) * self.T)
        else:
            front = 4
            log = math.log(4 * m * self.T / self.delta)
        self.b = (self.v / log) ** power * growth
        size = front * math.sqrt(m / self.lam) * self.v**power
        self.beta = self.width(size * log ** (self.alpha / (1 + self.alpha)) * growth)

    def estimate(self):
        m = self.m
        lam = self.lam
        b = self.b
        phi, self.margin["rank"] = embedding(self.K, self.dictionary)
        Phi = np.array([phi[x] for x in self.plays])  # l. 8, t x m
        V = Phi.T @ Phi + lam * np.eye(m)
        root = symmetric_power(V, -0.5)
        u = root @ Phi.T  # l. 9, m x t
        y = np.array(self.rewards)
        self.margin["cut"] = float(np.min(np.abs(np.abs(u * y) - b))) / b
        r = np.array([sum(z for z in u[i] * y if abs(z) <= b) for i in range(m)])  # l. 10
        theta = root @ r  # l. 11
        self.mu = np.array([phi[x] @ theta for x in range(self.n)])  # l. 12
        self.sigma = self.sketched_sigma(phi, np.linalg.inv(V))  # l. 13


# ---- Alg. 3 -------------------------------------------------------------------------------------


class _MoMA(_Oracle):
    """Alg. 3. An epoch's k-th reward triggers the update; the T - Nk rounds left change nothing."""

    def setup(self):
        if self.k is None:
            self.k = self.plays_per_epoch()
        self.N = self.T // self.k
        self.epochs = []
        self.columns = []
        self.pending = []
        if self.constants == "proved":
            self.G = greedy_gains(self.K, self.N, self.lam)[-1] / (1 - 1 / E)

    def plays_per_epoch(self):
        """k, l. 3; proved: the smallest k that Ville's inequality allows."""
        if self.constants != "proved":
            front = 24 if self.constants == "printed" else 1
            return math.ceil(front * math.log(4 * E * self.T / self.delta))
        k = 2
        while True:
            a = math.ceil((k - 1) / 2)
            if math.comb(k, a) * 8.0**-a <= self.delta / 2:
                return k
            k += 1

    def feed(self, arm, reward):
        self.plays.append(arm)
        if len(self.epochs) == self.N:
            return
        self.pending.append(reward)
        if len(self.pending) < self.k:
            return
        self.epochs.append(arm)  # l. 5, 6
        self.columns.append(self.summary(self.pending))
        self.pending = []
        self.sketch(self.epochs)  # l. 7, 8
        self.estimate()
        self.beta = self.width(self.rest(len(self.epochs)))

    def summary(self, rewards):
        return rewards

    def estimate(self):
        if self.m == 0:
            self.prior()
            self.kstar = 0
            self.r = [0.0] * self.k
            self.margin["rank"] = INF
            return
        phi, self.margin["rank"] = embedding(self.K, self.dictionary)
        Phi = np.array([phi[x] for x in self.epochs])  # l. 9
        V = Phi.T @ Phi + self.lam * np.eye(self.m)
        inverse = np.linalg.inv(V)
        theta = []
        for j in range(self.k):  # l. 10
            weighted = [ys[j] * phi[x] for x, ys in zip(self.epochs, self.columns)]
            theta.append(inverse @ sum(weighted))
        self.r = []
        for j in range(self.k):  # l. 11
            others = [theta[j] - theta[s] for s in range(self.k) if s != j]
            self.r.append(median([math.sqrt(max(0.0, d @ V @ d)) for d in others]))
        self.kstar = pick([-r for r in self.r])  # l. 12
        self.margin["r"] = pick_margin([-r for r in self.r])
        self.mu = np.array([phi[x] @ theta[self.kstar] for x in range(self.n)])  # l. 13
        self.sigma = self.sketched_sigma(phi, inverse)  # l. 14

    def rest(self, n):
        """What beta_{n+1} adds to its first part."""
        power, lam = 1 / (1 + self.alpha), self.lam
        if self.constants == "proved":
            size = 3 * (8 * 2 ** (1 - self.alpha) * self.c) ** power
            return size * self.growth(self.N) * math.sqrt(2 * self.G / lam)
        if self.constants == "printed":
            return 3 * lam**-0.5 * (9 * self.m * self.c) ** power * self.growth(n)
        return lam**-0.5 * (self.m * self.c) ** power * self.growth(n)


# ---- baselines ----------------------------------------------------------------------------------


class _MoMAAverage(_MoMA):
    """The baseline "MoMA-avg": one ridge estimate, made of the means of the epochs' k rewards."""

    def summary(self, rewards):
        return math.fsum(rewards) / self.k

    def estimate(self):
        if self.m == 0:
            self.prior()
            return
        phi, self.margin["rank"] = embedding(self.K, self.dictionary)
        V = self.lam * np.eye(self.m) + sum(np.outer(phi[x], phi[x]) for x in self.epochs)
        inverse = np.linalg.inv(V)
        theta = inverse @ sum(y * phi[x] for x, y in zip(self.epochs, self.columns))
        self.mu = np.array([phi[x] @ theta for x in range(self.n)])
        self.sigma = self.sketched_sigma(phi, inverse)

    def rest(self, n):
        moment = self.c / self.k**self.alpha  # of a mean of k rewards, up to a factor 2
        return self.lam**-0.5 * (self.m * moment) ** (1 / (1 + self.alpha)) * self.growth(n)


class _MoM(_MoMAAverage):
    """The baseline "MoM": the same with the medians of the epochs' k rewards."""

    def summary(self, rewards):
        return median(rewards)


class _GPUCB(_Oracle):
    """Plain GP-UCB: no truncation, exact posterior."""

    def first_part(self):
        return self.B

    def feed(self, arm, reward):
        self.plays.append(arm)
        self.rewards.append(reward)
        self.mu, self.sigma = exact_posterior(self.K, self.plays, self.rewards, self.lam)
        size = self.c ** (1 / (1 + self.alpha))
        if self.constants == "order":
            log = math.log(len(self.plays) + 1)
        else:
            log = 2 * (gain(self.K, self.plays, self.lam) + math.log(1 / self.delta))
        self.beta = self.width(size * math.sqrt(log / self.lam))

    def covariance(self):
        """k(x, x') - k_t(x)^T (K_t + lam I)^{-1} k_t(x') of all pairs.

        Thompson sampling draws from it, times beta^2.
        """
        if not self.plays:
            return self.K
        columns = self.K[self.plays]
        Kt = self.K[np.ix_(self.plays, self.plays)]
        inverse = np.linalg.inv(Kt + self.lam * np.eye(len(self.plays)))
        return self.K - columns.T @ inverse @ columns


def median(values):
    """Middle value, or the mean of the two middle ones; of no values (k = 1), 0."""
    values = sorted(values)
    half = len(values) // 2
    if not values:
        return 0.0
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def oracle(name, K, T, **parameters):
    """The literal program of that name."""
    programs = {
        "TGP": _TGP,
        "ATA": _ATA,
        "MoMA": _MoMA,
        "MoM": _MoM,
        "MoMA-avg": _MoMAAverage,
        "GP-UCB": _GPUCB,
    }
    return programs[name](K, T, **parameters)

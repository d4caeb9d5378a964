"""The two proved learners written out line by line: slow, literal, sharing no code with the core.

Two programs, both teacher-forced (any counts and any reports may be fed):

    o = SeldomSwitching(K, T, B=2, F=1, R=.5, eps=1, C=.1)  # GP-UCB on one-bit reports
    arm, plays = o.plan()              # the run that these rules would start now
    o.feed(arm, [report, report, ...]) # after that: mu, sigma, beta, gain, margin

    o = Elimination(K, T, kind="one bit", B=2, F=1, R=.5, eps=1)
    counts = o.plan()                  # [n][k] plays of the next batch, None at the horizon
    o.centre[x], o.half[x], o.scale(x) # window of arm x, and its curator's scale
    o.feed(counts, means)              # means[x][j] of those reports: floats or Fractions

kinds: "one bit", "bounded", "Laplace", "sums", "heavy" (k copies; 1 but for heavy tails). After
`feed` the elimination has mu, band, lower, upper, active, margin.

K is the kernel matrix of the arms, or of the features that are kept; then lost[x] is what they miss
of k(x, x). `SeldomSwitching` keeps the list of single plays and inverts its t x t matrix anew each
time. `Elimination` uses no features at all: an estimate is sum_y w_y ybar_y with w = (K +
diag(lam_y / n_y))^{-1} k(x) on the arms that were played, its bias is measured in the RKHS,
|phi_x - sum_y w_y phi_y|^2 = (e_x - w)'K(e_x - w), in `digits` decimal digits: 1e15 plays are
no harder than 10. `margin` holds distances from a discrete decision, so that programs are compared
only where rounding cannot tip it: "score" (arm of a run), "run" (its length), "remainder" (last
play that the design gives away), "keep" (elimination).

The widths, with their proofs, are on the book's page "Elimination" (Theorem P for every kind of
report). With w := w(x) - w(x') for a difference and w := w(x) for an arm, l := ln(4|D|
i(i+1)/delta):

    W = B a + E(w), a = |phi_x - phi_x' - sum_j w_j phi_{x_j}|; keep x iff mu(x') - mu(x) <= W
    one bit   E = sqrt(2 l sum_j w_j^2 s_j^2), s_j = (R + h(x_j)) coth(eps/2)
    bounded   E = R sqrt(2 l) |w|
    Laplace   E = max{ sqrt(2 l (R^2 + 4L^2)) |w|, 2 sqrt2 L l |w|_inf }
    sums      E = max{ sqrt(2 l (R^2 |w|^2 + 4 sum_x L_x^2 w_x^2)), 2 sqrt2 l max_x L_x|w_x| }
    heavy     E = 2 sqrt(c) |w|; alpha < 1: (8c)^{1/p} N^{1/p - 1/2} |w|, p = 1 + alpha
              k = ceil(8 ln(2|D| i(i+1)/delta)) copies; medians over copies of the differences

Features left out: the bias of a difference grows to B sqrt(a^2 + (sqrt lost_x + sqrt lost_x')^2),
and B sqrt(max lost * sum_j s_j^-2) * sqrt(sum_j w_j^2 s_j^2) is added.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np

INF = math.inf


def coth(x):
    return 1 / math.tanh(x)


def pick(scores):
    """Lowest index whose score is within 1e-9 max(1, |max|) of the maximum."""
    top = max(scores)
    for i, s in enumerate(scores):
        if s >= top - 1e-9 * max(1.0, abs(top)):
            return i


def pick_margin(scores):
    """How far any score that decides `pick` is from the edge of the tie band."""
    top = max(scores)
    scale = max(1.0, abs(top))
    edge = top - 1e-9 * scale
    chosen = pick(scores)
    return min([scores[chosen] - edge] + [edge - s for s in scores[:chosen]]) / scale


# ---- GP-UCB that seldom switches ----
class SeldomSwitching:
    """GP-UCB that plays an arm max(1, ceil(C / leverage)) times once it has chosen it; width for
    s-sub-Gaussian reports."""

    def __init__(
        self, K, T, *, B, F, R, eps=None, delta=0.1, lam=None, C=0.0, lost=None, beta_scale=1.0
    ):
        self.K = np.asarray(K, float)
        self.T = T
        self.n = len(K)
        self.B = B
        self.delta = delta
        self.C = C
        self.beta_scale = beta_scale
        self.s = (F + R) * coth(eps / 2) if eps else R  # one bit; else noise in [-R, R]
        self.lam = (self.s / B) ** 2 if lam is None else lam  # 12c
        self.lost = [0.0] * self.n if lost is None else list(lost)
        self.arms, self.reports = [], []
        self.mu = np.zeros(self.n)
        self.sigma = np.array([math.sqrt(self.K[x, x] + self.lost[x]) for x in range(self.n)])
        self.leverage = [self.K[x, x] / self.lam for x in range(self.n)]
        self.gain = 0.0
        self.beta = B
        self.margin = {}

    def plan(self):
        scores = [self.mu[x] + self.beta * self.sigma[x] for x in range(self.n)]
        arm = pick(scores)
        self.margin["score"] = pick_margin(scores)
        left = INF if self.T is None else self.T - len(self.arms)
        if left == 0:
            return None
        length = self.C / self.leverage[arm] if self.C else 0.0
        self.margin["run"] = abs(length - round(length)) if 0 < length < left else INF
        c = 1 if length <= 1 else length if length == INF else math.ceil(length)
        return arm, min(c, left)

    def feed(self, arm, reports):
        self.arms += [arm] * len(reports)
        self.reports += list(reports)
        t, lam = len(self.arms), self.lam
        Kt = np.array([[self.K[a, b] for b in self.arms] for a in self.arms])
        inverse = np.linalg.inv(Kt + lam * np.eye(t))
        y = np.array(self.reports)
        for x in range(self.n):
            k = np.array([self.K[a, x] for a in self.arms])
            self.mu[x] = k @ inverse @ y
            variance = max(0.0, self.K[x, x] - k @ inverse @ k)
            self.leverage[x] = variance / lam
            self.sigma[x] = math.sqrt(variance + self.lost[x])
        sign, logdet = np.linalg.slogdet(np.eye(t) + Kt / lam)
        self.gain = 0.5 * logdet
        noise = self.s / math.sqrt(lam) * math.sqrt(2 * (self.gain + math.log(1 / self.delta)))
        left_out = self.B * math.sqrt(t * max(self.lost) / lam)  # 12b
        self.beta = self.B + self.beta_scale * noise + left_out


# ---- Elimination by differences ----
def sizes(T, first=1024):
    """N_1 = first, doubling; a batch that would leave less than its own size takes the rest."""
    out = []
    N = first
    left = T
    while left > 0:
        plays = N if N <= left else left
        if left - plays < plays:
            plays = left
        out.append(plays)
        left -= plays
        N = 2 * N
    return out


def gradient(K, w, ratio):
    """d_x = ratio phi_x'(I + ratio sum w phi phi')^{-1} phi_x, from K alone."""
    return ratio * np.diag(K @ np.linalg.inv(np.eye(len(K)) + ratio * w[:, None] * K))


def weights(K, ratio):
    """D-optimal weights: multiplicative steps until max d <= 1.01 sum w d."""
    w = np.full(len(K), 1 / len(K))
    while True:
        d = gradient(K, w, ratio)
        if max(d) <= 1.01 * (w @ d):
            return w
        w = w * d / (w @ d)


def largest_remainder(w, N):
    """Counts that sum to N, and how near the decision on the last play was."""
    counts = [math.floor(N * x) for x in w]
    remainder = [N * x - c for x, c in zip(w, counts)]
    order = sorted(range(len(w)), key=lambda x: (-remainder[x], x))
    more = N - sum(counts)
    for x in order[:more]:
        counts[x] += 1
    margin = remainder[order[more - 1]] - remainder[order[more]] if 0 < more < len(w) else INF
    if min(w) == max(w):  # never stepped: all are one number, the lowest index goes first
        margin = INF
    return counts, margin


def median(values):
    values = sorted(values)
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


class Elimination:
    """Elimination by differences in doubling batches; one-bit reports and sums are recentred."""

    def __init__(
        self,
        K,
        T,
        *,
        kind,
        B,
        F,
        R,
        eps=None,
        c=None,
        alpha=1.0,
        delta=0.1,
        first=1024,
        lam=None,
        lost=None,
        digits=40,
        finest=1e-4,
    ):
        self.ctx = mpmath.MPContext()
        self.ctx.dps = digits
        self.K = np.asarray(K, float)
        self.n = len(K)
        self.kind = kind
        self.B = B
        self.F = F
        self.R = R
        self.eps = eps
        self.c = c
        self.alpha = alpha
        self.delta = delta
        self.lam, self.lost = lam, [0.0] * len(K) if lost is None else list(lost)
        self.finest = finest * B  # sizes below that are rounding 8's least ridge is 1e-8
        self.schedule = None if T is None else sizes(T, first)
        self.first, self.i = first, 1  # i: number of the batch to come
        self.active = [True] * self.n
        self.bands = [[(-F, F)] for _ in range(self.n)]  # all bands of each arm, to be intersected
        self.centre, self.half = [0.0] * self.n, [F] * self.n
        self.margin = {}

    # -- sizes
    def scale(self, x):
        """Scale of the curator of arm x: of the bit, or of the Laplace noise."""
        if self.kind == "one bit":
            return (self.R + self.half[x]) * coth(self.eps / 2)
        reach = self.R + (self.half[x] if self.kind == "sums" else self.F)
        return 2 * reach / self.eps

    def proxy(self, x, plays):
        """s_x with sub-Gaussian behaviour of the reports (for Laplace: up to u_0)."""
        if self.kind == "one bit":
            s = self.scale(x)
        elif self.kind == "bounded":
            s = self.R
        elif self.kind == "Laplace":
            s = math.sqrt(self.R**2 + 4 * self.scale(x) ** 2)
        elif self.kind == "sums":
            s = math.sqrt(self.R**2 + 4 * self.scale(x) ** 2 / plays)
        else:
            s = self.c ** (1 / (1 + self.alpha))
        return max(s, self.finest)

    def ridge(self, x, plays):
        """lam_x: (s_x/B)^2; told for the first batch's reports, it scales with the window. Laplace:
        (L/B)^2."""
        if self.lam is None:
            return (
                (self.scale(x) / self.B) ** 2
                if self.kind == "Laplace"
                else (self.proxy(x, plays) / self.B) ** 2
            )
        if self.kind == "one bit":
            return (
                self.lam
                * (self.proxy(x, plays) / max((self.R + self.F) * coth(self.eps / 2), self.finest))
                ** 2
            )
        return self.lam

    # -- the next batch
    def plan(self):
        if self.schedule is not None and self.i > len(self.schedule):
            return None
        N = self.first * 2 ** (self.i - 1) if self.schedule is None else self.schedule[self.i - 1]
        self.k = (
            math.ceil(8 * math.log(2 * self.n * self.i * (self.i + 1) / self.delta))
            if self.kind == "heavy"
            else 1
        )
        each, rest = N // self.k, N % self.k
        arms = [x for x in range(self.n) if self.active[x]]
        self.design = [0] * self.n
        if each:
            # V = sum n_x phi_x phi_x' / lam_x + I: features phi/sqrt(lam_x), ridge 1
            K = np.array(
                [
                    [
                        self.K[x, y] / math.sqrt(self.ridge(x, each) * self.ridge(y, each))
                        for y in arms
                    ]
                    for x in arms
                ]
            )
            w = weights(K, each)
            counts, self.margin["remainder"] = largest_remainder(w, each)
            for x, count in zip(arms, counts):
                self.design[x] = count
        counts = [[self.design[x]] * self.k for x in range(self.n)]
        most = max(arms, key=lambda x: (self.design[x], -x))
        for j in range(rest):
            counts[most][j] += 1
        return counts

    # -- a batch was played
    def feed(self, counts, means):
        mp, n = self.ctx, self.n
        k = len(counts[0])
        design = [min(row) for row in counts]  # what all copies have
        on = [x for x in range(n) if design[x] > 0]
        exact = lambda v: (
            mp.mpf(v.numerator) / mp.mpf(v.denominator)
            if isinstance(v, Fraction)
            else mp.mpf(float(v))
        )
        s = {y: mp.mpf(self.proxy(y, design[y])) for y in on}
        self.L = {
            y: self.scale(y) if self.kind in ("Laplace", "sums") else 0.0 for y in on
        }  # of this batch, before windows move
        A = mp.matrix(len(on), len(on))
        for p, y in enumerate(on):
            for q, z in enumerate(on):
                A[p, q] = mp.mpf(self.K[y, z]) + (
                    mp.mpf(self.ridge(y, design[y])) / design[y] if y == z else 0
                )
        inverse = A**-1 if on else A
        self.w = []  # w[x]: weights on the mean reports
        for x in range(n):
            self.w.append(
                {
                    y: mp.fsum(inverse[p, q] * mp.mpf(self.K[z, x]) for q, z in enumerate(on))
                    for p, y in enumerate(on)
                }
            )
        estimates = [
            [mp.fsum(self.w[x][y] * exact(means[y][j]) for y in on) for j in range(k)]
            for x in range(n)
        ]
        self.design = design
        self.s = s
        self.plays = sum(design)
        self.log = math.log(4 * n * self.i * (self.i + 1) / self.delta)
        self.mu = [median(estimates[x]) for x in range(n)]
        self.band = [self.width(x) for x in range(n)]
        arms = [x for x in range(n) if self.active[x]]
        keep, self.margin["keep"] = {}, INF
        for x in arms:
            keep[x] = True
            for rival in arms:
                if rival == x:
                    continue
                ahead = median([estimates[rival][j] - estimates[x][j] for j in range(k)])
                W = self.width(x, rival)
                self.margin["keep"] = min(
                    self.margin["keep"], float(abs(ahead - W) / W) if W else INF
                )
                if ahead > W:
                    keep[x] = False
        self.active = [x in keep and keep[x] for x in range(n)]
        for x in range(n):
            self.bands[x].append((self.mu[x] - self.band[x], self.mu[x] + self.band[x]))
        self.lower = [max(low for low, _ in self.bands[x]) for x in range(n)]
        self.upper = [min(high for _, high in self.bands[x]) for x in range(n)]
        tanh = math.tanh(self.eps / 2) if self.eps else 1.0
        for x in range(n):
            self.centre[x] = float((self.lower[x] + self.upper[x]) / 2)
            self.half[x] = max(
                float((self.upper[x] - self.lower[x]) / 2), self.finest * tanh - self.R, 0.0
            )
        self.i += 1

    def parts(self, x, rival=None):
        """a, |noise| = sqrt(sum_j w_j^2 s_j^2), |w|, max_j L_j |w_j| of the estimate of f(x), or of
        f(rival) - f(x)."""
        mp, n = self.ctx, self.n
        e = [mp.mpf(y == x) - mp.mpf(y == rival) for y in range(n)]
        on = list(self.s)
        w = {y: self.w[x][y] - (self.w[rival][y] if rival is not None else 0) for y in on}
        rest = [e[y] - (w[y] if y in w else 0) for y in range(n)]
        a2 = mp.fsum(rest[y] * mp.mpf(self.K[y, z]) * rest[z] for y in range(n) for z in range(n))
        noise = mp.sqrt(mp.fsum(w[y] ** 2 * self.s[y] ** 2 / self.design[y] for y in on))
        euclid = mp.sqrt(mp.fsum(w[y] ** 2 / self.design[y] for y in on))
        tail = max([self.L[y] * abs(w[y]) / self.design[y] for y in on] + [mp.mpf(0)])
        return mp.sqrt(max(a2, mp.mpf(0))), noise, euclid, tail

    def width(self, x, rival=None):
        """B a + E(w), table above."""
        mp = self.ctx
        a, noise, euclid, tail = self.parts(x, rival)
        lost = mp.sqrt(self.lost[x]) + (mp.sqrt(self.lost[rival]) if rival is not None else 0)
        missed = (
            mp.sqrt(max(self.lost) * mp.fsum(self.design[y] / self.s[y] ** 2 for y in self.s))
            * noise
        )
        if self.kind in ("one bit", "bounded"):
            E = mp.sqrt(2 * self.log) * noise
        elif self.kind in ("Laplace", "sums"):
            E = max(mp.sqrt(2 * self.log) * noise, 2 * math.sqrt(2) * self.log * tail)
        elif self.alpha == 1:
            E = 2 * math.sqrt(self.c) * euclid
        else:
            p = 1 + self.alpha
            E = (8 * self.c) ** (1 / p) * max(self.plays, 1) ** (1 / p - 0.5) * euclid
        return self.B * (mp.sqrt(a**2 + lost**2) + missed) + E

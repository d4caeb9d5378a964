"""Every constant of the bounds put back: regret bounds, and confidence widths side by side.

Letters are those of the page: g the largest information gain, L the scale of Laplace noise, v a
bound on the second moment of a report, c on that of its noise, k the reports of an epoch of MoMA.
"""

import itertools
import math

import numpy as np

from ldpbo import bounds

LAM = 1.0
DELTA = 0.1
ACC = 0.1
RHO = (1 + ACC) / (1 - ACC)
FIRST = 1 + 1 / math.sqrt(1 - ACC)  # the first term of MoMA's and ATA's beta over B
LEVEL = 8  # omega of the corrected theorem


# ---- Regret bounds -------------------------------------------------------------------------------


def sum_of_sigmas(g, n):
    """Bound the sum of sigma_{t-1}(x_t) over n rounds (Lemma 7)."""
    return math.sqrt(2 * n * g / math.log1p(1 / LAM))


def printed_copies(T):
    """Return k as Theorem 4 prints it."""
    return math.ceil(24 * math.log(4 * math.e * T / DELTA))


def half(k):
    """Return a, the number of bad copies out of k that are too many."""
    return math.ceil((k - 1) / 2)


def proved_copies():
    """Return the smallest k that the corrected theorem allows."""
    fails = lambda k: math.comb(k, half(k)) * LEVEL ** -half(k)
    return next(k for k in itertools.count(2) if fails(k) <= DELTA / 2)


def ata_width(v, m, T):
    """beta - its first term in Theorem 2, with m points in the dictionary."""
    return 4 * math.sqrt(v * m * math.log(4 * m * T / DELTA) / LAM)


def ata(g, T, B, v, m):
    """The regret bound of Theorem 2."""
    return 2 * math.sqrt(RHO) * sum_of_sigmas(g, T) * (B * FIRST + ata_width(v, m, T))


def tgp(g, T, B, v, b):
    """The regret bound of Theorem 3 as printed, b the last threshold."""
    noise = 2 * b * math.sqrt(2 * (g + math.log(1 / DELTA)))
    bias = math.sqrt(v * (math.log(T) + 1))
    return 2 * sum_of_sigmas(g, T) * (B + (noise + bias) / math.sqrt(LAM))


def moma(K, T, B, k, width):
    """The regret bound of MoMA with k reports an epoch; width: of beta after its first term."""
    N = int(T // k)
    g = bounds.gain_ceiling(K, N, LAM) if N else math.nan
    beta = B * FIRST + width(g) / math.sqrt(LAM)
    return 2 * k * math.sqrt(RHO) * sum_of_sigmas(g, N) * beta + 2 * B * (k - 1)


def plain(g, T, B, s, share=1):
    """The regret bound of GP-UCB on s-sub-Gaussian reports at confidence share * delta."""
    width = s * math.sqrt(2 * (g + math.log(1 / (share * DELTA))) / LAM)
    return 2 * sum_of_sigmas(g, T) * (B + width)


def cut_size(R, L, T, share):
    """The sub-Gaussian constant of a Laplace report that is cut in the proof."""
    return math.sqrt(R**2 + L**2 * math.log(T / (share * DELTA)) / 2)


def dictionary_size(g, T):
    """The most points that Lemma 8 allows in a dictionary."""
    q = 6 * RHO * math.log(4 * T / DELTA) / ACC**2
    return 6 * RHO * (1 + 1 / LAM) * q * g


def private_bounds(K, T, B, R, eps):
    """Bounds for private reports -> {name: value}."""
    L = 2 * (B + R) / eps
    g = bounds.gain_ceiling(K, T, LAM)
    v = B**2 + R**2 + 2 * L**2
    return {
        "ATA": ata(g, T, B, v, len(K)),
        "Lemma 8": ata(g, T, B, v, dictionary_size(g, T)),
        "TGP": tgp(g, T, B, v, B + R + L * math.log(T)),
        "cut": plain(g, T, B, cut_size(R, L, T, 0.5), 0.5),
        "one bit": plain(g, T, B, (B + R) / math.tanh(eps / 2)),
    }


def all_bounds(K, T, B, R, eps, c=None):
    """All bounds at horizon T -> {name: value}. eps None: Theorem 4 with variance bound c."""
    found = private_bounds(K, T, B, R, eps) if eps else {}
    if eps:
        c = R**2 + 2 * (2 * (B + R) / eps) ** 2
    printed = lambda g: 9 * math.sqrt(len(K) * c)
    proved = lambda g: 12 * math.sqrt(c * g)
    found["MoMA"] = moma(K, T, B, printed_copies(T), printed)
    found["proved"] = moma(K, T, B, proved_copies(), proved)
    return found


# ---- Widths at B = R = eps = lambda = 1 ----------------------------------------------------------


def noise_width(s, g, share):
    """What the self-normalised inequality allows for s-sub-Gaussian noise."""
    return s * math.sqrt(2 * (g + math.log(1 / share)))


def bias_width(T, L):
    """The exact bound on the bias of TGP's truncation at eps = 1."""
    t = np.arange(1, T + 1)
    bias = (2 + L * np.log(t) + L) * -math.expm1(-1.0) / (2 * t)
    return math.sqrt((bias**2).sum())


def side_by_side(K, T):
    """The part of beta after its first term at round T -> {name: (width, status, k)}."""
    L, n, log = 4.0, len(K), math.log
    g = bounds.gain_ceiling(K, T, LAM)
    b, v, c = 2 + L * log(T), 2 + 2 * L**2, 1 + 2 * L**2
    levels = math.ceil(math.log2(b / 2)) + 1
    few, many = proved_copies(), printed_copies(T)
    bias = math.sqrt(v * (log(T) + 1))
    weighted = bounds.gain_ceiling(K, T, LAM * (2 / b) ** 2)
    lost = (2 + L * log(4 * T / DELTA)) ** 2 / math.sqrt(v / log(4 * n * T / DELTA))
    pathwise = noise_width(cut_size(1, L, T, 0.25), g, DELTA / 4) + lost * math.sqrt(2 * g)
    exact = noise_width(b, weighted, DELTA) + bias_width(T, L)
    hoeffding = math.hypot(1, L * log(2 * T / DELTA))
    short = bounds.gain_ceiling(K, T // few, LAM)
    return {
        "Theorem 2, ATA": (ata_width(v, n, T), "printed, unproved", 1),
        "Theorem 2, corrected": (pathwise, "proved", 1),
        "Theorem 3, TGP": (noise_width(2 * b, g, DELTA) + bias, "printed, gap (A7)", 1),
        "Theorem 3, corrected (i)": (noise_width(2 * b, g, DELTA / levels) + bias, "proved", 1),
        "Theorem 3, corrected (ii), exact bias": (exact, "proved", 1),
        "Corollary, MoMA": (9 * math.sqrt(min(n, T // many) * c), "printed, gap (A5)", many),
        "MoMA, corrected": (12 * math.sqrt(c * short), "proved", few),
        "GP-UCB, finite variance (A15)": (math.sqrt(2 * c * g / DELTA), "proved", 1),
        "GP-UCB, cut Laplace, Hoeffding": (noise_width(hoeffding, g, DELTA / 2), "proved", 1),
        "GP-UCB, cut Laplace": (
            noise_width(cut_size(1, L, T, 0.5), g, DELTA / 2),
            "proved",
            1,
        ),
        "GP-UCB, one bit": (noise_width(2 / math.tanh(0.5), g, DELTA), "proved", 1),
    }

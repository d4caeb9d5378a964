"""Every constant of the bounds is put back: regret bounds, and confidence widths side by side.

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
LEVEL = 8  # omega of the corrected theorem


# ---- Regret bounds -------------------------------------------------------------------------------


def rho(acc=ACC):
    """Return how much a dictionary of this accuracy may change a squared width."""
    return (1 + acc) / (1 - acc)


def first_term(B, acc=ACC):
    """Return the first term of ATA's and MoMA's beta."""
    return B * (1 + 1 / math.sqrt(1 - acc))


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
    """Return beta of Theorem 2 without its first term, with m points in the dictionary."""
    return 4 * math.sqrt(v * m * math.log(4 * m * T / DELTA) / LAM)


def ata(g, T, B, v, m, acc=ACC):
    """Return the regret bound of Theorem 2."""
    beta = first_term(B, acc) + ata_width(v, m, T)
    return 2 * math.sqrt(rho(acc)) * sum_of_sigmas(g, T) * beta


def tgp(g, T, B, v, b):
    """Return the regret bound of Theorem 3 as printed; b is the last threshold."""
    noise = 2 * b * math.sqrt(2 * (g + math.log(1 / DELTA)))
    bias = math.sqrt(v * (math.log(T) + 1))
    return 2 * sum_of_sigmas(g, T) * (B + (noise + bias) / math.sqrt(LAM))


def moma(K, T, B, k, width):
    """Return MoMA's regret bound with k reports an epoch; width(g) is beta after its first term."""
    N = int(T // k)
    g = bounds.gain_ceiling(K, N, LAM) if N else math.nan
    beta = first_term(B) + width(g) / math.sqrt(LAM)
    rest = 2 * B * (k - 1)
    return 2 * k * math.sqrt(rho()) * sum_of_sigmas(g, N) * beta + rest


def plain(g, T, B, s, share=1):
    """Return the regret bound of GP-UCB on s-sub-Gaussian reports at confidence share * delta."""
    width = s * math.sqrt(2 * (g + math.log(1 / (share * DELTA))) / LAM)
    return 2 * sum_of_sigmas(g, T) * (B + width)


def cut_size(R, scale, T, share):
    """Return the sub-Gaussian constant of a Laplace report that is cut in the proof."""
    return math.sqrt(R**2 + scale**2 * math.log(T / (share * DELTA)) / 2)


def sampling_factor(T):
    """Return q of Theorem 2."""
    return 6 * rho() * math.log(4 * T / DELTA) / ACC**2


def dictionary_size(g, T):
    """Return the most points that Lemma 8 allows in a dictionary."""
    return 6 * rho() * (1 + 1 / LAM) * sampling_factor(T) * g


def private_bounds(K, T, B, R, eps):
    """Compute the bounds for private reports -> {name: value}."""
    scale = 2 * (B + R) / eps
    g = bounds.gain_ceiling(K, T, LAM)
    v = B**2 + R**2 + 2 * scale**2
    return {
        "ATA": ata(g, T, B, v, len(K)),
        "Lemma 8": ata(g, T, B, v, dictionary_size(g, T)),
        "TGP": tgp(g, T, B, v, B + R + scale * math.log(T)),
        "cut": plain(g, T, B, cut_size(R, scale, T, 0.5), 0.5),
        "one bit": plain(g, T, B, (B + R) / math.tanh(eps / 2)),
    }


def all_bounds(K, T, B, R, eps, c=None):
    """Compute all bounds at T -> {name: value}; eps=None: those of Theorem 4, with variance c."""
    found = private_bounds(K, T, B, R, eps) if eps else {}
    if eps:
        c = R**2 + 2 * (2 * (B + R) / eps) ** 2
    printed = lambda g: 9 * math.sqrt(len(K) * c)
    proved = lambda g: 12 * math.sqrt(c * g)
    found["MoMA"] = moma(K, T, B, printed_copies(T), printed)
    found["proved"] = moma(K, T, B, proved_copies(), proved)
    return found


# ---- Widths at B = R = eps = lambda = 1 ----------------------------------------------------------

L = 4.0
V = 2 + 2 * L**2
C = 1 + 2 * L**2


def noise_width(s, g, share):
    """Return what the self-normalised inequality allows for s-sub-Gaussian noise."""
    return s * math.sqrt(2 * (g + math.log(1 / share)))


def exact_bias(T):
    """Compute the exact bound on the bias of TGP's truncation."""
    t = np.arange(1, T + 1)
    bias = (2 + L * np.log(t) + L) * -math.expm1(-1.0) / (2 * t)
    return math.sqrt((bias**2).sum())


def of_ata(K, T, g):
    """Compute the widths of Theorem 2: printed, and corrected path by path."""
    n = len(K)
    threshold = math.sqrt(V / math.log(4 * n * T / DELTA))
    largest = 2 + L * math.log(4 * T / DELTA)
    lost = largest**2 / threshold * math.sqrt(2 * g)
    noise = noise_width(cut_size(1, L, T, 0.25), g, DELTA / 4)
    return {
        "Theorem 2, ATA": (ata_width(V, n, T), "printed, unproved", 1),
        "Theorem 2, corrected": (noise + lost, "proved", 1),
    }


def of_tgp(K, T, g):
    """Compute the widths of Theorem 3: printed, and corrected in two ways."""
    b = 2 + L * math.log(T)
    levels = math.ceil(math.log2(b / 2)) + 1
    weighted = bounds.gain_ceiling(K, T, LAM * (2 / b) ** 2)
    bias = math.sqrt(V * (math.log(T) + 1))
    dyadic = noise_width(2 * b, g, DELTA / levels)
    weights = noise_width(b, weighted, DELTA)
    return {
        "Theorem 3, TGP": (noise_width(2 * b, g, DELTA) + bias, "printed, gap (A7)", 1),
        "Theorem 3, corrected (i)": (dyadic + bias, "proved", 1),
        "Theorem 3, corrected (ii), exact bias": (weights + exact_bias(T), "proved", 1),
    }


def of_moma(K, T):
    """Compute the widths of MoMA: the Corollary's, and corrected."""
    many = printed_copies(T)
    few = proved_copies()
    m = min(len(K), T // many)
    g = bounds.gain_ceiling(K, T // few, LAM)
    return {
        "Corollary, MoMA": (9 * math.sqrt(m * C), "printed, gap (A5)", many),
        "MoMA, corrected": (12 * math.sqrt(C * g), "proved", few),
    }


def of_plain(T, g):
    """Compute the widths of GP-UCB without truncation or medians."""
    cut = cut_size(1, L, T, 0.5)
    hoeffding = math.hypot(1, L * math.log(2 * T / DELTA))
    one_bit = 2 / math.tanh(0.5)
    found = {
        "GP-UCB, finite variance (A15)": math.sqrt(2 * C * g / DELTA),
        "GP-UCB, cut Laplace, Hoeffding": noise_width(hoeffding, g, DELTA / 2),
        "GP-UCB, cut Laplace": noise_width(cut, g, DELTA / 2),
        "GP-UCB, one bit": noise_width(one_bit, g, DELTA),
    }
    return {name: (width, "proved", 1) for name, width in found.items()}


def side_by_side(K, T):
    """Compute beta after its first term at round T -> {name: (width, status, k)}."""
    g = bounds.gain_ceiling(K, T, LAM)
    return of_ata(K, T, g) | of_tgp(K, T, g) | of_moma(K, T) | of_plain(T, g)

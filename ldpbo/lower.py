"""No learner on these arms can do better: a lower bound from an optimal design (page lb_design).

Rewards are +b or -b with mean f(x), f has norm at most B in the space of the kernel, and a learner
sees reports that are eps-LDP. The theorem and the lemmas named below are those of that page.

>>> import numpy as np
>>> round(float(lower_bound_design(np.eye(25), 1e6, 1.0, B=1.0, b=1.0)))   # 25 unrelated arms
1614
>>> round(float(lower_bound_design(np.eye(25), 1e6, 1.0, B=1.0, b=1.0, variant="explicit")))
4986

    on paper                         in code
    -------------------------------  ----------------------------------------------------------
    z_x, K = Z'Z                     Z (r, n), one column for each arm
    w, A = sum_x w_x z_x z_x' + rho  weights (n,), ridge
    h_x = z_x' A^{-1} z_x, d, H      leverage (n,), d = sum_x w_x h_x, top = max_x h_x
    tau = tanh(eps/2)                tau; 1 without privacy
    sigma = b/(tau sqrt(kappa))      noise, with KAPPA = 4 ln(4/3)
"""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from ldpbo import checks as check
from ldpbo.bounds import Bound
from ldpbo_core import Problem

KAPPA = 4 * math.log(4 / 3)  # -ln(1 - u^2) <= KAPPA u^2 for |u| <= 1/2
CERTIFICATE = 1.001  # `closed` is proved up to 1.01; three digits of d need this
LEAST_DIMENSION = 1.04  # from here on the factor 1/4 pays for the certificate (Theorem, step 5)
MOST_ARMS = 5000  # "explicit" holds a matrix (n, n)


def lower_bound_design(
    K: Any,
    T: float,
    eps: float | None,
    *,
    B: float,
    b: float,
    variant: str = "closed",
) -> Bound:
    """Return an expected regret that every learner suffers on some f with |f|_H <= B.

    K (n, n) is the kernel matrix of the arms, or a Problem. Rewards are +b or -b, so the noise is
    at most 2b. Reports come from any eps-LDP mechanism, one for each user, chosen in view of the
    past; eps=None: the learner sees the rewards.

    variant: "closed" is the Theorem, `(sigma/4) sqrt(T d) (1 - d^{-1/2})^2` with the effective
    dimension d of a D-optimal design at ridge (sigma/B)^2/T, or the same of a larger eps where
    that is more (its mechanisms include those of eps). "explicit" is the Averaging lemma with the
    numbers of the functions themselves, at the best of 44 ridges: two to five times as much, and
    it rises with T, B and b and falls with eps exactly.

    The result has .Delta, the largest |f|, and .M, the effective dimension d.
    """
    check.choice("variant", variant, "closed", "explicit")
    T = check.number("T", T, "a number of rounds >= 1", low=math.nextafter(1.0, 0.0))
    tau = _tau(eps)
    B = check.positive("B", B)
    b = check.positive("b", b)
    Z = features(K)
    if variant == "closed":
        return _closed(Z, T, tau, B, b)
    return _explicit(Z, T, tau, B, b)


# ---- The Averaging lemma ------------------------------------------------------------------------


def average_bound(
    functions: Any,
    weights: Any,
    T: float,
    eps: float | None,
    *,
    b: float,
) -> float:
    """Return a lower bound on the regret averaged over a family of functions (Averaging lemma).

    functions (m, n): row i is f_i on the arms, |f_i| < b, max f_i >= 0; weights (m,) sum to one.
    """
    f = check.array("functions", functions, 2)
    w = check.array("weights", weights, 1)
    tau = _tau(eps)
    if len(w) != len(f) or w.min() < 0 or abs(w.sum() - 1) > 1e-9:
        raise ValueError(f"weights = {w}: must be {len(f)} numbers >= 0 that sum to 1")
    if np.abs(f).max() >= b or f.max(axis=1).min() < 0:
        raise ValueError(f"functions: must be below b = {b!r} in size, and >= 0 at some arm each")
    best = f.max(axis=1)
    paid = (w @ np.maximum(f, 0)).max()
    divergence = -0.5 * np.log1p(-((tau * f / b) ** 2))
    told = (w @ divergence).max()
    square = w @ best**2
    return T * (w @ best - paid - math.sqrt(T / 2 * square * told))


def _tau(eps):
    """Return tanh(eps/2), which eps leaves of the mean of a sign; without privacy 1."""
    if eps is None:
        return 1.0
    return math.tanh(check.positive("eps", eps) / 2)


# ---- Features and designs -----------------------------------------------------------------------


def features(K: Any) -> np.ndarray:
    """Return the features of the arms as columns of Z (r, n): Z'Z = K, or a little less.

    What is left out (below 1e-12 of the largest) only makes the set of functions smaller: the
    bound stays a bound.
    """
    if isinstance(K, Problem):
        Z = K.Z
    else:
        values, vectors = np.linalg.eigh(check.kernel_matrix(K))
        check.semidefinite(values)
        root = np.sqrt(np.maximum(values, 0))
        Z = (vectors * root).T
    size = (Z * Z).sum(axis=1)
    return Z[size > 1e-12 * size.max(initial=0.0)]


def optimal_weights(
    Z: np.ndarray,
    ridge: float,
    certificate: float = 1.01,
) -> tuple[np.ndarray, np.ndarray]:
    """Find weights w (n,) that maximise ln det A, `A = sum_x w_x z_x z_x' + ridge I`, and h (n,).

    `h_x = z_x' A^{-1} z_x` is the gradient. At the maximum max h = sum w h; the multiplicative
    steps w_x <- w_x h_x / sum w h end where max h <= certificate * sum w h.
    """
    n = Z.shape[1]
    w = np.full(n, 1 / n)
    for _ in range(10**5):  # in practice fewer than 1000
        _, white = _whiten(Z, w, ridge)
        h = (white**2).sum(axis=0)
        d = w @ h
        if h.max() <= certificate * d:
            return w, h
        w = w * h / d
        w /= w.sum()
    reached = h.max() / d
    raise ValueError(
        f"certificate = {certificate!r}: must be larger; 100000 steps reached {reached:.6g}"
    )


def hard_functions(
    Z: np.ndarray,
    weights: np.ndarray,
    ridge: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return G (n, n), with rows `g_x(y) = z_x' A^{-1} z_y`, and the norms `|A^{-1} z_x|` (n,)."""
    root, white = _whiten(Z, weights, ridge)
    coordinates = np.linalg.solve(root.T, white)
    return white.T @ white, np.linalg.norm(coordinates, axis=0)


def _whiten(Z, w, ridge):
    """Return L and L^{-1} Z, where L L' = A = sum_x w_x z_x z_x' + ridge I."""
    moment = (Z * w) @ Z.T
    root = np.linalg.cholesky(moment + ridge * np.eye(len(Z)))
    return root, np.linalg.solve(root, Z)


# ---- The Theorem --------------------------------------------------------------------------------


def _closed(Z, T, tau, B, b):
    """Apply the Theorem at this noise level or a smaller one, that is, at this eps or a larger."""
    plain = b / math.sqrt(KAPPA)
    largest = (Z * Z).sum(axis=0).max(initial=0.0)
    widest = B * math.sqrt(T * largest)  # beyond it d < 1
    noise = max(plain, min(plain / tau, widest))
    steps = math.ceil(2 * math.log2(noise / plain))
    levels = [plain * 2 ** (j / 2) for j in range(steps)] + [noise]
    found = [_theorem(Z, T, level, B, b) for level in levels]
    best = max(found)
    if best > 0:
        same = best is found[-1] and noise == plain / tau
        reason = "" if same else "the bound of a larger eps"
        return Bound(best, reason, best.Delta, best.M)
    raise ValueError(
        f"T = {T:.6g}, B = {B:.6g}, b = {b:.6g}: must be such that the theorem applies; "
        f"{found[0].reason}; take more rounds, or variant='explicit'"
    )


def _theorem(Z, T, noise, B, b):
    """Return (sigma/4) sqrt(T d) (1 - d^{-1/2})^2, or 0 with the reason why it does not apply."""
    weights, leverage = optimal_weights(Z, (noise / B) ** 2 / T, CERTIFICATE)
    d = float(weights @ leverage)
    top = float(leverage.max(initial=0.0))
    if d < LEAST_DIMENSION:
        return Bound(0.0, f"the effective dimension is {d:.4g} and must be at least 1.04", M=d)
    share = (d - math.sqrt(top)) / math.sqrt(top * d)  # psi in the proof
    peak = share * noise * math.sqrt(top / T)
    limit = min(b, noise * math.sqrt(KAPPA) / 2)  # |f| <= b and |f| tau <= b/2
    if peak > limit:
        return Bound(0.0, f"|f| reaches {peak:.4g} and must be at most {limit:.4g}", peak, d)
    value = noise / 4 * math.sqrt(T * d) * (1 - d**-0.5) ** 2
    return Bound(value, "", peak, d)


# ---- The Averaging lemma at its best ------------------------------------------------------------


class Shape(NamedTuple):
    """The functions g_x of one ridge enter the Averaging lemma by these five numbers."""

    d: float  # sum_x w_x g_x(x)
    gap: float  # sum_x w_x max g_x, less the most that an arm pays on average
    spread: float  # root of (sum_x w_x (max g_x)^2) (max_y sum_x w_x g_x(y)^2)
    height: float  # largest |g_x(y)|
    norm: float  # largest norm


def _shape(Z, ridge):
    """Make the Shape of the design at this ridge."""
    weights, leverage = optimal_weights(Z, ridge)
    G, norms = hard_functions(Z, weights, ridge)
    best = G.max(axis=1)
    paid = (weights @ np.maximum(G, 0)).max()
    square = (weights @ G**2).max()
    return Shape(
        d=weights @ leverage,
        gap=weights @ best - paid,
        spread=math.sqrt((weights @ best**2) * square),
        height=np.abs(G).max(),
        norm=norms.max(),
    )


@functools.lru_cache(maxsize=8)
def _shapes(Z, n):
    """Make the Shapes of Z, given as bytes, at 44 ridges; T, eps, B and b play no part in them."""
    Z = np.frombuffer(Z).reshape(-1, n)
    if not len(Z):
        return []
    largest = (Z * Z).sum(axis=0).max()
    return [_shape(Z, largest * 0.5**j) for j in range(1, 45)]


def _explicit(Z, T, tau, B, b):
    """Maximise T (c gap - c^2 cost), the lemma for f_x = c g_x, over ridges and c.

    While tau |f| <= r b, a report tells at most kappa_r/2 (tau f/b)^2, kappa_r = -ln(1-r^2)/r^2.
    """
    n = Z.shape[1]
    if n > MOST_ARMS:
        raise ValueError(f"K has {n} arms: must be at most {MOST_ARMS} with variant='explicit'")
    r = 0.5 ** np.arange(1, 9)
    kappa = -np.log1p(-(r**2)) / r**2
    best = Bound(0.0)
    for shape in _shapes(Z.tobytes(), n):
        cost = np.sqrt(kappa * T) * shape.spread * tau / (2 * b)
        in_range = b / shape.height * np.minimum(1, r / tau)
        in_ball = B / shape.norm
        c = np.minimum(shape.gap / (2 * cost), np.minimum(in_range, in_ball))
        value = T * c * (shape.gap - c * cost)
        i = value.argmax()
        if value[i] > best:
            best = Bound(value[i], "", c[i] * shape.height, shape.d)
    if best > 0:
        return best
    raise ValueError(
        "K: must have functions that differ in their best arm; here all arms are alike"
    )

"""Local differential privacy for Bayesian optimisation: the algorithms of Zhou & Tan, on a finite domain.

A learner looks for the best of n arms. Each round it plays an arm, a new user draws a reward, and the user's
curator hides that reward behind noise before the learner sees it. Ten lines from nothing to a private run:

>>> import numpy as np
>>> import ldpbo_core as ldp
>>> problem = ldp.synthetic_problem(kernel="matern", noise="uniform", seed=7)     # 100 arms, a random f
>>> T, rng = 300, np.random.default_rng(0)
>>> curator = ldp.CTL(eps=1.0, B=problem.B, R=problem.R)                          # Curator 1 of the paper
>>> learner = ldp.make("TGP", problem, T, eps=1.0)                                # Algorithm 2
>>> for t in range(T):
...     arm = learner.ask()
...     learner.tell(curator.privatise(problem.sample(arm, rng), rng))
>>> learner.t, learner.mu.shape, bool(learner.beta > problem.B)
(300, (100,), True)

Notation (paper -> here). The paper uses one epsilon for privacy and another for the Nyström accuracy.

    epsilon     eps    privacy; None: non-private       alpha   alpha  order of the moments, minus 1
    varepsilon  acc    Nyström accuracy                 B, R    B, R   bounds of |f| and |noise|
    delta       delta  confidence                       v, c    v, c   bounds of E|y|^{1+alpha}, E|noise|^{1+alpha}
    L           scale  Laplace scale 2(B+R)/eps         K, f    K, f   kernel matrix, mean reward of each arm
    lambda      lam    ridge                            T, k    T, k   horizon, MoMA's plays per epoch

"Alg. 2, l. 5" is line 5 of the paper's Algorithm 2; "Deviation:" marks what we do differently and why; "Erratum A9"
refers to the book's errata page. Only numpy is needed to import; SciPy serves general-nu Matérn and .mat files.
"""

import contextlib
import copy
import functools
import hashlib
import itertools
import math
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

TIE = 1e-9          # scores closer than this (relative above 1) are a tie; the lowest index wins
EIGEN_CUT = 1e-12   # eigenvalues of K_D below this fraction of the largest count as zero
REFRESH = 500       # rank-one updates between two fresh solves


# ---- Checks: every error names the argument, the value and what is allowed -----------------------------------

def _number(name, value, allowed="a finite number", low=-math.inf, high=math.inf):
    """`value` as a float with low < value < high."""
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError):
        x = math.nan
    if not low < x < high:
        raise ValueError(f"{name} = {value!r}: must be {allowed}")
    return x


_positive = functools.partial(_number, allowed="a finite number > 0", low=0.0)
_nonnegative = functools.partial(_number, allowed="a finite number >= 0", low=math.nextafter(0.0, -1.0))
_fraction = functools.partial(_number, allowed="in (0, 1)", low=0.0, high=1.0)
_order = functools.partial(_number, allowed="in (0, 1]", low=0.0, high=math.nextafter(1.0, 2.0))


def _choice(name, value, *allowed):
    if value not in allowed:
        raise ValueError(f"{name} = {value!r}: must be {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}")


def _integer(name, value, low=1):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise ValueError(f"{name} = {value!r}: must be an integer >= {low}")
    return int(value)


def _array(name, value, ndim):
    """`value` as a finite float array with `ndim` dimensions (None: any number)."""
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: must be an array of numbers") from None
    if ndim is not None and x.ndim != ndim:
        raise ValueError(f"{name} has {x.ndim} dimensions: must have {ndim}")
    if not np.isfinite(x).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(x))[0])
        raise ValueError(f"{name}{list(where)} = {x[where]}: every entry must be finite")
    return x


def _kernel_matrix(K):
    """K as a checked (n, n) array: symmetric, positive semi-definite, diagonal at most 1."""
    K = _array("K", K, 2)
    n = len(K)
    if n == 0 or K.shape != (n, n):
        raise ValueError(f"K has shape {K.shape}: must be square (n, n) with n >= 1")
    if not np.allclose(K, K.T, rtol=0.0, atol=1e-9):
        raise ValueError(f"K differs from its transpose by {np.abs(K - K.T).max():.3g}: must be symmetric")
    if np.diag(K).max() > 1 + 1e-9:
        raise ValueError(f"K has a diagonal entry {np.diag(K).max():.6g}: must be at most 1; divide K by it")
    low = np.linalg.eigvalsh(K)[0]
    if low < -1e-8 * n:
        raise ValueError(f"K has an eigenvalue {low:.3g}: must be positive semi-definite")
    return (K + K.T) / 2


def _arm(arm, n):
    """`arm` as an index 0..n-1."""
    if isinstance(arm, bool) or not isinstance(arm, (int, np.integer)) or not 0 <= arm < n:
        raise ValueError(f"arm = {arm!r}: must be an integer from 0 to {n - 1}")
    return int(arm)


def _arms(name, arms, n):
    arms = np.asarray(arms)
    if arms.ndim != 1:
        raise ValueError(f"{name} = {arms!r}: must be a one-dimensional list of arms")
    return np.array([_arm(a, n) for a in arms.tolist()], dtype=int)


# ---- Kernels (Section 2) -------------------------------------------------------------------------------------

def _points(X, Y):
    """Two sets of points as (n, d) and (n', d) arrays; a vector is n points of the line."""
    X, Y = (A[:, None] if A.ndim == 1 else A for A in (_array("X", X, None), _array("Y", Y, None)))
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has shape {X.shape} and Y has shape {Y.shape}: must have the same dimension d")
    return X, Y


def _distances(X, Y, lengthscale):
    """Euclidean distances s/l, (n, n'), cut off at 1e100."""
    X, Y = _points(X, Y)
    with np.errstate(over="ignore"):
        s = np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(-1))
        return np.minimum(s / _positive("lengthscale", lengthscale), 1e100)


def se_kernel(X, Y, *, lengthscale):
    """Squared exponential k(x, x') = exp(-s^2 / (2 l^2)), shape (n, n')."""
    return np.exp(-0.5 * _distances(X, Y, lengthscale) ** 2)


def matern_kernel(X, Y, *, lengthscale, nu):
    """Matérn k = 2^{1-nu}/Gamma(nu) z^nu K_nu(z), z = s sqrt(2 nu)/l, shape (n, n'); 1 at s = 0.

    The paper's B_nu is K_nu, the modified Bessel function of the second kind (Erratum B15). nu = 1/2, 3/2 and 5/2
    have closed forms; any other nu > 0 takes SciPy's Bessel function.
    """
    nu = _positive("nu", nu)
    z = _distances(X, Y, lengthscale) * math.sqrt(2 * nu)
    closed = {0.5: lambda z: 1.0, 1.5: lambda z: 1 + z, 2.5: lambda z: 1 + z + z * z / 3}
    if nu in closed:
        return closed[nu](z) * np.exp(-z)
    return _matern_bessel(z, nu)


def _matern_bessel(z, nu):
    """The Bessel form in logarithms, so that no factor overflows alone."""
    from scipy.special import gammaln, kve
    safe = np.maximum(z, 1e-300)
    bessel = kve(nu, safe)
    with np.errstate(over="ignore", divide="ignore"):
        k = np.exp((1 - nu) * math.log(2) - gammaln(nu) + nu * np.log(safe) + np.log(bessel) - safe)
    # Where K_nu(z) overflows, nu is large or z tiny: Debye's uniform expansion (DLMF 10.41) with three terms.
    x = z / nu
    root = np.sqrt(1 + x * x)
    p = 1 / root
    series = 1 - (3 * p - 5 * p**3) / (24 * nu) + (81 * p**2 - 462 * p**4 + 385 * p**6) / (1152 * nu**2)
    debye = np.exp((1 - nu) * math.log(2) - gammaln(nu) + nu * (math.log(nu) - root + np.log1p(root))
                   + 0.5 * np.log(math.pi * p / (2 * nu))) * series
    return np.where(z == 0, 1.0, np.minimum(np.where(np.isfinite(bessel), k, debye), 1.0))


def linear_kernel(X, Y):
    """k(x, x') = x.x'. Scale the points to |x| <= 1 so that k(x, x) <= 1."""
    X, Y = _points(X, Y)
    return X @ Y.T


def empirical_kernel(samples):
    """Correlation matrix of the columns of `samples` (observations, arms): the paper's kernel of normalised data."""
    samples = _table("samples", samples)
    Z = (samples - samples.mean(axis=0)) / samples.std(axis=0, ddof=1)
    K = Z.T @ Z / (len(samples) - 1)
    np.fill_diagonal(K, 1.0)
    return (K + K.T) / 2


def _table(name, samples):
    """A table (observations, arms) whose columns vary."""
    samples = _array(name, samples, 2)
    if len(samples) < 2 or not samples.shape[1]:
        raise ValueError(f"{name} has shape {samples.shape}: must have at least 2 rows and 1 column")
    if np.abs(samples).max() > 1e100:
        raise ValueError(f"{name} has an entry of size {np.abs(samples).max():.3g}: must be at most 1e100; rescale it")
    spread = np.ptp(samples, axis=0)
    if spread.min() <= 1e-14 * np.abs(samples).max(axis=0)[spread.argmin()]:
        raise ValueError(f"{name} column {int(spread.argmin())} is constant: columns must vary; remove it")
    return samples


# ---- Problems (Section 5): arms, kernel, mean reward, noise --------------------------------------------------

@dataclass(frozen=True, eq=False)
class Problem:
    """n arms with kernel matrix K (n, n), mean rewards f (n,) and the bounds the algorithms are told.

    B >= |f|, R >= |noise|, v >= E|y|^{1+alpha}, c >= E|noise|^{1+alpha}. A round's randomness is drawn without knowing
    the arm (`draw`), then turned into the arm's reward (`reward`), so that all algorithms meet the same users.
    noise: "uniform" on [-R, R], "t3" (Student, 3 degrees of freedom), or "table": a uniformly drawn row of `samples`.
    """
    K: np.ndarray
    f: np.ndarray
    B: float
    R: float
    v: float
    c: float
    alpha: float = 1.0
    name: str = ""
    noise: str = "uniform"
    samples: np.ndarray = field(default=None, repr=False)
    provenance: str = ""

    def __post_init__(self):
        put = functools.partial(object.__setattr__, self)
        put("K", _kernel_matrix(self.K))
        put("f", _array("f", self.f, 1).copy())
        if len(self.f) != len(self.K):
            raise ValueError(f"f has {len(self.f)} entries: must have {len(self.K)}, one per arm of K")
        put("B", _positive("B", self.B))
        for name in ("R", "v", "c"):
            put(name, _nonnegative(name, getattr(self, name)))
        put("alpha", _order("alpha", self.alpha))
        _choice("noise", self.noise, "uniform", "t3", "table")
        if (self.noise == "table") != (self.samples is not None):
            raise ValueError("samples: must be given with noise='table', and only then")
        if self.samples is not None:
            put("samples", _array("samples", self.samples, 2).copy())
            if self.samples.shape[1] != len(self.f) or not len(self.samples):
                raise ValueError(f"samples has shape {self.samples.shape}: must be (rows, {len(self.f)}), rows >= 1")
        for array in (self.K, self.f) if self.samples is None else (self.K, self.f, self.samples):
            array.setflags(write=False)

    @property
    def n(self):
        return len(self.f)

    def draw(self, rng, size=None):
        """What nature draws before the arm is known: noise in units of R, Student noise, or a row number."""
        if self.noise == "table":
            return rng.integers(len(self.samples), size=size)
        return rng.uniform(-1.0, 1.0, size) if self.noise == "uniform" else rng.standard_t(3, size)

    def reward(self, arm, draw):
        """The reward of `arm` for a user with that draw."""
        if self.noise == "table":
            return self.samples[draw, arm]
        return self.f[arm] + (self.R * draw if self.noise == "uniform" else draw)

    def sample(self, arm, rng, size=None):
        """One reward of `arm`, or an array of `size` independent ones."""
        return self.reward(_arm(arm, self.n), self.draw(rng, size))


def synthetic_problem(kernel="matern", noise="uniform", seed=None, *, lengthscale=0.2, nu=2.5, n=100, p=100):
    """The paper's synthetic data: f = sum_i a_i k(., x_i), a_i ~ U[-1, 1], p support points uniform on the arms i/n."""
    x = np.arange(1, _integer("n", n) + 1) / n
    _choice("kernel", kernel, "se", "matern")
    _choice("noise", noise, "uniform", "t3")
    K = (se_kernel(x, x, lengthscale=lengthscale) if kernel == "se"
         else matern_kernel(x, x, lengthscale=lengthscale, nu=nu))
    rng = np.random.default_rng(seed)
    support = rng.integers(n, size=_integer("p", p))
    f = K[:, support] @ rng.uniform(-1.0, 1.0, size=p)
    B = np.abs(f).max()   # the paper's choice; bounds |f|, not the RKHS norm of the theorems (Erratum A12)
    v, c = (B * B + 3, 3.0) if noise == "t3" else (B * B + 1 / 3, 1 / 3)
    return Problem(K=K, f=f, B=B, R=1.0, v=v, c=c, noise=noise, name=f"synthetic-{kernel}",
                   provenance=f"synthetic, {kernel} kernel, seed {seed}; B = max|f|")


def table_problem(samples, train=None, *, name="table", source="user's table"):
    """A problem from a table: rows = observations, columns = arms; a reward is the arm's entry in a random row.

    K is the correlation of `train` (of `samples` where there is none), f the column means; B, R, v and c are the
    smallest bounds that hold on `samples`, as in the paper's experiments.
    """
    samples = _table("samples", samples)
    K = empirical_kernel(samples if train is None else _table("train", train))
    if len(K) != samples.shape[1]:
        raise ValueError(f"train has {len(K)} columns: must have {samples.shape[1]}, as samples")
    f = samples.mean(axis=0)
    noise = samples - f
    return Problem(K=K, f=f, B=np.abs(f).max(), R=np.abs(noise).max(), v=(samples**2).mean(), c=(noise**2).mean(),
                   noise="table", samples=samples, name=name,
                   provenance=f"{source}; {'K, ' if train is None else ''}B, R, v, c taken from the private rewards "
                              "themselves")


ORIGINALS = {"iw_data_all.mat": "3d87e03ae8bc9e3f0a4abeb57c64933c7d3dee7476ac5c4f6ca28b4efc357c15",
             "fin.csv": "e9f7d7c3a0ad4ada75e5b8fa3830c77ed0579232b45837438c671d83b1818199"}   # sha256


def _data_file(original, stand_in):
    """Path and provenance of a data set: LDPBO_DATA, then data/original/, then the stand-in shipped with the code."""
    here = Path(__file__).resolve().parent / "data"
    named = os.environ.get("LDPBO_DATA")
    if named and not Path(named).is_dir():
        raise ValueError(f"LDPBO_DATA = {named!r}: must be an existing folder; unset it to use the stand-in data")
    for folder in ([Path(named)] if named else []) + [here / "original"]:
        path = folder / original
        if path.exists():
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            if found != ORIGINALS[original]:
                raise ValueError(f"{path}: sha256 is {found}, must be {ORIGINALS[original]}; replace the file")
            return path, f"original {original}"
    for folder in (here, Path(sys.prefix) / "share" / "ldpbo"):
        if (folder / stand_in).exists():
            return folder / stand_in, f"stand-in {stand_in}"
    raise ValueError(f"no data: put {original} into a folder and name it in LDPBO_DATA, or run `make data`")


def light_problem():
    """41 light sensors: K from the 601 train rows, rewards from the 192 test rows (or the stand-in of that shape)."""
    path, source = _data_file("iw_data_all.mat", "light.csv")
    if path.suffix == ".mat":
        from scipy.io import loadmat
        data = loadmat(path, mat_dtype=True, squeeze_me=True, struct_as_record=False)["data"]
        train, test = data.train.sensordata, data.test.sensordata
    else:
        rows = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)
        part = rows[:, 0]
        train, test = (rows[part == which, 1:].astype(float) for which in ("train", "test"))
    return table_problem(test, train, name="light", source=source)


def stock_problem():
    """29 stocks over 823 trading days: K and rewards from the same adjusted closes (or the stand-in's 20 stocks)."""
    path, source = _data_file("fin.csv", "stocks.csv")
    columns = len(path.read_text().split("\n", 1)[0].split(","))
    prices = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=range(1, columns))
    return table_problem(prices, name="stock", source=source)


# ---- Curators (Section 4.1) ----------------------------------------------------------------------------------

class CTL:
    """Curator 1, Convert-to-Laplace: report y + Laplace(2(B+R)/eps). Lemma 1: eps-LDP.

    Deviation: y is clipped to [-(B+R), B+R] first, a no-op under the paper's assumption; it makes the guarantee hold
    for every input (Erratum A6). `seen` and `clipped` count inputs. Seedable and fast, for study: double-precision
    Laplace noise leaks in its low bits (Erratum B20), so a deployed system wants `SecureCTL`.
    """

    def __init__(self, eps, B, R):
        self.eps = _number("eps", eps, "a finite number > 0 (eps=None in make and simulate: not private)", low=0.0)
        self.bound = _positive("B", B) + _nonnegative("R", R)
        self.scale = 2 * self.bound / self.eps
        self.variance = 2 * self.scale * self.scale      # what the curator adds to the variance of a report
        if not (math.isfinite(self.variance) and self.scale > 0):
            raise ValueError(f"eps = {eps!r}: 2(B+R)/eps = {self.scale:.3g} is out of floating-point range")
        self.promise = f"{self.eps:g}-LDP for one report, in exact arithmetic"
        self.seen = self.clipped = 0

    def _clip(self, y):
        """y clipped to [-(B+R), B+R], counted; a float for a scalar."""
        if isinstance(y, (int, float)):
            y = _number("y", y)
            self.seen += 1
            self.clipped += abs(y) > self.bound
            return min(max(y, -self.bound), self.bound)
        y = _array("y", y, np.ndim(y))
        self.seen += y.size
        self.clipped += int((np.abs(y) > self.bound).sum())
        return np.clip(y, -self.bound, self.bound)

    def draw(self, rng, size=None):
        """Unit Laplace draws, which `report` scales."""
        return rng.laplace(size=size)

    def report(self, y, draw):
        return self._clip(y) + self.scale * draw

    def privatise(self, y, rng=None):
        """The private report of a reward, or of an array of rewards of different users. rng: generator or seed."""
        return self.report(y, self.draw(np.random.default_rng(rng), np.shape(y) or None))

    def _given(self, report, y):
        """Finite report(s) and the clipped reward(s), for log_density."""
        return _array("report", report, None), np.clip(_array("y", y, None), -self.bound, self.bound)

    def log_density(self, report, y):
        """Log-density of a report given the reward y."""
        report, y = self._given(report, y)
        return -np.abs(report - y) / self.scale - math.log(2 * self.scale)

    def reach(self, t):
        """Size that a report exceeds with probability at most 1/t: B + R + L ln t (Alg. 2, l. 4)."""
        return self.bound + self.scale * math.log(t)


class OneBit(CTL):
    """One bit a report: +scale with probability (1 + y/scale)/2, else -scale, where scale = (B+R) coth(eps/2).

    Unbiased and bounded; at y = +-(B+R) the odds of the two bits are e^{+-eps}. Draws are uniforms; log_density is a
    log-probability. Seedable, for study: a 53-bit uniform decides, which moves either probability by 2^-53 at most.
    """

    def __init__(self, eps, B, R):
        super().__init__(eps, B, R)
        self.scale = self.bound / math.tanh(self.eps / 2)
        self.variance = self.scale**2          # at y = 0, the worst case: scale^2 - y^2

    def draw(self, rng, size=None):
        return rng.random(size)

    def report(self, y, draw):
        return self.scale * (2.0 * (draw < (1 + self._clip(y) / self.scale) / 2) - 1)

    def log_density(self, report, y):
        report, y = self._given(report, y)
        tilt = np.sign(report) * y / self.scale
        return np.where(np.abs(report) == self.scale, np.log1p(tilt) - math.log(2), -math.inf)

    def reach(self, t):
        return self.scale


class SecureCTL(CTL):
    """CTL with noise that is safe in floating point: integer noise by OpenDP (extra `secure`), reports on a grid.

    The clipped reward is rounded to a multiple of `grid` (a power of two; default about (B+R)/2^20) and exact discrete
    Laplace noise is added to that integer: no rounding follows the noise, so no bit of a report says more than eps.
    eps is certified by OpenDP's own map for the rounded range. Draws are grid steps from the operating system's
    randomness: they cannot be seeded and `rng` is ignored. About 10 us a report in arrays.
    """

    def __init__(self, eps, B, R, grid=None):
        super().__init__(eps, B, R)
        try:
            import opendp.prelude as dp
        except ImportError:
            raise ImportError("SecureCTL needs OpenDP: pip install 'ldpbo[secure]'") from None
        self.grid = 2.0 ** (math.frexp(self.bound)[1] - 21) if grid is None else _positive("grid", grid)
        span = 2 * round(self.bound / self.grid)                 # grid steps between the two most different rewards
        units = span / self.eps
        if math.frexp(self.grid)[0] != 0.5 or not 0 < units < 2**50:
            raise ValueError(f"grid = {self.grid!r}: must be a power of two, above 2^-50 scale = "
                             f"{self.scale / 2**50:.3g} and at most B+R = {self.bound:.3g}")
        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        self._noise = dp.m.make_laplace(*space, scale=units)
        while self._noise.map(span) > self.eps:                  # OpenDP rounds the loss upwards: widen by one ulp
            units = math.nextafter(units, math.inf)
            self._noise = dp.m.make_laplace(*space, scale=units)
        self.scale = units * self.grid
        self.variance = self.grid**2 / (2 * math.sinh(1 / (2 * units)) ** 2)
        self.promise = (f"{self.eps:g}-LDP for one report, as computed (OpenDP's map gives {self._noise.map(span)!r} for "
                        f"{span} steps of the grid {self.grid:g}); rounding moves the mean by at most half a step")

    def __reduce__(self):
        return SecureCTL, (self.eps, self.bound, 0.0, self.grid)             # OpenDP's objects cannot be pickled

    def draw(self, rng=None, size=None):
        noise = np.array(self._noise([0] * int(np.prod(1 if size is None else size))), dtype=np.int64)
        return noise[0] if size is None else noise.reshape(size)

    def report(self, y, draw):
        return (np.int64(np.rint(self._clip(y) / self.grid)) + draw) * self.grid

    def log_density(self, report, y):
        """Log-probability of a report: tanh(h/2) e^{-h steps}, h = grid/scale."""
        report, y = self._given(report, y)
        h, x = self.grid / self.scale, report / self.grid
        away = np.abs(x - np.rint(y / self.grid))
        return np.where(x == np.rint(x), math.log(math.tanh(h / 2)) - h * away, -math.inf)

    def reach(self, t):
        return super().reach(t) + self.grid


class Identity(CTL):
    """No privacy: the report is the reward, whatever its size. For non-private runs behind the same interface."""

    def __init__(self):
        self.eps, self.bound, self.scale, self.variance = None, math.inf, 0.0, 0.0
        self.promise, self.seen, self.clipped = "nothing: the report is the reward", 0, 0

    def draw(self, rng, size=None):
        return 0.0 if size is None else np.zeros(size)

    def log_density(self, report, y):
        return np.where(np.equal(*self._given(report, y)), 0.0, -math.inf)


def total_epsilon(eps, reports):
    """What `reports` eps-LDP reports of one user cost together: reports * eps. `reports` may be counts per user.

    The paper's eps is per report and needs a fresh user each round; one user behind a whole MoMA epoch spends k eps
    (Erratum C12).
    """
    reports = _array("reports", reports, np.ndim(reports))
    if (reports < 0).any() or (reports % 1).any():
        raise ValueError(f"reports = {reports}: must be whole numbers >= 0, reports per user")
    return reports * (math.inf if eps is None else _positive("eps", eps))


def subweibull_radius(T, delta, *, theta, a=1.0, b=1.0):
    """R with P(some of T noises exceeds R) <= delta when P(|noise| >= x) <= a exp(-b x^{1/theta}) (Erratum A6)."""
    T, delta = _integer("T", T), _fraction("delta", delta)
    theta, a, b = _positive("theta", theta), _positive("a", a), _positive("b", b)
    log = theta * (math.log(max(math.log(a) + math.log(T / delta), 1e-300)) - math.log(b))
    if log > 700:
        raise ValueError(f"theta = {theta!r}, a = {a!r}, b = {b!r}: the radius e^{log:.3g} is too large for a float")
    return math.exp(log)


# ---- Audit: how much privacy a curator really gives ----------------------------------------------------------

class Audit(NamedTuple):
    """With the confidence asked for, the true eps is at least eps_low; flagged if that is more than was promised."""
    eps_low: float
    promised: float
    flagged: bool
    event: str          # what gave the secret away; in the second half of the games it was ...
    right: int          # ... right so often,
    guesses: int        # out of this many times that it happened


def _clues(report, y, y_prime, bits):
    """What an attacker computes from reports (n, users), as (name, values (n,)): sizes first, then low bits."""
    views = [(f"report {i}", r) for i, r in enumerate(report.T, 1)]
    if len(views) > 1:
        views += [("least report", report.min(1)), ("largest report", report.max(1))]
        views += [(f"report {i} - report 1", r - report[:, 0]) for i, r in enumerate(report.T[1:], 2)]
    yield from views
    if not bits:
        return
    views += [(f"report {i} - ({x:.3g})", r - x) for i, r in enumerate(report.T, 1) for x in {y[i - 1], y_prime[i - 1]}]
    for name, x in views:
        m, e = np.frexp(x)
        m = np.ldexp(m, 53).astype(np.int64)
        zeros = np.where(m == 0, 53, np.frexp((m & -m).astype(float))[1] - 1)
        yield f"lowest bit of {name}", e - 53 + zeros                        # the largest k such that 2^k divides x
        yield f"trailing zeros of {name}", zeros


def audit(curator, y, y_prime, n, confidence=0.99, rng=None, *, bits=True, clues=None):
    """Lower confidence bound on the eps that `curator` really gives between the inputs y and y_prime -> Audit.

    n games: a fair coin picks y or y_prime, the curator reports. Under eps-LDP no event tells the coin with odds above
    e^eps. On the first half of the games every clue is cut into cells, the cells are sorted by their odds, and the set
    of cells with the best bound, for either side of the coin, becomes the event. The second half tests that one event:
    given how often it happens, how often it is right is binomial, so one Clopper-Pearson bound needs no correction.

    y, y_prime: numbers, or vectors (users,) of inputs that are reported together; each entry that differs is promised
    eps. bits=False leaves out the low bits, which betray any floating-point sum of reward and noise, CTL's as well.
    clues: function of the reports (n, users) -> {name: values (n,)}, an auditor's own. A low bound proves nothing.
    """
    from scipy.special import betaincinv
    y, y_prime = _array("y", np.atleast_1d(y), 1), _array("y_prime", np.atleast_1d(y_prime), 1)
    if len(y) != len(y_prime):
        raise ValueError(f"y has {len(y)} entries and y_prime has {len(y_prime)}: must have the same length")
    inputs, n = np.stack([y_prime, y]), _integer("n", n, low=2)
    alpha = 1 - _fraction("confidence", confidence)
    rng = np.random.default_rng(rng)

    def play(games):
        coin = rng.integers(0, 2, games)
        report = curator.privatise(inputs[coin] if len(y) > 1 else inputs[coin, 0], rng).reshape(games, -1)
        return coin, itertools.chain(clues(report).items() if clues else (), _clues(report, y, y_prime, bits))

    best = (-math.inf,)
    coin, found = play(n // 2)
    for name, x in found:
        cuts = np.unique(x[:2**16])                                          # atoms, or quantiles far into the tails
        cuts = cuts if len(cuts) <= 256 else np.quantile(x[:2**16], 1 / (1 + np.exp(-np.linspace(-8, 8, 64))))
        code = 2 * np.searchsorted(cuts, x, side="right") + coin
        count = np.bincount(code, minlength=2 * len(cuts) + 2).reshape(-1, 2)
        for side in (0, 1):
            order = np.argsort(-(count[:, side] + 0.5) / (count.sum(1) + 1), kind="stable")
            total = np.maximum(np.cumsum(count[order].sum(1)), 1)
            p = np.cumsum(count[order, side]) / total
            score = p - 4 * np.sqrt(p * (1 - p) / total) - 16 / total        # any rule may choose; strict against luck
            if score.max() > best[0]:
                best = score.max(), name, side, cuts, order[:score.argmax() + 1]
    _, name, side, cuts, cells = best
    coin, found = play(n - n // 2)
    inside = np.isin(np.searchsorted(cuts, next(x for key, x in found if key == name), side="right"), cells)
    guesses, right = int(inside.sum()), int((inside & (coin == side)).sum())
    low = betaincinv(right, guesses - right + 1, alpha) if right else 0.0
    eps_low = math.log(low / (1 - low)) if low > 0.5 else 0.0
    promised = float(total_epsilon(curator.eps, (y != y_prime).sum()))
    event = f"{name} ({len(cells)} of {len(cuts) + 1} cells)"
    return Audit(eps_low, promised, eps_low > promised, event, right, guesses)


# ---- Posterior (Eqs. mu and sigma) and information gain ------------------------------------------------------

def first_max(score):
    """Lowest index whose score is within TIE of the maximum. Deviation: the paper leaves ties open (Erratum B19)."""
    top = float(score[score.argmax()])
    return int((score >= top - TIE * max(1.0, abs(top))).argmax())


def _root(K, cut=0.0):
    """Eigenvectors Q (n, r) and Z (r, n) with K = Z'Z, from the eigenvalues above `cut` times the largest."""
    w, Q = np.linalg.eigh(K)
    kept = w > cut * max(w[-1], 0.0) if len(w) else np.zeros(0, bool)
    return Q[:, kept], Q[:, kept].T * np.sqrt(w[kept])[:, None]


def _inverse_root(d, U):
    """X -> (diag(d) + UU')^{-1/2} X, where U has p columns, p small.

    The trapezoidal rule in y for (2/pi) int (. + s^2)^{-1} ds, s = sqrt(min d) sinh(y), with Woodbury's formula for the
    inverse. Its error e^{-pi^2/h} and the tail e^{-33} that is cut off are below rounding.
    """
    low, h, p, plain = math.sqrt(d.min()), 0.3, U.shape[1], np.sqrt(d)[:, None]
    if not p:
        return lambda X: X / plain
    y = np.arange(0.0, math.asinh(math.sqrt(d.max() + (U * U).sum()) / low) + 11, h)
    weight = (2 / math.pi) * h * low * np.cosh(y)
    weight[0] /= 2
    W = (U[:, None] / (d[:, None] + (low * np.sinh(y)) ** 2)[:, :, None]).reshape(len(d), -1)
    H = np.linalg.inv(np.eye(p) + (W.T @ U).reshape(-1, p, p)) * weight[:, None, None]
    return lambda X: X / plain - W @ (H @ (W.T @ X).reshape(len(y), p, -1)).reshape(len(y) * p, -1)


class _Ridge:
    """Kernel ridge regression with kernel Z'Z on n arms for q reward columns: O(rn) a play, whatever t is.

    State: counts (n,), sums (n, q), means M (n, q), leverage (n,) = posterior variance / lam, and the root F (r, n) of
    F'F = Z'V^{-1}Z, V = sum_a count_a z_a z_a' + lam I (Lemma 5). V + zz' changes F by rank one; a fresh solve every
    REFRESH plays keeps rounding from building up.
    """

    def __init__(self, Z, lam, columns=1):
        self.lam, n = lam, Z.shape[1]
        self.counts, self.sums = np.zeros(n), np.zeros((n, columns))
        self.solve(Z)

    def solve(self, Z):
        """The posterior for features Z, afresh from counts and sums."""
        self.Z, self.age, self._outer = Z, 0, np.empty_like(Z)
        V = (Z * self.counts) @ Z.T
        V.flat[::len(Z) + 1] += self.lam
        self.F = np.linalg.inv(np.linalg.cholesky(V)) @ Z
        self.M, self.leverage = self.F.T @ (self.F @ self.sums), (self.F * self.F).sum(axis=0)

    def add(self, arm, y, Z=None):
        """Record reward(s) y of `arm`; `Z` replaces the features."""
        self.counts[arm] += 1
        self.sums[arm] += y
        self.age += 1
        if Z is not None or self.age >= REFRESH:
            return self.solve(self.Z if Z is None else Z)
        u = self.F[:, arm].copy()
        c = u @ self.F                                                       # phi' V^{-1} phi_arm
        grown = math.sqrt(1 + c[arm])
        g = c / grown**2
        self.M += g[:, None] * (y - self.M[arm])
        self.leverage = np.maximum(self.leverage - g * c, 0.0)
        self.F -= np.multiply((u / (grown * (grown + 1)))[:, None], c, out=self._outer)


def posterior(K, arms, y, lam):
    """mu (n,) and sigma (n,) after rewards y of the played `arms`, both of length t."""
    K, lam, y = _kernel_matrix(K), _positive("lam", lam), _array("y", y, 1)
    arms = _arms("arms", arms, len(K))
    if len(arms) != len(y):
        raise ValueError(f"y has {len(y)} entries and arms has {len(arms)}: must have the same length")
    ridge = _Ridge(np.zeros((0, len(K))), lam)
    ridge.counts, ridge.sums[:, 0] = np.bincount(arms, minlength=len(K)), np.bincount(arms, y, len(K))
    ridge.solve(_root(K)[1])
    return ridge.M[:, 0], np.sqrt(lam * ridge.leverage)


def information_gain(K, T, lam):
    """Greedy gamma_0..gamma_T, (T+1,): greedy <= gamma_t <= greedy/(1 - 1/e).

    Deviation: multisets instead of the paper's subsets, which a finite domain lacks for t > n (Erratum B14).
    """
    return _gain(_kernel_matrix(K).tobytes(), _integer("T", T, low=0), _positive("lam", lam)).copy()


@functools.lru_cache(maxsize=8)
def _gain(K, T, lam):
    K = np.frombuffer(K)
    ridge = _Ridge(_root(K.reshape(math.isqrt(len(K)), -1))[1], lam, columns=0)
    gain = np.zeros(T + 1)
    for t in range(T):
        arm = first_max(lam * ridge.leverage)
        gain[t + 1] = gain[t] + 0.5 * math.log1p(ridge.leverage[arm])
        ridge.add(arm, 0.0)
    return gain


# ---- Nyström embedding (Alg. 4) ------------------------------------------------------------------------------

def _nystrom(K, A, dictionary):
    """Q (m, r) and Z (r, n) with embedding Q @ Z: Q holds the eigenvectors of K_D that are kept, r <= m.

    Where K = A'A has low rank and D spans it, the smaller A_D A_D' gives the same; elsewhere that would magnify rounding.
    """
    if len(A) < len(dictionary):
        part = A[:, dictionary]
        U, root = _root(part @ part.T, EIGEN_CUT)
        Z = U.T @ A
        if (K.diagonal() - (Z * Z).sum(axis=0)).max() < 1e-8:
            return (part.T @ U) / np.linalg.norm(root, axis=1), Z
    Q, root = _root(K[np.ix_(dictionary, dictionary)], EIGEN_CUT)
    return Q, (Q.T @ K[dictionary]) / np.linalg.norm(root, axis=1, keepdims=True)


def nystrom_features(K, dictionary):
    """Embedding phi(x) = (K_D^{1/2})^+ k_D(x) of all n arms, (m, n), with the symmetric root (Alg. 4, l. 7)."""
    K = _kernel_matrix(K)
    dictionary = _arms("dictionary", dictionary, len(K))
    if len(np.unique(dictionary)) != len(dictionary):
        raise ValueError(f"dictionary = {dictionary.tolist()}: must name each arm once")
    Q, Z = _nystrom(K, _root(K, 1e-16)[1], dictionary)
    return Q @ Z


# ---- Algorithms: ask() for an arm, tell() its reward as the learner sees it ----------------------------------

class _Bandit:
    """The UCB loop that all algorithms share: play argmax mu + beta sigma, then update."""

    def __init__(self, problem, settings, rng):
        self.problem, self.s, self.rng = problem, settings, rng     # settings: those of `make`, checked
        self.K, self.B, self.t = problem.K, problem.B, 0
        self.mu = np.zeros(problem.n)
        # Deviation: sigma_0 = sqrt(k(x, x)); the paper prints k(x, x) (Erratum B4).
        self.sigma = np.sqrt(np.maximum(self.K.diagonal(), 0.0))
        self.beta, self._asked = self.B, None
        self._start()

    def _start(self):
        pass

    def _choose(self):
        return first_max(self.mu + self.beta * self.sigma)

    def ask(self):
        """The arm to play next; the same arm until its reward is told."""
        if self._asked is None:
            self._asked = self._choose()
        return self._asked

    def tell(self, reward, arm=None):
        """The reward as the learner sees it, of the arm asked for (or of `arm`, to replay a recorded run)."""
        if arm is None and self._asked is None:
            raise ValueError("tell: no arm was asked for; call ask() first")
        y = _number("reward", reward, "a finite number below 1e100 in size", -1e100, 1e100)
        arm = self._asked if arm is None else _arm(arm, self.problem.n)
        self._update(arm, y)
        self.t, self._asked = self.t + 1, None

    def _update(self, arm, y):
        pass


class Uniform(_Bandit):
    """Plays an arm at random: the regret that learning has to beat."""

    def _choose(self):
        return int(self.rng.integers(self.problem.n))


class TGP(_Bandit):
    """(LDP-)TGP-UCB, Alg. 2: a reward above b_t in size counts as 0. Theorem 3; non-private, Theorem 1 of C&G 2019."""

    def _start(self):
        self.ridge, self.gain = _Ridge(_root(self.K)[1], self.s.lam), 0.0
        self.b, last = self._b(1), self._b(self.s.T)
        self.levels = math.ceil(math.log2(max(last / self.b, 1.0))) + 1 if 0 < self.b < math.inf else 1
        if self.s.constants != "order" and (self.s.curator or self.s.weibull):
            self._gamma = _gain(self.K.tobytes(), self.s.T, self.s.lam)

    def _b(self, t):
        """Truncation point b_t (Alg. 2, l. 4; sub-Weibull: Section 4.3)."""
        if self.s.weibull:
            theta, _, b = self.s.weibull
            return self.B + (math.log(t) / b) ** theta
        if self.s.curator:
            return self.s.curator.reach(t)
        return self.s.v ** (1 / (1 + self.s.alpha)) * t ** (1 / (2 * (1 + self.s.alpha)))

    def _width(self, t):
        """beta_{t+1} - B without 1/sqrt(lam) (Alg. 2, l. 5)."""
        if self.s.constants == "order":
            return self.b * math.sqrt(math.log(t + 1))
        repaired = self.s.constants == "repaired"
        log_delta = math.log((self.levels if repaired or self.s.weibull else 1) / self.s.delta)   # Erratum A7
        if not (self.s.curator or self.s.weibull):
            return 3 * self.b * math.sqrt(2 * self.gain + 2 * log_delta)
        gamma = self._gamma[min(t, self.s.T)] / ((1 - 1 / math.e) if repaired else 1)
        moment = self.s.v
        if self.s.weibull:
            theta, a, b = self.s.weibull
            moment = max(a, 1) * (self.B**2 + a * math.gamma(2 * theta + 1) * b ** (-2 * theta))
        return 2 * math.sqrt(2) * self.b * math.sqrt(gamma + log_delta) + math.sqrt(moment * (math.log(t) + 1))

    def _update(self, arm, y):
        t = self.t + 1
        self.b = self._b(t)
        self.gain += 0.5 * math.log1p(self.sigma[arm] ** 2 / self.s.lam)
        self.ridge.add(arm, y if abs(y) <= self.b else 0.0)                                   # l. 8
        self.mu = self.ridge.M[:, 0].copy()
        self.sigma = np.sqrt(self.s.lam * self.ridge.leverage)
        self.beta = self.B + self.s.beta_scale * self._width(t) / math.sqrt(self.s.lam)


class GPUCB(TGP):
    """Plain GP-UCB, no truncation: right for sub-Gaussian reports, a baseline for the others."""

    def _b(self, t):
        return math.inf

    def _width(self, t):
        size = self.s.c ** (1 / (1 + self.s.alpha))
        if self.s.constants == "order":
            return size * math.sqrt(math.log(t + 1))
        return size * math.sqrt(2 * (self.gain + math.log(1 / self.s.delta)))


class _Nystroem(_Bandit):
    """What ATA and MoMA share: the random dictionary and the ridge posterior on its embedding."""
    columns = 1

    def _start(self):
        s = self.s
        self.B0 = self.B * (1 + 1 / math.sqrt(1 - s.acc)) if s.constants != "order" else self.B
        self.beta, self.m, self.dictionary = self.B0, 0, np.zeros(0, dtype=int)
        self._key, self._known = bytes(self.problem.n), {}                   # features of the last dictionaries
        self._A = _root(self.K, 1e-16)[1]
        rho = (1 + s.acc) / (1 - s.acc)
        self.q = s.q if s.q is not None else (math.log(s.T) if s.constants == "order"
                                              else 6 * rho * math.log(4 * s.T / s.delta)) / s.acc**2
        self.Q, self.Z = np.zeros((0, 0)), np.zeros((0, self.problem.n))
        self.residual = self.K.diagonal()
        self.ridge = _Ridge(self.Z, s.lam, self.columns)

    def _embed(self, arm, y):
        """Alg. 1, l. 6-8 and 13: draw the dictionary with sigma of the last round, then record y.

        Deviations: p = q sigma^2/lam, the ridge leverage score (Erratum A9); the dictionary is a set of arms, so one
        draw with probability 1 - (1-p)^count stands for the draws of all plays of an arm (Erratum B11).
        """
        counts = self.ridge.counts.copy()
        counts[arm] += 1
        u = self.rng.random(self.problem.n)
        if self.q == math.inf:
            keep = counts > 0
        else:
            level = max(self.s.lam / max(self.q, 1e-300), 1e-300)                    # p = 1 where sigma^2 is above it
            keep = u < 1.0 - (1.0 - np.minimum(self.sigma**2, level) / level) ** counts
        key = keep.tobytes()
        changed = key != self._key
        if changed:
            if key not in self._known:
                dictionary = np.flatnonzero(keep)
                Q, Z = _nystrom(self.K, self._A, dictionary)
                if len(self._known) * (Q.size + Z.size) > 4e6:               # about 32 MB
                    self._known = {}
                self._known[key] = dictionary, Q, Z, self.K.diagonal() - (Z * Z).sum(axis=0)
            self._key = key
            self.dictionary, self.Q, self.Z, self.residual = self._known[key]
            self.m = len(self.dictionary)
        self.ridge.add(arm, y, self.Z if changed else None)
        self.sigma = np.sqrt(np.maximum(self.residual + self.s.lam * self.ridge.leverage, 0.0))


class ATA(_Nystroem):
    """(LDP-)ATA-GP-UCB, Alg. 1: truncation in the feature space. Theorem 2; non-private, Theorem 4 of C&G 2019.

    mu is linear in the rewards that truncation leaves whole. Three exact shortcuts keep a round cheap.
    (1) |u_{i,tau}| is at most the root of the arm's leverage, so a reward with |y| sqrt(leverage) <= b_t is left whole.
    (2) leverage <= 1/(lam + count), so a reward that this bound lets go is whole for ever and joins the ridge sums; the
        others (`_large`) are kept apart, so that no outlier, however far out, costs precision.
    (3) max_i |u_i| at an arm, once computed, holds up to a drift: V -> V + zz' moves V^{-1/2} phi by at most
        (2/pi) int |(V+s^2)^{-1} z| |z'(V+s^2)^{-1} phi| ds, which the leverages of z and phi bound in closed form.
    """

    def _start(self):
        super()._start()
        self.b, self._peak, self._basis = math.inf, None, None
        self._arms, self._large = np.zeros(0, dtype=int), np.zeros(0)      # rewards that may still be truncated

    def _b_log(self, m):
        """Truncation point b_t, the logarithm in it and the power of t, for dictionary size m >= 1."""
        s, t = self.s, self.t + 1
        log = math.log((m + 1) * s.T) if s.constants == "order" else math.log(4 * m * s.T / s.delta)
        power = t ** ((1 - s.alpha) / (2 * (1 + s.alpha)))
        return (s.v / log) ** (1 / (1 + s.alpha)) * power, log, power

    def _update(self, arm, y):
        s, key, size = self.s, self._key, math.sqrt(self.ridge.leverage[arm])
        floor = self._b_log(self.problem.n)[0] * (1 - TIE)                  # b_t falls with m and m <= n
        large = abs(y) > floor * math.sqrt(s.lam + self.ridge.counts[arm] + 1)
        self._embed(arm, 0.0 if large else y)
        if key is not self._key:
            self._peak = self._basis = None                                 # another dictionary, other coordinates
        elif self._peak is not None:
            x = np.minimum(s.lam * size * self._size + 1e-300, 1.0)
            h = np.sqrt(1 - x)
            self._peak += (2 / math.pi) * size / s.lam * (x * (np.log1p(h) - 0.5 * np.log(x)) + 1 - h)
        if large:
            stay = np.abs(self._large) > floor * np.sqrt(s.lam + self.ridge.counts[self._arms])
            whole = np.bincount(self._arms[~stay], self._large[~stay], self.problem.n)
            self.ridge.sums[:, 0] += whole
            self.ridge.M[:, 0] += self.ridge.F.T @ (self.ridge.F @ whole)
            self._arms, self._large = np.append(self._arms[stay], arm), np.append(self._large[stay], y)
        self.mu, self.beta = self.ridge.M[:, 0].copy(), self.B0
        if self.m == 0:
            return
        self.b, log, power = self._b_log(self.m)
        if len(self._large):
            self.mu += self._truncated()
        width = math.sqrt(self.m / s.lam) * s.v ** (1 / (1 + s.alpha)) * log ** (s.alpha / (1 + s.alpha)) * power
        self.beta += s.beta_scale * (1 if s.constants == "order" else 4) * width

    def _truncated(self):
        """What the large rewards give to mu (Alg. 1, l. 9-12), (n,).

        Deviation: every product is compared with the current b_t, as in C&G 2019; the paper prints b_tau (Erratum B1).
        """
        size = np.sqrt(self.ridge.leverage)
        bound = size if self._peak is None else np.minimum(size, self._peak)
        touch = np.abs(self._large) * bound[self._arms] > self.b * (1 - TIE)
        whole = np.bincount(self._arms, np.where(touch, 0.0, self._large), self.problem.n)
        mu = (self.ridge.F @ whole) @ self.ridge.F
        if not np.count_nonzero(touch):
            return mu
        Q, Z, root = self._root()
        products = Q @ root(Z[:, self._arms[touch]]) * self._large[touch]    # u_{i,tau} y_tau, (m, touched)
        keep = np.abs(products) <= self.b
        self._peak = None
        if np.count_nonzero(keep) == keep.size:
            self._peak, self._size = np.abs(Q @ root(Z)).max(axis=0), size
        return mu + root(Q.T @ np.where(keep, products, 0.0).sum(axis=1, keepdims=True))[:, 0] @ Z

    def _root(self):
        """Q and Z in the basis of V's last eigenvectors, and X -> V^{-1/2} X there, V with the arms played since."""
        counts = self.ridge.counts
        new = () if self._basis is None else np.flatnonzero(counts != self._basis[0])
        if self._basis is None or len(new) > len(self.Z) ** 2 / 1000:
            w, E = np.linalg.eigh((self.Z * counts) @ self.Z.T)
            self._basis, new = (counts.copy(), np.maximum(w, 0.0) + self.s.lam, self.Q @ E, E.T @ self.Z), []
        old, d, Q, Z = self._basis
        return Q, Z, _inverse_root(d, Z[:, new] * np.sqrt(counts[new] - old[new]))


class MoMA(_Nystroem):
    """(LDP-)MoMA-GP-UCB, Alg. 3: N epochs of k plays of one arm, k ridge estimates, the most central one is used.

    Deviation: the T - Nk rounds left over play the next arm without an update (Erratum B7).
    """

    def _start(self):
        s = self.s
        if s.k is not None:
            self.k = s.k
        elif s.constants == "repaired":
            self.k = next(k for k in range(2, 10**6) if self._ville(k) <= s.delta / 2)
        else:
            self.k = math.ceil((24 if s.constants == "theorem" else 1) * math.log(4 * math.e * s.T / s.delta))
        if self.k > s.T:
            raise ValueError(f"k = {self.k}: must be at most T = {s.T}; raise T, or take a smaller k or constants='order'")
        self.N, self.columns = s.T // self.k, self.k
        super()._start()
        self.kstar, self.epoch, self._rewards, self._epoch_arm = 0, 0, [], None
        if s.constants == "repaired":
            self._gamma = _gain(self.K.tobytes(), self.N, s.lam)[-1] / (1 - 1 / math.e)

    @staticmethod
    def _ville(k, s=8.0):
        """Bound on P(too many of k estimates are ever bad) in the repaired analysis: C(k, a) s^{-a} (Erratum A5)."""
        a = math.ceil((k - 1) / 2)
        return math.exp(math.lgamma(k + 1) - math.lgamma(a + 1) - math.lgamma(k - a + 1) - a * math.log(s))

    def _choose(self):
        return super()._choose() if self._epoch_arm is None else self._epoch_arm

    def _update(self, arm, y):
        if self._epoch_arm not in (None, arm):
            raise ValueError(f"arm = {arm}: must be {self._epoch_arm}, the arm of the current epoch of {self.k} plays")
        self._epoch_arm = arm
        if self.epoch == self.N:
            return
        self._rewards.append(y)
        if len(self._rewards) < self.k:
            return
        self._embed(arm, np.array(self._rewards))                            # l. 7-10
        self.epoch, self._rewards, self._epoch_arm = self.epoch + 1, [], None
        self.kstar = first_max(-self.spread())                               # l. 12
        self.mu = self.ridge.M[:, self.kstar].copy()
        self.beta = self.B0 + self.s.beta_scale * self._width(self.epoch) / math.sqrt(self.s.lam)

    def spread(self):
        """r_j = median over s != j of |theta_j - theta_s|_V (l. 11), (k,): the squared norm is dS' dM by columns."""
        played = self.ridge.counts > 0
        S, M = self.ridge.sums[played], self.ridge.M[played]
        unit = np.abs(S).max(initial=1e-300)                                 # so that no product overflows
        S, M = S / unit, M / unit
        blocks = np.array_split(np.arange(self.k), 1 + len(S) * self.k**2 // 10**5)
        d = np.concatenate([((S[:, j, None] - S[:, None]) * (M[:, j, None] - M[:, None])).sum(axis=0) for j in blocks])
        others = unit * np.sqrt(np.maximum(d, 0.0))[~np.eye(self.k, dtype=bool)].reshape(self.k, self.k - 1)
        return np.median(others, axis=1) if self.k > 1 else np.zeros(1)

    def _width(self, n):
        """beta_{n+1} - B0 without 1/sqrt(lam), which Theorem 4 drops although its proof has it (Erratum A8)."""
        s = self.s
        if s.constants == "repaired":
            return 3 * math.sqrt(2 * 8.0 * s.c * self._gamma)
        outer, inner = (3, 9) if s.constants == "theorem" else (1, 1)
        return outer * (inner * self.m * s.c) ** (1 / (1 + s.alpha)) * n ** ((1 - s.alpha) / (2 * (1 + s.alpha)))


ALGORITHMS = {"TGP": TGP, "ATA": ATA, "MoMA": MoMA, "GP-UCB": GPUCB, "uniform": Uniform}


def make(name, problem, T, *, eps=None, lam=1.0, delta=0.1, acc=0.1, constants="order", beta_scale=1.0, q=None, k=None,
         weibull=None, curator=None, rng=None):
    """An algorithm by name ("TGP", "ATA", "MoMA"; baselines "GP-UCB", "uniform"), ready to ask.

    eps: None for the non-private twin. With eps (or a `curator`) alpha = 1, and v and c follow from B, R and the noise.
    constants: "theorem" as proved, "order" the same orders with constant 1, "repaired" the errata's (TGP, MoMA).
    beta_scale: multiplies the part of beta after B.   q: Nyström oversampling; inf keeps every played arm.
    k: MoMA's plays per epoch.   weibull: (theta, a, b) of P(|noise| >= x) <= a exp(-b x^{1/theta}) (TGP, non-private).
    curator: a curator, or a class such as OneBit that is then given eps, B and R; None is CTL where there is an eps.
    rng: generator or seed of the dictionary draws (and of uniform play).
    """
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise ValueError(f"name = {name!r}: must be one of {', '.join(ALGORITHMS)}")
    if not isinstance(problem, Problem):
        raise ValueError(f"problem = {type(problem).__name__}: must be a Problem")
    _choice("constants", constants, "order", "theorem", "repaired")
    if isinstance(curator, type):
        curator = curator() if curator is Identity else curator(eps, problem.B, problem.R)
    if curator is None and eps is not None:
        curator = CTL(eps, problem.B, problem.R)
    elif curator is not None and eps is not None and curator.eps != eps:
        raise ValueError(f"eps = {eps!r}: must be the curator's eps, {curator.eps!r}, or left out")
    private = curator is not None and curator.eps is not None
    alpha, v, c = problem.alpha, problem.v, problem.c
    if private:
        alpha, v, c = 1.0, problem.B**2 + problem.R**2 + curator.variance, problem.R**2 + curator.variance
    if weibull is not None:
        if name != "TGP" or private or np.shape(weibull) != (3,):
            raise ValueError(f"weibull = {weibull!r}: must be (theta, a, b), for the non-private TGP only")
        weibull = tuple(_positive(f"weibull {part}", x) for part, x in zip(("theta", "a", "b"), weibull))
    if constants == "repaired" and (name == "ATA" or (name == "MoMA" and alpha != 1)):
        raise ValueError(f"constants = 'repaired': must be 'order' or 'theorem' for {name}; the repair is for TGP, and for "
                         "MoMA with alpha = 1")
    settings = SimpleNamespace(
        T=_integer("T", T), lam=_positive("lam", lam), delta=_fraction("delta", delta), acc=_fraction("acc", acc),
        constants=constants, beta_scale=_nonnegative("beta_scale", beta_scale),
        k=None if k is None else _integer("k", k), q=q if q is None or q == math.inf else _positive("q", q),
        weibull=weibull, curator=curator if private else None, alpha=alpha, v=v, c=c)
    try:
        rng = np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(f"rng = {rng!r}: must be a numpy Generator, a seed >= 0 or None") from None
    try:
        return ALGORITHMS[name](problem, settings, rng)
    except OverflowError:
        raise ValueError(f"weibull = {weibull!r}, T = {T!r}: the schedule is out of floating-point range") from None


# ---- Simulation: many trials, common random numbers ----------------------------------------------------------

class Simulation(NamedTuple):
    """Cumulative regret (algorithm, trial, T), and records: never a raw reward.

    records: names, uniform (trials,) = expected regret per round of uniform play, pulls (algorithm, trial, n),
    clipped (algorithm, trial); with trace=True also arms and reports, both (algorithm, trial, T).
    """
    regret: np.ndarray
    records: dict


def streams(seed, trial):
    """A trial's sources of randomness: problem seed, users' draws, privacy draws, and the seed of the sketch.

    Separate children of one SeedSequence: all algorithms of a trial meet the same users and the same noise, and adding
    an algorithm shifts nothing.
    """
    problem, env, privacy, sketch = np.random.SeedSequence(seed, spawn_key=(trial,)).spawn(4)
    return int(problem.generate_state(1)[0]), np.random.default_rng(env), np.random.default_rng(privacy), sketch


def _one_thread():
    """One BLAS thread, so that sums come out the same on every machine."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return contextlib.nullcontext()
    return threadpool_limits(1)


def _run(job):
    """One algorithm in one trial -> arms (T,), clipped count, reports (T,) or None."""
    problem, name, T, seed, trial, trace, options = job
    _, env, privacy, sketch = streams(seed, trial)
    learner = make(name, problem, T, rng=np.random.default_rng(sketch), **options)
    curator = copy.copy(learner.s.curator)
    if curator is not None:
        curator.seen = curator.clipped = 0
    users = problem.draw(env, T).tolist()
    noise = None if curator is None else curator.draw(privacy, T).tolist()
    arms = np.empty(T, dtype=np.int16 if problem.n < 2**15 else np.int32)
    reports = np.empty(T) if trace else None
    with _one_thread():
        for t in range(T):
            arms[t] = arm = learner.ask()
            y = problem.reward(arm, users[t])
            if curator is not None:
                y = curator.report(y, noise[t])
            if trace:
                reports[t] = y
            learner.tell(y)
    return arms, 0 if curator is None else curator.clipped, reports


def simulate(problem, names, T, *, trials, seed, workers=1, trace=False, progress=None, **options):
    """Play every algorithm of `names` in every trial -> Simulation (regret, records).

    problem: a Problem, or a callable seed -> Problem for a new f in each trial. workers: processes; the numbers do not
    depend on it. progress(done, total) is called after each run. options: those of `make`.
    """
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise ValueError(f"names = []: must name at least one of {', '.join(ALGORITHMS)}")
    T, trials, workers, seed = (_integer("T", T), _integer("trials", trials), _integer("workers", workers),
                                _integer("seed", seed, low=0))
    if "rng" in options:
        raise ValueError("rng: must be left out; simulate derives every generator from seed")
    if not (isinstance(problem, Problem) or callable(problem)):
        raise ValueError(f"problem = {problem!r}: must be a Problem, or a function of a seed that returns one")
    problems = [problem if isinstance(problem, Problem) else problem(streams(seed, i)[0]) for i in range(trials)]
    for name in names:
        make(name, problems[0], T, rng=0, **options)                         # bad settings fail before any work
    jobs = [(problems[i], name, T, seed, i, trace, options) for name in names for i in range(trials)]
    results, pool = [], contextlib.nullcontext()
    if workers > 1:
        from concurrent.futures import ProcessPoolExecutor
        pool = ProcessPoolExecutor(workers)
    with pool:
        for result in (pool.map if workers > 1 else map)(_run, jobs):
            results.append(result)
            if progress:
                progress(len(results), len(jobs))
    shape = (len(names), trials)
    arms = np.stack([r[0] for r in results]).reshape(*shape, T)
    gaps = np.stack([p.f.max() - p.f for p in problems])                     # (trials, n)
    regret = np.stack([np.cumsum(gaps[i][a[i]]) for a in arms for i in range(trials)]).reshape(*shape, T)
    pulls = np.stack([np.bincount(r[0], minlength=problems[0].n) for r in results]).reshape(*shape, -1)
    records = dict(names=names, uniform=gaps.mean(axis=1), pulls=pulls,
                   clipped=np.array([r[1] for r in results]).reshape(shape))
    if trace:
        records.update(arms=arms, reports=np.stack([r[2] for r in results]).reshape(*shape, T))
    return Simulation(regret, records)


# ---- Lower bounds (Theorem 1, its regime and its sharpening; proofs and checks: pages lb_bump to lb_better) ----

class Bound(float):
    """A float that says why it is NaN (`reason`), and on which gap `Delta` and number of functions `M` it stands."""

    def __new__(cls, value, reason="", Delta=math.nan, M=math.nan):
        self = super().__new__(cls, value)
        self.reason, self.Delta, self.M = reason, float(Delta), float(M)
        return self


def lower_bound(kernel, T, eps, *, B, v, alpha, d, nu=None, variant="printed", lengthscale=0.2):
    """Regret that every eps-LDP learner suffers on some f with |f|_H <= B on [0,1]^d and E|y|^{1+alpha} <= v (C-lb).

    variant: "printed" the rate of Theorem 1, constant 1; "corrected" the larger rate of Erratum A1, never below the
    non-private one (A3), constant 1; "explicit" no rate but a number, with every constant of the proof, maximised over
    Delta and M (d = 1 or 2). eps=None: not private. Returns a `Bound`, NaN with a reason outside the regime that the
    theorem leaves unstated (A14), taken with its unnamed constants equal to 1. Only "explicit" uses the lengthscale.
    """
    _choice("kernel", kernel, "se", "matern")
    _choice("variant", variant, "printed", "corrected", "explicit")
    T = _number("T", T, "a number of rounds >= 1", low=math.nextafter(1.0, 0.0))
    eps = math.inf if eps is None else _number("eps", eps, "a finite number > 0, or None: not private", low=0.0)
    B, v, d, lengthscale = _positive("B", B), _positive("v", v), _integer("d", d), _positive("lengthscale", lengthscale)
    alpha = _order("alpha", alpha)
    nu = _positive("nu", nu) if kernel == "matern" else math.inf
    if variant == "explicit":
        if d > 2:
            raise ValueError(f"d = {d}: must be 1 or 2 with variant='explicit'")
        return _explicit_bound(T, eps, B, v, alpha, d, nu, lengthscale)
    plain = _rate(T, math.log(2), alpha / (1 + alpha), B, v, alpha, d, nu)   # eps = ln 2: z = 1
    if eps == math.inf:
        return plain
    if variant == "printed":
        return _rate(T, eps, alpha / (1 + alpha), B, v, alpha, d, nu)
    private = _rate(T, eps, alpha / (2 + 2 * alpha), B, v, alpha, d, nu)
    if math.isnan(private) and plain > 0:
        return Bound(plain, f"non-private rate, as the private one {private.reason}", plain.Delta, plain.M)
    return plain if plain > private else private


def _rate(T, eps, s, B, v, alpha, d, nu):
    """T Delta, Delta = v^{1/(1+a)} (M/(T z^2))^s, solved with M = ln(..)^{d/2} (SE: nu = inf) or (B/Delta)^{d/nu}.

    z = e^eps - 1. s = a/(1+a): Theorem 1, and with z = 1 the non-private rate. s = a/(2(1+a)): Erratum A1."""
    log_top = math.log(v) / (1 + alpha)
    log_n = math.log(T) + 2 * (eps + math.log(-math.expm1(-eps)))            # T z^2
    log_x = (math.log(B) - log_top) / s + log_n                              # what Theorem 1 takes the logarithm of
    show = lambda log: f"{math.exp(min(log, 700.0)):.3g}"
    if log_x <= 0:
        return Bound(math.nan, f"needs v^(1/(1+alpha)) < B (T z^2)^{s:.3g}: the logarithm is that of {show(log_x)}")
    log_m = d / 2 * math.log(log_x) if nu == math.inf else log_x * s * d / (nu + s * d)
    if log_m > min(log_n, log_x):                                            # Delta <= v^{1/(1+a)} and Delta <= B
        return Bound(math.nan, f"needs M <= T z^2 and Delta <= B: M = {show(log_m)}, T z^2 = {show(log_n)}, "
                     f"Delta/B = {show(s * (log_m - log_x))}")
    Delta = math.exp(log_top + s * (log_m - log_n))
    return Bound(T * Delta, "", Delta, math.exp(log_m))


@functools.lru_cache
def bump(d):
    """H(u) = exp(-1/(1-|u|^2)) and its Fourier transform h -> h(0); zeta, where h(zeta) = h(0)/2; v_m^j/Delta by offset
    j - m (coordinates 0..25) and how often each occurs; nodes and weights for integrals of H^2 over the unit ball."""
    from scipy import optimize, special
    u, weight = np.polynomial.legendre.leggauss(400)
    u, weight = (u + 1) / 2, weight / 2 * (2 if d == 1 else math.pi * (u + 1))
    wave = np.cos if d == 1 else special.j0
    h = lambda r: wave(2 * math.pi * np.multiply.outer(r, u)) @ (weight * np.exp(-1 / (1 - u * u)))
    h0 = float(h(0.0))
    zeta = optimize.brentq(lambda r: h(r) - h0 / 2, 0.1, 1.0, xtol=1e-15)
    offset = np.stack(np.meshgrid(*[np.arange(26)] * d), -1).reshape(-1, d)
    near, far = (np.sqrt((x**2).sum(axis=1)) for x in (np.maximum(2 * offset - 1, 0), 2 * offset + 1))  # unit: zeta
    fine = np.abs(h(zeta / 200 * np.arange(200 * 51 * d)))                   # a cell is 2 zeta wide in h's variable
    inside = [fine[math.ceil(200 * a):math.floor(200 * b) + 1].max() for a, b in zip(near, far)]
    table = 2 / h0 * np.maximum(inside, np.abs(h(zeta * near)))
    return h0, zeta, table, 2.0 ** (offset > 0).sum(axis=1), u, weight * np.exp(-2 / (1 - u * u))


def _explicit_bound(T, eps, B, v, alpha, d, nu, lengthscale):
    """max of T Delta (2 - c/M - sqrt(2 T S/M)) over M = n^d cells and Delta with |g|_H <= B (page lb_better).

    c sums v_m^j/Delta; S sums the most an eps-LDP report can tell of a reward non-zero with probability p."""
    h0, zeta, table, count, u, weight = bump(d)
    n = np.unique(np.geomspace(2, 1e5, 400).astype(int)).astype(float)
    xi2 = (2 * zeta * np.multiply.outer(n, u)) ** 2                          # squared frequencies of g
    if nu == math.inf:
        log_inverse = 2 * (math.pi * lengthscale) ** 2 * xi2 - d / 2 * math.log(2 * math.pi * lengthscale**2)
    else:
        log_inverse = ((nu + d / 2) * np.log1p((math.pi * lengthscale) ** 2 * 2 / nu * xi2) - math.lgamma(nu + d / 2)
                       + math.lgamma(nu) - d / 2 * math.log(2 * math.pi * lengthscale**2 / nu))
    norm = 2 / h0 * np.sqrt((2 * zeta * n) ** -d * (np.exp(np.minimum(log_inverse, 700)) @ weight))  # |g|_H / Delta
    cap = np.minimum(B / norm, (0.5 - 1e-9) * v ** (1 / (1 + alpha)))        # the second: p < 1
    e = math.exp(min(eps, 700.0))                                            # at 700 the report is the reward itself

    def value(Delta, M):
        p = np.multiply.outer((2 * Delta / v) ** (1 / alpha) * Delta, table)
        leak = -(np.log1p(p * (e - 1)) + e * np.log1p(-p * (1 - 1 / e))) / (e + 1)
        return T * Delta * (2 - table @ count / M - np.sqrt(2 * T / M * np.maximum(leak @ count, 0)))

    share = np.geomspace(1e-6, 1, 121)
    coarse = np.stack([value(s * cap, n**d) for s in share])
    i, j = np.unravel_index(coarse.argmax(), coarse.shape)
    Delta = cap[j] * np.geomspace(share[max(i - 1, 0)], share[min(i + 1, 120)], 201)
    fine = value(Delta, n[j] ** d)
    return Bound(fine.max(), "", Delta[fine.argmax()], n[j] ** d)

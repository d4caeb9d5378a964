"""What the parameters of the panel notebook mean: a problem, algorithms, a panel of the paper."""

import ldpbo_core as core
from ldpbo import plots, results

OPTIONS = dict(lam=1.0, delta=0.1, acc=0.1, constants="order", k=None)  # of all nine panels
KERNELS = {"matern": "Matérn", "se": "SE"}


def make_problem(problem, kernel, lengthscale, eps):
    """Return the problem of a panel as `simulate` takes it: a function from a seed to a new problem
    if it is synthetic, else the data set."""
    if problem == "synthetic":
        noise = "t3" if eps is None else "uniform"
        return lambda seed: core.synthetic_problem(kernel, noise, seed, lengthscale=lengthscale)
    known = {"light": core.light_problem, "stock": core.stock_problem}
    if problem not in known:
        raise ValueError(f"problem = {problem!r}: must be synthetic, light or stock")
    return known[problem]()


def data_of(source, kernel):
    """Name the data of a problem that `make_problem` made."""
    if isinstance(source, core.Problem):
        return source.provenance.split(";")[0]
    return f"synthetic, {KERNELS.get(kernel, kernel)} kernel"


def algorithm_names(names):
    """Return the algorithms as a list, also from the text "TGP, ATA" that papermill's -p gives."""
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    known = [name for name in plots.COLORS if name != "uniform"]
    unknown = [str(name) for name in names if name not in known]
    if unknown:
        raise ValueError(f"names = {', '.join(unknown)}: must be among {', '.join(known)}")
    return list(names)


def panel_of(problem, kernel, eps, **options):
    """Find the paper's panel with these parameters; "" if there is none."""
    if options != OPTIONS:
        return ""
    data = f"synthetic, {KERNELS.get(kernel, '')}" if problem == "synthetic" else problem
    privacy = "non-private" if eps is None else f"ε = {eps:g}"
    titles = {title: panel for panel, title in results.PANELS.items()}
    return next((p for t, p in titles.items() if t == f"{p} {data}, {privacy}"), "")

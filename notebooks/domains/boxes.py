"""Test functions on boxes, as problems on many candidates."""

import numpy as np

import ldpbo_core as core


def branin(x):
    """Compute Branin's function of a point of [-5, 10] x [0, 15], negated and scaled to [-1, 1].

    It has three tops, and the worst corner is (-5, 0).
    """
    a, b = x
    parabola = (b - 5.1 / (4 * np.pi**2) * a * a + 5 / np.pi * a - 6) ** 2
    value = parabola + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10
    return 1 - 2 * (value - 0.397887) / (308.129096 - 0.397887)


HARTMANN = {  # dimension: A, 10^4 P, size of the minimum
    3: (
        [[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]],
        [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]],
        3.862780,
    ),
    6: (
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ],
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ],
        3.322368,
    ),
}


def hartmann(x):
    """Compute Hartmann's function sum_i c_i exp(-sum_j A_ij (x_j - P_ij)^2) of a point of [0, 1]^3
    or [0, 1]^6, scaled from [0, top] to [-1, 1]."""
    A, P, top = HARTMANN[len(x)]
    c = np.array([1.0, 1.2, 3.0, 3.2])
    exponents = (A * (x - np.array(P) / 1e4) ** 2).sum(axis=1)
    return 2 * float(c @ np.exp(-exponents)) / top - 1


BOXES = {  # name: function, box, lengthscale
    "Branin": (branin, [(-5, 10), (0, 15)], 4.0),
    "Hartmann-3": (hartmann, [(0, 1)] * 3, 0.5),
    "Hartmann-6": (hartmann, [(0, 1)] * 6, 0.8),
}


def problem(name, n, seed, **options):
    """Make the problem of one of BOXES on n scrambled Sobol points, with an SE kernel and noise
    that is uniform on [-1, 1]."""
    function, bounds, lengthscale = BOXES[name]
    given = options | dict(lengthscale=lengthscale, seed=seed)
    return core.function_problem(function, bounds, n, **given)


def missed(problem, dictionary=None):
    """Compute the most that the span of a dictionary misses of any k(x, x).

    Without a dictionary: what is missed after each pivot of the problem's features, (r,).
    """
    if dictionary is None:
        return (problem.diagonal - np.cumsum(problem.Z**2, axis=0)).max(axis=1)
    features = core.nystrom_features(problem, dictionary)
    return float((problem.diagonal - (features**2).sum(axis=0)).max())

"""How large the noise of a copy ever gets, in the norm of the proofs."""

import numpy as np

from ldpbo import experiments


def largest_noise(problem, name, *, lam, **options):
    """Play a trial and return the largest M_n over its epochs for each copy, (k,).

    M_n is |sum of noise phi|^2 in the norm of V_n^{-1}; V_n counts one play an epoch. The options
    are those of `experiments.rounds`.
    """
    inverse = np.eye(len(problem.Z)) / lam
    total, largest = 0.0, 0.0
    epoch = []
    for learner, arm, report in experiments.rounds(problem, name, lam=lam, **options):
        epoch.append(report - problem.f[arm])
        if len(epoch) < getattr(learner, "k", 1):
            continue
        z = problem.Z[:, arm]
        image = inverse @ z
        inverse -= np.outer(image, image) / (1 + z @ image)
        total = total + np.outer(z, epoch)
        largest = np.maximum(largest, (total * (inverse @ total)).sum(axis=0))
        epoch = []
    return largest

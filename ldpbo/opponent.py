"""An opponent, who knows all past noise, chooses the arms of an enumerated game here."""

from __future__ import annotations

import numpy as np


def next_arms(Xi: np.ndarray, V: np.ndarray, X: np.ndarray, size: float) -> np.ndarray:
    """Return the arms with which the next noise can make the sums longest, (histories,).

    Xi: sums of noise along features, (histories, copies, d); V: (histories, d, d); X: features of
    the arms, (arms, d); size: of the largest noise.
    """
    reach = [_reach(Xi, V, x, size) for x in X]
    return np.argmax(np.round(reach, 12), axis=0)  # a tie goes to the first arm


def _reach(Xi, V, x, size):
    """Add up, over the copies, the largest |Xi ± size x|^2 in the norm of (V + xx')^{-1}."""
    inverse = np.linalg.inv(V + np.outer(x, x))  # of every history
    before = np.einsum("pji,pik,pjk->pj", Xi, inverse, Xi)  # |Xi|^2 in this norm
    along = np.abs(np.einsum("pji,pik,k->pj", Xi, inverse, x))  # |<Xi, x>|
    own = np.einsum("i,pik,k->p", x, inverse, x)[:, None]  # |x|^2
    longest = before + 2 * size * along + size**2 * own
    return longest.sum(axis=1)

"""Columns of a projection beyond those that the problem determines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from compactlearn.linalg.pairs import Pair

Array = NDArray[np.float64]

COMPLETIONS = ("none", "variance", "random")


def complete(pair: Pair, P: Array, count: int, how: str, random_state: Any) -> Array:
    """``count`` orthonormal directions outside the span of P: none, principal or random ones.

    For an exact kernel "random" means random combinations of the training rows, and no more
    directions exist than the kernel has rank.
    """
    if how == "none":
        return np.empty((pair.n_left, 0))
    if how == "variance":
        return pair.principal_directions(count, P)
    return pair.extension(P, pair.random_directions(count, seeded(random_state)))


def seeded(random_state: Any) -> np.random.RandomState:
    """A generator from any accepted seed; scikit-learn's check does not take a Generator."""
    if isinstance(random_state, np.random.Generator):
        return check_random_state(int(random_state.integers(2**31 - 1)))
    return check_random_state(random_state)

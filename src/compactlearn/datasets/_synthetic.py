"""Synthetic multi-label data whose feature and label subspaces are known.

A few latent numbers per row drive both sides:

    X = T diag(strength) A' + noise,   S = T B' + label noise,   Y[:, j] = S[:, j] > t_j

with A (D, k) and B (M, k) orthonormal. A method that embeds features and labels together should
find the spans of A and of B; how far it is off can be measured, which real data never allow.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from compactlearn.core._params import Constraint, Integer, Real, Seed, check_parameters
from compactlearn.datasets._dataset import Dataset


@dataclass(frozen=True, eq=False, repr=False)
class PlantedDataset(Dataset):
    """`Dataset` with the subspaces it was made from.

    Parameters
    ----------
    feature_subspace : ndarray of shape (n_features, n_directions)
        Orthonormal columns: the directions of X that have anything to do with the labels.
    label_subspace : ndarray of shape (n_labels, n_directions)
        Orthonormal columns: the span of the label scores before noise and threshold.
    latent : ndarray of shape (n_samples, n_directions)
        Latent values of the rows, on which X and Y depend.
    """

    feature_subspace: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    label_subspace: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    latent: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))


_CONSTRAINTS: dict[str, tuple[Constraint, ...]] = {
    "n_samples": (Integer(1),),
    "n_features": (Integer(1),),
    "n_labels": (Integer(1),),
    "n_directions": (Integer(1),),
    "cardinality": (Real(0, open_low=True),),
    "noise": (Real(0),),
    "label_noise": (Real(0),),
    "imbalance": (Real(0),),
    "random_state": (Seed(),),
}


def make_compact(
    n_samples: int = 1000,
    n_features: int = 100,
    n_labels: int = 40,
    *,
    n_directions: int = 5,
    cardinality: float = 3.0,
    noise: float = 0.3,
    label_noise: float = 0.3,
    imbalance: float = 1.0,
    random_state: Any = None,
) -> PlantedDataset:
    """Make data with planted feature and label subspaces.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        Rows, columns of X and columns of Y.
    n_directions : int
        Latent numbers per row: the dimension of both planted subspaces.
    cardinality : float
        Mean number of labels per row; the label sets are as sparse as this is small.
    noise : float
        Standard deviation of the noise in X, for latent numbers of unit variance spread over
        features of unit mean energy.
    label_noise : float
        Standard deviation of the noise in the label scores, which have unit variance.
    imbalance : float
        Label frequencies fall like rank ** -imbalance; 0 makes all labels equally frequent.
    random_state : int, RandomState or None
        The seed of all that is drawn.

    Returns
    -------
    PlantedDataset
        With dense X and Y, and the true subspaces.

    Examples
    --------
    >>> data = make_compact(300, 20, 8, n_directions=3, cardinality=2.0, random_state=0)
    >>> data.X.shape, data.Y.shape, data.feature_subspace.shape, data.label_subspace.shape
    ((300, 20), (300, 8), (20, 3), (8, 3))
    >>> round(data.cardinality, 1)
    2.0
    """
    given = locals()
    check_parameters(SimpleNamespace(**given), _CONSTRAINTS)
    bound = min(n_features, n_labels)
    if n_directions > bound:
        raise ValueError(
            f"make_compact plants n_directions={n_directions} in both spaces, and the smaller one "
            f"has {bound} dimensions; lower n_directions to at most {bound}."
        )
    if cardinality > n_labels:
        raise ValueError(
            f"make_compact cannot give a row {cardinality:g} labels on average when there are "
            f"{n_labels}; lower cardinality or raise n_labels."
        )
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31 - 1))
    rng = check_random_state(random_state)
    k = n_directions
    A, B = (rng.standard_normal((size, k)) for size in (n_features, n_labels))
    T = rng.standard_normal((n_samples, k))
    X = T @ A.T + noise * rng.standard_normal((n_samples, n_features))
    S = T @ (B / np.linalg.norm(B, axis=1, keepdims=True)).T
    S += label_noise * rng.standard_normal(S.shape)
    return PlantedDataset(
        X=X,
        Y=_labels(S, _frequencies(n_labels, cardinality, imbalance)),
        name="compact",
        source="make_compact",
        feature_subspace=np.linalg.qr(A)[0],
        label_subspace=np.linalg.qr(B / np.linalg.norm(B, axis=1, keepdims=True))[0],
        latent=T,
    )


def _frequencies(n_labels: int, cardinality: float, imbalance: float) -> np.ndarray:
    """Return label frequencies in (0, 1] that sum to the cardinality and fall with the rank.

    Frequencies that would exceed 1 are set to 1, and the others are raised.
    """
    shape = np.arange(1, n_labels + 1, dtype=float) ** -imbalance
    full = np.zeros(n_labels, dtype=bool)
    while True:
        rest = cardinality - full.sum()
        frequencies = np.where(full, 1.0, shape * rest / max(shape[~full].sum(), 1e-300))
        over = (frequencies > 1.0) & ~full
        if not over.any():
            return np.clip(frequencies, 0.0, 1.0)
        full |= over


def _labels(S: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Return 1 for the rows of highest score of each label, as many as its frequency requires."""
    n = S.shape[0]
    counts = np.rint(frequencies * n).astype(np.intp)
    ranks = np.argsort(np.argsort(-S, axis=0, kind="stable"), axis=0, kind="stable")
    return (ranks < counts).astype(np.int64)

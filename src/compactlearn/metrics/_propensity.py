"""Weights of labels: a rare label is the likelier to be missing from the truth.

References
----------
H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation, tagging,
ranking & other missing label applications", KDD 2016.
"""

from typing import Any

import numpy as np

from compactlearn.core._params import Integer, Real
from compactlearn.metrics._truth import read_truth

FEWEST_FOR_PROPENSITIES = 3  # rows: the formula has ln N - 1 as a factor


def inverse_propensities(
    train_labels: Any, *, n_samples: int | None = None, A: float = 0.55, B: float = 1.5
) -> np.ndarray:
    """Return one over the probability that a label that applies is in the truth.

    For a label that n of N training rows have,

        w = 1 + C (n + B)^(-A),    C = (ln N - 1) (B + 1)^A.

    Parameters
    ----------
    train_labels : array-like or sparse matrix of shape (n_train, n_labels), or of shape (n_labels,)
        The labels of the training rows, or how many of them have each label.
    n_samples : int, optional
        The number of training rows, at least 3; needed with counts, and only then.
    A, B : float
        Above 0. Published values: 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon, the
        defaults for everything else.

    Returns
    -------
    ndarray of shape (n_labels,)
        Above 1, the rarer the larger.

    Examples
    --------
    >>> inverse_propensities([7, 3, 2, 1], n_samples=8)
    array([1.550663, 1.781267, 1.897075, 2.079442])
    """
    for name, value in (("A", A), ("B", B)):
        if not Real(0, open_low=True).accepts(value):
            raise ValueError(
                f"{name} must be a finite number > 0, but is {value!r}; pass such a number."
            )
    counts, N = _counts(train_labels, n_samples)
    if N < FEWEST_FOR_PROPENSITIES:
        raise ValueError(
            "Propensities need at least 3 training rows, since their formula has ln N - 1 as a "
            f"factor, but there are {N}; pass the labels of the whole training set."
        )
    return inverse_propensities_of_counts(counts, N, A, B)


def inverse_propensities_of_counts(
    counts: np.ndarray, total: float, A: float = 0.55, B: float = 1.5
) -> np.ndarray:
    """Return `inverse_propensities` of checked counts, which may be sums of row weights."""
    C = (np.log(total) - 1) * (B + 1) ** A
    return 1 + C * (counts + B) ** -A


def propensities(
    train_labels: Any, *, n_samples: int | None = None, A: float = 0.55, B: float = 1.5
) -> np.ndarray:
    """Return the probability that a label that applies is in the truth, for each label.

    Parameters
    ----------
    train_labels, n_samples, A, B :
        As in `inverse_propensities`.

    Examples
    --------
    >>> propensities([7, 3, 2, 1], n_samples=8)
    array([0.644885, 0.561398, 0.527127, 0.480898])
    """
    return 1 / inverse_propensities(train_labels, n_samples=n_samples, A=A, B=B)


def _counts(train_labels: Any, n_samples: Any) -> tuple[np.ndarray, int]:
    if np.ndim(train_labels) != 1:
        truth = read_truth(train_labels)
        if n_samples is not None:
            raise ValueError(
                "n_samples goes with counts of labels only, since a matrix has its own number of "
                f"rows, {truth.shape[0]}, but {n_samples!r} was given; leave it out."
            )
        return np.bincount(truth.present.columns, minlength=truth.shape[1]), truth.shape[0]
    if not Integer(1).accepts(n_samples):
        raise ValueError(
            "Counts of labels need n_samples, the number of training rows, as an integer >= 1, "
            f"but it is {n_samples!r}; pass it, or the matrix of training labels itself."
        )
    counts = np.asarray(train_labels)
    if counts.dtype.kind not in "iuf" or not ((counts >= 0) & (counts <= n_samples)).all():
        raise ValueError(
            f"Counts of labels must be numbers from 0 to n_samples, {n_samples}, but are "
            f"{train_labels!r:.80}; pass the column sums of the training labels."
        )
    return counts, int(n_samples)

"""Metrics that count a rare label for more: it is the likelier to be missing from the truth.

References
----------
H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation, tagging,
ranking & other missing label applications", KDD 2016.
"""

from typing import Any

import numpy as np

from compactlearn.core._params import Integer, Real
from compactlearn.metrics._averages import PRESENT, Measure, average
from compactlearn.metrics._checks import check_k
from compactlearn.metrics._ranks import LabelRanks, ranked_blocks
from compactlearn.metrics._top import discounts, ideal_gain
from compactlearn.metrics._truth import read_truth

__all__ = [
    "inverse_propensities",
    "propensities",
    "psndcg_at_k",
    "psndcg_measure",
    "psp_at_k",
    "psp_measure",
]

FEWEST_FOR_PROPENSITIES = 3  # rows: the formula has ln N - 1 as a factor


def inverse_propensities(
    train_labels: Any, *, n_samples: int | None = None, A: float = 0.55, B: float = 1.5
) -> np.ndarray:
    """The weight of each label: one over the chance that it is in the truth where it applies.

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
    """One over `inverse_propensities`: the chance that a label that applies is in the truth.

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


def psp_at_k(Y_true: Any, scores: Any, k: int = 5, *, weights: Any, mask: Any = None) -> float:
    """Propensity-scored precision: the weight of the hits over the best possible; 1 is best.

    With the weights w of the labels and y = 1 where present, the sum over all rows of

        sum over the k best-scored labels of w y

    over the same sum for a ranking by w y. The quotient is taken once, after the rows are added
    up; a row without present labels adds to neither sum. Equal scores: lowest index first.

    Parameters
    ----------
    Y_true, scores, k, mask
        As in `precision_at_k`.
    weights : array-like of shape (n_labels,)
        Above 0; see `inverse_propensities`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has a present label.

    Examples
    --------
    >>> psp_at_k([[1, 0, 1]], [[0.9, 0.8, 0.7]], k=1, weights=[1, 1, 4])
    0.25
    """
    truth = read_truth(Y_true, mask)
    k = check_k(k, truth.shape[1])
    measure = psp_measure(k, check_weights(weights, truth.shape[1]))
    return average("psp_at_k", measure, ranked_blocks(truth, scores, k), truth.shape[0])


def psp_measure(k: int, weights: np.ndarray) -> Measure:
    """The two sums of `psp_at_k`; the common factor 1 / k is left out."""

    def found(rows: LabelRanks) -> np.ndarray:
        return rows.sum_by_row(weights[rows.label] * (rows.lowest_first <= k))

    def best(rows: LabelRanks) -> np.ndarray:
        row, place, weight = _by_weight(rows, weights)
        return np.bincount(row, weights=weight * (place <= k), minlength=rows.truth.shape[0])

    return Measure(PRESENT, found, best)


def psndcg_at_k(Y_true: Any, scores: Any, k: int = 5, *, weights: Any, mask: Any = None) -> float:
    """Propensity-scored discounted gain over the best possible; 1 is best.

    As `psp_at_k`, with w y / log2(rank + 1) in place of w y, and each row's sums divided by the
    unweighted gain of a perfect ranking, sum over t <= min(k, n) of 1 / log2(t + 1).

    Parameters
    ----------
    Y_true, scores, k, weights, mask
        As in `psp_at_k`.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no row has a present label.

    Examples
    --------
    >>> psndcg_at_k([[1, 0, 1]], [[0.9, 0.8, 0.7]], k=1, weights=[1, 1, 4])
    0.25
    """
    truth = read_truth(Y_true, mask)
    k = check_k(k, truth.shape[1])
    measure = psndcg_measure(k, check_weights(weights, truth.shape[1]))
    return average("psndcg_at_k", measure, ranked_blocks(truth, scores, k), truth.shape[0])


def psndcg_measure(k: int, weights: np.ndarray) -> Measure:
    """The two sums of `psndcg_at_k`."""

    def found(rows: LabelRanks) -> np.ndarray:
        gains = weights[rows.label] * discounts(rows.lowest_first, k)
        return rows.sum_by_row(gains) / ideal_gain(rows, k)

    def best(rows: LabelRanks) -> np.ndarray:
        row, place, weight = _by_weight(rows, weights)
        gains = weight * discounts(place, k)
        return np.bincount(row, weights=gains, minlength=rows.truth.shape[0]) / ideal_gain(rows, k)

    return Measure(PRESENT, found, best)


def check_weights(weights: Any, n_labels: int) -> np.ndarray:
    """The weights of the labels as float64."""
    values = np.asarray(weights)
    right = values.dtype.kind in "iuf" and values.shape == (n_labels,)
    if not right or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f"weights must be finite numbers above 0, one for each of the {n_labels} labels, but "
            f"are {_shown(values)}; pass what inverse_propensities returns."
        )
    return values.astype(np.float64)


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
            f"{_shown(counts)}; pass the column sums of the training labels."
        )
    return counts, int(n_samples)


def _shown(values: np.ndarray) -> str:
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        return f"an array of type {values.dtype} and shape {values.shape}"
    return np.array2string(values, threshold=6, edgeitems=2, precision=4)


def _by_weight(rows: LabelRanks, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, place and weight of all present labels if each row ranked them by weight."""
    weight = weights[rows.truth.present.columns]
    row = rows.truth.present.row_numbers()
    order = np.lexsort((-weight, row))
    start = np.cumsum(rows.n_present) - rows.n_present
    return row, np.arange(1, len(row) + 1) - start[row], weight[order]

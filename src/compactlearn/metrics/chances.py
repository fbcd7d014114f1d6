"""Metrics of probabilities: is what is called likely as frequent as it is called likely?

Every cell counts, a row and a label; cells whose truth is unknown are not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core.params import Integer, Real
from compactlearn.metrics.averages import KNOWN, warn_undefined
from compactlearn.metrics.checks import as_matrix, check_shape, row_blocks
from compactlearn.metrics.truth import Truth, read_truth

__all__ = [
    "Reliability",
    "calibration_error",
    "calibration_error_of",
    "check_probabilities",
    "log_loss",
    "log_loss_of",
    "reliability_of",
]


def log_loss(Y_true: Any, probabilities: Any, *, clip: float = 1e-6, mask: Any = None) -> float:
    """Mean over all cells of -log of the probability of what is true; 0 is best.

    This is the mean over the labels of scikit-learn's `log_loss` of each.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a cell is not counted.
    probabilities : array-like of shape (n_samples, n_labels)
        Of the label being present, as ``predict_proba`` returns them.
    clip : float
        Probabilities are kept this far from 0 and 1, lest one wrong certainty cost without end.
    mask : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
        True where the label is known; another way to mark unknown ones.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no cell is known.

    Examples
    --------
    >>> log_loss([[1, 0], [0, 0]], [[0.5, 0.5], [0.5, 0.5]])
    0.693147...
    """
    truth, P = _read(Y_true, probabilities, mask)
    return log_loss_of(truth, P, clip)


def calibration_error(
    Y_true: Any, probabilities: Any, *, bins: int = 15, mask: Any = None
) -> float:
    """Expected calibration error: how far probabilities are from frequencies; 0 is best.

    All cells are put into bins of equal width by their probability. In each bin the mean
    probability is compared with the share of labels that are present; the error is the mean of
    the absolute differences, each bin weighted by its cells.

    Parameters
    ----------
    Y_true, probabilities, mask
        As in `log_loss`.
    bins : int
        How many; a probability on the boundary of two belongs to the upper one, 1 to the last.

    Returns
    -------
    float
        NaN, with an UndefinedMetricWarning, if no cell is known.

    Notes
    -----
    Where labels are rare most cells lie in the first bin, and a model that says their frequency for
    every row has no error at all: this is about probabilities and says nothing of rankings.

    Examples
    --------
    Two cells of 0.9, of which one is present:

    >>> calibration_error([[1, 0]], [[0.9, 0.9]])
    0.4
    """
    truth, P = _read(Y_true, probabilities, mask)
    return calibration_error_of(truth, P, bins)


def log_loss_of(truth: Truth, P: np.ndarray, clip: Any) -> float:
    """`log_loss` of a truth that has been read."""
    if not Real(0, 0.5, open_low=True, open_high=True).accepts(clip):
        raise ValueError(
            f"clip must be a number above 0 and below 0.5, but is {clip!r}; pass such a number, "
            "1e-6 for instance."
        )
    n_cells, total = int(truth.n_known.sum()), 0.0
    for own, values in _blocks(truth, P):
        p = np.clip(values, clip, 1.0 - clip)
        losses = -np.log1p(-p)
        present = own.present.row_numbers(), own.present.columns
        losses[present] = -np.log(p[present])
        if own.unknown is not None:
            losses[own.unknown.row_numbers(), own.unknown.columns] = 0.0
        total += float(losses.sum())
    return total / n_cells if n_cells else _undefined("log_loss", truth)


def calibration_error_of(truth: Truth, P: np.ndarray, bins: Any) -> float:
    """`calibration_error` of a truth that has been read."""
    if not Integer(1).accepts(bins):
        raise ValueError(f"bins must be {Integer(1).describe()}, but is {bins!r}; pass such a one.")
    n_cells = int(truth.n_known.sum())
    if not n_cells:
        return _undefined("calibration_error", truth)
    found = reliability_of(truth, P, bins)
    return float(np.abs(found.chance - found.present).sum()) / n_cells


@dataclass(frozen=True)
class Reliability:
    """What is said of the cells in each of some bins of equal width, and what is true of them."""

    cells: np.ndarray  # (bins,) how many
    chance: np.ndarray  # the sum of their probabilities
    present: np.ndarray  # how many labels are there


def reliability_of(truth: Truth, P: np.ndarray, bins: int) -> Reliability:
    """All known cells by their probability; on the boundary of two bins it is the upper one."""
    cells, chance, present = np.zeros((3, bins))
    for own, values in _blocks(truth, P):
        place = np.minimum((values * bins).astype(np.intp), bins - 1)
        present += np.bincount(
            place[own.present.row_numbers(), own.present.columns], minlength=bins
        )
        counted = np.ones_like(values)
        if own.unknown is not None:
            counted[own.unknown.row_numbers(), own.unknown.columns] = 0.0
        cells += np.bincount(place.ravel(), counted.ravel(), minlength=bins)
        chance += np.bincount(place.ravel(), (values * counted).ravel(), minlength=bins)
    return Reliability(cells, chance, present)


def _read(Y_true: Any, probabilities: Any, mask: Any) -> tuple[Truth, np.ndarray]:
    truth = read_truth(Y_true, mask)
    return truth, check_probabilities(probabilities, truth.shape)


def check_probabilities(probabilities: Any, shape: tuple[int, int]) -> np.ndarray:
    """Probabilities as an ndarray of the shape of the truth, all of them within [0, 1]."""
    if sparse.issparse(probabilities):
        raise TypeError(
            "probabilities must be a dense array, since every label of every row has one, but a "
            "sparse matrix was given; pass probabilities.toarray()."
        )
    P = as_matrix(probabilities, "probabilities")
    check_shape("probabilities", P.shape, shape)
    for rows in row_blocks(P.shape):
        wrong = ~((P[rows] >= 0) & (P[rows] <= 1))  # so that NaN is wrong
        if wrong.any():
            raise ValueError(
                "probabilities must lie between 0 and 1, but hold "
                f"{P[rows][wrong].flat[0]:g}; pass what predict_proba returns, not scores."
            )
    return P


def _blocks(truth: Truth, P: np.ndarray) -> Iterator[tuple[Truth, np.ndarray]]:
    return ((truth.rows(rows), P[rows].astype(np.float64)) for rows in row_blocks(truth.shape))


def _undefined(name: str, truth: Truth) -> float:
    warn_undefined(name, KNOWN, truth.shape[0])
    return float("nan")

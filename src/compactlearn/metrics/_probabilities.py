"""Metrics of probabilities: is what is called likely as frequent as it is called likely?

Every cell counts, a row and a label; cells whose truth is unknown are not counted.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.core._params import Real
from compactlearn.metrics._averages import KNOWN, warn_undefined
from compactlearn.metrics._checks import as_matrix, check_shape, pieces, row_blocks
from compactlearn.metrics._truth import Truth, read_truth

__all__ = ["check_probabilities", "log_loss", "log_loss_of", "probability_blocks"]


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
    truth = read_truth(Y_true, mask)
    return log_loss_of(truth, check_probabilities(probabilities, truth.shape), clip)


def log_loss_of(truth: Truth, P: np.ndarray, clip: Any) -> float:
    """`log_loss` of a truth that has been read."""
    if not Real(0, 0.5, open_low=True, open_high=True).accepts(clip):
        raise ValueError(
            f"clip must be a number above 0 and below 0.5, but is {clip!r}; pass such a number, "
            "1e-6 for instance."
        )
    n_cells, total = int(truth.n_known.sum()), 0.0
    for own, values in probability_blocks(truth, P):
        p = np.clip(values, clip, 1.0 - clip)
        losses = -np.log1p(-p)
        present = own.present.row_numbers(), own.present.columns
        losses[present] = -np.log(p[present])
        if own.unknown is not None:
            losses[own.unknown.row_numbers(), own.unknown.columns] = 0.0
        total += float(losses.sum())
    if not n_cells:
        warn_undefined("log_loss", KNOWN, truth.shape[0])
    return total / n_cells if n_cells else float("nan")


def check_probabilities(
    probabilities: Any, shape: tuple[int, int], *, allow_sparse: bool = False
) -> Any:
    """Return probabilities of the shape of the truth, all of them within [0, 1]."""
    if sparse.issparse(probabilities) and not allow_sparse:
        raise TypeError(
            "probabilities must be a dense array, since every label of every row has one, but a "
            "sparse matrix was given; pass probabilities.toarray()."
        )
    P = as_matrix(probabilities, "probabilities")
    check_shape("probabilities", P.shape, shape)
    for values in pieces(P):
        wrong = ~((values >= 0) & (values <= 1))  # so that NaN is wrong
        if wrong.any():
            raise ValueError(
                "probabilities must lie between 0 and 1, but hold "
                f"{values[wrong].flat[0]:g}; pass what predict_proba returns, not scores."
            )
    return P


def probability_blocks(truth: Truth, P: np.ndarray) -> Iterator[tuple[Truth, np.ndarray]]:
    """Return truth and probabilities of each block of rows."""
    return ((truth.rows(rows), P[rows].astype(np.float64)) for rows in row_blocks(truth.shape))

"""Metrics of predicted label sets."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.metrics.checks import check_labels, check_truth, dense_rows, row_blocks

__all__ = ["micro_f1"]


def micro_f1(Y_true: Any, labels: Any) -> float:
    """F1 from the counts over all rows and labels, 2 TP / (2 TP + FP + FN); 1 is best.

    All rows count, empty ones too.

    Parameters
    ----------
    Y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        0 and 1; NaN where unknown: such a cell is not counted.
    labels : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 and 1.

    Returns
    -------
    float
        0, with an UndefinedMetricWarning, if no label is present and none is predicted.

    Examples
    --------
    Two hits, one label too many, one missed:

    >>> micro_f1([[1, 0, 1], [0, 1, 0]], [[1, 1, 1], [0, 0, 0]])
    0.6666666666666666
    """
    Y = check_truth(Y_true)
    L = check_labels(labels, Y.shape)
    # 2 TP + FP + FN is the number of present labels plus the number of predicted ones.
    hits, marks = _counts(Y, L)
    if marks == 0:
        warnings.warn(
            "micro_f1 needs a present or a predicted label, but there is neither; the result is "
            "0. Evaluate on other rows or lower the threshold.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return 0.0
    return 2 * hits / marks


def _counts(Y: np.ndarray | sparse.csr_array, L: np.ndarray | sparse.csr_array) -> tuple[int, int]:
    """Cells both present and predicted; present cells plus predicted cells, known ones only."""
    if sparse.issparse(Y) and sparse.issparse(L) and not np.isnan(Y.data).any():
        present, predicted = sparse.csr_array(Y, dtype=bool), sparse.csr_array(L, dtype=bool)
        hits = present.multiply(predicted).count_nonzero()
        return hits, present.count_nonzero() + predicted.count_nonzero()
    hits = marks = 0
    for rows in row_blocks(Y.shape):
        truth, predicted = dense_rows(Y, rows), dense_rows(L, rows) == 1
        present, predicted = truth == 1, predicted & ~np.isnan(truth)
        hits += int((present & predicted).sum())
        marks += int(present.sum()) + int(predicted.sum())
    return hits, marks

"""Scores of rare and of common labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.metrics import average_precision, macro_f1, micro_f1, ranking_loss

__all__ = ["BANDS", "by_frequency"]

#: Names, and the fewest and most training rows that the labels of a band have.
BANDS: tuple[tuple[str, int, float], ...] = (
    ("0", 0, 0),
    ("1-9", 1, 9),
    ("10-99", 10, 99),
    ("100+", 100, np.inf),
)


def by_frequency(
    Y_train: Any, Y_test: Any, scores: NDArray[np.float64], labels: NDArray[np.bool_]
) -> dict[str, dict[str, float | int]]:
    """Metrics of the labels of each band, by the number of training rows that have them.

    Bands without labels are left out. For each other one:

    n_labels
        How many labels it has.
    micro_f1, macro_f1
        As in ``compactlearn.metrics``, of these columns alone.
    label_average_precision
        For a label, the test rows are ranked by its scores; the average precision of that ranking,
        averaged over the labels of the band that some test rows have and others have not. This is
        ``average_precision`` with the parts of rows and labels exchanged. NaN without such labels.
    label_auc
        Likewise 1 - ``ranking_loss``: the share of pairs of a row with and a row without the label
        that are in the right order, where a tie counts as a wrong one.
    """
    counts = np.asarray(Y_train.sum(axis=0)).ravel()
    found: dict[str, dict[str, float | int]] = {}
    for name, low, high in BANDS:
        columns = np.flatnonzero((counts >= low) & (counts <= high))
        if columns.size:
            found[name] = _measured(Y_test[:, columns], scores[:, columns], labels[:, columns])
    return found


def _measured(
    Y: Any, scores: NDArray[np.float64], labels: NDArray[np.bool_]
) -> dict[str, float | int]:
    transposed = Y.T.tocsr()
    across = np.ascontiguousarray(scores.T)
    with warnings.catch_warnings(action="ignore", category=UndefinedMetricWarning):
        return {
            "n_labels": Y.shape[1],
            "micro_f1": float(micro_f1(Y, labels.astype(np.int8))),
            "macro_f1": float(macro_f1(Y, labels.astype(np.int8))),
            "label_average_precision": float(average_precision(transposed, across)),
            "label_auc": 1.0 - float(ranking_loss(transposed, across)),
        }

"""Checks of what ``fit`` is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._left_out import leave_out
from compactlearn.core._targets import Targets, check_labels, check_targets
from compactlearn.core._unknown_labels import rows_that_count, with_absent
from compactlearn.core._validation import check_features, check_weights
from compactlearn.crossfit._together import check_groups

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingData:
    """Checked rows that count, and their labels."""

    X: Any
    targets: Targets
    weights: Array | None
    groups: NDArray[Any] | None
    rows: NDArray[np.intp] | None = None  # numbers of the rows that count; None: all of them
    left_out: tuple[Any, ...] = ()  # labels that are not learnt, by name or column


def check_training(
    classifier: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    sep: str | None = None,
    unknown: Any = None,
    partial: bool = False,
) -> TrainingData:
    """Check what ``fit`` was given; the classifier takes the names of the features from it.

    Where labels may be ``partial``, some of them may be unknown. Where the classifier has
    ``min_label_count`` and ``exclude``, some may be left out.
    """
    X = check_features(classifier, X, reset=True)
    owner = f"{type(classifier).__name__}.fit"
    if partial:
        targets = check_labels(y, X.shape[0], unknown=unknown, sep=sep, owner=owner, features=X)
    else:
        targets = check_targets(y, X.shape[0], sep=sep, owner=owner)
    weights = check_weights(sample_weight, X.shape[0])
    targets, left = leave_out(
        targets,
        weights,
        getattr(classifier, "min_label_count", 1),
        getattr(classifier, "exclude", None),
    )
    groups = check_groups(groups, X.shape[0])
    rows = rows_that_count(targets, weights)
    X, targets, weights = select_rows(X, targets, weights, rows)
    targets = with_absent(targets)
    if rows is not None and groups is not None:
        groups = groups[rows]
    return TrainingData(X, targets, weights, groups, rows, tuple(left))


def select_rows(
    X: Any, targets: Targets, weights: Array | None, rows: NDArray[np.intp] | None
) -> tuple[Any, Targets, Array | None]:
    """Return the given rows, or all of them where ``rows`` is None."""
    if rows is None:
        return X, targets, weights
    return X[rows], targets.take(rows), None if weights is None else weights[rows]


def without_zero_weights(
    X: Any, targets: Targets, weights: Array | None
) -> tuple[Any, Targets, Array | None]:
    """Return the rows of positive weight."""
    counted = None if weights is None or weights.all() else np.flatnonzero(weights)
    return select_rows(X, targets, weights, counted)

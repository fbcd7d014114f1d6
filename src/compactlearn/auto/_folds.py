"""Folds of an automatic search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from compactlearn.core._targets import Targets
from compactlearn.crossfit._folds import Folds
from compactlearn.crossfit._together import held_out_together, row_hashes

Rows = NDArray[np.intp]


def row_folds(
    X: Any, targets: Targets, count: int, rng: np.random.RandomState, groups: Any = None
) -> Rows:
    """Return the fold of each row; groups, or else equal rows, are in one, a class is in all."""
    n_rows = X.shape[0]
    if groups is None:
        member = np.unique(row_hashes(X), return_inverse=True)[1]
    else:
        member = held_out_together(X, groups)
    distinct = int(member.max()) + 1
    if targets.kind != "multilabel" and distinct == n_rows:
        classes = (
            targets.matrix.argmax(axis=1) if targets.n_labels > 1 else targets.matrix.toarray()
        )
        fold = np.zeros(n_rows, dtype=np.intp)
        smallest = int(np.unique(np.ravel(classes), return_counts=True)[1].min())
        if smallest >= count:
            divided = StratifiedKFold(count, shuffle=True, random_state=rng)
            for k, (_, test) in enumerate(divided.split(np.zeros(n_rows), np.ravel(classes))):
                fold[test] = k
            return fold
    count = max(1, min(count, distinct))
    return Folds.permuted(member, count, rng).number


def given_folds(
    cv: Any, X: Any, targets: Targets, counted: Rows | None, groups: Any = None
) -> Rows:
    """Return the fold of each row that counts, by splits that are given for all rows."""
    n_rows = X.shape[0]
    if isinstance(cv, str) or not (hasattr(cv, "split") or np.iterable(cv)):
        raise ValueError(
            f"cv must be a number of folds, a splitter or pairs of row numbers, and is {cv!r:.80}; "
            "pass one of these."
        )
    labels = targets.matrix.toarray()
    if targets.kind != "multilabel":
        labels = labels[:, 0] if labels.shape[1] == 1 else labels.argmax(axis=1)
    tests = [np.asarray(test) for _, test in check_cv(cv).split(X, labels, groups)]
    tests = [np.flatnonzero(test) if test.dtype == bool else test for test in tests]
    total = n_rows if counted is None or hasattr(cv, "split") else int(max(counted.max() + 1, 0))
    total = max([total, *(int(test.max(initial=-1)) + 1 for test in tests)])
    fold, met = np.zeros(total, dtype=np.intp), np.zeros(total, dtype=np.intp)
    for k, test in enumerate(tests):
        fold[test] = k
        met[test] += 1
    if counted is not None and not hasattr(cv, "split"):
        fold, met = fold[counted], met[counted]
    if len(tests) < 2 or fold.size != n_rows or (met != 1).any():
        raise ValueError(
            f"The validation rows of cv must be all {n_rows} rows once, in two folds or more, "
            "since every row is scored by a model that was not trained on it; pass a K-fold."
        )
    return np.unique(fold, return_inverse=True)[1]

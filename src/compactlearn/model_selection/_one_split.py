"""Scores of given rows for many settings fitted to one training part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._devices import host, to_device
from compactlearn.core._targets import check_targets
from compactlearn.core._validation import check_features
from compactlearn.model_selection._candidates import (
    Group,
    Single,
    largest_of,
    sharing_folds,
    sort_candidates,
)
from compactlearn.model_selection._engine import SplitScores, scores_of
from compactlearn.model_selection._folds import Data, prepare_split


def scores_on_split(
    estimator: CompactClassifier,
    candidates: Sequence[Mapping[str, Any]],
    X_train: Any,
    Y_train: Any,
    X_test: Any,
    device: str | None = None,
) -> Iterator[SplitScores]:
    """Yield the scores of ``X_test`` for every candidate; they equal those of separate fits.

    Parameters
    ----------
    estimator : CompactClassifier or CMLLClassifier
        Classifier that is fitted with the parameters of each candidate.
    candidates : sequence of dict
        Parameters of the estimator, as in ``GridSearchMoments``.
    X_train, X_test : array-like or sparse matrix, (n_train, n_features) and (n_rows, n_features)
        Features of the rows to learn from, and of those to score.
    Y_train : array-like or sparse matrix of shape (n_train, n_labels)
        0 and 1.
    device : str, optional
        Where PyTorch computes what settings share, "cuda" for instance; rows are dense there.
        Settings that need a fit of their own are fitted on the host, and all scores come back to
        it.

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> grid = [{"alpha": alpha} for alpha in (1.0, 100.0)]
    >>> model = CMLLClassifier(threshold=0.5)
    >>> found = scores_on_split(model, grid, data.X[:400], data.Y[:400], data.X[400:])
    >>> [(part.indices, part.scores.shape) for part in found]
    [([1], (193, 6)), ([0], (193, 6))]
    """
    checked = clone(estimator)
    X = check_features(checked, X_train, reset=True)
    rows = check_features(checked, X_test, reset=False)
    targets = check_targets(Y_train, X.shape[0], owner="scores_on_split")
    if targets.kind != "multilabel":
        raise ValueError(
            f"scores_on_split needs a matrix of labels, and was given a vector of {targets.kind} "
            "classes; pass one column for each label."
        )
    train = Data(X, targets.matrix, None)
    shape = (*X.shape, targets.n_labels)
    # Tuned thresholds are only found by a fit of their own.
    groups, singles = sort_candidates(estimator, candidates, shape, needs_labels=True)
    return _scores(groups, singles, train, rows, device)


def _scores(
    groups: Sequence[Group],
    singles: Sequence[Single],
    train: Data,
    rows: Any,
    device: str | None,
) -> Iterator[SplitScores]:
    known, scored = train, rows
    if device is not None and groups:
        known, scored = replace(train, X=to_device(train.X, device)), to_device(rows, device)
    for members in sharing_folds(groups):
        largest = largest_of(members, train.Y.shape[1])
        fold = prepare_split(members[0].model, largest, known, scored, len(members))
        for group in members:
            for part in scores_of(group, fold):
                yield replace(part, scores=host(part.scores))
    for index, model in singles:
        model = clone(model).fit(train.X, train.Y)
        scores, embedding = np.asarray(model.decision_function(rows)), model.embedding_
        d = None if embedding.projection_ is None else embedding.n_feature_components_
        m = embedding.n_label_components_
        yield SplitScores([index], scores, model.threshold_, d, m)

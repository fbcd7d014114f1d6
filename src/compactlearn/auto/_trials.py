"""Trials: fitted models, and blends of them, with out-of-fold scores of training rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.auto._blend import Blend, Member, read_scores
from compactlearn.auto._preprocessing import AS_THEY_ARE, Preprocessing
from compactlearn.auto._problem import Problem, Rows, mean_score
from compactlearn.compact._any_classifier import n_parameters_of, scores_to_rank
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._deadline import checkpoint
from compactlearn.core._unknown_labels import known_somewhere
from compactlearn.core._warn import quiet
from compactlearn.crossfit._plan import ENOUGH_ROWS
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.linalg._unseen_features import drop_unseen_features

Array = NDArray[np.float64]

_LABELS = 256  # labels whose scores are computed at a time


@dataclass(frozen=True)
class Trial:
    """A model, or a blend of several, its out-of-fold scores, and their metric."""

    name: str
    blend: Blend  # of one member for a single model
    by_fold: Array  # the metric on each fold, NaN where no row of it was scored
    rows: Rows  # rows that have out-of-fold scores
    log_odds: NDArray[np.float32]  # (n_rows, M) of them
    numbers: int  # parameters
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """The mean over the folds, or minus infinity if the metric is not defined on any."""
        return mean_score(self.by_fold)

    @property
    def deviation(self) -> float:
        known = self.by_fold[~np.isnan(self.by_fold)]
        return float(known.std()) if known.size else np.nan

    @property
    def model(self) -> Any:
        """The fitted model, or the blend of several."""
        members = self.blend.members
        return members[0].model if len(members) == 1 else self.blend


def try_compact(
    problem: Problem, name: str, preprocessing: Preprocessing, classifier: CompactClassifier
) -> Trial:
    """Fit a compact classifier; its fit returns out-of-fold scores."""
    start = time.perf_counter()
    prepared = preprocessing.fit(problem.X, problem.weights)
    with quiet():
        scored = classifier.fit_scored(
            prepared.X,
            problem.Y,
            problem.weights,
            groups=problem.fold,
            unknown=problem.unknown,
            units=prepared.units,
        )
    return by_own_scores(problem, name, prepared.model(classifier), scored, start)


def by_own_scores(
    problem: Problem, name: str, model: Any, scored: OutOfFoldScores, start: float
) -> Trial:
    """Evaluate a model by the out-of-fold scores of its own fit."""
    rows = problem.kept_rows(scored.rows)
    places = np.searchsorted(scored.rows, rows)
    scores = np.empty((rows.size, problem.n_labels), dtype=np.float32)
    for first in range(0, problem.n_labels, _LABELS):
        labels = slice(first, min(first + _LABELS, problem.n_labels))
        scores[:, labels] = scored.columns(labels)[places]
    return evaluated(problem, name, model, rows, scores, start)


def folds_that_judge(problem: Problem, most_folds: int = 100) -> int:
    """Return the number of folds that have enough held-out rows together."""
    count = len(problem.splits)
    return min(count, most_folds, max(1, -(-count * ENOUGH_ROWS // problem.n_rows)))


def try_by_folds(
    problem: Problem,
    name: str,
    estimator: Any,
    most_folds: int = 100,
    preprocessing: Preprocessing = AS_THEY_ARE,
    scores_of: Callable[[Any, Any], Any] = scores_to_rank,
) -> Trial:
    """Fit a classifier without each fold, for as many folds as are needed, and to all rows."""
    start = time.perf_counter()
    count = folds_that_judge(problem, most_folds)
    prepared = preprocessing.fit(problem.X, problem.weights)
    parts: list[tuple[Rows, Any]] = []
    with quiet():
        for train, test in problem.splits[:count]:
            checkpoint()
            rows = problem.kept_rows(test) if count == 1 else test
            model = fitted(estimator, problem, train, prepared.X)
            new = prepared.rows(drop_unseen_features(problem.X[train], problem.X[rows]))
            parts.append((rows, scores_of(model, new).astype(np.float32)))
        model = fitted(estimator, problem, np.arange(problem.n_rows), prepared.X)
    rows = np.concatenate([part[0] for part in parts])
    order = np.argsort(rows)
    scores = np.concatenate([part[1] for part in parts])[order]
    return evaluated(problem, name, prepared.model(model), rows[order], scores, start)


def fitted(estimator: Any, problem: Problem, rows: Rows, X: Any) -> Any:
    """Return a clone of an estimator, fitted to some of the rows of X."""
    arguments = {}
    if problem.weights is not None:
        arguments["sample_weight"] = problem.weights[rows]
    if problem.unknown is not None:
        arguments["unknown"] = known_somewhere(problem.unknown[rows])
    return clone(estimator).fit(X[rows], problem.Y[rows], **arguments)


def evaluated(
    problem: Problem, name: str, model: Any, rows: Rows, scores: NDArray[Any], start: float
) -> Trial:
    """Return a trial from a model and the out-of-fold scores of some rows."""
    weights = None if problem.weights is None else problem.weights[rows]
    reading = read_scores(scores, problem.Y[rows], weights, problem.seed, problem.unknown_of(rows))
    log_odds = reading(scores).astype(np.float32)
    by_fold = problem.score_folds(rows, log_odds)
    blend = Blend((Member(name, model, reading),))
    seconds = time.perf_counter() - start
    return Trial(name, blend, by_fold, rows, log_odds, model_numbers(model), seconds)


def model_numbers(model: Any) -> int:
    """Return the number of parameters of a model.

    The scales of features are part of the first matrix of a linear model; a kernel model has to
    keep them.
    """
    *before, last = [part for _, part in getattr(model, "steps", [("", model)])]
    linear = getattr(last, "feature_map", None) is None
    return n_parameters_of(last) + (0 if linear else sum(n_parameters_of(step) for step in before))

"""One kind of model each, fitted to all rows, with scores of rows that were new to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from compactlearn.auto._blend import Member, Reading, read_scores
from compactlearn.auto._forest import LabelForest
from compactlearn.auto._preprocessing import AS_THEY_ARE, Way
from compactlearn.auto._problem import Judged, Problem, Rows
from compactlearn.compact._any_classifier import scores_to_rank
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._model_size import numbers_of
from compactlearn.core._deadline import checkpoint
from compactlearn.core._unknown_labels import known_somewhere
from compactlearn.core._warn import quiet, silence
from compactlearn.crossfit._plan import ENOUGH_ROWS
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.shortlist._classifier import ShortlistClassifier

Array = NDArray[np.float64]
_SMALLEST = 1e-9  # probability that counts: beyond it all are alike
_LABELS = 256  # whose scores are put together at a time
JUDGING_ROWS = 1_000  # are enough for a stopgap


@dataclass(frozen=True)
class Tried(Judged):
    """A fitted model, and what it is worth on rows that were new to it."""

    name: str
    model: Any
    rows: Rows  # those that have honest scores, and are judged
    log_odds: NDArray[np.float32]  # (n_rows, M) of them
    reading: Reading
    seconds: float
    numbers: int

    @property
    def member(self) -> Member:
        return Member(self.name, self.model, self.reading)


def try_compact(problem: Problem, name: str, way: Way, classifier: CompactClassifier) -> Tried:
    """A classifier of this package: a fit makes honest scores in any case."""
    start = time.perf_counter()
    prepared = way.fit(problem.X, problem.weights)
    with quiet():
        honest = classifier.fit_scored(
            prepared.X,
            problem.Y,
            problem.weights,
            groups=problem.fold,
            unknown=problem.unknown,
            units=prepared.units,
        )
    return _by_own_scores(problem, name, prepared.model(classifier), honest, start)


def try_shortlist(problem: Problem, name: str, classifier: ShortlistClassifier) -> Tried:
    """Fit a shortlist once, and judge it by the held-out scores that its fit needs anyway."""
    start = time.perf_counter()
    weights, unknown = problem.weights, problem.unknown
    with quiet():
        honest = classifier.fit_scored(problem.X, problem.Y, weights, unknown=unknown)
    return _by_own_scores(problem, name, classifier, honest, start)


def try_once(problem: Problem, name: str, estimator: Any, n_rows: int) -> Tried:
    """Fit any classifier once, to at most ``n_rows`` rows; some rows of one fold judge it."""
    start = time.perf_counter()
    train, test = problem.splits[0]
    rng = np.random.default_rng(problem.seed)
    test = np.sort(rng.permutation(test)[:JUDGING_ROWS])
    train = np.sort(rng.permutation(train)[:n_rows])
    with quiet():
        model = _fitted(estimator, problem, train)
    new = drop_unseen_features(problem.X[train], problem.X[test])
    scores = scores_to_rank(model, new).reshape(test.size, -1).astype(np.float32)
    return _judged(problem, name, model, test, scores, start)


def _by_own_scores(
    problem: Problem, name: str, model: Any, honest: OutOfFoldScores, start: float
) -> Tried:
    """Judge a model by the held-out scores of its own fit."""
    rows = problem.judged(honest.rows)
    places = np.searchsorted(honest.rows, rows)
    scores = np.empty((rows.size, problem.n_labels), dtype=np.float32)
    for first in range(0, problem.n_labels, _LABELS):
        labels = slice(first, min(first + _LABELS, problem.n_labels))
        scores[:, labels] = honest.columns(labels)[places]
    return _judged(problem, name, model, rows, scores, start)


def try_forest(problem: Problem, n_trees: int, *, best_splits: bool = False) -> Tried:
    """Trees on the labels; rows are scored by the trees that have not met them or their copies, or
    by those of the other folds if the folds were given."""
    start = time.perf_counter()
    forest = LabelForest(
        n_trees, best_splits=best_splits, n_jobs=problem.n_jobs, random_state=problem.seed
    )
    name = f"random forest of {n_trees}" if best_splits else f"{n_trees} extra trees"
    if problem.folds_given:
        return try_by_folds(problem, name, forest, scores_of=LabelForest.decision_function)
    scores = forest.fit_scored(problem.X, problem.Y, problem.weights)
    rows = problem.judged(np.flatnonzero(~np.isnan(scores[:, 0])))
    return _judged(problem, name, forest, rows, scores[rows].astype(np.float32), start)


def folds_that_judge(problem: Problem, most_folds: int = 100) -> int:
    """How many folds give enough rows."""
    count = len(problem.splits)
    return min(count, most_folds, max(1, -(-count * ENOUGH_ROWS // problem.n_rows)))


def try_by_folds(
    problem: Problem,
    name: str,
    estimator: Any,
    most_folds: int = 100,
    way: Way = AS_THEY_ARE,
    scores_of: Callable[[Any, Any], Any] = scores_to_rank,
    first: Sequence[int] = (),
) -> Tried:
    """Any classifier: fitted without each fold, as many as give enough rows, and to all rows.

    Where some of the folds are enough, those named ``first`` come before others: what judged a
    model judges its rivals, and blends need rows that all of their members have scores of.
    """
    start = time.perf_counter()
    count = folds_that_judge(problem, most_folds)
    order = [*first, *(k for k in range(len(problem.splits)) if k not in first)]
    splits = [problem.splits[k] for k in order]
    prepared, given = way.fit(problem.X, problem.weights), problem.X
    problem = replace(problem, X=prepared.X)
    parts: list[tuple[Rows, Any]] = []
    with quiet():
        for train, test in splits[:count]:
            checkpoint()
            rows = problem.judged(test) if count == 1 else test
            model = _fitted(estimator, problem, train)
            new = prepared.rows(drop_unseen_features(given[train], given[rows]))
            parts.append((rows, scores_of(model, new).astype(np.float32)))
        model = _fitted(estimator, problem, np.arange(problem.n_rows))
    rows = np.concatenate([part[0] for part in parts])
    order = np.argsort(rows)
    scores = np.concatenate([part[1] for part in parts])[order]
    return _judged(problem, name, prepared.model(model), rows[order], scores, start)


def _fitted(estimator: Any, problem: Problem, rows: Rows) -> Any:
    arguments = {}
    if problem.weights is not None:
        arguments["sample_weight"] = problem.weights[rows]
    if problem.unknown is not None:
        arguments["unknown"] = known_somewhere(problem.unknown[rows])
    return clone(estimator).fit(problem.X[rows], problem.Y[rows], **arguments)


def _judged(
    problem: Problem, name: str, model: Any, rows: Rows, scores: NDArray[Any], start: float
) -> Tried:
    weights = None if problem.weights is None else problem.weights[rows]
    unknown = problem.unknown_of(rows)
    reading = read_scores(scores, problem.Y[rows], weights, problem.seed, unknown)
    log_odds = reading(scores).astype(np.float32)
    return Tried(
        problem.figures(rows, log_odds),
        name,
        model,
        rows,
        log_odds,
        reading,
        time.perf_counter() - start,
        model_numbers(model),
    )


def try_one_vs_rest(problem: Problem, name: str, way: Way) -> Tried:
    """What most people would take: a logistic regression for each label, the best penalty of
    three for all of them."""
    tried = []
    for C in (0.1, 1.0, 10.0):
        model = OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))
        with silence(UserWarning):  # of every label that the rows of a fold do not have
            tried.append(try_by_folds(problem, name, model, way=way, scores_of=_log_odds_of))
    best = max(tried, key=lambda one: one.score)
    return replace(best, seconds=sum(one.seconds for one in tried))


def _log_odds_of(model: OneVsRestClassifier, X: Any) -> Array:
    """Of its probabilities: its margins have 0, above most, for labels that it has never met."""
    p = np.clip(model.predict_proba(X), _SMALLEST, 1.0 - _SMALLEST)
    return np.log(p) - np.log1p(-p)


def model_numbers(model: Any) -> int:
    """How many numbers a model keeps.

    The scale of a feature folds into its row of the first matrix of a linear model; before a kernel
    it has to be kept.
    """
    *before, last = [part for _, part in getattr(model, "steps", [("", model)])]
    if isinstance(last, OneVsRestClassifier):  # a label that does not vary has its constant
        return sum(e.coef_.size + 1 if hasattr(e, "coef_") else 1 for e in last.estimators_)
    linear = getattr(last, "feature_map", None) is None
    return numbers_of(last) + (0 if linear else sum(numbers_of(step) for step in before))

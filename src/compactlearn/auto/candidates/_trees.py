"""Extra trees on all labels, and a random forest where that takes no time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from compactlearn.auto._forest import LabelForest
from compactlearn.auto._problem import Problem
from compactlearn.auto._trials import TrialResult, evaluated, folds_that_judge, try_by_folds
from compactlearn.auto.candidates._base import Candidate, Findings

MANY_TREES, FEW_TREES = 300, 50
TREES_SECONDS = 30.0  # are worth it: fewer trees where as many would take longer
# The best splits take three times as long, and beside drawn ones they gain less than .001 but on
# sets so small that they take no time.
BEST_SECONDS = 1.0
DENSE = 0.2  # share of features that are not zero from which on trees are worth their time


def candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield forests of dense features; trees cannot learn from unknown labels."""
    del findings
    if problem.density < DENSE or problem.unknown is not None:
        return
    for best_splits, longer, most in ((False, 1.0, TREES_SECONDS), (True, 3.0, BEST_SECONDS)):
        seconds = longer * _tree_seconds(problem)
        if problem.folds_given:
            seconds *= 1 + folds_that_judge(problem)
        trees = max(FEW_TREES, min(MANY_TREES, int(TREES_SECONDS / seconds)))
        if best_splits and trees * seconds > most:
            continue
        yield Candidate(
            "random forest" if best_splits else "extra trees",
            trees * seconds,
            lambda trees=trees, best=best_splits: try_forest(problem, trees, best_splits=best),
        )


def try_forest(problem: Problem, n_trees: int, *, best_splits: bool = False) -> TrialResult:
    """Fit trees; rows are scored by trees that have seen neither them nor their copies.

    If the folds were given, by trees of the other folds.
    """
    start = time.perf_counter()
    forest = LabelForest(
        n_trees, best_splits=best_splits, n_jobs=problem.n_jobs, random_state=problem.seed
    )
    name = f"random forest of {n_trees}" if best_splits else f"{n_trees} extra trees"
    if problem.folds_given:
        return try_by_folds(problem, name, forest, scores_of=LabelForest.decision_function)
    scores = forest.fit_scored(problem.X, problem.Y, problem.weights)
    rows = problem.kept_rows(np.flatnonzero(~np.isnan(scores[:, 0])))
    return evaluated(problem, name, forest, rows, scores[rows].astype(np.float32), start)


def _tree_seconds(problem: Problem) -> float:
    n = problem.n_rows
    work = n * math.log2(n + 2) * math.sqrt(problem.n_features) * (1 + problem.n_labels)
    return 2.5e-9 * work

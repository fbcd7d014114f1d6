"""Quick linear support vector machines: what a search returns if its shortlist is not finished."""

from __future__ import annotations

import time

import numpy as np

from compactlearn.auto._preprocessing import UNIT_ROWS
from compactlearn.auto._problem import Problem
from compactlearn.auto._trials import Trial, evaluated, fitted
from compactlearn.compact._quick_svm import QuickSVM
from compactlearn.linalg._unseen_features import drop_unseen_features

QUICK_SVM = "quick linear SVM"
SVM_WEIGHTS = 2_000_000  # 16 MB in single precision
# Largest estimate in units of one shortlist, where a compact model of many codes is faster.
SVM_SHARE = 0.25


def try_svm(problem: Problem) -> Trial:
    """Score a fit without one fold, and continue it with all rows."""
    start = time.perf_counter()
    train, test = problem.splits[0]
    test = problem.kept_rows(test)
    prepared = UNIT_ROWS.fit(problem.X, problem.weights)
    first = fitted(QuickSVM(SVM_WEIGHTS), problem, train, prepared.X)
    new = prepared.rows(drop_unseen_features(problem.X[train], problem.X[test]))
    scores = first.decision_function(new).astype(np.float32)
    model = QuickSVM(SVM_WEIGHTS).fit(prepared.X, problem.Y, problem.weights, start=first)
    return evaluated(problem, QUICK_SVM, prepared.model(model), test, scores, start)


def svm_seconds(problem: Problem) -> float:
    """Estimate the seconds of both fits."""
    stored = problem.density * problem.n_rows * problem.n_features
    sizes = 6e-8 * problem.n_features + 4e-8 * problem.n_rows
    return 0.1 + problem.n_labels * (2.2e-9 * stored + sizes)

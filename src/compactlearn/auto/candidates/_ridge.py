"""Models for comparison, which are never selected: plain ridge, and one-vs-rest on request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from compactlearn.auto._problem import Problem
from compactlearn.auto._searches import best_preprocessing
from compactlearn.auto._trials import TrialResult, try_by_folds, try_compact
from compactlearn.auto.candidates._base import Candidate, Findings, named
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._warn import silence
from compactlearn.embeddings._original import Original

REFERENCE_SECONDS = 10.0  # what a comparison is worth
_SMALLEST = 1e-9  # probability that counts: beyond it all are alike


def candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield plain ridge, where it takes little time."""
    few, many = sorted((problem.n_rows, problem.n_features))
    products = few**2 * many + few * many * problem.n_labels
    seconds = 0.1 + 1e-10 * (len(problem.splits) + 1) * products
    if seconds <= REFERENCE_SECONDS:
        yield Candidate("ridge", seconds, lambda: _run(problem, findings), reference=True)


def _run(problem: Problem, findings: Findings) -> TrialResult:
    """Fit every label by itself, with the penalty that is best for codes of all of them."""
    found = findings.linear
    model = CompactClassifier(Original(), alpha=found.params["alpha"], threshold="f1")
    return try_compact(problem, named("ridge", found), found.preprocessing, model)


def try_one_vs_rest(problem: Problem, name: str) -> TrialResult:
    """Fit a logistic regression for each label, with the best penalty of three for all of them."""
    preprocessing, tried = best_preprocessing(problem), []
    for C in (0.1, 1.0, 10.0):
        model = OneVsRestClassifier(LogisticRegression(C=C, solver="liblinear"))
        with silence(UserWarning):  # of every label that the rows of a fold do not have
            one = try_by_folds(
                problem, name, model, preprocessing=preprocessing, scores_of=_log_odds_of
            )
        tried.append(one)
    best = max(tried, key=lambda one: one.score)
    return replace(best, seconds=sum(one.seconds for one in tried))


def _log_odds_of(model: OneVsRestClassifier, X: Any) -> NDArray[np.float64]:
    """Return log-odds; its margins have 0, above most, for labels without a training row."""
    p = np.clip(model.predict_proba(X), _SMALLEST, 1.0 - _SMALLEST)
    return np.log(p) - np.log1p(-p)

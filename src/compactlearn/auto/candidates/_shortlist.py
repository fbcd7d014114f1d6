"""A shortlist of sparse rows."""

from __future__ import annotations

import time
from collections.abc import Iterator

from compactlearn.auto._problem import Problem
from compactlearn.auto._trials import TrialResult, by_own_scores, try_by_folds
from compactlearn.auto.candidates._base import (
    Candidate,
    Findings,
    at_size,
    codes_seconds,
    sparse_rows,
)
from compactlearn.core._warn import quiet
from compactlearn.shortlist._classifier import ShortlistClassifier
from compactlearn.shortlist._generation import usual_candidates, usual_codes

FOLDS = 2
UNKNOWN_LONGER = 2.5  # factor for labels of which some are unknown; measured on enron
NAME = "shortlist, ranked again"


def candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield one shortlist of sparse rows.

    At size it is fitted once, and scored by the held-out rows of its own fit; by folds that the
    user has given, twice.
    """
    if at_size(problem):
        yield shortlist_at_size(problem, findings)
    elif sparse_rows(problem):
        seconds = _seconds_by_folds(problem)
        yield Candidate("shortlist", seconds, lambda: _run_by_folds(problem, findings))


def shortlist_at_size(problem: Problem, findings: Findings) -> Candidate:
    """Return the shortlist of many rows and labels."""
    seconds = shortlist_seconds(problem)
    if problem.folds_given:
        return Candidate("shortlist", 2.0 * seconds, lambda: _run_by_folds(problem, findings))
    return Candidate("shortlist", seconds, lambda: try_shortlist(problem, NAME, _model(problem)))


def try_shortlist(problem: Problem, name: str, classifier: ShortlistClassifier) -> TrialResult:
    """Fit a shortlist once; its fit makes out-of-fold scores in any case."""
    start = time.perf_counter()
    with quiet():
        scored = classifier.fit_scored(
            problem.X, problem.Y, problem.weights, unknown=problem.unknown
        )
    return by_own_scores(problem, name, classifier, scored, start)


def _run_by_folds(problem: Problem, findings: Findings) -> TrialResult:
    return try_by_folds(problem, NAME, _model(problem), most_folds=FOLDS, first=findings.folds)


def _model(problem: Problem) -> ShortlistClassifier:
    return ShortlistClassifier(threshold=0.5, n_jobs=problem.n_jobs, random_state=problem.seed)


def shortlist_seconds(problem: Problem) -> float:
    """Estimate one shortlist: retrievers, regressions of candidates, votes of similar rows."""
    n_rows, n_labels = problem.n_rows, problem.n_labels
    stored = problem.X.nnz / n_rows
    count = usual_candidates(n_rows, n_labels, problem.Y.nnz)
    retrievers = 3.5 * codes_seconds(problem, usual_codes(n_rows, n_labels), n_rows)
    regressions = n_rows * count * (1.2e-6 + 1.5e-7 * stored)
    completing = 1.0 if problem.unknown is None else UNKNOWN_LONGER
    return completing * (retrievers + regressions + 2e-4 * n_rows)


def smallest_shortlist(problem: Problem) -> tuple[int, int]:
    """Return the least number of parameters of a shortlist, and of bytes in float16."""
    codes = usual_codes(problem.n_rows, problem.n_labels)
    retriever = codes * (problem.n_features + problem.n_labels)
    rows = problem.X.nnz + problem.Y.nnz
    return retriever + rows, 2 * retriever + 6 * rows


def _seconds_by_folds(problem: Problem) -> float:
    pairs = problem.n_rows * usual_candidates(problem.n_rows, problem.n_labels, 0.0)
    folds = 1 + min(FOLDS, max(1.0, 10_000 / problem.n_rows))
    completing = 1.0 if problem.unknown is None else UNKNOWN_LONGER
    return completing * folds * (1.0 + 1e-5 * pairs)

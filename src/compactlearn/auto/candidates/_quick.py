"""Stopgaps: compact models with the linear decoder, before a model that may not be finished."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from compactlearn.auto._problem import Problem
from compactlearn.auto._trials import TrialResult, evaluated, fitted
from compactlearn.auto.candidates._base import (
    Candidate,
    Findings,
    at_size,
    codes_seconds,
    few_codes,
    linear_seconds,
)
from compactlearn.auto.candidates._shortlist import shortlist_seconds
from compactlearn.compact._any_classifier import scores_to_rank
from compactlearn.core._warn import quiet
from compactlearn.linalg._unseen_features import drop_unseen_features

CODES, ROWS, SECONDS = 64, 1_000, 1.0  # of the model that budgets begin with
MORE_CODES = 256
SHORT = 2.0  # seconds of a first model that needs no stopgap
JUDGING_ROWS = 1_000  # are enough for a stopgap


def candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield stopgaps for the first large model, with few codes and with more."""
    del findings
    usual = at_size(problem)
    stands_for = shortlist_seconds(problem) if usual else linear_seconds(problem)
    if stands_for <= SHORT:
        return
    yield quick_candidate(problem, stands_for, usual=usual)
    codes = min(problem.n_labels, MORE_CODES)
    if codes > CODES:
        yield _stopgap(problem, "compact model", codes, problem.n_rows, stands_for, usual=False)


def quick_candidate(
    problem: Problem, stands_for: float, most_codes: int = CODES, *, usual: bool
) -> Candidate:
    """Return a compact model of few codes, of as many rows as take about a second."""
    codes = min(problem.n_labels, CODES, most_codes)
    rows = problem.n_rows
    while rows > ROWS and codes_seconds(problem, codes, rows) > SECONDS:
        rows = rows * 4 // 5
    return _stopgap(problem, "quick compact model", codes, rows, stands_for, usual=usual)


def _stopgap(
    problem: Problem, name: str, codes: int, n_rows: int, stands_for: float, *, usual: bool
) -> Candidate:
    return Candidate(
        name,
        codes_seconds(problem, codes, n_rows),
        lambda: _run(problem, f"CMLL of {codes} codes", codes, n_rows),
        stopgap=True,
        stands_for=stands_for,
        usual=usual,
    )


def _run(problem: Problem, name: str, codes: int, n_rows: int) -> TrialResult:
    """Fit once, to at most ``n_rows`` rows; some rows of one fold score the model."""
    start = time.perf_counter()
    train, test = problem.splits[0]
    rng = np.random.default_rng(problem.seed)
    test = np.sort(rng.permutation(test)[:JUDGING_ROWS])
    train = np.sort(rng.permutation(train)[:n_rows])
    with quiet():
        model = fitted(few_codes(problem, codes), problem, train, problem.X)
    new = drop_unseen_features(problem.X[train], problem.X[test])
    scores = scores_to_rank(model, new).reshape(test.size, -1).astype(np.float32)
    return evaluated(problem, name, model, test, scores, start)

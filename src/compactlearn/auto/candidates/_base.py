"""What all kinds of candidates share: the type, findings, sizes and estimates.

Estimates are seconds of one core, from the sizes of the data; they decide what is left out where
time is short, and need no great accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import scipy.sparse

from compactlearn.auto._preprocessing import PREPROCESSINGS
from compactlearn.auto._problem import Problem
from compactlearn.auto._searches import (
    FEW_LABELS,
    SearchResult,
    best_preprocessing,
    search_linear,
)
from compactlearn.auto._trials import TrialResult
from compactlearn.compact._cmll import CMLLClassifier

KEPT_FEATURES = 3_000  # all of them may be seen by the learner
SHORTLIST_ROWS = 2_000  # a kernel of fewer rows is as good as sparse regressions, and faster
# Of more labels nothing else that fits in the time finds the rare ones, see docs/TEXT.md.
MANY_LABELS = 2_000
# Pairs of a row and a label above which the shortlist comes first, see docs/AUTO.md.
AT_SIZE_PAIRS = 500_000


@dataclass(frozen=True)
class Candidate:
    """A model to try."""

    name: str
    seconds: float  # an estimate
    run: Callable[[], TrialResult]
    reference: bool = False  # for comparison: shown with the trials, and never selected
    worth: float = math.inf  # seconds that it may take at most without a time budget
    stopgap: bool = False  # tried only where the model that it precedes might not be finished
    stands_for: float = 0.0  # estimate of that model
    usual: bool = False  # a stopgap without a time budget, too


@dataclass
class Findings:
    """Results of earlier candidates that later ones use."""

    problem: Problem
    folds: list[int] = field(default_factory=list)  # those that have scored a model already
    found: SearchResult | None = None

    @property
    def linear(self) -> SearchResult:
        """The best settings of a linear model; searched when they are first needed.

        Of few labels, and no more features than rows, all preprocessings are searched at no great
        cost; otherwise plain ridge on some rows selects one.
        """
        if self.found is None:
            problem = self.problem
            cheap = problem.n_labels <= FEW_LABELS and problem.n_features <= problem.n_rows
            cheap = cheap or len(problem.splits) < 2
            tried = PREPROCESSINGS if cheap else (best_preprocessing(problem),)
            results = [search_linear(problem, one) for one in tried]
            self.found = max(results, key=lambda one: one.score)
        return self.found


def sparse_rows(problem: Problem) -> bool:
    """Return whether there are enough sparse rows for a shortlist."""
    return scipy.sparse.issparse(problem.X) and problem.n_rows >= SHORTLIST_ROWS


def projects(problem: Problem) -> bool:
    """Return whether linear models see projected features, since all of them would be too many."""
    return min(problem.n_features, problem.n_rows) > KEPT_FEATURES


def at_size(problem: Problem) -> bool:
    """Return whether the shortlist is first: sparse rows, many features, rows and labels."""
    if not sparse_rows(problem):
        return False
    many = projects(problem) and problem.n_rows * problem.n_labels > AT_SIZE_PAIRS
    return many or shortlist_alone(problem)


def shortlist_alone(problem: Problem) -> bool:
    """Return whether there are so many labels that nothing but a shortlist is tried at size."""
    return problem.n_labels > MANY_LABELS


def named(kind: str, found: SearchResult) -> str:
    """Return the name of a model with these settings."""
    return f"{kind}, {found.preprocessing.name}"


def few_codes(problem: Problem, codes: int) -> CMLLClassifier:
    """Return a compact model of so many codes with the linear decoder."""
    sparse = scipy.sparse.issparse(problem.X)
    return CMLLClassifier(
        "auto" if codes < problem.n_labels else None,
        codes if codes < problem.n_labels else None,
        alpha="auto",
        threshold=0.5,
        solver="randomized" if sparse and codes < problem.n_labels else "auto",
    )


def codes_seconds(problem: Problem, codes: int, n_rows: int) -> float:
    """Estimate one compact model with the linear decoder."""
    stored = problem.density * n_rows * problem.n_features
    sizes = n_rows + problem.n_features + problem.n_labels
    return 0.1 + 4e-9 * stored * codes + 8e-8 * sizes * codes + 5e-10 * sizes * codes**2


def linear_seconds(problem: Problem) -> float:
    """Estimate a compact model with a logistic decoder."""
    stored = problem.density * problem.n_rows * problem.n_features
    codes = min(problem.n_labels, 250)
    decoder = 3e-8 * problem.n_rows * codes * problem.n_labels
    seconds = 0.5 + 2e-7 * stored * math.sqrt(codes) + min(decoder, 120.0)
    if projects(problem):  # a projection is learnt anew for each fold and each setting
        seconds += 80.0 * codes_seconds(problem, codes, problem.n_rows)
    return seconds

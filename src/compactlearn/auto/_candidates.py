"""What is tried, in which order, and about how long it takes.

Estimates are of one core, from the sizes of the data; they decide what is left out where time is
short, and need no great accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.auto._preprocessing import WAYS
from compactlearn.auto._problem import Problem
from compactlearn.auto._searches import FEW_LABELS, Found, best_way, search_kernel, search_linear
from compactlearn.auto._trials import (
    Tried,
    folds_that_judge,
    try_by_folds,
    try_compact,
    try_forest,
    try_once,
    try_shortlist,
)
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.embeddings._base import Embedding
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import component_count, default_label_size
from compactlearn.embeddings._original import Original
from compactlearn.shortlist._classifier import ShortlistClassifier
from compactlearn.shortlist._generation import usual_candidates, usual_codes

MANY_TREES, FEW_TREES = 300, 50
TREES_SECONDS = 30.0  # are worth it: fewer trees where as many would take longer
# The best splits take three times as long, and beside drawn ones they gain less than .001 but on
# sets so small that they take no time.
BEST_SECONDS = 1.0
DENSE = 0.2  # the share of features that are not zero from which on trees are worth their time
EXACT_ROWS = 3_000  # a kernel of as many rows is used as such, a larger one by landmarks
LANDMARKS = 1_000
MOST_KERNEL_CODES = 256  # codes are targets of every refit
# Sparse regressions of every label are slow beside a kernel, which knows as much of fewer rows.
SHORTLIST_ROWS = 2_000
SHORTLIST_FOLDS = 2
UNKNOWN_DEARER = 2.5  # are shortlists of labels of which some are not known; measured on enron
# Of more labels nothing else that fits in the time knows the rare ones, see docs/TEXT.md.
MANY_LABELS = 2_000
# Pairs of a row and a label above which the shortlist comes first, see docs/AUTO.md.
AT_SIZE_PAIRS = 500_000
QUICK_CODES, QUICK_ROWS, QUICK_SECONDS = 64, 1_000, 1.0  # of the model that budgets begin with
COMPACT_CODES = 256
SHORT = 2.0  # seconds of a first model that needs no stopgap
REFERENCE_SECONDS = 10.0  # what a comparison is worth
KEPT_FEATURES = 3_000  # all of them may be seen by the learner


@dataclass(frozen=True)
class Idea:
    """Something to try."""

    name: str
    seconds: float  # an estimate
    run: Callable[[], Tried]
    reference: bool = False  # for comparison: shown with what is tried, and never selected
    worth: float = math.inf  # seconds that it may take at most where no time budget is given
    stopgap: bool = False  # tried only where the model that it precedes might not be finished
    stands_for: float = 0.0  # estimate of that model
    usual: bool = False  # a stopgap without a time budget, too


@dataclass
class Findings:
    """What earlier trials have found out for later ones."""

    linear: list[Found]  # the best settings of the ways to prepare rows, best first
    folds: list[int] = field(default_factory=list)  # those that have judged a model already

    def best(self, problem: Problem) -> Found:
        """Return the best settings of a linear model, searched where no model has needed them."""
        self.linear = self.linear or searched(problem)
        return self.linear[0]


def ideas(problem: Problem) -> Iterator[Idea]:
    """Yield what is tried, in order of promise for a second.

    Trees have no place for labels that are not known.
    """
    if at_size(problem):
        yield from _ideas_at_size(problem)
        return
    known = problem.unknown is None
    findings = Findings([])
    seconds = linear_seconds(problem)
    yield from _stopgaps(problem, seconds)
    yield Idea("compact model, logistic decoder", seconds, lambda: _linear(problem, findings))
    yield Idea("kernel", _kernel_seconds(problem), lambda: _kernel(problem, findings.best(problem)))
    if problem.density >= DENSE and known:
        for best_splits, dearer, most in ((False, 1.0, TREES_SECONDS), (True, 3.0, BEST_SECONDS)):
            seconds = dearer * _tree_seconds(problem)
            if problem.folds_given:
                seconds *= 1 + folds_that_judge(problem)
            trees = max(FEW_TREES, min(MANY_TREES, int(TREES_SECONDS / seconds)))
            if best_splits and trees * seconds > most:
                continue
            yield Idea(
                "random forest" if best_splits else "extra trees",
                trees * seconds,
                lambda trees=trees, best=best_splits: try_forest(problem, trees, best_splits=best),
            )
    if _sparse_rows(problem):
        seconds = _shortlist_seconds(problem)
        yield Idea("shortlist", seconds, lambda: _shortlist(problem, findings))
    yield from references(problem, findings)


def at_size(problem: Problem) -> bool:
    """Return whether the shortlist is first: sparse rows, many features, rows and labels.

    There a compact model with a logistic decoder takes ten to twenty times as long and is worse.
    """
    if not _sparse_rows(problem):
        return False
    many = _projects(problem) and problem.n_rows * problem.n_labels > AT_SIZE_PAIRS
    return many or problem.n_labels > MANY_LABELS


def _projects(problem: Problem) -> bool:
    """Return whether linear models see projected features, since all of them would be too many."""
    return min(problem.n_features, problem.n_rows) > KEPT_FEATURES


def _sparse_rows(problem: Problem) -> bool:
    return scipy.sparse.issparse(problem.X) and problem.n_rows >= SHORTLIST_ROWS


def _ideas_at_size(problem: Problem) -> Iterator[Idea]:
    """Yield a shortlist, stopgaps that precede it, and what may follow where time allows it."""
    seconds = shortlist_seconds(problem)
    yield from _stopgaps(problem, seconds, usual=True)
    yield shortlist_idea(problem)
    if problem.n_labels > MANY_LABELS:
        return
    findings = Findings([])
    yield Idea(
        "compact model, logistic decoder",
        linear_seconds(problem),
        lambda: _linear(problem, findings),
        worth=2.0 * seconds,
    )


def shortlist_idea(problem: Problem) -> Idea:
    """Return a shortlist that is fitted once; by the folds that the user has given, twice."""
    seconds = shortlist_seconds(problem)
    if problem.folds_given:
        return Idea("shortlist", 2.0 * seconds, lambda: _shortlist(problem, Findings([])))
    model = ShortlistClassifier(threshold=0.5, n_jobs=problem.n_jobs, random_state=problem.seed)
    name = "shortlist, ranked again"
    return Idea("shortlist", seconds, lambda: try_shortlist(problem, name, model))


def _stopgaps(problem: Problem, stands_for: float, *, usual: bool = False) -> Iterator[Idea]:
    """Yield compact models with the linear decoder that precede a model of so many seconds."""
    if stands_for <= SHORT:
        return
    yield quick_idea(problem, stands_for, usual=usual)
    codes, rows = min(problem.n_labels, COMPACT_CODES), problem.n_rows
    if codes > QUICK_CODES:
        yield Idea(
            "compact model",
            codes_seconds(problem, codes, rows),
            lambda: try_once(problem, f"CMLL of {codes} codes", few_codes(problem, codes), rows),
            stopgap=True,
            stands_for=stands_for,
        )


def quick_idea(
    problem: Problem, stands_for: float, most_codes: int = QUICK_CODES, *, usual: bool = False
) -> Idea:
    """Return a compact model of few codes, of as many rows as take about a second."""
    codes = min(problem.n_labels, QUICK_CODES, most_codes)
    rows = problem.n_rows
    while rows > QUICK_ROWS and codes_seconds(problem, codes, rows) > QUICK_SECONDS:
        rows = rows * 4 // 5
    return Idea(
        "quick compact model",
        codes_seconds(problem, codes, rows),
        lambda: try_once(problem, f"CMLL of {codes} codes", few_codes(problem, codes), rows),
        stopgap=True,
        stands_for=stands_for,
        usual=usual,
    )


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


def references(problem: Problem, findings: Findings) -> Iterator[Idea]:
    """What everybody knows, for comparison, where it costs little: plain ridge."""
    seconds = _ridge_seconds(problem)
    if seconds <= REFERENCE_SECONDS:
        yield Idea(
            "ridge", seconds, lambda: _ridge(problem, findings.best(problem)), reference=True
        )


def searched(problem: Problem) -> list[Found]:
    """The best settings of ways to prepare rows, best first.

    Of few labels, and no more features than rows, all ways are searched at no great cost; otherwise
    a look at some rows tells which way is.
    """
    cheap = problem.n_labels <= FEW_LABELS and problem.n_features <= problem.n_rows
    ways = WAYS if cheap or len(problem.splits) < 2 else (best_way(problem),)
    found = [search_linear(problem, way) for way in ways]
    return sorted(found, key=lambda one: -one.score)


def _ridge(problem: Problem, found: Found) -> Tried:
    """Every label by itself, with the penalty that is best for codes of all of them."""
    model = CompactClassifier(Original(), alpha=found.params["alpha"], threshold="f1")
    return try_compact(problem, named("ridge", found), found.way, model)


def _linear(problem: Problem, findings: Findings) -> Tried:
    findings.linear = searched(problem)
    best = findings.linear[0]
    keep = not _projects(problem)
    size = best.params["n_label_components"]
    if keep and size == 1.0:
        name, embedding = "linear model", Original()
    else:
        name = "CMLL"
        embedding = CMLL(None, size) if keep else CMLL(n_label_components=size, completion="krylov")
    one = try_compact(
        problem, named(name, best), best.way, decoded(embedding, best.params["alpha"])
    )
    findings.folds = np.unique(problem.fold[one.rows]).tolist()
    return one


def _kernel(problem: Problem, linear: Found) -> Tried:
    exact = problem.n_rows <= EXACT_ROWS
    found = search_kernel(problem, exact=exact)
    kernel = KernelMap(gamma=found.params["gamma"], random_state=problem.seed)
    if not exact:
        kernel.set_params(algorithm="nystroem", n_components=LANDMARKS)
    codes = component_count(
        linear.params["n_label_components"],
        problem.n_labels,
        "n_label_components",
        "labels",
        default_label_size,
    )
    all_codes = codes is None or codes == problem.n_labels <= MOST_KERNEL_CODES
    embedding = Original() if all_codes else CMLL(None, min(codes, MOST_KERNEL_CODES))
    model = decoded(embedding, found.params["alpha"], feature_map=kernel)
    return try_compact(problem, named("kernel", found), found.way, model)


def decoded(embedding: Embedding, alpha: float, feature_map: Any = None) -> CompactClassifier:
    """A classifier with a logistic decoder and a tuned threshold."""
    return CompactClassifier(
        embedding, feature_map=feature_map, alpha=alpha, decoder="logistic", threshold="f1"
    )


def _shortlist(problem: Problem, findings: Findings) -> Tried:
    model = ShortlistClassifier(threshold=0.5, n_jobs=problem.n_jobs, random_state=problem.seed)
    return try_by_folds(
        problem,
        "shortlist, ranked again",
        model,
        most_folds=SHORTLIST_FOLDS,
        first=findings.folds,
    )


def named(kind: str, found: Found) -> str:
    return f"{kind}, {found.way.name}"


# ---- estimates ----------------------------------------------------------------------------------


def codes_seconds(problem: Problem, codes: int, n_rows: int) -> float:
    """Return the estimate of one compact model with the linear decoder."""
    stored = problem.density * n_rows * problem.n_features
    sizes = n_rows + problem.n_features + problem.n_labels
    return 0.1 + 4e-9 * stored * codes + 8e-8 * sizes * codes + 5e-10 * sizes * codes**2


def shortlist_seconds(problem: Problem) -> float:
    """Return the estimate of one shortlist of sparse rows.

    The parts are retrievers, regressions of pairs of a row and a candidate, and votes of similar
    rows.
    """
    n_rows, n_labels = problem.n_rows, problem.n_labels
    stored = problem.X.nnz / n_rows
    candidates = usual_candidates(n_rows, n_labels, problem.Y.nnz)
    retrievers = 3.5 * codes_seconds(problem, usual_codes(n_rows, n_labels), n_rows)
    regressions = n_rows * candidates * (1.2e-6 + 1.5e-7 * stored)
    completing = 1.0 if problem.unknown is None else UNKNOWN_DEARER
    return completing * (retrievers + regressions + 2e-4 * n_rows)


def smallest_shortlist(problem: Problem) -> tuple[int, int]:
    """Return numbers, and bytes in float16, that a shortlist will have at the least."""
    codes = usual_codes(problem.n_rows, problem.n_labels)
    retriever = codes * (problem.n_features + problem.n_labels)
    rows = problem.X.nnz + problem.Y.nnz
    return retriever + rows, 2 * retriever + 6 * rows


def linear_seconds(problem: Problem) -> float:
    """Of a compact model with a logistic decoder."""
    stored = problem.density * problem.n_rows * problem.n_features
    codes = min(problem.n_labels, 250)
    decoder = 3e-8 * problem.n_rows * codes * problem.n_labels
    seconds = 0.5 + 2e-7 * stored * math.sqrt(codes) + min(decoder, 120.0)
    if _projects(problem):  # a projection is learnt anew for each fold and each setting
        seconds += 80.0 * codes_seconds(problem, codes, problem.n_rows)
    return seconds


def _ridge_seconds(problem: Problem) -> float:
    few, many = sorted((problem.n_rows, problem.n_features))
    products = few**2 * many + few * many * problem.n_labels
    return 0.1 + 1e-10 * (len(problem.splits) + 1) * products


def _kernel_seconds(problem: Problem) -> float:
    n = min(problem.n_rows, EXACT_ROWS)
    codes = min(problem.n_labels, 256)
    columns = n if problem.n_rows <= EXACT_ROWS else LANDMARKS
    refits = 1e-9 * columns**3
    decoder = 3e-8 * problem.n_rows * codes * problem.n_labels
    return 1.0 + refits + 1e-9 * problem.n_rows * columns**2 + min(decoder, 120.0)


def _tree_seconds(problem: Problem) -> float:
    n = problem.n_rows
    work = n * math.log2(n + 2) * math.sqrt(problem.n_features) * (1 + problem.n_labels)
    return 2.5e-9 * work


def _shortlist_seconds(problem: Problem) -> float:
    pairs = problem.n_rows * usual_candidates(problem.n_rows, problem.n_labels, 0.0)
    folds = 1 + min(SHORTLIST_FOLDS, max(1.0, 10_000 / problem.n_rows))
    completing = 1.0 if problem.unknown is None else UNKNOWN_DEARER
    return completing * folds * (1.0 + 1e-5 * pairs)

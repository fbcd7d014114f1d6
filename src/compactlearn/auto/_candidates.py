"""Candidate models of the automatic search.

Each kind of model has a function of ``(problem, findings)``. It yields candidates with estimated
seconds, or nothing if the kind does not suit the data. To add a kind, add a function and an entry
in a table at the end of the module. The tables have the order of the search: models that gain most
in a second come first.

Estimates are seconds of one core, from the sizes of the data. They decide which candidates are
skipped when time is short, and rough values are enough.

A trial has the name of its candidate, followed by the preprocessing if one was selected: progress,
``skipped_``, ``leaderboard_`` and ``why_`` use the same names.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse

from compactlearn.auto._forest import LabelForest
from compactlearn.auto._preprocessing import PREPROCESSINGS
from compactlearn.auto._problem import Problem
from compactlearn.auto._searches import (
    FEW_LABELS,
    SearchResult,
    best_preprocessing,
    search_kernel,
    search_linear,
)
from compactlearn.auto._svm import QUICK_SVM, SVM_SHARE, svm_seconds, try_svm
from compactlearn.auto._trials import (
    Trial,
    by_own_scores,
    evaluated,
    fitted,
    folds_that_judge,
    try_by_folds,
    try_compact,
)
from compactlearn.compact._any_classifier import scores_to_rank
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.core._warn import quiet
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import component_count, default_label_size
from compactlearn.embeddings._original import Original
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.shortlist._classifier import ShortlistClassifier
from compactlearn.shortlist._estimates import FitSizes
from compactlearn.shortlist._generation import usual_codes

KEPT_FEATURES = 3_000  # all of them may be seen by the learner
SHORTLIST_ROWS = 2_000  # a kernel of fewer rows is as good as sparse regressions, and faster
# With more labels, no other model finds the rare ones in the time (docs/results/text.md).
MANY_LABELS = 2_000
DENSE = 0.2  # share of non-zero features from which on trees are tried, and no shortlist
# Largest estimate of a search on sparse rows, and the seconds after which models are stopped, in
# units of one shortlist. With the rest the best models are blended.
WORTH, STOP = 2.5, 2.7


@dataclass(frozen=True)
class Candidate:
    """A model to try."""

    name: str
    seconds: float  # an estimate
    run: Callable[[], Trial]
    reference: bool = False  # for comparison: shown with the trials, and never selected
    # Largest estimate of the search up to this model, without a time budget.
    worth: float = math.inf
    # Without a time budget, the search is stopped after so many times the seconds of this model.
    bounds: float = math.inf
    stopgap: bool = False  # tried only if the next model might not be finished
    next_seconds: float = 0.0  # estimate of that model
    usual: bool = False  # whether a stopgap is tried without a time budget as well


@dataclass
class Findings:
    """Results of earlier candidates that later ones use."""

    problem: Problem
    found: SearchResult | None = None

    @property
    def linear(self) -> SearchResult:
        """The best settings of a linear model; searched when they are first needed.

        With few labels, and no more features than rows, the settings are searched for each
        preprocessing. Otherwise plain ridge on some rows selects the preprocessing.
        """
        if self.found is None:
            problem = self.problem
            cheap = problem.n_labels <= FEW_LABELS and problem.n_features <= problem.n_rows
            cheap = cheap or len(problem.splits) < 2
            tried = PREPROCESSINGS if cheap else (best_preprocessing(problem),)
            results = [search_linear(problem, one) for one in tried]
            self.found = max(results, key=lambda one: one.score)
        return self.found


def has_few_values(problem: Problem) -> bool:
    """Return whether rows are sparse, and not only stored as such."""
    return scipy.sparse.issparse(problem.X) and problem.density < DENSE


def sparse_rows(problem: Problem) -> bool:
    """Return whether there are enough sparse rows for a shortlist."""
    return has_few_values(problem) and problem.n_rows >= SHORTLIST_ROWS


def projects(problem: Problem) -> bool:
    """Return whether linear models see projected features, since all of them would be too many."""
    return min(problem.n_features, problem.n_rows) > KEPT_FEATURES


def at_size(problem: Problem) -> bool:
    """Return whether there are too many features or labels for linear models of all of them."""
    return sparse_rows(problem) and (projects(problem) or shortlist_alone(problem))


def shortlist_alone(problem: Problem) -> bool:
    """Return whether a shortlist is the only model for this number of labels."""
    return sparse_rows(problem) and problem.n_labels > MANY_LABELS


def named(kind: str, found: SearchResult) -> str:
    """Return the name of a model with these settings."""
    return f"{kind}, {found.preprocessing.name}"


def linear_decoded(problem: Problem, codes: int) -> CMLLClassifier:
    """Return a compact model with this number of codes and the linear decoder."""
    sparse = scipy.sparse.issparse(problem.X)
    return CMLLClassifier(
        "auto" if codes < problem.n_labels else None,
        codes if codes < problem.n_labels else None,
        alpha="auto",
        threshold=0.5,
        solver="randomized" if sparse and codes < problem.n_labels else "auto",
    )


def codes_seconds(problem: Problem, codes: int, n_rows: int) -> float:
    """Estimate the seconds of one compact model with the linear decoder."""
    stored = problem.density * n_rows * problem.n_features
    sizes = n_rows + problem.n_features + problem.n_labels
    return 0.1 + 4e-9 * stored * codes + 8e-8 * sizes * codes + 5e-10 * sizes * codes**2


def decoder_seconds(problem: Problem) -> float:
    """Estimate the seconds of a logistic decoder; with many labels, it has fewer codes."""
    return 2.5e-8 * problem.n_rows * min(problem.n_labels, 100) * problem.n_labels


def linear_seconds(problem: Problem) -> float:
    """Estimate the seconds of a linear or compact model with a logistic decoder."""
    stored = problem.density * problem.n_rows * problem.n_features
    codes = min(problem.n_labels, 250)
    seconds = 0.4 + decoder_seconds(problem)
    if projects(problem):  # a projection is learnt anew for each fold and each setting
        return seconds + 40.0 * codes_seconds(problem, codes, problem.n_rows)
    side = min(problem.n_rows, problem.n_features)
    each = 1e-6 if scipy.sparse.issparse(problem.X) else 2e-7
    return seconds + each * stored * math.sqrt(codes) + 1.2e-8 * side**2 * problem.n_labels


def linear_search_seconds(problem: Problem) -> float:
    """Estimate the part of these seconds in which the settings are selected."""
    return 0.3 * linear_seconds(problem)


# ---- linear models -------------------------------------------------------------------------------

LINEAR = "linear model"


def linear_candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield one model."""
    yield Candidate(
        LINEAR,
        linear_seconds(problem),
        lambda: _run_linear(problem, findings),
        worth=most_seconds(problem),
    )


def most_seconds(problem: Problem) -> float:
    """Return the largest estimate of a search without a time budget."""
    return WORTH * shortlist_seconds(problem) if has_few_values(problem) else math.inf


def _run_linear(problem: Problem, findings: Findings) -> Trial:
    best = findings.linear
    keep = not projects(problem)
    size = best.params["n_label_components"]
    if keep and size == 1.0:
        name, embedding = LINEAR, Original()
    else:
        name = f"{LINEAR} with CMLL"
        embedding = CMLL(None, size) if keep else CMLL(n_label_components=size, completion="krylov")
    model = CompactClassifier(
        embedding, alpha=best.params["alpha"], decoder="logistic", threshold="f1"
    )
    return try_compact(problem, named(name, best), best.preprocessing, model)


# ---- kernels -------------------------------------------------------------------------------------

EXACT_ROWS = 3_000  # a kernel of as many rows is used as such, a larger one by landmarks
LANDMARKS = 1_000
MOST_CODES = 256  # codes are targets of every refit


def kernel_candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield one model. Without a linear model, its search for the number of codes comes first."""
    seconds = _kernel_seconds(problem)
    if findings.found is None:
        seconds += linear_search_seconds(problem)
    yield Candidate(
        "kernel", seconds, lambda: _run_kernel(problem, findings), worth=most_seconds(problem)
    )


def _run_kernel(problem: Problem, findings: Findings) -> Trial:
    linear, exact = findings.linear, problem.n_rows <= EXACT_ROWS
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
    all_codes = codes is None or codes == problem.n_labels <= MOST_CODES
    model = CompactClassifier(
        Original() if all_codes else CMLL(None, min(codes, MOST_CODES)),
        feature_map=kernel,
        alpha=found.params["alpha"],
        decoder="logistic",
        threshold="f1",
    )
    return try_compact(problem, named("kernel", found), found.preprocessing, model)


def _kernel_seconds(problem: Problem) -> float:
    n, part = problem.n_rows, min(1_500, max(500, problem.n_rows // 4))
    search = 0.3 + 1.2e-9 * part**3 + 6e-9 * part**2 * problem.n_labels
    refits = 1.3e-10 * n**3 if n <= EXACT_ROWS else 4e-10 * (LANDMARKS + n) * LANDMARKS**2
    return search + refits + decoder_seconds(problem)


# ---- trees ---------------------------------------------------------------------------------------

MANY_TREES, FEW_TREES = 300, 50
TREES_SECONDS = 30.0  # fewer trees are grown if all of them would take longer
# The best splits take three times as long as drawn ones, and gain less than .001 except on sets so
# small that they take no time.
BEST_SECONDS = 1.0


def tree_candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
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
            _forest_name(trees, best_splits=best_splits),
            trees * seconds,
            lambda trees=trees, best=best_splits: try_forest(problem, trees, best_splits=best),
            worth=most_seconds(problem),
        )


def _forest_name(n_trees: int, *, best_splits: bool) -> str:
    return f"random forest of {n_trees}" if best_splits else f"{n_trees} extra trees"


def try_forest(problem: Problem, n_trees: int, *, best_splits: bool = False) -> Trial:
    """Fit trees. A row is scored by trees that were grown without it and its copies.

    If the user gave the folds, it is scored by trees of the other folds.
    """
    start = time.perf_counter()
    forest = LabelForest(
        n_trees, best_splits=best_splits, n_jobs=problem.n_jobs, random_state=problem.seed
    )
    name = _forest_name(n_trees, best_splits=best_splits)
    if problem.folds_given:
        return try_by_folds(problem, name, forest, scores_of=LabelForest.decision_function)
    scores = forest.fit_scored(problem.X, problem.Y, problem.weights)
    rows = problem.kept_rows(np.flatnonzero(~np.isnan(scores[:, 0])))
    return evaluated(problem, name, forest, rows, scores[rows].astype(np.float32), start)


def _tree_seconds(problem: Problem) -> float:
    n = problem.n_rows
    work = n * math.log2(n + 2) * math.sqrt(problem.n_features) * (1 + problem.n_labels)
    return 2.5e-9 * work


# ---- shortlists ----------------------------------------------------------------------------------

UNKNOWN_LONGER = 2.5  # factor of the seconds if some labels are unknown; measured on enron
SHORTLIST = "shortlist"
RARE_WEIGHT = 0.5  # label_weight if the metric weighs labels equally; docs/lab/shortlists.md


def shortlist_candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield one shortlist of sparse rows."""
    del findings
    if sparse_rows(problem):
        yield one_shortlist(problem)


def one_shortlist(problem: Problem) -> Candidate:
    """Return a shortlist, which bounds the search.

    It is fitted once and scored on the held-out rows of its own fit. If the user gave the folds, it
    is scored by a second fit.
    """
    fits = 2.0 if problem.folds_given else 1.0

    def run() -> Trial:
        if problem.folds_given:
            return try_by_folds(problem, SHORTLIST, _shortlist(problem), most_folds=1)
        return try_shortlist(problem, _shortlist(problem))

    return Candidate(SHORTLIST, fits * shortlist_seconds(problem), run, bounds=STOP / fits)


def try_shortlist(problem: Problem, classifier: ShortlistClassifier) -> Trial:
    """Fit a shortlist once; its fit returns out-of-fold scores."""
    start = time.perf_counter()
    with quiet():
        scored = classifier.fit_scored(
            problem.X, problem.Y, problem.weights, unknown=problem.unknown
        )
    return by_own_scores(problem, SHORTLIST, classifier, scored, start)


def _shortlist(problem: Problem) -> ShortlistClassifier:
    return ShortlistClassifier(
        label_weight=RARE_WEIGHT if problem.scoring.equal_labels else 0.0,
        threshold=0.5,
        n_jobs=problem.n_jobs,
        random_state=problem.random_state,
        verbose=problem.verbose,
    )


def shortlist_seconds(problem: Problem) -> float:
    """Estimate the seconds of one shortlist."""
    longer = 1.0 if problem.unknown is None else UNKNOWN_LONGER
    return longer * FitSizes.of(problem.X, problem.Y).seconds


def smallest_shortlist(problem: Problem) -> tuple[int, int]:
    """Return the smallest number of parameters of a shortlist, and its bytes in float16."""
    codes = usual_codes(problem.n_rows, problem.n_labels)
    retriever = codes * (problem.n_features + problem.n_labels)
    rows = problem.X.nnz + problem.Y.nnz
    return retriever + rows, 2 * retriever + 6 * rows


# ---- stopgaps ------------------------------------------------------------------------------------

QUICK_CODES, QUICK_ROWS, QUICK_SECONDS = 64, 1_000, 1.0  # sizes of the quick compact model
MORE_CODES = 256
SHORT_SECONDS = 2.0  # seconds of a first model that needs no stopgap
JUDGING_ROWS = 1_000  # held-out rows that score a compact stopgap


def stopgaps(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield models of a few seconds, in case the first large model is not finished."""
    del findings
    usual = sparse_rows(problem)
    next_seconds = shortlist_seconds(problem) if usual else linear_seconds(problem)
    if next_seconds <= SHORT_SECONDS:
        return
    yield quick_candidate(problem, next_seconds, usual=usual)
    codes = min(problem.n_labels, MORE_CODES)
    more = _stopgap(problem, compact_name(codes), codes, problem.n_rows, next_seconds)
    svm = Candidate(QUICK_SVM, svm_seconds(problem), lambda: try_svm(problem), stopgap=True)
    fast = svm.seconds <= max(SVM_SHARE * next_seconds, more.seconds)
    if usual and fast and problem.unknown is None:
        yield replace(svm, next_seconds=next_seconds)
    elif codes > QUICK_CODES:
        yield more


def compact_name(codes: int) -> str:
    """Return the name of a compact model with the linear decoder."""
    return f"compact model of {counted(codes, 'code')}"


def counted(count: int, what: str) -> str:
    """Return a number with its noun: "1 code", "1,200 codes"."""
    return f"{count:,} {what}{'s' if count != 1 else ''}"


def quick_candidate(
    problem: Problem, next_seconds: float, most_codes: int = QUICK_CODES, *, usual: bool
) -> Candidate:
    """Return a compact model with few codes, fitted to rows that take about a second."""
    codes = min(problem.n_labels, QUICK_CODES, most_codes)
    rows = problem.n_rows
    while rows > QUICK_ROWS and codes_seconds(problem, codes, rows) > QUICK_SECONDS:
        rows = rows * 4 // 5
    name = f"quick {compact_name(codes)}"
    return replace(_stopgap(problem, name, codes, rows, next_seconds), usual=usual)


def _stopgap(
    problem: Problem, name: str, codes: int, n_rows: int, next_seconds: float
) -> Candidate:
    return Candidate(
        name,
        codes_seconds(problem, codes, n_rows),
        lambda: _run_stopgap(problem, name, codes, n_rows),
        stopgap=True,
        next_seconds=next_seconds,
    )


def _run_stopgap(problem: Problem, name: str, codes: int, n_rows: int) -> Trial:
    """Fit one model to at most ``n_rows`` rows; held-out rows of one fold score it."""
    start = time.perf_counter()
    train, test = problem.splits[0]
    rng = np.random.default_rng(problem.seed)
    test = np.sort(rng.permutation(test)[:JUDGING_ROWS])
    train = np.sort(rng.permutation(train)[:n_rows])
    with quiet():
        model = fitted(linear_decoded(problem, codes), problem, train, problem.X)
    new = drop_unseen_features(problem.X[train], problem.X[test])
    scores = scores_to_rank(model, new).reshape(test.size, -1).astype(np.float32)
    return evaluated(problem, name, model, test, scores, start)


# ---- references ----------------------------------------------------------------------------------

REFERENCE_SECONDS = 10.0  # largest estimate of a model for comparison


def references(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield plain ridge if it takes a few seconds."""
    few, many = sorted((problem.n_rows, problem.n_features))
    products = few**2 * many + few * many * problem.n_labels
    seconds = 0.1 + 1e-10 * (len(problem.splits) + 1) * products
    if seconds <= REFERENCE_SECONDS:
        yield Candidate(
            "ridge",
            seconds,
            lambda: _run_ridge(problem, findings),
            reference=True,
            worth=most_seconds(problem),
        )


def _run_ridge(problem: Problem, findings: Findings) -> Trial:
    """Fit each label by itself, with the penalty that was selected for the linear model."""
    found = findings.linear
    model = CompactClassifier(Original(), alpha=found.params["alpha"], threshold="f1")
    return try_compact(problem, named("ridge", found), found.preprocessing, model)


# ---- in order ------------------------------------------------------------------------------------

ORDER = (
    stopgaps,  # models of a second or two, if the next model takes much longer
    shortlist_candidates,  # for sparse rows
    linear_candidates,  # a linear or compact model with a logistic decoder
    kernel_candidates,  # the same behind an RBF kernel
    tree_candidates,  # for dense features
    references,  # for comparison only
)


def candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield the candidates in the order of the search."""
    findings = Findings(problem)
    for kind in ORDER[:2] if shortlist_alone(problem) else ORDER:
        yield from kind(problem, findings)

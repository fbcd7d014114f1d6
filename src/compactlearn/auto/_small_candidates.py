"""Linear models within a size budget, in the order in which they are tried.

A linear model of D features and M labels has fewer parameters with

* r codes: r (D + M) + M parameters;
* r codes of d features: r (d + M) + M + d parameters, so that r can be larger;
* few weights: two parameters for each weight, its value and its position, and M constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from compactlearn.auto._budgets import most_codes, smallest
from compactlearn.auto._candidates import (
    KEPT_FEATURES,
    LINEAR,
    MORE_CODES,
    Candidate,
    Findings,
    at_size,
    candidates,
    codes_seconds,
    compact_name,
    counted,
    linear_decoded,
    linear_seconds,
    most_seconds,
    named,
    one_shortlist,
    quick_candidate,
    references,
    smallest_shortlist,
)
from compactlearn.auto._preprocessing import AS_THEY_ARE, UNIT_VARIANCE
from compactlearn.auto._problem import Problem
from compactlearn.auto._trials import Trial, folds_that_judge, try_by_folds, try_compact
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._pruned import (
    KeptFeatures,
    KeptWeights,
    codes_of_kept_features,
    kept_weights_within,
)
from compactlearn.decoding._linear import linear_parameters
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._cplst import CPLST

FEATURE_SHARES = (0.2, 0.4)
# The penalty of kept weights as a share of the penalty of all weights: fewer weights are larger.
REFIT_SHARE = 1 / 3
# Largest number of weights of the ridge regression that selects the kept ones.
MOST_PRUNED = 20_000_000


def small_candidates(
    problem: Problem,
    most_numbers: int,
    most_bytes: int | None = None,
    findings: Findings | None = None,
) -> Iterator[Candidate]:
    """Yield models with at most this number of parameters.

    If a plain linear model fits, all candidates are tried, and models that are too large are
    skipped after their fit.
    """
    D, M = problem.n_features, problem.n_labels
    if linear_parameters(D, M, None, None) <= most_numbers:
        yield from candidates(problem)
        return
    if most_numbers < smallest(M):
        raise ValueError(
            f"size_budget must allow at least {smallest(M):,} parameters, the smallest model of "
            f"{M:,} labels with a single feature; got {most_numbers:,}. Pass a larger size_budget."
        )
    findings = findings or Findings(problem)
    if at_size(problem) and most_codes(most_numbers, D, M):
        yield from _at_size(problem, findings, most_numbers, most_bytes)
        return
    first, *others = _linear_models(problem, findings, most_numbers)
    yield _with_search(problem, first)
    yield from others
    yield from references(problem, findings)


def _with_search(problem: Problem, first: Candidate) -> Candidate:
    """Return a candidate whose estimate includes the search for settings."""
    return replace(first, seconds=first.seconds + linear_seconds(problem))


def _at_size(
    problem: Problem, findings: Findings, most_numbers: int, most_bytes: int | None
) -> Iterator[Candidate]:
    """Yield a shortlist if it is small enough, otherwise compact models."""
    most = most_codes(most_numbers, problem.n_features, problem.n_labels)
    shortlist = one_shortlist(problem)
    numbers, n_bytes = smallest_shortlist(problem)
    fits = numbers <= most_numbers if most_bytes is None else n_bytes <= most_bytes
    codes = min(most, MORE_CODES)
    seconds = 2.0 * codes_seconds(problem, codes, problem.n_rows)
    yield quick_candidate(problem, shortlist.seconds if fits else seconds, most, usual=fits)
    if fits:
        yield shortlist
    else:
        name, model = compact_name(codes), linear_decoded(problem, codes)
        yield Candidate(name, seconds, lambda: try_by_folds(problem, name, model, most_folds=1))
    last = _with_search(problem, _few_codes(problem, findings, CMLL, most))
    yield replace(last, worth=most_seconds(problem))


def _linear_models(problem: Problem, findings: Findings, most_numbers: int) -> Iterator[Candidate]:
    D, M = problem.n_features, problem.n_labels
    most = most_codes(most_numbers, D, M)
    # A hat matrix of all features is expensive where these are many; CMLL needs products only.
    kinds = (CMLL,) if min(D, problem.n_rows) > KEPT_FEATURES else (CMLL, CPLST)
    if most:
        for kind in kinds:
            yield _few_codes(problem, findings, kind, most)
    counts = [round(share * D) for share in FEATURE_SHARES]
    if not most and not any(codes_of_kept_features(most_numbers, n, M) for n in counts):
        counts = [(most_numbers - 2 * M) // 2]  # the features of a single code
    if D * M <= MOST_PRUNED or not most:
        for count in counts:
            codes = codes_of_kept_features(most_numbers, max(1, count), M)
            if codes > most:  # fewer features help only if they make room for more codes
                yield _few_features(problem, findings, max(1, count), codes)
        n_weights = kept_weights_within(most_numbers, M)
        if n_weights:
            yield _few_weights(problem, findings, n_weights)
    # Fewer codes may be as good, and show what a smaller model costs.
    for part in (2, 4):
        if most >= part:
            yield _few_codes(problem, findings, kinds[-1], most // part)


def _few_codes(problem: Problem, findings: Findings, kind: Any, count: int) -> Candidate:
    name = f"{compact_name(count)} ({kind.__name__})"

    def run() -> Trial:
        found = findings.linear
        embedding = CMLL(count, count) if kind is CMLL else CPLST(count)
        model = CompactClassifier(
            embedding, alpha=found.params["alpha"], decoder="logistic", threshold="f1"
        )
        return try_compact(problem, named(name, found), found.preprocessing, model)

    return Candidate(name, linear_seconds(problem), run)


def _few_features(problem: Problem, findings: Findings, count: int, codes: int) -> Candidate:
    """Return a model of the most important features."""

    def make(alpha: float, scale: bool) -> Any:
        expensive = min(count, problem.n_rows) > KEPT_FEATURES
        inner = CompactClassifier(
            CMLL(codes, codes) if expensive else CPLST(codes),
            scale=scale,
            alpha=alpha,
            decoder="logistic",
            threshold=0.5,
        )
        return KeptFeatures(inner, count, alpha=alpha, scale=scale)

    name = f"{compact_name(codes)} of {counted(count, 'feature')}"
    return _selecting(problem, findings, name, linear_seconds(problem), make)


def _few_weights(problem: Problem, findings: Findings, count: int) -> Candidate:
    """Return a model of the most important weights."""

    def make(alpha: float, scale: bool) -> Any:
        return KeptWeights(count, alpha=alpha, refit_alpha=REFIT_SHARE * alpha, scale=scale)

    each = count / problem.n_labels
    stored = problem.density * problem.n_rows * each
    seconds = problem.n_labels * (1e-4 + 5e-9 * stored * each + 1e-10 * each**3)
    seconds += 0.5 * linear_seconds(problem)
    return _selecting(problem, findings, f"{LINEAR} of {counted(count, 'weight')}", seconds, make)


def _selecting(
    problem: Problem,
    findings: Findings,
    name: str,
    seconds: float,
    make: Callable[[float, bool], Any],
) -> Candidate:
    """Return a model that selects features or weights, again without each fold.

    ``make`` is called with the penalty, and with whether the model itself scales the columns that
    it keeps.
    """

    def run() -> Trial:
        found = findings.linear
        scale = found.preprocessing is UNIT_VARIANCE
        preprocessing = AS_THEY_ARE if scale else found.preprocessing
        model = make(found.params["alpha"], scale)
        return try_by_folds(problem, named(name, found), model, preprocessing=preprocessing)

    return Candidate(name, (1 + folds_that_judge(problem)) * seconds, run)

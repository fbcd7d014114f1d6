"""Fits of all stages: without the rows of folds, with held-out candidates, and to all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._progress import track
from compactlearn.crossfit._folds import Folds
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.decoding._thresholds import tune
from compactlearn.linalg._many_logistic import ShareOut, Weights
from compactlearn.linalg._unseen_features import drop_confined_features, drop_unseen_features
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._centroids import Centroids
from compactlearn.shortlist._cooccurrence_reranking import (
    Cooccurrence,
    CooccurrenceReranking,
    all_inputs,
)
from compactlearn.shortlist._evidence import Evidence
from compactlearn.shortlist._generation import GeneratorSettings, sparse_rows
from compactlearn.shortlist._label_reranking import (
    LabelProblems,
    LabelReranking,
    label_weights,
    problems_of,
    thinned,
    with_likely_labels,
)
from compactlearn.shortlist._prior import CandidatePrior
from compactlearn.shortlist._rows import Rows, ShortlistRows
from compactlearn.shortlist._stages import Stages, behind_candidates

Array = NDArray[np.float64]

# Held-out rows that calibrate the margins and tune the threshold; from one fold, if a fifth of the
# rows are enough.
HELD_OUT_ROWS = 3_000
_LARGEST_FOLD, _SMALLEST_FOLD = 0.2, 0.05
_FEWEST_ROWS = 4
FEW_HELD_OUT = 0.1  # share of rows without which a model is as good, measured on three sets


def fold_counts(n_rows: int) -> tuple[int, int]:
    """Return into how many folds the rows are divided, and how many of these are held out.

    >>> fold_counts(1_000), fold_counts(12_000), fold_counts(45_000)
    ((5, 5), (5, 1), (15, 1))
    """
    share = float(np.clip(HELD_OUT_ROWS / n_rows, _SMALLEST_FOLD, _LARGEST_FOLD))
    n_folds = min(round(1 / share), n_rows)
    return n_folds, int(np.clip(round(HELD_OUT_ROWS * n_folds / n_rows), 1, n_folds))


def refits(n_rows: int) -> bool:
    """Return whether everything is fitted to all rows at last, without any held-out ones."""
    return FEW_HELD_OUT * fold_counts(n_rows)[0] < 1


def held_out_folds(groups: Rows, rng: np.random.RandomState) -> list[NDArray[np.bool_]]:
    """Return which rows each held-out fold has; groups stay together if there are several."""
    n_rows = groups.size
    if n_rows < _FEWEST_ROWS:
        raise ValueError(
            f"ShortlistClassifier learns from folds of the rows and needs {_FEWEST_ROWS} "
            f"different rows at least, and X has {n_rows} sample(s); pass more rows."
        )
    n_folds, n_used = fold_counts(n_rows)
    fold = Folds.permuted(groups, n_folds, rng).number
    return [fold == k for k in range(n_used)]


@dataclass(frozen=True)
class FoldFit:
    """Candidates, prior and regressions that have seen no label of a fold."""

    inside: NDArray[np.bool_]  # rows of the fold; none in a fit to all rows
    present: NDArray[np.bool_]  # which candidates are
    known: NDArray[np.bool_]  # for which candidates that is known; no others count
    label_counts: Array  # (n_labels,) rows outside the fold
    prior: CandidatePrior
    problems: LabelProblems
    cooccurrence: Cooccurrence
    centroids: Centroids
    evidence: Evidence
    retriever: Any  # of the rows outside the fold

    @classmethod
    def of(
        cls,
        data: ShortlistRows,
        rows: scipy.sparse.csr_array,
        inside: NDArray[np.bool_],
        settings: GeneratorSettings,
        rng: np.random.RandomState,
        share_out: ShareOut | None = None,
    ) -> FoldFit:
        """Generate candidates and fit their prior without the rows inside the fold."""
        outside, new = np.flatnonzero(~inside), np.flatnonzero(inside)
        learning = data.subset(outside)
        split = outside, new
        candidates, retriever = settings.out_of_fold(data, learning, rows, split, rng)
        present, known = candidates.present(data.Y), data.known(candidates)
        used = known & ~inside[candidates.rows]
        weights = None if data.weights is None else data.weights[candidates.rows[used]]
        prior = CandidatePrior.learn(
            candidates.where(used), present[used], learning.label_counts, rng, weights
        )
        log_odds, missed = prior.log_odds(candidates), candidates.missed(data.Y)
        problems = problems_of(candidates.where(known), present[known], log_odds[known])
        problems = problems.with_more(
            problems_of(missed, np.ones(missed.labels.size, dtype=bool), prior.log_odds(missed))
        )
        problems = thinned(problems, rows.shape[0], rng)
        features = _as_new_rows(rows, outside, new, learning.groups)
        regressions = LabelProblems(
            features, data.weights, candidates, log_odds, problems, settings.n_threads, share_out
        )
        cooccurrence = Cooccurrence.of(learning.Y, learning.weights, learning.unknown)
        others = rows[outside]
        centroids = Centroids.of(others, learning.Y, learning.weights)
        evidence = Evidence.of(others, learning.Y, learning.weights, learning.unknown)
        counts = cooccurrence, centroids, evidence
        return cls(
            inside, present, known, learning.label_counts, prior, regressions, *counts, retriever
        )

    def weighted(self, label_weight: float) -> FoldFit:
        """Return the fit with regressions that count rare labels more.

        C is selected before, since the losses of the rows that select it have no such weights.
        """
        if not label_weight:
            return self
        weights = label_weights(self.label_counts, label_weight)
        problems = self.problems.problems.weighted(weights)
        return replace(self, problems=replace(self.problems, problems=problems))

    def held_out(self, weights: Weights, C: float) -> HeldOutPairs:
        """Return the inputs of the last stage for rows of the fold, by weights of other rows."""
        given, rows = self.problems, np.flatnonzero(self.inside)
        pairs = self.inside[given.candidates.rows]
        own, log_odds = given.candidates.of_rows(rows), given.log_odds[pairs]
        features = with_likely_labels(given.rows[rows], own, log_odds, C)
        margins = LabelReranking.of(weights, C).margins(features, own, log_odds)
        counts = self.cooccurrence, self.centroids, self.evidence
        inputs = all_inputs(*counts, given.rows[rows], own, margins, log_odds)
        known, present = self.known[pairs], self.present[pairs]
        counted = np.ones(own.labels.size)
        if given.weights is not None:
            counted = given.weights[rows[own.rows]]
        return HeldOutPairs(rows, own.where(known), inputs[known], present[known], counted[known])


@dataclass(frozen=True)
class HeldOutPairs:
    """Candidates of held-out rows for which it is known whether they are present."""

    rows: Rows
    candidates: Candidates
    inputs: Array  # of co-occurrence re-ranking
    present: NDArray[np.bool_]
    weights: Array  # of the row of each candidate

    @classmethod
    def together(cls, parts: list[HeldOutPairs]) -> HeldOutPairs:
        return cls(
            np.concatenate([part.rows for part in parts]),
            Candidates.stacked([part.candidates for part in parts]),
            np.concatenate([part.inputs for part in parts]),
            np.concatenate([part.present for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


def fit_stages(
    data: ShortlistRows,
    settings: GeneratorSettings,
    *,
    C: float | None,
    smallest_weight: float,
    rng: np.random.RandomState,
    verbose: int,
    share_out: ShareOut | None = None,
    label_weight: float = 0.0,
) -> tuple[Stages, HeldOutPairs]:
    """Fit all stages; return them, and the held-out candidates that the last one was learnt from.

    ``C`` is selected by the first fold if it is None. Where the fold has more than a tenth of the
    rows, retriever and regressions are fitted to all rows at last; otherwise those of the fold
    become the model's.
    """
    rows = sparse_rows(data.X, unit=settings.unit_rows)
    folds = held_out_folds(data.groups, rng)
    if refits(rows.shape[0]):
        folds.append(np.zeros(rows.shape[0], dtype=bool))
    parts: list[HeldOutPairs] = []
    fold: FoldFit | None = None
    weights: Weights | None = None
    for inside in track(folds, description="ShortlistClassifier", disable=not verbose):
        fold = FoldFit.of(data, rows, inside, settings, rng, share_out)
        C = C or fold.problems.best_C(inside, rng)
        fold = fold.weighted(label_weight)
        if inside.any():
            weights = fold.problems.solve(C, ~inside)
            parts.append(fold.held_out(weights, C))
            if len(parts) < len(folds):
                fold = None  # its memory is needed for the next one
        else:
            weights = fold.problems.solve(C, ~inside, weights)
    assert fold is not None
    assert weights is not None
    assert C is not None
    new = HeldOutPairs.together(parts)
    stages = Stages(
        settings.generator(data, rows, fold.retriever),
        fold.prior,
        LabelReranking.of(weights, C, smallest_weight),
        Cooccurrence.of(data.Y, data.weights, data.unknown),
        Centroids.of(rows, data.Y, data.weights),
        Evidence.of(rows, data.Y, data.weights, data.unknown),
        CooccurrenceReranking.learn(new.inputs, new.present, new.weights, rng),
    )
    return stages, new


def all_label_scores(
    matrix: scipy.sparse.csr_array, data: ShortlistRows, rows: Rows, frequency: NDArray[Any]
) -> OutOfFoldScores:
    """Return out-of-fold scores of all labels from those of the rows' candidates.

    Labels that are no candidates of a row have scores below those that are.
    """
    assert data.numbers is not None
    numbers = data.numbers[rows]
    order = np.argsort(numbers)
    matrix, rows = matrix[order], rows[order]
    lowest = np.asarray(matrix.min(axis=1, explicit=True).toarray()).ravel()
    behind, by_label = behind_candidates(frequency), matrix.tocsc()

    def columns(labels: Any) -> Array:
        part = by_label[:, labels]
        dense = lowest[:, None] + behind[labels]
        column = np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
        dense[part.indices, column] = part.data
        return dense

    weights = None if data.weights is None else data.weights[rows]
    unknown = None if data.unknown is None else data.unknown[rows]
    numbers = numbers[order].astype(np.intp)
    return OutOfFoldScores(numbers, columns, data.Y[rows], weights, unknown)


def tuned_threshold(
    strategy: str, scores: scipy.sparse.csc_array, Y: Any, weights: Any, unknown: Any = None
) -> float | Array:
    """Return a threshold for scores that only candidates have; those of all others are lower.

    Labels that are ``unknown``, a sparse matrix of ones, have no score and no part in it.

    One threshold for all labels does not depend on whose a score is. Candidates are then one long
    column in place of a matrix of all rows and labels, and what is no candidate two entries at its
    end, the labels that are present and those that are not, with the weights of all of them.
    """
    lowest = float(scores.data.min(initial=0.0)) - 1.0
    n_rows, n_labels = scores.shape
    present = scipy.sparse.csc_array(Y, dtype=np.float64)
    if strategy != "per-label":
        w = np.ones(n_rows) if weights is None else weights
        ones = (np.ones(scores.nnz), scores.indices, scores.indptr)
        named = scipy.sparse.csc_array(ones, shape=scores.shape)
        hit = np.asarray(scipy.sparse.csc_array(named + named.multiply(present)).data) == 2.0
        own = w[scores.indices]
        missed = w @ np.asarray(present.sum(axis=1)).ravel() - own[hit].sum()
        others = n_labels * w.sum() - own.sum() - missed
        if unknown is not None:
            others -= float((unknown.T @ w).sum())
        counts = np.append(own, [missed, others])
        # What nothing counts for is no present label: a threshold would be put below its score.
        kept = counts > 1e-12 * counts.sum()
        values = np.append(scores.data, [lowest, lowest])[kept]
        there = np.append(hit, [True, False])[kept].astype(np.float64)
        column = scipy.sparse.csr_array(there[:, None])
        return tune(strategy, lambda _: values[:, None], column, counts[kept])

    def columns(labels: slice | NDArray[np.intp]) -> Array:
        part = scores[:, labels]
        dense = np.full((n_rows, part.shape[1]), lowest)
        dense[part.indices, np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))] = part.data
        return dense

    rows = np.arange(n_rows)
    return OutOfFoldScores(rows, columns, present.tocsr(), weights, unknown).tuned(strategy)


def _as_new_rows(
    rows: scipy.sparse.csr_array, known: Rows, new: Rows, groups: Rows
) -> scipy.sparse.csr_array:
    """Return all rows with the features that they share with known rows of other groups.

    ``groups`` are those of the known rows.
    """
    own = drop_confined_features(rows[known], groups)
    parts = [own, drop_unseen_features(rows[known], rows[new])]
    order = np.argsort(np.concatenate([known, new]))
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))[order]

"""The fitted stages of a shortlist, one after the other, and the scores that come out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._any_classifier import n_parameters_of
from compactlearn.metrics._checks import row_blocks
from compactlearn.shortlist._candidates import Candidates, with_base_candidates
from compactlearn.shortlist._centroids import Centroids
from compactlearn.shortlist._compiled_ranking import CompiledRanking
from compactlearn.shortlist._cooccurrence_reranking import (
    Cooccurrence,
    CooccurrenceReranking,
    all_inputs,
)
from compactlearn.shortlist._evidence import Evidence
from compactlearn.shortlist._generation import CandidateGenerator, sparse_rows
from compactlearn.shortlist._label_reranking import LabelReranking, with_likely_labels
from compactlearn.shortlist._prior import CandidatePrior

Array = NDArray[np.float64]

BLOCK_ROWS = 1024  # scored at a time
# Compiled code takes up to a second to be loaded, and ten to be compiled once. Models of so many
# parameters use it from their first row on, others for so many pairs of a row and a candidate.
_COMPILED_PARAMETERS = 1_000_000
_COMPILED_PAIRS = 4_000_000


@dataclass(frozen=True)
class Ranked:
    """The candidates of some rows, and the results of all stages."""

    candidates: Candidates
    log_odds: NDArray[np.float32]  # by the prior
    features: scipy.sparse.csr_array  # of the row, and probabilities of likely labels
    margins: NDArray[np.float32]  # by label re-ranking
    inputs: Array  # of co-occurrence re-ranking
    scores: NDArray[np.float32]  # final log-odds


@dataclass(frozen=True)
class Stages:
    """Candidate generation, prior, label re-ranking and co-occurrence re-ranking."""

    generator: CandidateGenerator
    prior: CandidatePrior
    labels: LabelReranking
    cooccurrence: Cooccurrence
    centroids: Centroids
    evidence: Evidence
    final: CooccurrenceReranking

    @property
    def n_labels(self) -> int:
        return self.prior.frequency.size

    def rows(self, X: Any) -> scipy.sparse.csr_array:
        """Return checked rows as the stages use them."""
        return sparse_rows(X, unit=self.generator.unit_rows)

    def rank(self, X: Any) -> Ranked:
        """Return the candidates of checked rows with the results of all stages."""
        rows = self.rows(X)
        candidates = self.generator.candidates(X, rows, self.n_labels)
        log_odds = self.prior.log_odds(candidates)
        features = with_likely_labels(rows, candidates, log_odds, self.labels.C)
        margins = self.labels.margins(features, candidates, log_odds)
        counts = self.cooccurrence, self.centroids, self.evidence
        inputs = all_inputs(*counts, rows, candidates, margins, log_odds)
        scores = self.final.scores(inputs)
        return Ranked(candidates, log_odds, features, margins, inputs, scores)

    def scores(self, X: Any, base: Array | None) -> scipy.sparse.csr_array:
        """Return the scores of the candidates of checked rows as a matrix of rows and labels.

        ``base`` has the scores of a row without any feature; None: it is a row like any other.
        """
        candidates, scores = self.ranked(X, base)
        return candidates.matrix(scores.astype(np.float64))

    def ranked(self, X: Any, base: Array | None) -> tuple[Candidates, NDArray[np.float32]]:
        """Return the candidates of checked rows and their scores, made a few rows at a time."""
        n, compiled = X.shape[0], self._compiled_for(X)
        if n <= BLOCK_ROWS:
            return self._scored(X, base, compiled)
        blocks = (X[start : start + BLOCK_ROWS] for start in range(0, n, BLOCK_ROWS))
        parts, scores = zip(*(self._scored(block, base, compiled) for block in blocks), strict=True)
        return Candidates.stacked(list(parts)), np.concatenate(scores)

    def dense_blocks(self, X: Any, base: Array | None) -> Iterator[tuple[slice, Array]]:
        """Yield scores of all labels; those that are no candidates come last, by frequency."""
        behind = behind_candidates(self.prior.frequency)
        compiled = self._compiled_for(X)
        for rows in row_blocks((X.shape[0], self.n_labels)):
            candidates, scores = self._scored(X[rows], base, compiled)
            lowest = np.minimum.reduceat(scores, candidates.starts[:-1]).astype(np.float64)
            dense = lowest[:, None] + behind
            dense[candidates.rows, candidates.labels] = scores
            yield rows, dense

    def _scored(
        self, X: Any, base: Array | None, compiled: CompiledRanking | None
    ) -> tuple[Candidates, NDArray[np.float32]]:
        if compiled is None:
            found = self.rank(X)
            candidates, scores = found.candidates, found.scores
        else:
            candidates, scores = compiled.ranked(X)
        count = self.generator.sizes.n_candidates
        return with_base_candidates(candidates, scores, X, base, count)

    def _compiled_for(self, X: Any) -> CompiledRanking | None:
        """Return the compiled route if it saves more than its start takes; None: by SciPy."""
        many = X.shape[0] * self.generator.sizes.n_candidates >= _COMPILED_PAIRS
        return self._compiled if many or self._size >= _COMPILED_PARAMETERS else None

    @cached_property
    def _compiled(self) -> CompiledRanking | None:
        return CompiledRanking.of(self)

    @cached_property
    def _size(self) -> int:
        return self.n_parameters

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def n_parameters(self) -> int:
        """Number of parameters that predicting needs, training rows that vote included."""
        total = self.labels.columns.nnz + self.labels.intercepts.size + self.n_labels
        total += self.centroids.columns.nnz + self.evidence.columns.nnz + self.n_labels
        if self.generator.retriever is not None:
            total += n_parameters_of(self.generator.retriever)
        near = self.generator.neighbours
        if near is not None:
            total += near.columns.nnz + near.labels.nnz
            if near.unknown is not None:
                total += near.unknown.nnz
        return int(total)


def behind_candidates(frequency: NDArray[Any]) -> Array:
    """Return (n_labels,) what labels that are no candidates add to the lowest score of a row."""
    order = np.argsort(np.argsort(frequency, kind="stable"))
    return order / max(1, order.size) - 2.0

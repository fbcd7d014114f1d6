"""Ranking of rows by compiled code, for large models.

For a single row SciPy spends most of the time on making matrices. Here the arrays of all stages are
arranged once, and a row needs three calls: product with the retriever's first matrix, its best
labels, and all other stages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._unit_rows import UnitRows, require_single_precision
from compactlearn.core._compiled import kernels, read_only
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._generation import CandidateGenerator
from compactlearn.shortlist._neighbours import Neighbours

_KERNEL = "compactlearn.shortlist._ranking_kernel"
_BLOCK_SCORES = 1 << 19  # two megabytes of the retriever's scores: read while in cache
# What compiled code computes: products in the prior, and inputs of the last stage.
_PRODUCTS, _INPUTS = 5, 13

Found = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class LinearRetriever:
    """Matrices and intercept of a usual retriever."""

    factors: tuple[NDArray[np.float32], ...]
    intercept: NDArray[np.float64]

    @classmethod
    def of(cls, generator: CandidateGenerator, n_features: int, n_labels: int) -> Any:
        """Return what the retriever's scores are products of; None where it has to be asked."""
        model = generator.retriever
        if type(model) is not CMLLClassifier or model.label_space_.kind != "multilabel":
            return None
        linear, feature_map = model.parts_.linear, model.parts_.row_map.feature_map
        same_rows = isinstance(feature_map, UnitRows) if generator.unit_rows else not feature_map
        if linear is None or linear.scale is not None or not same_rows:
            return None
        factors = linear.factors
        if any(type(part) is not np.ndarray or part.dtype != np.float32 for part in factors):
            return None
        widths = [n_features, *(part.shape[0] for part in factors[1:]), n_labels]
        fit = list(pairwise(widths)) == [part.shape for part in factors]
        if not fit or linear.intercept.shape != (n_labels,):
            return None
        return cls(
            tuple(read_only(part, np.float32) for part in factors),
            read_only(linear.intercept, np.float64),
        )

    def best(self, kernel: ModuleType, rows: tuple[Any, ...], memory: Any, size: int) -> Found:
        """Return the labels of largest scores of each row, and the scores; in no order."""
        n = rows[0].size - 1
        products = np.empty((n, self.factors[0].shape[1]), dtype=np.float32)
        kernel.project(*rows, self.factors[0], products)
        for factor in self.factors[1:]:
            products = products @ factor
        named, scores = np.empty((n, size), np.uint32), np.empty((n, size), np.float32)
        kernel.best(products, self.intercept, memory, named, scores)
        return named, scores


@dataclass(frozen=True, eq=False)
class CompiledRanking:
    """The arrays of fitted stages as compiled code reads them, and memory for its threads."""

    kernel: ModuleType
    generator: CandidateGenerator
    linear: LinearRetriever | None  # None: the retriever is asked for its best labels
    stages: tuple[Any, ...]  # arrays of neighbours, prior and both re-rankings
    n_features: int
    n_labels: int
    _free: list[Any] = field(default_factory=list)  # memory that no thread uses at the moment

    @classmethod
    def of(cls, stages: Any) -> CompiledRanking | None:
        """Arrange the arrays; None without Numba, and where the stages need SciPy.

        That is where labels of neighbours are unknown, and where parts do not fit together.
        """
        generator, n_labels = stages.generator, stages.n_labels
        n_features = stages.labels.columns.shape[0] - n_labels
        if not _fit_together(stages, n_features, n_labels):
            return None
        kernel = kernels(_KERNEL)
        if kernel is None:
            return None
        near = generator.neighbours
        if near is None:
            columns, labels = (n_features, 0), (0, n_labels)
            near = Neighbours(_empty(columns), _empty(labels), 0)
        parts = (near, stages.prior, stages.labels, stages.cooccurrence)
        parts = (*parts, stages.centroids, stages.evidence, stages.final)
        arrays = tuple(part.arrays() for part in parts)
        linear = LinearRetriever.of(generator, n_features, n_labels)
        return cls(kernel, generator, linear, arrays, n_features, n_labels)

    def ranked(self, X: Any) -> tuple[Candidates, NDArray[np.float32]]:
        """Return the candidates of checked rows and their final scores."""
        rows = X if scipy.sparse.issparse(X) else scipy.sparse.csr_array(X)
        if not self.generator.unit_rows:
            require_single_precision(rows)
        n, width = rows.shape[0], self._n_pairs
        starts, features = read_only(rows.indptr, np.int64), read_only(rows.indices, np.uint32)
        if features.max(initial=0) >= self.n_features:
            raise ValueError(
                f"Columns of X must be numbered from 0 to {self.n_features - 1}; got an index "
                "outside of that. Build the matrix again; its check_format() finds such an index."
            )
        values = np.empty(features.size, dtype=np.float32)
        unit = bool(self.generator.unit_rows)
        self.kernel.prepare(starts, read_only(rows.data, np.float64), unit, values)
        values = read_only(values, np.float32)
        found_starts = np.zeros(n + 1, dtype=np.int64)
        labels = np.empty(n * width, dtype=np.uint32)
        retrieved, votes, scores = (np.empty(n * width, dtype=np.float32) for _ in range(3))
        step, end = n, 0
        if self.linear is not None:
            step = max(16, _BLOCK_SCORES // self.n_labels)
        try:
            memory = self._free.pop()
        except IndexError:
            memory = self._new_memory()
        for first in range(0, n, step):
            last = min(first + step, n)
            own = starts[first : last + 1]
            named = self._retrieved(X, (own, features, values), memory[1])
            into = (labels[end:], retrieved[end:], votes[end:], scores[end:])
            into = (found_starts[first : last + 1], *into)
            count = self.kernel.rank(own, features, values, *named, self.stages, memory[0], into)
            into[0][:] += end
            end += count
        self._free.append(memory)
        found = labels[:end].view(np.int32), retrieved[:end], votes[:end]
        return Candidates(found_starts, *found, self.n_labels), scores[:end]

    def _retrieved(self, X: Any, rows: tuple[Any, ...], memory: Any) -> Found:
        size = self.generator.sizes.retrieved
        if self.linear is not None:
            return self.linear.best(self.kernel, rows, memory, size)
        n = X.shape[0]
        if self.generator.retriever is None:
            return np.zeros((n, 1), dtype=np.uint32), np.zeros((n, 1), dtype=np.float32)
        named, scores = self.generator.retriever.predict_topk(X, size)
        if np.shape(named) != (n, size) or np.min(named) < 0 or np.max(named) >= self.n_labels:
            raise ValueError(
                f"The retriever's predict_topk must return {size} labels from 0 to "
                f"{self.n_labels - 1} for each of {n} rows; got an array of shape "
                f"{np.shape(named)} with other numbers. Use another retriever."
            )
        return np.array(named, np.uint32, order="C"), np.array(scores, np.float32, order="C")

    @property
    def _n_pairs(self) -> int:
        """The largest number of candidates of a row."""
        sizes = self.generator.sizes
        return min(sizes.retrieved + self._n_voted, self.n_labels)

    @property
    def _n_voted(self) -> int:
        near = self.generator.neighbours
        return 0 if near is None else min(self.generator.sizes.voted, self.n_labels)

    def _new_memory(self) -> Any:
        """Return what one thread writes to."""
        near, n = self.generator.neighbours, self.n_labels
        count = 0 if near is None else near.count
        asked = (self.stages[0], count, self._n_voted, self._n_pairs, _INPUTS)
        everything = read_only(np.arange(n), np.uint32)
        kept = np.empty(self.generator.sizes.retrieved)
        return self.kernel.new_memory(*asked), (np.empty(n), everything, kept)


def _empty(shape: tuple[int, int]) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array(shape, dtype=np.float32)


def _fit_together(stages: Any, n_features: int, n_labels: int) -> bool:
    """Return whether the arrays have the sizes that compiled code, which checks none, expects."""
    generator, prior, final = stages.generator, stages.prior, stages.final
    near, sizes = generator.neighbours, generator.sizes
    prior_corners = (prior.score_corners, prior.vote_corners, prior.own_corners)
    n_prior = sum(part.size for part in prior_corners)
    n_units = final.biases.size
    fits = [
        n_features > 0,
        0 < sizes.retrieved <= n_labels,
        sizes.voted >= 0,
        stages.labels.columns.shape[1] == n_labels,
        stages.labels.intercepts.shape == (n_labels,),
        stages.cooccurrence.shares.shape == (n_labels, n_labels),
        stages.cooccurrence.frequency.shape == (n_labels,),
        prior.centres.shape == prior.scales.shape == prior.frequency.shape == (n_labels,),
        bool((prior.scales > 0).all()),
        all(part.size > 1 for part in prior_corners),
        prior.coefficients.size == n_prior + _PRODUCTS,
        final.first.shape == (_INPUTS, n_units),
        final.second.shape == (n_units,),
        stages.centroids.columns.shape == (n_features, n_labels),
        stages.evidence.columns.shape == (n_features, n_labels),
        stages.evidence.usual.shape == (n_labels,),
    ]
    if near is not None:
        n_rows = near.labels.shape[0]
        fits += [
            near.unknown is None,
            near.count > 0,
            near.columns.shape == (n_features, n_rows),
            near.labels.shape[1] == n_labels,
            near.weights is None or near.weights.shape == (n_rows,),
        ]
    return all(fits)

"""Candidate generation: the best labels by a retriever, and the labels of similar rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._unit_rows import UnitRows, require_single_precision
from compactlearn.core._threads import blas_threads
from compactlearn.crossfit._folds import Folds
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.shortlist._candidates import Candidates
from compactlearn.shortlist._neighbours import Neighbours
from compactlearn.shortlist._rows import Rows, ShortlistRows

# Candidates of a row: as many as make these pairs of a row and a candidate, within bounds, or so
# many for each label that a row has on average. More take longer and are not better: with 400
# instead of 96 the best label of the 1,500 oldest laws of EURLEX57K is right in .451, not .466.
_PAIRS = 4_000_000
_CANDIDATES, _MOST_CANDIDATES = 64, 160
_PER_PRESENT_LABEL = 10
# The retriever compresses if rows times labels exceed this limit; the number of codes is then the
# limit divided by the number of rows, within bounds. More codes take longer and rank no better: on
# 8,000 rows of wordnet precision at 1, 3 and 5 is .640, .577, .483 with 500 codes (60 s for a fit),
# .649, .577, .482 with 128 (17 s), and .642, .577, .482 with 64 (14 s).
_CODES = 4_000_000
_FEWEST_CODES, _MOST_CODES = 64, 128
# A ridge without codes factorises a dense matrix of so many rows or features: with few labels codes
# are as good (5,000 laws with 100 labels: P@5 .239 instead of .237, half of time and memory).
_DENSE_SIDE = 2_500
_RETRIEVER_FOLDS = 2
_ROWS_AT_ONCE = 4096  # of which labels are retrieved by one thread


def usual_codes(n_rows: int, n_labels: int) -> int:
    """Return the number of codes of a retriever that compresses.

    >>> usual_codes(24_000, 527), usual_codes(65_000, 8_821)
    (128, 64)
    """
    codes = min(max(_CODES // n_rows, _FEWEST_CODES), _MOST_CODES, max(1, n_rows // 2))
    return min(codes, n_labels)


def compresses(n_rows: int, n_features: int, n_labels: int) -> bool:
    """Return whether the usual retriever has codes.

    >>> compresses(24_000, 20_000, 100), compresses(4_000, 500, 100)
    (True, False)
    """
    large = min(n_rows, n_features) > _DENSE_SIDE and n_labels <= _MOST_CODES
    return n_rows * n_labels > _CODES or large


def usual_candidates(n_rows: int, n_labels: int, n_present: float) -> int:
    """Return the number of candidates of a row where all rows have ``n_present`` labels together.

    >>> usual_candidates(24_000, 527, 48_000), usual_candidates(65_000, 8_821, 325_000)
    (160, 64)
    """
    average = int(np.ceil(_PER_PRESENT_LABEL * n_present / max(1, n_rows)))
    usual = min(max(_CANDIDATES, _PAIRS // n_rows), _MOST_CANDIDATES)
    return min(max(usual, average), n_labels)


@dataclass(frozen=True)
class Sizes:
    """Number of candidates of a row, in all and by source."""

    n_candidates: int
    retrieved: int
    voted: int

    @classmethod
    def of(cls, asked: Any, n_neighbors: int, n_labels: int, usual: int) -> Sizes:
        """Divide ``asked`` candidates, or ``usual`` ones for "auto", between both sources."""
        n = usual if asked == "auto" else int(asked)
        if n > n_labels:
            raise ValueError(
                f"n_candidates must be at most the number of labels ({n_labels}); got {n}. Pass a "
                "smaller integer, or 'auto'."
            )
        if n == n_labels or not n_neighbors:
            return cls(n, n, n_labels)
        retrieved = -(-n // 2)
        return cls(n, retrieved, n - retrieved)


@dataclass(frozen=True)
class CandidateGenerator:
    """A fitted retriever and the training rows that vote."""

    retriever: Any  # None for a single label
    neighbours: Neighbours | None
    sizes: Sizes
    unit_rows: bool

    def candidates(self, X: Any, rows: scipy.sparse.csr_array, n_labels: int) -> Candidates:
        """Return the candidates of checked rows; ``rows`` are these after :func:`sparse_rows`."""
        votes = None
        if self.neighbours is not None:
            votes = self.neighbours.votes(rows, self.sizes.voted)
        if self.retriever is None:
            shape = (X.shape[0], n_labels)
            named = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.float32)
        else:
            named = self.retriever.predict_topk(X, self.sizes.retrieved)
        return Candidates.of(named, votes, n_labels)


@dataclass(frozen=True)
class GeneratorSettings:
    """Parameters of candidate generation."""

    retriever: Any  # a template, or None for the usual one
    n_neighbors: int
    unit_rows: bool
    sizes: Sizes
    n_threads: int

    def generator(
        self, data: ShortlistRows, rows: scipy.sparse.csr_array, retriever: Any
    ) -> CandidateGenerator:
        """Return what names candidates of new rows: a fitted retriever, and all rows as voters."""
        neighbours = self._neighbours(data, rows) if self.n_neighbors else None
        return CandidateGenerator(retriever, neighbours, self.sizes, self.unit_rows)

    def out_of_fold(
        self,
        data: ShortlistRows,
        learning: ShortlistRows,
        rows: scipy.sparse.csr_array,
        split: tuple[Rows, Rows],
        rng: np.random.RandomState,
    ) -> tuple[Candidates, Any]:
        """Return candidates of all rows by models that have seen neither the row nor the fold.

        ``learning`` are the rows outside the fold, ``split`` the positions of these and the others.
        Return also the retriever of all rows outside the fold.

        A row inside the fold has its labels in nothing that other rows start from. If it had, the
        regressions would make up for what the others lack, and the row would look worse than a new
        one does.
        """
        (known, new), n_labels = split, data.Y.shape[1]
        retriever = self._new_retriever((known.size, data.X.shape[1]), n_labels, rng)
        folds = Folds.permuted(learning.groups, _RETRIEVER_FOLDS, rng)
        parts = [(known[folds.without(k)], folds.held_out(k)) for k in range(_RETRIEVER_FOLDS)]
        parts.append((known, np.arange(known.size, known.size + new.size)))
        order = np.concatenate([known, new])
        named = np.empty((order.size, self.sizes.retrieved), dtype=np.int32)
        scores = np.zeros(named.shape, dtype=np.float32)
        model = None
        for learnt, places in parts:
            if retriever is None:
                named[places] = np.arange(n_labels)
                continue
            model = self._fitted(clone(retriever), data.subset(learnt))
            if places.size:
                unseen = drop_unseen_features(data.X[learnt], data.X[order[places]])
                named[places], scores[places] = self._retrieved(model, unseen)
        votes = None
        if self.n_neighbors:
            neighbours = self._neighbours(learning, rows[known])
            own = neighbours.votes(
                rows[known], self.sizes.voted, groups=learning.groups, n_threads=self.n_threads
            )
            others = neighbours.votes(rows[new], self.sizes.voted)
            votes = scipy.sparse.csr_array(scipy.sparse.vstack([own, others], format="csr"))
        return Candidates.of((named, scores), votes, n_labels).of_rows(np.argsort(order)), model

    def _new_retriever(
        self, shape: tuple[int, ...], n_labels: int, rng: np.random.RandomState
    ) -> Any:
        """Return the retriever, not fitted; None where there is nothing to be retrieved."""
        n_rows, n_features = shape
        if n_labels < 2:
            return None
        if self.retriever is None:
            compact = compresses(n_rows, n_features, n_labels)
            return CMLLClassifier(
                "auto" if compact else None,
                usual_codes(n_rows, n_labels) if compact else None,
                alpha="auto",
                feature_map=UnitRows() if self.unit_rows else None,
                threshold=0.5,
                solver="randomized" if compact else "auto",
            )
        retriever = clone(self.retriever)
        if retriever.get_params().get("random_state", "") is None:
            retriever.set_params(random_state=int(rng.randint(2**31 - 1)))
        return retriever

    def _fitted(self, retriever: Any, data: ShortlistRows) -> Any:
        """Fit a retriever; the usual one needs no more than seven digits."""
        if self.retriever is not None:
            return _fit(retriever, data)
        limit = 1 if retriever.n_label_components else None  # products of codes are small
        with blas_threads(limit):
            return _fit(retriever, data).compress("float32")

    def _retrieved(self, model: Any, X: Any) -> tuple[Rows, NDArray[np.floating[Any]]]:
        """Return labels and scores by a retriever, as many parts at once as there are threads.

        The parts do not depend on their number: products in single precision are rounded
        differently where a matrix has other rows, and the same fit is to give the same model.
        """
        n = X.shape[0]
        if n <= _ROWS_AT_ONCE:
            return model.predict_topk(X, self.sizes.retrieved)
        parts = np.array_split(np.arange(n), -(-n // _ROWS_AT_ONCE))
        with blas_threads(1), ThreadPoolExecutor(self.n_threads) as pool:
            found = list(
                pool.map(lambda rows: model.predict_topk(X[rows], self.sizes.retrieved), parts)
            )
        labels, scores = zip(*found, strict=True)
        return np.concatenate(labels), np.concatenate(scores)

    def _neighbours(self, data: ShortlistRows, rows: scipy.sparse.csr_array) -> Neighbours:
        numbers = None if data.numbers is None else data.numbers.astype(np.int32)
        return Neighbours.of(rows, data.Y, self.n_neighbors, data.weights, data.unknown, numbers)


def sparse_rows(X: Any, *, unit: bool) -> scipy.sparse.csr_array:
    """Return rows in single precision, divided by their lengths if ``unit``."""
    rows = X if isinstance(X, scipy.sparse.csr_array) else scipy.sparse.csr_array(X)
    if unit:
        rows = UnitRows().transform(rows)
    else:
        require_single_precision(rows)
    return rows.astype(np.float32)


def _fit(model: Any, data: ShortlistRows) -> Any:
    name, arguments = type(model).__name__, {}
    if data.unknown is not None:
        if not has_fit_parameter(model, "unknown"):
            raise ValueError(
                f"Some labels are unknown, and the retriever {name} takes no unknown labels; "
                "fill them, drop their rows, or use another retriever."
            )
        arguments["unknown"] = data.unknown
    if data.weights is not None:
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(
                f"Some rows count more or less than once, and the retriever {name} takes no "
                "sample_weight; leave sample_weight and repeated rows out, or use another "
                "retriever."
            )
        arguments["sample_weight"] = data.weights
    return model.fit(data.X, data.Y, **arguments)

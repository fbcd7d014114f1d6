"""The data of a search for the best model, and how scores of their rows are judged."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit

from compactlearn.core._targets import Targets
from compactlearn.crossfit._folds import Split
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.metrics._judges import Judge
from compactlearn.metrics._scoring import Scorer
from compactlearn.metrics._table import get_metric
from compactlearn.model_selection._crossval import SearchData
from compactlearn.model_selection._folds import Data

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Scores of rows and labels that are kept of each trial: of a large set some of its rows judge.
JUDGED_SCORES = 12_000_000


@dataclass(frozen=True)
class Judged:
    """What a model or a blend is worth: a figure for each fold, NaN where none of it is judged."""

    figures: Array

    @property
    def score(self) -> float:
        """The mean; minus infinity where the metric is not defined on any fold."""
        known = self.figures[~np.isnan(self.figures)]
        return float(known.mean()) if known.size else -np.inf

    @property
    def deviation(self) -> float:
        known = self.figures[~np.isnan(self.figures)]
        return float(known.std()) if known.size else np.nan


@dataclass(frozen=True)
class Problem:
    """Checked data, divided into folds once for everything that is tried."""

    X: Any
    Y: Any  # csr_array (N, M)
    weights: Array | None
    targets: Targets
    fold: Rows  # (N,) the fold of each row
    scoring: Scorer
    threshold: Any
    seed: int
    n_jobs: int | None = None
    folds_given: bool = False  # by the user: rows of a fold may belong together, equal or not

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    @property
    def n_labels(self) -> int:
        return self.Y.shape[1]

    @property
    def unknown(self) -> Any:
        """A one for each label that is not known, or None."""
        return self.targets.unknown

    def unknown_of(self, rows: Rows) -> Any:
        """The same for some of the rows."""
        return None if self.unknown is None else self.unknown[rows]

    @cached_property
    def density(self) -> float:
        """The share of the features that are not zero."""
        stored = self.X.nnz if scipy.sparse.issparse(self.X) else np.count_nonzero(self.X)
        return stored / max(1, self.n_rows * self.n_features)

    @cached_property
    def splits(self) -> list[Split]:
        """Training and validation rows of every fold."""
        return [
            (np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k))
            for k in range(int(self.fold.max()) + 1)
        ]

    def fingerprint(self) -> str:
        """Of folds, labels and weights: two problems that judge alike have the same."""
        digest = hashlib.sha256()
        for part in (self.fold, self.Y.indptr, self.Y.indices):
            digest.update(np.asarray(part, dtype=np.int64).tobytes())
        if self.weights is not None:
            digest.update(self.weights.tobytes())
        if self.unknown is not None:
            for part in (self.unknown.indptr, self.unknown.indices):
                digest.update(np.asarray(part, dtype=np.int64).tobytes())
        return digest.hexdigest()

    def some(self, n_rows: int) -> Problem:
        """The same problem on some of its rows, drawn at random; on all, where there are few."""
        if n_rows >= self.n_rows:
            return self
        rng = np.random.default_rng(self.seed)
        rows = np.sort(rng.choice(self.n_rows, n_rows, replace=False))
        return replace(
            self,
            X=self.X[rows],
            Y=self.Y[rows],
            weights=None if self.weights is None else self.weights[rows],
            targets=self.targets.take(rows),
            fold=np.unique(self.fold[rows], return_inverse=True)[1],
        )

    def by_rankings(self) -> Problem:
        """The same judged by rankings, which settings of a learner are chosen by."""
        if self.scoring.needs == "scores":
            return self
        return replace(self, scoring=Scorer("average_precision", {}))

    def searched(self, X: Any, splits: Sequence[Split], units: Array | None = None) -> SearchData:
        """The same labels with features that were prepared, for a search by the engine.

        ``units`` are what columns of X were divided by.
        """
        scoring = self.by_rankings().scoring
        targets = replace(self.targets, kind="multilabel", classes=np.arange(self.n_labels))
        labels = self.Y if self.unknown is None else targets
        data = Data(X, self.Y, self.weights, self.unknown, units)
        return SearchData(X, labels, data, targets, splits, scoring)

    def judged(self, rows: Rows) -> Rows:
        """Of rows that have honest scores those that are kept, so that all fit in the memory."""
        most = max(200, JUDGED_SCORES // self.n_labels)
        if rows.size <= most:
            return rows
        chosen = np.random.default_rng(self.seed).permutation(self.n_rows)[: self.n_rows]
        return np.sort(rows[np.argsort(chosen[rows], kind="stable")[:most]])

    # ---- judging --------------------------------------------------------------------------------

    def figures(self, rows: Rows, scores: NDArray[Any]) -> Array:
        """What scores of these rows are worth, fold by fold; more is better."""
        found = [self.figure(rows, scores, k) for k in range(len(self.splits))]
        return np.array(found, dtype=np.float64)

    def figure(self, rows: Rows, scores: NDArray[Any], k: int) -> float:
        """The same on one fold; NaN where none of its rows are there.

        A metric of labels is judged by thresholds that were tuned on the other folds.
        """
        inside = self.fold[rows] == k
        if not inside.any():
            return np.nan
        Y = self.targets.take(rows[inside]).truth
        weights = None if self.weights is None else self.weights[rows[inside]]
        own = np.asarray(scores[inside], dtype=np.float64)
        if self.scoring.needs == "probabilities":
            metric = get_metric(self.scoring.name)
            value = metric.function(
                self.ranked_truth(Y), expit(self.ranked(own)), **self.scoring.options
            )
            return float(value if metric.greater_is_better else -value)
        judge = Judge(self.scoring.name, self.ranked_truth(Y), self.scoring.options, weights)
        if self.scoring.needs == "scores":
            return float(judge(self.ranked(own)[None])[0])
        if self.targets.kind != "multilabel":
            ranked = self.ranked(own)
            best = np.arange(ranked.shape[1]) == ranked.argmax(axis=1)[:, None]
            return float(judge(ranked[None], best[None])[0])
        others = ~inside if not inside.all() else inside
        threshold = self.tuned(rows[others], scores[others])
        return float(judge(own[None], (own > threshold)[None])[0])

    def ranked(self, scores: Array) -> Array:
        """A column for each class: two classes have one score between them."""
        return np.hstack([-scores, scores]) if self.targets.kind == "binary" else scores

    def ranked_truth(self, Y: Any) -> Any:
        """The labels as :meth:`ranked` scores are judged by."""
        if self.targets.kind != "binary":
            return Y
        return scipy.sparse.csr_array(np.hstack([1.0 - Y.toarray(), Y.toarray()]))

    def tuned(self, rows: Rows, scores: NDArray[Any]) -> float | Array:
        """The threshold that was asked for, in the units of these scores, which are log-odds."""
        if not self.Y[rows].nnz:
            return 0.0  # nothing shows where it might lie
        weights = None if self.weights is None else self.weights[rows]
        strategy = "f1" if self.threshold == "auto" else self.threshold
        found = OutOfFoldScores(
            rows,
            lambda labels: np.asarray(scores[:, labels], dtype=np.float64),
            self.Y[rows],
            weights,
            self.unknown_of(rows),
        )
        return found.tuned(strategy)

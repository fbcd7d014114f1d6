"""The data of an automatic search, and the evaluation of scores of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import StratifiedKFold

from compactlearn.core._targets import Targets
from compactlearn.core._unknown_labels import expected_counts
from compactlearn.crossfit._folds import Folds, Split, make_splits
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.crossfit._together import held_out_together, row_hashes
from compactlearn.metrics._judges import Judges
from compactlearn.metrics._propensity import (
    FEWEST_FOR_PROPENSITIES,
    inverse_propensities_of_counts,
)
from compactlearn.metrics._scoring import Scorer, scorer
from compactlearn.metrics._table import get_metric
from compactlearn.model_selection._folds import Data
from compactlearn.model_selection._search_data import SearchData

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Largest number of scores that are kept of a trial; with more, some of the rows score the model.
JUDGED_SCORES = 12_000_000


def scorer_of(scoring: Any, targets: Targets, weights: Array | None) -> Scorer:
    """Return the scorer that ``scoring`` names or is.

    Of a propensity-scored metric that is given by name, the training labels have the weights.
    """
    if isinstance(scoring, Scorer):
        return scoring
    if "weights" not in get_metric(scoring).options:
        return scorer(scoring)
    if targets.kind == "binary":
        raise ValueError(
            f"scoring={scoring!r} ranks labels weighted by their frequency and needs three classes "
            "or more; y has two. Pass another metric."
        )
    counts = expected_counts(targets.matrix, targets.unknown, weights)
    total = float(targets.matrix.shape[0] if weights is None else weights.sum())
    total = max(total, FEWEST_FOR_PROPENSITIES)
    return scorer(scoring, weights=inverse_propensities_of_counts(counts, total))


def mean_score(by_fold: Array) -> float:
    """Return the mean of a metric over folds, or minus infinity if it is not defined on any."""
    known = by_fold[~np.isnan(by_fold)]
    return float(known.mean()) if known.size else -np.inf


@dataclass(frozen=True)
class Problem:
    """Checked data, divided into folds; the labels of each fold are read once."""

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
    random_state: Any = 0  # of a shortlist: the same as outside of the search
    verbose: int = 0

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
        """A one for each unknown label, or None."""
        return self.targets.unknown

    def unknown_of(self, rows: Rows) -> Any:
        """Return the unknown labels of some rows, or None."""
        return None if self.unknown is None else self.unknown[rows]

    @cached_property
    def density(self) -> float:
        """The share of the features that are not zero."""
        stored = self.X.nnz if scipy.sparse.issparse(self.X) else np.count_nonzero(self.X)
        return float(stored / max(1, self.n_rows * self.n_features))

    @cached_property
    def splits(self) -> list[Split]:
        """Training and validation rows of every fold."""
        return Folds(self.fold).splits

    def some(self, n_rows: int) -> Problem:
        """Return the problem on ``n_rows`` rows drawn at random, or on all rows if they are few."""
        if n_rows >= self.n_rows:
            return self
        if n_rows not in self._parts:
            rng = np.random.default_rng(self.seed)
            rows = np.sort(rng.choice(self.n_rows, n_rows, replace=False))
            self._parts[n_rows] = replace(
                self,
                X=self.X[rows],
                Y=self.Y[rows],
                weights=None if self.weights is None else self.weights[rows],
                targets=self.targets.take(rows),
                fold=np.unique(self.fold[rows], return_inverse=True)[1],
            )
        return self._parts[n_rows]

    @cached_property
    def by_rankings(self) -> Problem:
        """The problem with a metric of rankings, which selects the settings of a model."""
        if self.scoring.needs == "scores":
            return self
        return replace(self, scoring=Scorer("average_precision", {}))

    def searched(self, X: Any, splits: Sequence[Split], units: Array | None = None) -> SearchData:
        """Return the labels with preprocessed features, for a grid search.

        ``units`` are the scales that columns of X were divided by.
        """
        scoring = self.by_rankings.scoring
        targets = replace(self.targets, kind="multilabel", classes=np.arange(self.n_labels))
        labels = self.Y if self.unknown is None else targets
        data = Data(X, self.Y, self.weights, self.unknown, units)
        return SearchData(X, labels, data, targets, splits, scoring)

    def kept_rows(self, rows: Rows) -> Rows:
        """Return the rows whose out-of-fold scores are kept: all of them, or a random part."""
        most = max(200, JUDGED_SCORES // self.n_labels)
        if rows.size <= most:
            return rows
        chosen = np.random.default_rng(self.seed).permutation(self.n_rows)[: self.n_rows]
        return np.sort(rows[np.argsort(chosen[rows], kind="stable")[:most]])

    # ---- evaluation -----------------------------------------------------------------------------

    def score_folds(self, rows: Rows, scores: NDArray[Any]) -> Array:
        """Return the metric of scores of these rows, fold by fold; more is better."""
        found = [self.score_fold(rows, scores, k) for k in range(len(self.splits))]
        return np.array(found, dtype=np.float64)

    def score_fold(self, rows: Rows, scores: NDArray[Any], k: int) -> float:
        """Return the metric on one fold, or NaN if no row is in it.

        For a metric of labels, thresholds are tuned on the other folds.
        """
        inside = self.fold[rows] == k
        if not inside.any():
            return np.nan
        own, needs = np.asarray(scores[inside], dtype=np.float64), self.scoring.needs
        ranked = np.hstack([-own, own]) if self.targets.kind == "binary" else own
        labels = probabilities = None
        if needs == "probabilities":
            probabilities = expit(ranked)[None]
        elif needs == "labels" and self.targets.kind == "multilabel":
            others = ~inside if not inside.all() else inside
            labels = (own > self.tuned(rows[others], scores[others]))[None]
        elif needs == "labels":
            labels = (np.arange(ranked.shape[1]) == ranked.argmax(axis=1)[:, None])[None]
        judges = self._judges_of(rows[inside])
        value = float(judges(ranked[None], labels, probabilities)[0, 0])
        return value if judges.metrics[0].greater_is_better else -value

    def _judges_of(self, rows: Rows) -> Judges:
        """Return the metric with the labels of these rows, which are read once."""
        key = rows.tobytes()
        if key not in self._judges:
            truth = self.targets.take(rows).truth
            if self.targets.kind == "binary":
                truth = scipy.sparse.csr_array(np.hstack([1.0 - truth.toarray(), truth.toarray()]))
            weights = None if self.weights is None else self.weights[rows]
            name, options = self.scoring.name, self.scoring.options
            self._judges[key] = Judges([name], truth, options=options, sample_weight=weights)
        return self._judges[key]

    @cached_property
    def _judges(self) -> dict[bytes, Judges]:
        return {}

    @cached_property
    def _parts(self) -> dict[int, Problem]:
        return {}

    def tuned(self, rows: Rows, scores: NDArray[Any]) -> float | Array:
        """Return the threshold by the given strategy, in the units of these scores (log-odds)."""
        if not self.Y[rows].nnz:
            return 0.0  # there is no label to tune it on
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


# ---- folds --------------------------------------------------------------------------------------


def row_folds(
    X: Any, targets: Targets, count: int, rng: np.random.RandomState, groups: Any = None
) -> Rows:
    """Return the fold of each row: groups or equal rows share a fold, classes are stratified."""
    if groups is None:
        member = np.unique(row_hashes(X), return_inverse=True)[1]
    else:
        member = held_out_together(X, groups)
    distinct = int(member.max()) + 1
    if targets.kind != "multilabel" and distinct == member.size:
        classes = _classes(targets)
        if np.unique(classes, return_counts=True)[1].min() >= count:
            divided = StratifiedKFold(count, shuffle=True, random_state=rng)
            folds = Folds.of_splits(list(divided.split(classes, classes)), classes.size)
            assert folds is not None
            return folds.number
    return Folds.permuted(member, max(1, min(count, distinct)), rng).number


def given_folds(
    cv: Any, X: Any, targets: Targets, counted: Rows | None, n_given: int, groups: Any = None
) -> Rows:
    """Return the fold of each row that counts, by a splitter, or by splits of all given rows."""
    labels = targets.matrix.toarray() if targets.kind == "multilabel" else _classes(targets)
    n_rows = X.shape[0] if hasattr(cv, "split") else n_given
    splits = make_splits(
        cv, X, labels, groups, n_rows, seed=None, together=lambda: np.arange(n_rows)
    )
    folds = Folds.of_splits(splits, n_rows)
    if folds is not None and counted is not None and not hasattr(cv, "split"):
        folds = Folds(folds.number[counted])
    if folds is None or not folds.covers_all:
        raise ValueError(
            f"The validation rows of cv must be all {X.shape[0]} rows once, in two folds or more; "
            "got other splits. Pass a K-fold splitter or its splits."
        )
    return np.unique(folds.number, return_inverse=True)[1]


def _classes(targets: Targets) -> Any:
    """Return the number of the class of each row of a vector."""
    Y = targets.matrix.toarray()
    return Y[:, 0] if targets.n_labels == 1 else Y.argmax(axis=1)

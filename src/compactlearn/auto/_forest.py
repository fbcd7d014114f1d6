"""Randomised trees on all labels at once, with out-of-bag scores of training rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from compactlearn.crossfit._together import row_hashes

Array = NDArray[np.float64]


class LabelForest(BaseEstimator):
    """Trees with the shares of all labels in their leaves; scores are log-odds.

    ``best_splits`` selects the best threshold of each feature, as random forests do; otherwise
    thresholds are drawn, as extra trees do, which is faster. Each tree is grown from a bootstrap
    sample, so about a third of the trees were grown without a row and its copies: their mean is an
    out-of-fold score. The frequency of the label counts as one more tree, so that no probability is
    0 or 1 and labels without votes are ranked by frequency.
    """

    def __init__(
        self,
        n_trees: int = 200,
        *,
        best_splits: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.best_splits = best_splits
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit_scored(self, X: Any, Y: Any, weights: Array | None) -> Array:
        """Grow the trees; return (N, M) log-odds, NaN for rows in the sample of every tree."""
        member = np.unique(row_hashes(X), return_inverse=True)[1]
        self.fit(X, Y, weights)
        rows, n_labels = X.astype(np.float32), Y.shape[1]
        if scipy.sparse.issparse(rows):
            rows = scipy.sparse.csr_matrix(rows)  # the only sparse form that trees accept
        n_rows = rows.shape[0]
        total, votes = np.zeros((n_rows, n_labels)), np.zeros(n_rows)
        for tree, sample in zip(
            self.forest_.estimators_, self.forest_.estimators_samples_, strict=True
        ):
            seen = np.zeros(n_rows, dtype=bool)
            seen[member[sample]] = True
            new = ~seen[member]
            if not new.any():
                continue
            total[new] += tree.predict(rows[new], check_input=False).reshape(-1, n_labels)
            votes[new] += 1
        # The frequency counts as in the whole forest, although a third of the trees vote here.
        mean = total / np.maximum(votes, 1.0)[:, None]
        scores = self.read_shares(mean, self.frequency_)
        scores[votes == 0] = np.nan
        return scores

    def fit(self, X: Any, Y: Any, sample_weight: Array | None = None) -> Self:
        """Grow the trees; ``Y`` is a sparse matrix."""
        Y, weights = Y.toarray(), sample_weight
        total = len(Y) if weights is None else weights.sum()
        present = Y.sum(axis=0) if weights is None else weights @ Y
        self.frequency_ = (present + 0.5) / (total + 1.0)
        kind = RandomForestRegressor if self.best_splits else ExtraTreesRegressor
        self.forest_ = kind(
            self.n_trees,
            max_features="sqrt",
            min_samples_leaf=2,
            bootstrap=True,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(X, Y if Y.shape[1] > 1 else Y.ravel(), sample_weight=weights)
        return self

    def read_shares(self, shares: Array, frequency: Array) -> Array:
        """Return log-odds of shares, for labels of these frequencies."""
        p = (self.n_trees * shares + frequency) / (self.n_trees + 1.0)
        return np.log(p) - np.log1p(-p)

    def decision_function(self, X: Any) -> Array:
        """Return (N, M) log-odds."""
        shares = self.forest_.predict(X).reshape(-1, self.frequency_.size)
        return self.read_shares(shares, self.frequency_)

    @property
    def n_parameters_(self) -> int:
        """Four parameters for each split, the shares of all labels for each leaf."""
        nodes = [tree.tree_ for tree in self.forest_.estimators_]
        leaves = sum(tree.n_leaves for tree in nodes)
        inner = sum(tree.node_count for tree in nodes) - leaves
        return int(4 * inner + leaves * self.frequency_.size + self.frequency_.size)

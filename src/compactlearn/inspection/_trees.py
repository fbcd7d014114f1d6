"""Forests: what a tree answers is the sum of the steps on the way to a leaf.

Every node has a value, the mean of the training rows that came by. On the way from the root to the
leaf of a row the value changes at each node, and the change belongs to the feature that decides
there: the value of the leaf is that of the root and all changes (Palczewska et al. 2014; Saabas
2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from compactlearn.auto._forest import LabelForest
from compactlearn.inspection._decomposition import Places, ScoreDecomposition, decomposition_of
from compactlearn.inspection._terms import Parts, Terms

Array = NDArray[np.float64]

_FORESTS = (RandomForestRegressor, ExtraTreesRegressor)


def is_forest(model: Any) -> bool:
    """Whether :func:`way_terms` knows this regressor."""
    return isinstance(model, (*_FORESTS, DecisionTreeRegressor))


def way_terms(
    forest: Any, X: Any, outputs: Array, which: NDArray[np.integer[Any]]
) -> tuple[Array, scipy.sparse.csr_array]:
    """Base and terms of ``forest.predict(X)[i] @ outputs[:, which[i]]``, for every row i.

    Parameters
    ----------
    forest : fitted regressor of trees
    X : matrix of shape (n, n_features)
    outputs : ndarray of shape (n_outputs, n_sums)
        How the outputs are weighed.
    which : ndarray of shape (n,)
        By which of these, for each row.
    """
    trees = forest.estimators_ if isinstance(forest, _FORESTS) else [forest]
    rows = X.astype(np.float32)
    rows = scipy.sparse.csr_matrix(rows) if scipy.sparse.issparse(rows) else np.asarray(rows)
    n_rows, n_features = rows.shape
    base = np.zeros(n_rows)
    places, changes = [], []
    for one in trees:
        tree = one.tree_
        values = tree.value[:, :, 0] @ outputs  # (n_nodes, n_sums)
        ways = tree.decision_path(rows)
        ways.sort_indices()  # a node's number is above its parent's
        row = np.repeat(np.arange(n_rows), np.diff(ways.indptr))
        said = values[ways.indices, which[row]]
        base += said[ways.indptr[:-1]]
        goes_on = row[1:] == row[:-1]  # from a node to the next of the same row
        deciding = tree.feature[ways.indices[:-1][goes_on]]
        places.append(row[1:][goes_on] * np.int64(n_features) + deciding)
        changes.append(np.diff(said)[goes_on])
    where, back = np.unique(np.concatenate(places), return_inverse=True)
    sums = np.bincount(back, np.concatenate(changes), where.size) / len(trees)
    terms = scipy.sparse.csr_array(
        (sums, (where // n_features, where % n_features)), shape=(n_rows, n_features)
    )
    return base / len(trees), terms


@dataclass(frozen=True)
class _ForestDecomposition(ScoreDecomposition):
    """Shares are sums along the ways through the trees; log-odds are a function of shares."""

    def parts(self, X: Any, labels: Places) -> Parts:
        """Return what each feature changes on the way from the roots to the leaves."""
        forest: LabelForest = self.model
        frequency = forest.frequency_[labels]
        kept, which = np.unique(labels, return_inverse=True)
        outputs = np.eye(forest.frequency_.size)[:, kept]
        base, terms = way_terms(forest.forest_, X, outputs, which)
        shares = Parts(base, (Terms("feature", terms),))
        return shares.through(lambda share: forest.read_shares(share, frequency))


@decomposition_of.register
def _(model: LabelForest) -> ScoreDecomposition:
    return _ForestDecomposition(model)

"""Forests: what a tree answers is the sum of the steps on the way to a leaf.

Every node has a value, the mean of the training rows that came by. On the way from the root to the
leaf of a row the value changes at each node, and the change belongs to the feature that decides
there: the value of the leaf is that of the root and all changes (Palczewska et al. 2014; Saabas
2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from compactlearn.auto._forest import LabelForest
from compactlearn.inspection._decomposition import Places, parts_of
from compactlearn.inspection._terms import Parts, Terms

Array = NDArray[np.float64]

_FORESTS = (RandomForestRegressor, ExtraTreesRegressor)


def is_forest(model: Any) -> bool:
    """Return whether :func:`way_terms` knows this regressor."""
    return isinstance(model, (*_FORESTS, DecisionTreeRegressor))


def way_terms(
    forest: Any, X: Any, outputs: Array, which: NDArray[np.integer[Any]]
) -> tuple[Array, scipy.sparse.csr_array]:
    """Return base and terms of ``forest.predict(X)[i] @ outputs[:, which[i]]`` for every row i."""
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


@parts_of.register
def _(model: LabelForest, X: Any, labels: Places) -> Parts:
    """Shares are sums along the ways through the trees; log-odds are a function of shares."""
    frequency = model.frequency_[labels]
    kept, which = np.unique(labels, return_inverse=True)
    base, terms = way_terms(model.forest_, X, np.eye(model.frequency_.size)[:, kept], which)
    shares = Parts(base, (Terms("feature", terms),))
    return shares.through(lambda share: model.read_shares(share, frequency))

"""ProjectionForestClassifier: each tree of a forest is grown on a random projection of the labels.

A tree asks at every node how much the outputs vary on both sides, which costs as much as there are
outputs. Here it is shown T = Y A with a matrix A (M, m) of its own, and afterwards its nodes are
given the means of the labels Y themselves. scikit-learn grows the trees: a forest that is grown
by one tree at a time (``warm_start``) takes other outputs for each, and draws the same seeds and
samples as one that is grown at once.

Random matrices A (M, m) by which labels are projected before a tree looks at them.

Distances of projected label vectors are those of the vectors themselves on average, E AA' = I, so
that the variance within a node is estimated from m outputs in place of M.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree._tree import Tree
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import (
    Choice,
    Constraint,
    Integer,
    Nothing,
    Numbers,
    Real,
    Seed,
)
from compactlearn.core._seeds import seeded
from compactlearn.embeddings._components import COUNTS, component_count
from compactlearn.related._scored import ProbableClassifier

Array = NDArray[np.float64]

PROJECTIONS = ("gaussian", "identity")


class ProjectionForestClassifier(ProbableClassifier):
    """Random forest whose trees see random projections of the labels.

    Leaves hold the shares of the labels themselves, and the forest is the mean of its trees, so
    that nothing has to be decoded. It suits many labels, where a tree on all of them is slow: a
    split costs m and not M operations for each row.

    Parameters
    ----------
    n_trees : int, default=100
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(8, ceil(log2 M))).
    projection : {"gaussian", "identity"}, default="gaussian"
        The matrix of a tree: normal numbers; or nothing is projected, a scikit-learn forest.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
    min_samples_leaf : int, default=1
    max_depth : int or None, default=None
        As in scikit-learn's forests.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its share is strictly above.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    forest_ : RandomForestRegressor
        The trees, with the shares of all labels in their nodes.
    frequency_ : ndarray of shape (n_labels,)
        (rows with the label + 1/2) / (rows + 1).
    n_label_components_ : int
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Joly's program (random-output-trees) has further projections: of signs, of a Hadamard matrix,
    and single labels. The shares are dense, nodes by labels, as in scikit-learn's forests of
    several outputs.

    References
    ----------
    A. Joly, P. Geurts, L. Wehenkel. Random forests with random projections of the output space for
    high dimensional multi-label classification. ECML PKDD 2014, pp. 607-622.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import ProjectionForestClassifier
    >>> data = load("emotions")
    >>> model = ProjectionForestClassifier(10, random_state=0).fit(data.X, data.Y)
    >>> model.predict_proba(data.X[:2]).shape
    (2, 6)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_trees": (Integer(1),),
        "n_label_components": COUNTS,
        "projection": (Choice(*PROJECTIONS),),
        "max_features": (
            Integer(1),
            Real(0, 1, open_low=True),
            Choice("sqrt", "log2"),
            Nothing(),
        ),
        "min_samples_leaf": (Integer(1),),
        "max_depth": (Integer(1), Nothing()),
        "threshold": (Real(), Numbers()),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_trees: int = 100,
        *,
        n_label_components: int | float | str = "auto",
        projection: str = "gaussian",
        max_features: int | float | str | None = "sqrt",
        min_samples_leaf: int = 1,
        max_depth: int | None = None,
        threshold: Any = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_trees = n_trees
        self.n_label_components = n_label_components
        self.projection = projection
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.threshold = threshold
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> None:
        self._grow(_for_trees(data.X), data.targets.matrix.astype(np.float64))

    def _grow(self, X: Any, Y: Any) -> None:
        n_labels = Y.shape[1]
        m = component_count(
            self.n_label_components, n_labels, "n_label_components", "labels", _few_outputs
        )
        assert m is not None
        given = self.random_state
        fixed = isinstance(given, int | np.integer)
        seed = int(given) if fixed else int(seeded(given).randint(2**31 - 1))
        forest = self._empty(seed)
        for k in range(self.n_trees):
            A = label_projection(self.projection, n_labels, m, np.random.default_rng([seed, k]))
            T = Y @ A
            T = T.toarray() if scipy.sparse.issparse(T) else T
            forest.set_params(n_estimators=k + 1)
            forest.fit(X, T if T.shape[1] > 1 else T.ravel())
        samples = forest.estimators_samples_
        for tree, sample in zip(forest.estimators_, samples, strict=True):
            counts = np.bincount(sample, minlength=Y.shape[0]).astype(np.float64)
            tree.tree_ = _with_shares(tree.tree_, X, Y, counts)
            tree.n_outputs_ = n_labels
        forest.n_outputs_ = n_labels
        forest.set_params(warm_start=False)
        self.forest_, self.n_label_components_ = forest, m
        self.frequency_ = (np.asarray(Y.sum(axis=0)).ravel() + 0.5) / (Y.shape[0] + 1.0)

    def _empty(self, seed: int) -> Any:
        return RandomForestRegressor(
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            max_depth=self.max_depth,
            warm_start=True,
            random_state=seed,
        )

    @property
    def n_parameters_(self) -> int:
        """A feature, a bound and two places for a branching, a share of every label for a leaf."""
        check_is_fitted(self, "forest_")
        nodes = [tree.tree_ for tree in self.forest_.estimators_]
        leaves = sum(tree.n_leaves for tree in nodes)
        inner = sum(tree.node_count for tree in nodes) - leaves
        return int(4 * inner + (leaves + 1) * self.n_labels_)

    # ---- predicting ---------------------------------------------------------------------------

    def _scored(self, X: Any) -> Array:
        return self.forest_.predict(_for_trees(X)).reshape(-1, self.n_labels_)

    def _probabilities(self, scores: Array) -> Array:
        """Return the shares, with the frequency of the label as one tree more.

        No finite number of trees makes certain.
        """
        n_trees = len(self.forest_.estimators_)
        return (n_trees * scores + self.frequency_) / (n_trees + 1.0)


def _few_outputs(n_labels: int) -> int:
    return min(n_labels, max(8, int(np.ceil(np.log2(max(n_labels, 2))))))


def _for_trees(X: Any) -> Any:
    """Return rows in single precision, which trees work in; sparse rows with indices of 32 bits."""
    X = X.astype(np.float32)
    if not scipy.sparse.issparse(X):
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return scipy.sparse.csr_matrix(parts, shape=X.shape)


def _with_shares(tree: Tree, X: Any, Y: Any, counts: Array) -> Tree:
    """Return the same tree with the mean labels of the rows that passed each node."""
    paths = tree.decision_path(X)
    sums = paths.T @ Y.multiply(counts[:, None]).tocsr()
    totals = paths.T @ counts
    state = tree.__getstate__()
    n_labels = Y.shape[1]
    state["values"] = np.ascontiguousarray((sums.toarray() / totals[:, None])[:, :, None])
    own = Tree(tree.n_features, np.ones(n_labels, dtype=np.intp), n_labels)
    own.__setstate__(state)
    return own


def label_projection(kind: str, n_labels: int, m: int, rng: np.random.Generator) -> Any:
    """Return (M, m), sparse where most of it is zero; "identity" takes no notice of m."""
    if kind == "identity":
        return scipy.sparse.eye_array(n_labels, format="csr")
    return rng.standard_normal((n_labels, m)) / np.sqrt(m)

"""SLEECClassifier: local embeddings of label vectors, and nearest neighbours in them.

SLEEC's codes: inner products of label vectors, kept where rows are near each other.

    minimise  || P_Omega(S - Z Z') ||^2   over codes Z (n, m),  S = inner products of label vectors

Omega are the pairs of a row and its nearest rows by S, either way round. With all pairs the
solution is the truncated eigendecomposition of S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Choice, Constraint, Integer, Nothing, Numbers, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.embeddings._components import COUNTS, component_count, default_label_size
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._operators import Plain, Sum, gram
from compactlearn.related._scored import ScoredClassifier, ridge

Array = NDArray[np.float64]

_CLUSTER_ROWS = 6000  # that the program's settings have in a cluster


@dataclass(frozen=True, eq=False)
class LocalEmbedding:
    """A cluster: from features to codes, and the training rows where their features put them."""

    coef: Array  # (D, m)
    intercept: Array  # (m,)
    points: Array  # (n, m) embedded training rows
    labels: Any  # (n, M) csr_array


@dataclass(frozen=True, eq=False)
class LocalLearner:
    """All clusters of one division of the rows."""

    centres: Array  # (C, D)
    clusters: tuple[LocalEmbedding, ...]

    def nearest_cluster(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of each row, that of the nearest centre."""
        squares = np.sum(self.centres**2, axis=1)
        return np.argmin(squares - 2.0 * (X @ self.centres.T), axis=1)


class SLEECClassifier(ScoredClassifier):
    """Sparse local embeddings for extreme classification (SLEEC).

    Label vectors of many labels are not of low rank, but near ones may be. Rows are divided into
    clusters by their features; in each, codes Z keep the inner products of the label vectors of
    neighbours::

        minimise  || P_Omega(S - ZZ') ||^2,   S_ij = y_i'y_j / (|y_i| |y_j|),

    where Omega are the pairs of a row and its ``n_similar`` nearest rows by S, and a regression
    leads from features to codes. A new row goes to
    the nearest cluster, is embedded, and gets the mean label vector of its nearest training rows
    there, which are embedded by the regression as well. Several divisions are averaged.

    It suits very many labels with few rows each, of which a linear model of low rank loses the
    tail. Scores are shares of neighbours, so they have few values and many ties.

    Parameters
    ----------
    n_components : int, float in (0, 1] or "auto", default="auto"
        m, the size of the codes; a float is a ratio of the number of labels M, "auto" is
        min(M, max(16, ceil(M / 2)), 500). A cluster of lower rank has fewer. Public runs have 50
        to 100.
    n_similar : int or None, default=None
        Rows that each row keeps its inner products with; None is all of the cluster. Public runs
        have 15 to 250.
    n_neighbors : int, default=15
        Nearest training rows whose labels are averaged. Public runs have 10 to 25.
    alpha : float, default=1.0
        Ridge penalty of the regression, whose intercept is free.
    n_clusters : int or "auto", default="auto"
        "auto" is one for every 6,000 rows.
    n_learners : int, default=5
        Divisions into clusters, by k-means from different starts. Where there is one cluster they
        would all be the same, and there is one learner. Public runs have 1 to 15.
    max_iter : int, default=50
    tol : float, default=1e-4
        Steps for the codes, and what share of the first loss a step has to gain.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where so large a share of the neighbours, strictly above, has it.
    random_state : int, RandomState, Generator or None, default=None
        Of the divisions into clusters.

    Attributes
    ----------
    learners_ : tuple of the divisions, each with its centres and clusters
    n_components_ : int
        The largest number of codes of a cluster.
    n_clusters_ : int
    n_iter_ : int
        The most steps that codes of a cluster took; 1 where they have a closed form.
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Omega holds a pair where either row is near the other, so that it is symmetric. The regression
    is a ridge with a free intercept where the program has LIBLINEAR's support vector regression
    without one and asks embedded rows to be sparse.

    References
    ----------
    K. Bhatia, H. Jain, P. Kar, M. Varma, P. Jain. Sparse local embeddings for extreme multi-label
    classification. Advances in Neural Information Processing Systems 28, 730-738, 2015.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import SLEECClassifier
    >>> data = load("emotions")
    >>> model = SLEECClassifier(4, n_similar=30).fit(data.X, data.Y)
    >>> model.predict_topk(data.X[:2], k=2)[0].shape
    (2, 2)
    """

    _kept: ClassVar[tuple[str, ...]] = ("learners_",)
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_components": COUNTS,
        "n_similar": (Integer(1), Nothing()),
        "n_neighbors": (Integer(1),),
        "alpha": (Real(0),),
        "n_clusters": (Integer(1), Choice("auto")),
        "n_learners": (Integer(1),),
        "max_iter": (Integer(1),),
        "tol": (Real(0),),
        "threshold": (Real(), Numbers()),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_components: int | float | str = "auto",
        *,
        n_similar: int | None = None,
        n_neighbors: int = 15,
        alpha: float = 1.0,
        n_clusters: int | str = "auto",
        n_learners: int = 5,
        max_iter: int = 50,
        tol: float = 1e-4,
        threshold: Any = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_similar = n_similar
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.n_clusters = n_clusters
        self.n_learners = n_learners
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> None:
        X, Y = data.X, scipy.sparse.csr_array(data.targets.matrix, dtype=np.float64)
        n_rows, n_labels = Y.shape
        m = component_count(
            self.n_components, n_labels, "n_components", "labels", default_label_size
        )
        assert m is not None
        wanted = self.n_clusters
        n_clusters = max(1, round(n_rows / _CLUSTER_ROWS)) if wanted == "auto" else int(wanted)
        if n_clusters > n_rows:
            raise ValueError(
                f"n_clusters={n_clusters} asks for more clusters than there are rows ({n_rows}); "
                f"lower it to at most {n_rows}, or leave it at 'auto'."
            )
        self._n_neighbors = int(self.n_neighbors)  # as fitted: parameters may change afterwards
        rng = seeded(self.random_state)
        learners, self.n_iter_ = [], 1
        for _ in range(self.n_learners if n_clusters > 1 else 1):
            centres, members = divided(X, n_clusters, int(rng.randint(2**31 - 1)))
            clusters = tuple(self._embedded(X[rows], Y[rows], m) for rows in members)
            learners.append(LocalLearner(centres, clusters))
        self.learners_ = tuple(learners)
        self.n_clusters_ = n_clusters
        sizes = [cluster.intercept.size for one in learners for cluster in one.clusters]
        self.n_components_ = max(sizes)

    def _codes(self, Y: Any, m: int) -> ClusterCodes:
        unit = unit_labels(Y)
        start = eigen_codes(unit, m)
        if not start.shape[1]:  # no row has a label: all codes are alike
            return ClusterCodes(np.zeros((Y.shape[0], 1)))
        if self.n_similar is None or self.n_similar >= Y.shape[0]:
            return ClusterCodes(start)
        pairs = near_pairs(unit, self.n_similar)
        return codes_by_projection(pairs, start, max_iter=self.max_iter, tol=float(self.tol))

    def _embedded(self, X: Any, Y: Any, m: int) -> LocalEmbedding:
        found = self._codes(Y, m)
        Z, self.n_iter_ = found.Z, max(self.n_iter_, len(found.losses) - 1)
        coef, intercept = ridge(X, Z, float(self.alpha))
        return LocalEmbedding(coef, intercept, X @ coef + intercept, Y)

    def _scored(self, X: Any) -> Array:
        n_labels = self.learners_[0].clusters[0].labels.shape[1]
        total = np.zeros((X.shape[0], n_labels))
        count = self._n_neighbors
        for learner in self.learners_:
            own = learner.nearest_cluster(X)
            for place, cluster in enumerate(learner.clusters):
                rows = np.flatnonzero(own == place)
                if rows.size:
                    total[rows] += neighbours_labels(cluster, X[rows], count)
        return total / len(self.learners_)


def divided(X: Any, n_clusters: int, seed: int) -> tuple[Array, list[NDArray[np.intp]]]:
    """Return centres by k-means, and the rows of each cluster that has any."""
    if n_clusters == 1:
        return np.zeros((1, X.shape[1])), [np.arange(X.shape[0])]
    found = KMeans(n_clusters, n_init=1, random_state=seed).fit(X)
    members = [np.flatnonzero(found.labels_ == place) for place in range(n_clusters)]
    kept = [place for place, rows in enumerate(members) if rows.size]
    return found.cluster_centers_[kept].astype(np.float64), [members[place] for place in kept]


def neighbours_labels(cluster: LocalEmbedding, X: Any, count: int) -> Array:
    """Return the mean label vector of each row's nearest training rows."""
    count = min(count, cluster.points.shape[0])
    index = NearestNeighbors(n_neighbors=count).fit(cluster.points)
    near = index.kneighbors(X @ cluster.coef + cluster.intercept, return_distance=False)
    rows = np.repeat(np.arange(near.shape[0]), count)
    chosen = scipy.sparse.csr_array(
        (np.ones(rows.size), (rows, near.ravel())), shape=(near.shape[0], cluster.points.shape[0])
    )
    return (chosen @ cluster.labels).toarray() / count


_AT_ONCE = 1 << 22  # entries of a block of dense inner products, or of factors of pairs
_TINY = 1e-10  # added to the length of a label vector, as the program does


@dataclass(frozen=True)
class ClusterCodes:
    """Codes of rows, and the loss after each step."""

    Z: Array  # (n, m)
    losses: tuple[float, ...] = ()


def unit_labels(Y: Any) -> Any:
    """Return label vectors of length 1; a row without labels stays zero."""
    lengths = np.sqrt(np.asarray(Y.multiply(Y).sum(axis=1)).ravel())
    return scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 / (lengths + _TINY)) @ Y)


def eigen_codes(Y: Any, m: int) -> Array:
    """Return ``E sqrt(w)`` of the m leading eigenpairs of ``YY'``, fewer of a lower rank."""
    found = leading_eigenpairs(gram(Plain(Y.T.tocsr())), min(m, *Y.shape))
    return found.vectors * np.sqrt(found.values)


def near_pairs(Y: Any, n_similar: int) -> Any:
    """Return S on Omega as a symmetric CSR matrix; zeros of Omega are stored, too."""
    n = Y.shape[0]
    count = min(n_similar, n)
    Yt = Y.T.tocsr()
    rows, columns = [], []
    step = max(1, _AT_ONCE // n)
    for start in range(0, n, step):
        block = (Y[start : start + step] @ Yt).toarray()
        best = np.argsort(-block, axis=1, kind="stable")[:, :count]
        rows.append(np.repeat(np.arange(start, start + len(block)), count))
        columns.append(best.ravel())
    i, j = np.concatenate(rows), np.concatenate(columns)
    either = scipy.sparse.csr_array(
        (np.ones(2 * i.size), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)
    )
    either.sum_duplicates()
    either.data = products_at(either, Y, Y)
    return either


def products_at(pairs: Any, left: Any, right: Any) -> Array:
    """Return inner products of rows of two matrices, for the stored entries of ``pairs``."""
    i = np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))
    found = np.empty(pairs.nnz)
    step = max(1, _AT_ONCE // max(1, left.shape[1]))
    for start in range(0, pairs.nnz, step):
        part = slice(start, start + step)
        one, other = left[i[part]], right[pairs.indices[part]]
        if scipy.sparse.issparse(one):
            found[part] = np.asarray(one.multiply(other).sum(axis=1)).ravel()
        else:
            found[part] = np.einsum("ik,ik->i", one, other)
    return found


def codes_by_projection(pairs: Any, start: Array, *, max_iter: int, tol: float) -> ClusterCodes:
    """Return codes by singular value projection.

    A gradient step of length 1 is followed by the nearest matrix of rank m. The gradient of half
    the loss is 1-Lipschitz, so no step raises the loss.
    """
    Z, m = start, start.shape[1]
    residual = pairs.copy()
    residual.data = pairs.data - products_at(pairs, Z, Z)
    losses = [float(residual.data @ residual.data)]
    for _ in range(max_iter):
        matrix = Sum(((1.0, gram(Plain(np.ascontiguousarray(Z.T)))), (1.0, Plain(residual))))
        found = leading_eigenpairs(matrix, m)
        new = found.vectors * np.sqrt(found.values)
        data = pairs.data - products_at(pairs, new, new)
        reached = float(data @ data)
        if reached > losses[-1]:  # by rounding alone
            break
        Z, residual.data = new, data
        losses.append(reached)
        if losses[-2] - reached <= tol * losses[0]:
            break
    return ClusterCodes(Z, tuple(losses))

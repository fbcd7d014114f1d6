"""MIFS: features are chosen by what predicts latent labels that neighbours share.

minimise  ||Xc B - V||^2 + a ||Yc - V T||^2 + b tr(V'L V) + c sum_d ||B_d||   with  TT' = I_k

X (N, D) features, Y (N, M) labels, Xc and Yc centred, V (N, k) latent labels, T (k, M), B (D, k)
whose rows B_d have the length by which feature d is ranked, L the Laplacian of a graph of near
rows. Each of V, T and B is found for the others, in turn, so that the objective never rises:

    V  from  ((1 + a) I + b L) V = Xc B + a Yc T', one sparse factorisation for all rounds;
    T  is the orthonormal factor nearest to V'Yc;
    B  by a ridge with penalties c / (2 ||B_d||), which bound the last term from above.

Without the constraint there is no minimum: V and B may shrink while T grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Integer, Nothing, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.embeddings._base import Embedded, Traits
from compactlearn.embeddings._components import COUNTS, component_count
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._operators import Operator
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.related._neighbours import (
    RowNeighbours,
    RowProducts,
    affinities,
    laplacian,
    unweighted_rows,
)
from compactlearn.related._projected import HostProjection

Array = NDArray[np.float64]

_SHORT = 1e-10  # of the longest row of B: below that a feature is out


class MIFS(HostProjection):
    """Multi-label informed feature selection: some features are kept, and the others dropped.

    ``transform`` returns columns of X as they are. Good where one wants to know which features
    matter, or must not measure the others.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        How many features are kept. A float is a ratio of D; "auto" is min(M, D).
    n_latent : int or float in (0, 1], default=0.3
        k. A float is a ratio of M.
    label_weight : float > 0, default=1.0
        a.
    smoothness : float >= 0, default=0.1
        b.
    sparsity : float > 0, default=1.0
        c: the larger, the more rows of B are zero.
    n_neighbors : int, default=5
        Two rows are neighbours where one is among so many nearest of the other; at most N - 1.
    width : float, "auto" or None, default="auto"
        Neighbours have the weight exp(-distance^2 / width); "auto" is the mean squared distance of
        neighbours, and None gives all of them the weight 1.
    max_iter : int, default=50
        Rounds of the three steps.
    tol : float, default=1e-4
        Stop when a round lowers the objective by less than this, relative to it.
    random_state : int, RandomState, Generator or None, default=None
        Draws the T that is begun with.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
        One 1 in every column: the feature that is kept, best first.
    eigenvalues_ : ndarray
        Lengths of the rows of B of the kept features, largest first.
    objective_path_ : ndarray
        The objective after each round; it never rises.
    objective_ : float
        The last of them.
    decoder_ : sparse identity, offset_ : zeros, codes_ : the labels, or None inside a classifier
    n_iter_, n_feature_components_, n_label_components_, solver_, \
n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    Features are compared by the lengths of their coefficients, so they should be of one scale.
    MLC_toolbox takes small gradient steps of V, T and B at once from random starts, without
    centring and without the constraint, for want of which its objective has no minimum; its
    defaults are the same, with ``width=1``. Fits from sums or blocks of rows,
    sample weights and exact kernels, which have no features to choose from, are refused.

    References
    ----------
    L. Jian, J. Li, K. Shu, H. Liu. Multi-label informed feature selection. IJCAI 2016,
    pp. 1627-1633.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import MIFS
    >>> data = load("emotions")
    >>> MIFS(10, random_state=0).fit(data.X, data.Y).transform(data.X).shape
    (593, 10)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_feature_components": COUNTS,
        "n_latent": (Integer(1), Real(0, 1, open_low=True)),
        "label_weight": (Real(0, open_low=True),),
        "smoothness": (Real(0),),
        "sparsity": (Real(0, open_low=True),),
        "n_neighbors": (Integer(1),),
        "width": (Real(0, open_low=True), Choice("auto"), Nothing()),
        "max_iter": (Integer(1),),
        "tol": (Real(0),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        n_latent: int | float = 0.3,
        label_weight: float = 1.0,
        smoothness: float = 0.1,
        sparsity: float = 1.0,
        n_neighbors: int = 5,
        width: float | str | None = "auto",
        max_iter: int = 50,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_feature_components = n_feature_components
        self.n_latent = n_latent
        self.label_weight = label_weight
        self.smoothness = smoothness
        self.sparsity = sparsity
        self.n_neighbors = n_neighbors
        self.width = width
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def traits(self) -> Traits:
        return Traits(solver="krylov", needs_rows=True)

    def solve(self, pair: Pair) -> Embedded:
        d = self._feature_size(pair.n_left, pair.n_right, pair.given_left)
        B, path = self._coefficients(pair)
        P, lengths = _selection(B, d)
        return replace(
            self.unprojected(pair),
            projection=P,
            eigenvalues=lengths,
            objective=float(path[-1]),
            path=path,
            n_iter=path.size - 1,
        )

    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        return _selection(self._coefficients(pair)[0], d)

    def _coefficients(self, pair: Pair) -> tuple[Array, Array]:
        """Return B (D, k), and the objective after each round."""
        rows = self._rows(pair)
        M = rows.n_right
        k = component_count(self.n_latent, M, "n_latent", "labels", lambda size: size)
        assert k is not None
        products = RowProducts.of_pair(rows)
        L = laplacian(affinities(RowNeighbours.of(products, self.n_neighbors), self.width))[0]
        weights = (float(self.label_weight), float(self.smoothness), float(self.sparsity))
        drawn = seeded(self.random_state).standard_normal((M, k))
        return alternated(SelectionProblem(rows, L, *weights), dense.qr(drawn)[0].T, self)

    def _rows(self, pair: Pair) -> RowsPair:
        if not isinstance(pair, RowsPair) or pair.left.by_kernel:
            raise ValueError(
                "MIFS chooses among the features, and was given a kernel; use fit with no exact "
                "KernelMap."
            )
        return unweighted_rows(pair, "MIFS")


def _selection(B: Array, d: int) -> tuple[Array, Array]:
    """Return columns that take the d features of largest coefficients, and how large these are."""
    lengths = np.linalg.norm(B, axis=1)
    best = np.argsort(-lengths, kind="stable")[:d]
    P = np.zeros((B.shape[0], d))
    P[best, np.arange(d)] = 1.0
    return P, lengths[best]


@dataclass(frozen=True)
class SelectionProblem:
    """The parts of the objective that stay as they are."""

    rows: RowsPair
    L: Any  # (N, N) sparse
    a: float
    b: float
    c: float

    @cached_property
    def Y(self) -> Operator:
        return self.rows.centred_right

    @cached_property
    def energy(self) -> float:
        mean = self.rows.mean_right
        return self.rows.right_energy - self.rows.count * float(mean @ mean)

    def objective(self, V: Array, T: Array, B: Array) -> float:
        size = np.vdot(V, V)
        fit = np.sum((self.rows.left.Xc @ B - V) ** 2)
        labels = self.energy - 2 * np.vdot(self.Y.T @ V, T.T) + size  # as TT' = I
        smooth = np.vdot(V, self.L @ V)
        lengths = np.linalg.norm(B, axis=1)
        return float(fit + self.a * labels + self.b * smooth + self.c * lengths.sum())

    @cached_property
    def _system(self) -> Any:
        identity = scipy.sparse.eye_array(self.L.shape[0], format="csc")
        return scipy.sparse.linalg.splu(((1 + self.a) * identity + self.b * self.L).tocsc())

    def latent(self, T: Array, B: Array) -> Array:
        """Return the best V."""
        return self._system.solve(self.rows.left.Xc @ B + self.a * (self.Y @ T.T))

    def loadings(self, V: Array) -> Array:
        """Return the best T."""
        left, _, right = dense.svd((self.Y.T @ V).T)
        return left @ right

    def weights(self, V: Array, lengths: Array) -> Array:
        """Return a better B than one whose rows have these lengths.

        With R = diag(lengths) the ridge is R^(1/2) (R^(1/2) Xc'Xc R^(1/2) + c/2 I)^-1 R^(1/2) Xc'V,
        or R Xc'(Xc R Xc' + c/2 I)^-1 V: neither divides by a length that has become 0.
        """
        kept = np.flatnonzero(lengths > _SHORT * lengths.max(initial=0.0))
        r, found = lengths[kept], np.zeros((lengths.size, V.shape[1]))
        if kept.size > V.shape[0]:
            kernel = self._kernel(kept, r)
            kernel[np.diag_indices_from(kernel)] += self.c / 2
            found[kept] = r[:, None] * (self.rows.left.Xc.T @ dense.solve(kernel, V))[kept]
        elif kept.size:
            root = np.sqrt(r)
            gram = root[:, None] * self._gram[np.ix_(kept, kept)] * root
            gram[np.diag_indices_from(gram)] += self.c / 2
            right = root[:, None] * (self.rows.left.Xc.T @ V)[kept]
            found[kept] = root[:, None] * dense.solve(gram, right)
        return found

    @cached_property
    def _gram(self) -> Array:
        """Xc'Xc."""
        nothing = scipy.sparse.csr_array((self.rows.left.shape[0], 0))
        return Moments.from_arrays(self.rows.left.rows, nothing).left_left

    def _kernel(self, kept: NDArray[np.intp], r: Array) -> Array:
        """Return ``Xc R Xc'`` of some columns; sparse ones are centred afterwards."""
        X, mean = self.rows.left.rows[:, kept], self.rows.mean_left[kept]
        if not scipy.sparse.issparse(X):
            X = X - mean
            return (X * r) @ X.T
        kernel = (X.multiply(r).tocsr() @ X.T).toarray()
        shift = X @ (r * mean)
        return kernel - shift[:, None] - shift + mean @ (r * mean)


def alternated(problem: SelectionProblem, T: Array, limits: MIFS) -> tuple[Array, Array]:
    """Return B and the path of the objective."""
    n_features = problem.rows.n_left
    V = problem.latent(T, np.zeros((n_features, T.shape[0])))
    T = problem.loadings(V)
    B = problem.weights(V, np.ones(n_features))  # all features alike: a first ridge
    path = [problem.objective(V, T, B)]
    for _ in range(limits.max_iter):
        V = problem.latent(T, B)
        T = problem.loadings(V)
        B = problem.weights(V, np.linalg.norm(B, axis=1))
        path.append(problem.objective(V, T, B))
        if path[-2] - path[-1] <= limits.tol * path[-1]:
            break
    return B, np.array(path)

"""SLRM: linear regression of all labels with a low rank, smooth on a graph of the rows.

minimise  1/2 ||Yc - Xc B||^2 + alpha ||B||_* + smoothness tr(B'X'L X B)

X (N, D) features, Y labels of those rows whose labels are known, Xc and Yc centred on these,
||B||_* the sum of the singular values of B (D, M), L = D - W the Laplacian of a graph of all rows.

ADMM splits B = Z: with A = Xc'Xc + 2 smoothness X'LX, decomposed once, and a step rho,

    B = (A + rho I)^-1 (Xc'Yc + rho (Z - U)),   Z = soft threshold of the singular values of B + U
    at alpha / rho,   U += B - Z.

B has nothing outside the space that the rows span, so that where there are fewer rows than features
everything is done in coordinates of that space, in which singular values are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Choice, Constraint, Integer, Nothing, Numbers, Real, Seed
from compactlearn.core._targets import check_labels
from compactlearn.core._validation import check_features
from compactlearn.core._warn import warn_user
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._eigen import all_eigenpairs, numerical_rank
from compactlearn.related._neighbours import RowNeighbours, RowProducts, affinities, laplacian
from compactlearn.related._scored import FactoredClassifier

Array = NDArray[np.float64]


class SLRM(FactoredClassifier):
    """Semi-supervised low-rank mapping: squares, a nuclear norm, and smoothness on a graph.

    The rank is found, not given: singular values of the coefficients are shrunk by ``alpha`` until
    many are zero. Rows without any known label (all NaN) take part in the graph alone.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Weight of the nuclear norm.
    smoothness : float >= 0, default=0.01
        Weight of the differences between the scores of neighbours; 0 needs no graph.
    n_neighbors : int, default=5
        Two rows are neighbours where one is among so many nearest of the other; at most N - 1.
    width : float, "auto" or None, default="auto"
        Neighbours have the weight exp(-distance^2 / width); "auto" is the mean squared distance of
        neighbours, and None gives all of them the weight 1.
    max_iter : int, default=2000
        Steps of ADMM.
    tol : float, default=1e-7
        Stop when B and Z, and Z and the Z before, differ by less than this, relative to them.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its score is strictly above.
    random_state : int, RandomState, Generator or None, default=None
        Nothing is drawn; here so that all classifiers can be given one.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, rank_)
        Left singular vectors of the coefficients.
    decoder_ : ndarray of shape (rank_, n_labels)
        Singular values times right singular vectors.
    intercept_ : ndarray of shape (n_labels,)
    rank_, n_iter_ : int
    objective_ : float
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    The authors' exact terms are not in what we have of the paper: the three terms are as it
    describes them, the intercept and the graph's defaults are ours. The coefficients are dense
    while they are sought: (min(N, D), M) numbers, and one singular value decomposition a step.

    References
    ----------
    L. Jing, L. Yang, J. Yu, M. K. Ng. Semi-supervised low-rank mapping learning for multi-label
    classification. CVPR 2015, pp. 1483-1491.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import SLRM
    >>> data = load("emotions")
    >>> model = SLRM(alpha=50.0).fit(data.X, data.Y)
    >>> model.decoder_.shape == (model.rank_, 6)
    True
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "alpha": (Real(0),),
        "smoothness": (Real(0),),
        "n_neighbors": (Integer(1),),
        "width": (Real(0, open_low=True), Choice("auto"), Nothing()),
        "max_iter": (Integer(1),),
        "tol": (Real(0),),
        "threshold": (Real(), Numbers()),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        smoothness: float = 0.01,
        n_neighbors: int = 5,
        width: float | str | None = "auto",
        max_iter: int = 2000,
        tol: float = 1e-7,
        threshold: Any = 0.5,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.width = width
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _checked(self, X: Any, y: Any, **given: Any) -> TrainingData:
        """Return all rows: those without a known label take part in the graph."""
        X = check_features(self, X, reset=True).astype(np.float64, copy=False)
        targets = check_labels(y, X.shape[0], owner="SLRM.fit", features=X, **given)
        return TrainingData(X, targets, None, None)

    def _learn(self, data: TrainingData) -> None:
        X, Y = data.X, data.targets.matrix.astype(np.float64)
        known = _known_rows(data.targets.unknown, Y.shape)
        problem, span, mean_left, mean_right = self._problem(X, Y, known)
        found = minimised(problem, self.max_iter, self.tol)
        if not found.settled:
            warn_user(
                f"SLRM stopped after max_iter={self.max_iter} steps of ADMM with its two copies of "
                f"the coefficients still further apart than tol={self.tol:g} (relative); raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        self.projection_ = found.left if span is None else span @ found.left
        self.decoder_ = found.right
        self.intercept_ = mean_right - (mean_left @ self.projection_) @ self.decoder_
        self.rank_, self.n_iter_ = found.right.shape[0], found.n_iter
        self.objective_ = problem.objective(found)

    def _problem(
        self, X: Any, Y: Any, known: Any
    ) -> tuple[NuclearProblem, Array | None, Array, Array]:
        """In coordinates of the rows' span where these are fewer; and what the intercept needs."""
        Y = Y[known]
        mean_left, mean_right = (np.asarray(M.mean(axis=0)).ravel() for M in (X[known], Y))
        span = None if X.shape[1] <= X.shape[0] else _span(X)
        Z = X if span is None else X @ span
        mean = mean_left if span is None else mean_left @ span
        own = Z[known]
        count = own.shape[0]
        gram = _gram(own.T) - count * np.outer(mean, mean)
        cross = _dense((Y.T @ own).T) - count * np.outer(mean, mean_right)
        if self.smoothness > 0:
            products = RowProducts.of_rows(X)
            near = RowNeighbours.of(products, self.n_neighbors)
            L = laplacian(affinities(near, self.width))[0]
            gram = gram + 2 * self.smoothness * _dense(Z.T @ (L @ Z))
        energy = float(Y.sum() - count * mean_right @ mean_right)
        problem = NuclearProblem((gram + gram.T) / 2, cross, energy, float(self.alpha))
        return problem, span, mean_left, mean_right


@dataclass(frozen=True)
class NuclearProblem:
    """``1/2 tr B'AB - tr B'C + energy/2 + alpha ||B||_*``."""

    A: Array  # (r, r)
    C: Array  # (r, M)
    energy: float
    alpha: float

    def objective(self, found: Found) -> float:
        B = found.left @ found.right
        smooth = 0.5 * np.vdot(B, self.A @ B) - np.vdot(B, self.C) + 0.5 * self.energy
        return float(smooth + self.alpha * dense.svd(found.right)[1].sum())


@dataclass(frozen=True)
class Found:
    """``B = left right``, the first with orthonormal columns."""

    left: Array
    right: Array
    n_iter: int
    settled: bool


def minimised(problem: NuclearProblem, max_iter: int, tol: float) -> Found:
    """ADMM; its step follows the two residuals, which costs nothing once A is decomposed."""
    values, E = all_eigenpairs(problem.A)
    values = np.maximum(values, 0.0)
    C = E.T @ problem.C  # in the eigenvectors' coordinates, in which singular values are the same
    Z, U = np.zeros_like(C), np.zeros_like(C)
    rho = float(values.mean()) or 1.0
    left, right = C[:, :0], C[:0]
    for step in range(1, max_iter + 1):
        B = (C + rho * (Z - U)) / (values + rho)[:, None]
        before = Z
        left, right = shrunk(B + U, problem.alpha / rho)
        Z = left @ right
        U = U + B - Z
        primal = float(np.linalg.norm(B - Z))
        dual = float(np.linalg.norm(Z - before))
        size = max(float(np.linalg.norm(B)), float(np.linalg.norm(Z)))
        pressure = float(np.linalg.norm(U))
        if primal <= tol * size and dual <= tol * max(pressure, size):
            return Found(E @ left, right, step, settled=True)
        if primal > 10 * dual:
            rho, U = 2 * rho, U / 2
        elif dual > 10 * primal:
            rho, U = rho / 2, U * 2
    return Found(E @ left, right, max_iter, settled=False)


def shrunk(B: Array, by: float) -> tuple[Array, Array]:
    """Singular values less ``by``, where that leaves any: left vectors, and the rest."""
    left, singular, right = dense.svd(B)
    rank = int(np.count_nonzero(singular > by))
    return left[:, :rank], (singular[:rank] - by)[:, None] * right[:rank]


def _known_rows(unknown: Any, shape: tuple[int, int]) -> Any:
    if unknown is None:
        return np.arange(shape[0])
    missing = np.asarray(unknown.sum(axis=1)).ravel()
    partly = (missing > 0) & (missing < shape[1])
    if partly.any():
        raise ValueError(
            "SLRM takes rows whose labels are all known or all unknown, and in "
            f"{partly.sum()} rows some are known and some are not; fill these in, or use LEML, "
            "which leaves out single labels."
        )
    known = np.flatnonzero(missing == 0)
    if not known.size:
        raise ValueError("SLRM needs rows with known labels, and none has any; add some.")
    return known


def _span(X: Any) -> Array:
    """An orthonormal basis (D, r) of what the rows span, from their inner products."""
    gram = _gram(X)
    squares, vectors = all_eigenpairs(gram)
    rank = numerical_rank(squares, squares.size)
    return dense.qr(X.T @ (vectors[:, :rank] / np.sqrt(squares[:rank])))[0]


def _gram(rows: Any) -> Array:
    """The inner products of rows, as a dense matrix."""
    return (rows @ rows.T).toarray() if scipy.sparse.issparse(rows) else dense.self_product(rows)


def _dense(matrix: Any) -> Array:
    return matrix.toarray() if scipy.sparse.issparse(matrix) else matrix

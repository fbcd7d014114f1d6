"""LPP and NPE: directions that keep together rows that are near each other.

    LPP    minimise  tr P'X'LX P                with  P'X'DX P = N I_d,    L = D - W
    NPE    minimise  tr P'X'(I - R)'(I - R)X P  with  P'Xc'Xc P = N I_d

X (N, D) features, Xc their rows less a mean, P (D, d) projection; W weights of neighbours, D their
sums; R (N, N) has in row i the weights, of sum 1, by which the nearest rows reconstruct row i best.
Both are solved as

    maximise  tr P'(B - Xc'L Xc)P   with  P'(B + ridge I)P = N I_d

with a sparse L of order N, L 1 = 0, and a scatter B of the features. With a ridge, this is the form
of public programs (MLC_toolbox), in which directions without variance are not mistaken for smooth
ones. Where there are fewer features than rows, Xc'LXc is formed by sparse products; elsewhere
(kernels too) rows are replaced by their coordinates in the space that they span.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Integer, Nothing, Real
from compactlearn.embeddings._base import Traits
from compactlearn.linalg._eigen import all_eigenpairs, numerical_rank
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.related._neighbours import (
    RowNeighbours,
    RowProducts,
    affinities,
    laplacian,
    reconstruction,
    unweighted_rows,
)
from compactlearn.related._projected import SCALED, ScaledDirections, all_directions

Array = NDArray[np.float64]

NEAR: dict[str, tuple[Constraint, ...]] = {**SCALED, "n_neighbors": (Integer(1),)}


@dataclass(frozen=True)
class Smoothness:
    """L, and the weights of the rows in the scatter."""

    matrix: Any  # (N, N) sparse
    weights: Array  # (N,)


class NearRows(ScaledDirections):
    """Base of the two; a graph needs rows, so sums of rows are not enough."""

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = NEAR

    n_neighbors: Any

    @abstractmethod
    def _smoothness(self, products: RowProducts, near: RowNeighbours) -> Smoothness:
        """Return L and the weights of rows, from their nearest."""

    @property
    def traits(self) -> Traits:
        shares = self.ridge == "shared"
        return Traits(solver="krylov", shares_penalty=shares, needs_rows=True)

    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        rows = unweighted_rows(pair, type(self).__name__)
        products = RowProducts.of_pair(rows)
        smooth = self._smoothness(products, RowNeighbours.of(products, self.n_neighbors))
        E, scatter, rough = (
            _in_features(rows, smooth) if rows.left.narrow else _in_span(rows, smooth)
        )
        P, values = _leading(scatter - rough, scatter, ridge, d)
        return P if E is None else E @ P, values


def _in_features(rows: RowsPair, smooth: Smoothness) -> tuple[None, Array, Array]:
    """Return the scatter and Xc'LXc of order D; no mean enters the latter, as L1 = 0."""
    X = rows.left.rows
    if not scipy.sparse.issparse(X):
        X = X - rows.mean_left
    nothing = scipy.sparse.csr_array((X.shape[0], 0))
    scatter = Moments.from_arrays(X, nothing, smooth.weights).left_left
    rough = X.T @ (smooth.matrix @ X)
    return None, scatter, rough.toarray() if scipy.sparse.issparse(rough) else rough


def _in_span(rows: RowsPair, smooth: Smoothness) -> tuple[Array, Array, Array]:
    """Return directions E of all that rows vary in, and both matrices in their coordinates."""
    E, _ = all_directions(rows)
    T = rows.left.Xc @ E
    rough = T.T @ (smooth.matrix @ T)
    T = T - smooth.weights @ T / smooth.weights.sum()
    return E, T.T @ (smooth.weights[:, None] * T), rough


def _leading(A: Array, B: Array, ridge: float, d: int) -> tuple[Array, Array]:
    """Return leading generalised eigenvectors of (A, B + ridge I), where A need not be definite."""
    squares, F = all_eigenpairs((B + B.T) / 2 + ridge * np.eye(B.shape[0]))
    rank = numerical_rank(squares, squares.size)
    whitening = F[:, :rank] / np.sqrt(squares[:rank])
    turned = whitening.T @ A @ whitening
    values, Z = all_eigenpairs((turned + turned.T) / 2)
    return whitening @ Z[:, :d], values[:d]


class LPP(NearRows):
    """Locality preserving projections: what lies together in feature space stays together.

    The labels are not looked at. Good where rows lie near a curved surface, and as a first step
    before a method that does look at them.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). No more than the rank of X exist.
    n_neighbors : int, default=5
        Two rows are neighbours where one is among so many nearest of the other; at most N - 1.
    width : float, "auto" or None, default="auto"
        Neighbours have the weight exp(-distance^2 / width); "auto" is the mean squared distance of
        neighbours, and None gives all of them the weight 1. Where all weights would be 0 in double
        precision, as with many features and few rows, the largest is made 1.
    ridge : float or "shared", default=1.0
        Added to the features' scatter; "shared" is the ``alpha`` of the classifier around it.
    unit_columns : bool, default=False
        Whether columns of P are made of unit length, as public programs do.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
    eigenvalues_ : ndarray
        Those of ``P'X'WXP`` against ``P'(X'DX + ridge I)P``, largest first: 1 less what is
        minimised, where ``ridge`` is 0.
    objective_ : float
        Their sum.
    ridge_ : float
        The penalty that was used.
    decoder_ : sparse identity, offset_ : zeros, codes_ : the labels, or None inside a classifier
    objective_path_, n_iter_, n_feature_components_, n_label_components_, solver_, \
n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    All pairs of rows are compared once (N^2 D operations), and a matrix of the order of the smaller
    of N and D is decomposed. Fits from sums or blocks of rows are refused, and so are sample
    weights. Public programs (ML-FSDR, MLC_toolbox) have ``width=1``, ``unit_columns=True``; the
    latter does not centre. The heat kernel's distances are squared here and there.

    References
    ----------
    X. He, P. Niyogi. Locality preserving projections. Advances in Neural Information Processing
    Systems 16, 153-160, 2003.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import LPP
    >>> data = load("emotions")
    >>> LPP(3).fit(data.X, data.Y).transform(data.X).shape
    (593, 3)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **NEAR,
        "width": (Real(0, open_low=True), Choice("auto"), Nothing()),
    }

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        n_neighbors: int = 5,
        width: float | str | None = "auto",
        ridge: float | str = 1.0,
        unit_columns: bool = False,
    ) -> None:
        super().__init__(n_feature_components, ridge, unit_columns)
        self.n_neighbors = n_neighbors
        self.width = width

    def _smoothness(self, products: RowProducts, near: RowNeighbours) -> Smoothness:
        return Smoothness(*laplacian(affinities(near, self.width)))


class NPE(NearRows):
    """Neighbourhood preserving embedding: locally linear embedding by a linear projection.

    The labels are not looked at. As :class:`LPP`, with weights that are fitted to the rows and need
    no width.

    Parameters
    ----------
    n_feature_components, ridge, unit_columns
        As in :class:`LPP`.
    n_neighbors : int, default=5
        How many nearest rows reconstruct a row; at most N - 1.

    Attributes
    ----------
    eigenvalues_ : ndarray
        1 less what is minimised, where ``ridge`` is 0; largest first.
    projection_, objective_, ridge_ and others
        As in :class:`LPP`.

    Notes
    -----
    A thousandth of its trace is added to the Gram matrix of a row's neighbours, as in
    scikit-learn's ``LocallyLinearEmbedding``; MLC_toolbox adds rounding, or takes equal weights
    where that is singular, and has ``unit_columns=True``. Costs and refusals are those of
    :class:`LPP`.

    References
    ----------
    X. He, D. Cai, S. Yan, H.-J. Zhang. Neighborhood preserving embedding. ICCV 2005, vol. 2,
    pp. 1208-1213.
    """

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        n_neighbors: int = 5,
        ridge: float | str = 1.0,
        unit_columns: bool = False,
    ) -> None:
        super().__init__(n_feature_components, ridge, unit_columns)
        self.n_neighbors = n_neighbors

    def _smoothness(self, products: RowProducts, near: RowNeighbours) -> Smoothness:
        rest = scipy.sparse.eye_array(products.count, format="csr") - reconstruction(products, near)
        return Smoothness((rest.T @ rest).tocsr(), np.ones(products.count))

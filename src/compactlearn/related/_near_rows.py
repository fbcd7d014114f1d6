"""Directions that keep together rows that are near each other: what LPP and NPE share.

maximise  tr P'(B - Xc'L Xc)P   with  P'(B + ridge I)P = N I_d

X (N, D) features, Xc their rows less a mean, L a sparse matrix of order N with L 1 = 0 that says
how far projected rows are from their neighbours, B a scatter of the features, P (D, d) projection.
Without ridge that is the usual "minimise tr P'Xc'LXcP"; with it, this is the form of public
programs (MLC_toolbox), in which directions without variance are not mistaken for smooth ones.

Where there are fewer features than rows, Xc'LXc is formed by sparse products; elsewhere (kernels
too) rows are replaced by their coordinates in the space that they span.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Integer
from compactlearn.embeddings._base import Traits
from compactlearn.linalg._eigen import all_eigenpairs, numerical_rank
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rowwise_pair import RowwisePair
from compactlearn.related._neighbours import Neighbours, RowProducts
from compactlearn.related._projected import SCALED, ScaledDirections, all_directions

Array = NDArray[np.float64]

#: Constraints of the parameters of both; there is one way to hold rows.
NEAR: dict[str, tuple[Constraint, ...]] = {
    **SCALED,
    "n_neighbors": (Integer(1),),
    "solver": (Choice("auto", "krylov"),),
}


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
    def _smoothness(self, products: RowProducts, near: Neighbours) -> Smoothness:
        """L and the weights of rows, from their nearest."""

    @property
    def traits(self) -> Traits:
        shares = self.ridge == "shared"
        return Traits(regime="krylov", shares_penalty=shares, needs_rows=True)

    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        rows = self._rows(pair)
        products = RowProducts.of_pair(rows)
        smooth = self._smoothness(products, Neighbours.of(products, self.n_neighbors))
        E, scatter, rough = _in_features(rows, smooth) if rows.narrow else _in_span(rows, smooth)
        P, values = _leading(scatter - rough, scatter, ridge, d)
        return P if E is None else E @ P, values

    def _rows(self, pair: Pair) -> RowwisePair:
        assert isinstance(pair, RowwisePair)
        if pair.weights is not None:
            raise ValueError(
                f"{type(self).__name__} takes no sample_weight: a graph of nearest rows does not "
                "say what a row that counts twice is; leave it out, or repeat rows."
            )
        return pair


def _in_features(rows: RowwisePair, smooth: Smoothness) -> tuple[None, Array, Array]:
    """The scatter and Xc'LXc of order D; no mean enters the latter, as L1 = 0."""
    X = rows.left
    if not scipy.sparse.issparse(X):
        X = X - rows.mean_left
    nothing = scipy.sparse.csr_array((X.shape[0], 0))
    scatter = Moments.from_arrays(X, nothing, smooth.weights).left_left
    rough = X.T @ (smooth.matrix @ X)
    return None, scatter, rough.toarray() if scipy.sparse.issparse(rough) else rough


def _in_span(rows: RowwisePair, smooth: Smoothness) -> tuple[Array, Array, Array]:
    """Directions E of all that rows vary in, and both matrices in their coordinates."""
    E, _ = all_directions(rows)
    T = rows.Xc @ E
    rough = T.T @ (smooth.matrix @ T)
    T = T - smooth.weights @ T / smooth.weights.sum()
    return E, T.T @ (smooth.weights[:, None] * T), rough


def _leading(A: Array, B: Array, ridge: float, d: int) -> tuple[Array, Array]:
    """Leading generalised eigenvectors of (A, B + ridge I), where A need not be definite."""
    squares, F = all_eigenpairs((B + B.T) / 2 + ridge * np.eye(B.shape[0]))
    rank = numerical_rank(squares, squares.size)
    whitening = F[:, :rank] / np.sqrt(squares[:rank])
    turned = whitening.T @ A @ whitening
    values, Z = all_eigenpairs((turned + turned.T) / 2)
    return whitening @ Z[:, :d], values[:d]

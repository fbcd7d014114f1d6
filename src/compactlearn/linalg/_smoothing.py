"""Smoothing over the columns of a block by a graph of them: a root of ``(I + weight L)^-1``.

L is the graph's Laplacian, the degrees on a diagonal less the weights of the edges, so that
``tr W L W' = 1/2 sum_ij a_ij |w_i - w_j|^2`` for columns w of W. The matrix I + weight L is sparse
and positive definite, and is factored once; its inverse, which is dense, is never formed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import splu, spsolve_triangular

from compactlearn.core._devices import host
from compactlearn.linalg._arrays import beside
from compactlearn.linalg._operators import Operator

Array = NDArray[np.float64]


def laplacian(graph: Any) -> Any:
    """Degrees on a diagonal less the weights; what a graph has on its own diagonal cancels.

    >>> laplacian(scipy.sparse.csr_array([[0.0, 2.0], [2.0, 0.0]])).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return scipy.sparse.csr_array(scipy.sparse.diags_array(graph.sum(axis=0)) - graph)


class Smoothing(Operator):
    """R (M, M) with ``R R' = S = (I + weight L)^-1``, as products.

    A factorisation ``K = I + weight L = Q' T D T' Q`` with a permutation Q, a unit lower triangle T
    and a positive diagonal D gives ``R = Q' T^-T D^(-1/2)``.

    >>> graph = scipy.sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    >>> Smoothing(graph, 1.0).smooth(np.eye(2)).round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """

    def __init__(self, graph: Any, weight: float) -> None:
        self.shape, self.graph, self.weight = graph.shape, graph, weight
        K = scipy.sparse.eye_array(graph.shape[0]) + weight * laplacian(graph)
        # Symmetric, diagonally dominant: no pivoting, so that rows and columns change places alike.
        self._factors = splu(
            K.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        self._roots = np.sqrt(self._factors.U.diagonal())[:, None]

    @cached_property
    def _triangles(self) -> tuple[Any, Any]:
        lower = self._factors.L.tocsc()
        return lower, lower.T.tocsc()

    def __eq__(self, other: object) -> bool:
        """Whether it smooths alike: several who ask for the same codes each make their own."""
        if not isinstance(other, Smoothing) or self.shape != other.shape:
            return NotImplemented if not isinstance(other, Smoothing) else False
        return self.weight == other.weight and not (self.graph != other.graph).nnz

    __hash__ = None  # type: ignore[assignment]

    def smooth(self, block: Any) -> Any:
        """``S block``: every column replaced by its weighted mean over the graph."""
        return beside(self._factors.solve(np.ascontiguousarray(host(block))), block)

    def _multiply(self, block: Any) -> Any:
        scaled = host(block) / self._roots
        found = spsolve_triangular(self._triangles[1], scaled, lower=False, unit_diagonal=True)
        return beside(found[self._factors.perm_c], block)

    def _multiply_transposed(self, block: Any) -> Any:
        moved = np.empty(block.shape)
        moved[self._factors.perm_c] = host(block)
        found = spsolve_triangular(self._triangles[0], moved, lower=True, unit_diagonal=True)
        return beside(found / self._roots, block)

    def undo_transposed(self, block: Any) -> Any:
        """``R'^-1 block``, what R' made it of."""
        return beside(
            (self._triangles[0] @ (self._roots * host(block)))[self._factors.perm_c], block
        )

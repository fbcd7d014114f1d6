"""Hat matrices of ridge regressions on the left block, and the codes that follow them.

Where the rows are gone, a hat matrix is known by a factor of the form ``Xc A + 1 a'``; where they
are at hand it is an array of order N, or multiplies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._devices import is_array
from compactlearn.linalg._arrays import diagonal_matrix, zeros_beside
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._eigen import krylov_pays, leading_eigenpairs
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._operators import Gram, Operator, Plain, Sum
from compactlearn.linalg._pairs import Hat
from compactlearn.linalg._row_codes import codes_of_eigenvectors, row_eigenpairs
from compactlearn.linalg._rowwise_pair import RowwisePair

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HatFactor(Hat):
    """A hat matrix as ``ZZ'``, where ``Z = Xc columns + 1 constants'`` has orthogonal columns."""

    moments: Moments
    columns: Array  # (n_left, r)
    constants: Array  # (r,)
    squares: Array  # (r,) squared norms of Z's columns: the eigenvalues of the hat matrix

    @property
    def trace(self) -> float:  # type: ignore[override]
        return float(self.squares.sum())

    def codes(self, size: int, balance: float) -> Codes:
        moments, count, ybar = self.moments, self.moments.count, self.moments.mean_right
        Sxx, Sxy, Syy = moments.left_left, moments.left_right, moments.right_right
        root = float(np.sqrt(balance))
        inner, order = self.squares.size, self.squares.size + ybar.size
        G = zeros_beside((order, order), Sxx)
        G[:inner, :inner] = diagonal_matrix(balance * self.squares)
        G[:inner, inner:] = root * (self.columns.T @ Sxy + count * np.outer(self.constants, ybar))
        G[inner:, :inner] = G[:inner, inner:].T
        G[inner:, inner:] = Syy
        solution = leading_eigenpairs(G.T, size, rank_size=moments.mean.size, overwrite=True)
        del G
        q = solution.vectors / np.sqrt(solution.values)
        a = root * (self.columns @ q[:inner])
        b = q[inner:]
        constant = root * (self.constants @ q[:inner])
        return Codes(
            left=Sxx @ a + Sxy @ b,
            right=Sxy.T @ a + Syy @ b + count * np.outer(ybar, constant),
            total=count * (ybar @ b + constant),
            status=solution.status,
            left_weights=a,
            right_weights=b,
            constant=constant,
            values=solution.values,
        ).oriented()

    def energies(self, codes: Codes) -> Array:
        ZV = self.columns.T @ codes.left + np.outer(self.constants, codes.total)
        return np.sum(ZV**2, axis=0)


@dataclass(frozen=True)
class HatMatrix(Hat):
    """A hat matrix of order N: an array, or something that multiplies."""

    pair: RowwisePair
    matrix: Any
    trace: float  # type: ignore[override]

    @property
    def operator(self) -> Operator:
        return Plain(self.matrix) if is_array(self.matrix) else self.matrix

    def codes(self, size: int, balance: float) -> Codes:
        pair, matrix, Y = self.pair, self.matrix, self.pair.Y
        if is_array(matrix) and not krylov_pays(len(matrix), size, is_array=True):
            A = balance * matrix
            A += Y @ (Y.T @ np.eye(A.shape[0]))
            A = (A + A.T) / 2
            solution = row_eigenpairs(pair, A, size, overwrite=True)
        else:
            both = Sum(((balance, self.operator), (1.0, Gram(Y.T))))
            solution = row_eigenpairs(pair, both, size)
        return codes_of_eigenvectors(pair, solution)

    def energies(self, codes: Codes) -> Array:
        V = self.pair.weighted(self.pair.code_rows(codes))
        return np.sum(V * (self.matrix @ V), axis=0)

"""The moments regime: the rows are gone, everything follows from first and second moments."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg.eigen import leading_eigenpairs
from compactlearn.linalg.moments import Moments
from compactlearn.linalg.pairs import Codes, Pair
from compactlearn.linalg.ridge import solve_ridge

Array = NDArray[np.float64]


class MomentsPair(Pair):
    """Everything from first and second moments."""

    regime = "moments"

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.count = moments.count
        self.n_left, self.n_right = moments.n_left, moments.n_right
        self.mean_left, self.mean_right = moments.mean_left, moments.mean_right

    @cached_property
    def _right_right(self) -> Array:
        return self.moments.right_right

    @cached_property
    def left_energy(self) -> float:  # type: ignore[override]
        return float(np.trace(self.moments.left_left))

    @cached_property
    def right_energy(self) -> float:  # type: ignore[override]
        return float(np.trace(self._right_right))

    @property
    def right_gram_energy(self) -> float:
        return float(np.sum(self._right_right**2))

    def leading_codes(self, size: int, balance: float, projection: Array | None = None) -> Codes:
        Sxx, Sxy, Syy = self.moments.left_left, self.moments.left_right, self._right_right
        P, root = projection, float(np.sqrt(balance))
        inner = self.n_left if P is None else P.shape[1]
        G = np.empty((inner + self.n_right, inner + self.n_right))
        G[:inner, :inner] = Sxx if P is None else P.T @ (Sxx @ P)
        G[:inner, :inner] *= balance
        G[:inner, inner:] = Sxy if P is None else P.T @ Sxy
        G[:inner, inner:] *= root
        G[inner:, :inner] = G[:inner, inner:].T
        G[inner:, inner:] = Syy
        # Transposed, a C-ordered symmetric matrix is the Fortran-ordered one LAPACK works in.
        solution = leading_eigenpairs(
            G.T, size, rank_size=self.n_left + self.n_right, overwrite=True
        )
        del G
        q = solution.vectors / np.sqrt(solution.values)
        a = root * q[:inner]
        if P is not None:
            a = P @ a
        b = q[inner:]
        return Codes(
            left=Sxx @ a + Sxy @ b,
            right=Sxy.T @ a + Syy @ b,
            total=self.count * (self.mean_right @ b),
            status=solution.status,
            left_weights=a,
            right_weights=b,
        ).oriented()

    def right_codes(self) -> Codes:
        return Codes(self.moments.left_right, None, self.count * self.mean_right)

    def projected_gram(self, projection: Array) -> Array:
        return projection.T @ (self.moments.left_left @ projection)

    def solve_unprojected(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        return solve_ridge(self.moments.left_left, codes.left, alpha), True

    def left_gram_product(self) -> Any:
        return self.moments.left_left

"""The moments route: the rows are gone, everything follows from first and second moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg import _eigen as eigen
from compactlearn.linalg._arrays import diagonal_matrix, zeros_on_device_of
from compactlearn.linalg._codes import Codes, offset_scale
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._graded import column_floor
from compactlearn.linalg._left import LeftBlock
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import GramSystem, LearnedPath

Array = NDArray[np.float64]


class MomentsPair(Pair):
    """Everything from first and second moments."""

    solver = "moments"

    def __init__(self, moments: Moments, *, given_left: int | None = None) -> None:
        self.moments, gram = moments, moments.left_left
        self.left = LeftBlock(moments.count, moments.mean_left, gram, np.diag(gram))
        if moments.rounding:
            self.left.rounding_scale = moments.rounding + self.left.energy
        self.n_right, self.mean_right = moments.n_right, moments.mean_right
        self.given_left = moments.n_left if given_left is None else given_left

    @cached_property
    def gram_system(self) -> GramSystem:
        """The system of a ridge on all of the left block."""
        mean, count = self.mean_left, self.count
        return GramSystem(self.left.gram, mean, count, column_floor(mean, count))

    @cached_property
    def _right_right(self) -> Array:
        return self.moments.right_right

    @cached_property
    def right_energy(self) -> float:  # type: ignore[override]
        return float(np.trace(self._right_right))

    @property
    def right_gram_energy(self) -> float:
        return float(np.sum(self._right_right**2))

    @property
    def cross_energy(self) -> float:
        return float(np.sum(self.moments.left_right**2))

    def leading_codes(
        self,
        size: int,
        balance: float,
        projection: Array | None = None,
        seed: int = 0,
    ) -> Codes:
        Sxx, Sxy, Syy = self.moments.left_left, self.moments.left_right, self._right_right
        P, root = projection, float(np.sqrt(balance))
        inner = self.n_left if P is None else P.shape[1]
        G = zeros_on_device_of((inner + self.n_right, inner + self.n_right), Sxx)
        G[:inner, :inner] = Sxx if P is None else P.T @ (Sxx @ P)
        G[:inner, :inner] *= balance
        G[:inner, inner:] = Sxy if P is None else P.T @ Sxy
        G[:inner, inner:] *= root
        G[inner:, :inner] = G[:inner, inner:].T
        G[inner:, inner:] = Syy
        # Transposed, a C-ordered symmetric matrix is the Fortran-ordered one LAPACK works in.
        order = self.n_left + self.n_right
        scale = offset_scale(balance * self.moments.rounding, order)
        solution = leading_eigenpairs(G.T, size, rank_size=order, scale=scale, overwrite=True)
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
            values=solution.values,
        ).oriented()

    def cross_range(self, size: int) -> tuple[Array, Array]:
        scale = 16 * eigen.EPS * self.left.rounding_scale * self.right_energy
        basis, squares = eigen.leading_range(self.moments.left_right, scale=scale)
        return basis[:, :size], squares[:size]

    def cross_gram(self) -> Array:
        return self_product(self.moments.left_right.T)

    def right_gram(self, *, centre: bool) -> Array:
        if not centre:
            return self._right_right
        return self.moments.scatter[self.n_left :, self.n_left :]

    def right_codes(self, *, dense: bool = True) -> Codes:
        return Codes(self.moments.left_right, None, self.count * self.mean_right)

    def codes_like(self, codes: Codes, mean: Array) -> Codes:
        """Codes that rows of this pair get as those of another, of that mean, got theirs."""
        Sxx, Sxy, ybar = self.moments.left_left, self.moments.left_right, self.mean_right
        a, b, constant = codes.left_weights, codes.right_weights, codes.constant
        if b is None:
            return self.right_codes()
        left, right, mean_code = Sxy @ b, self._right_right @ b, ybar @ b
        if constant is not None:
            mean_code = mean_code + constant
            right = right + self.count * np.outer(ybar, constant)
        if a is not None:
            shift = (self.mean_left - mean) @ a
            mean_code = mean_code + shift
            left = left + Sxx @ a
            right = right + Sxy.T @ a + self.count * np.outer(ybar, shift)
        return Codes(left, right, self.count * mean_code)

    def cross_times(self, weights: Array) -> Array:
        return self.moments.left_right @ weights


@dataclass(frozen=True)
class HatFactor:
    """A hat matrix as ``ZZ'``, where ``Z = Xc columns + 1 constants'`` has orthogonal columns."""

    moments: Moments
    columns: Array  # (n_left, r)
    constants: Array  # (r,)
    squares: Array  # (r,) squared norms of Z's columns: the eigenvalues of the hat matrix

    @property
    def trace(self) -> float:
        return float(self.squares.sum())

    def codes(self, size: int, balance: float) -> Codes:
        """Return the leading eigenvectors of ``balance Hat + YY'``."""
        moments, count, ybar = self.moments, self.moments.count, self.moments.mean_right
        Sxx, Sxy, Syy = moments.left_left, moments.left_right, moments.right_right
        root = float(np.sqrt(balance))
        inner, order = self.squares.size, self.squares.size + ybar.size
        G = zeros_on_device_of((order, order), Sxx)
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
        """Return ``v' Hat v`` of every code."""
        ZV = self.columns.T @ codes.left + np.outer(self.constants, codes.total)
        return np.sum(ZV**2, axis=0)


@dataclass(frozen=True)
class MomentsRidge:
    """Ridge regressions on all of the left block, from moments."""

    pair: MomentsPair

    def solve(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        """Return coefficients of V on the rows as they came, without the intercept, and whether
        the solver got there."""
        return self.pair.gram_system.solve(codes.left, alpha, bias, codes.total), True

    def directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        """Return ``(Xc'Xc + alpha I)^-1 Xc'V`` as directions, and whether the solver got there."""
        return self.solve(codes, alpha, "free")

    def path(self, codes: Codes) -> LearnedPath:
        """Return the ridge with a free intercept for every penalty."""
        return self.pair.gram_system.learned(codes.left)

    def hat(self, ridge: float, *, constant: bool = True) -> HatFactor:
        """Return the hat matrix of the centred rows, and of a free intercept if ``constant``."""
        moments = self.pair.moments
        root, squares = self.pair.gram_system.path.hat_root(ridge)
        if not constant:
            return HatFactor(moments, root, np.zeros(root.shape[1]), squares)
        columns = np.hstack([np.zeros((moments.n_left, 1)), root])
        constants = zeros_on_device_of((root.shape[1] + 1,), root)
        constants[0] = float(1.0 / np.sqrt(moments.count))
        return HatFactor(moments, columns, constants, np.append(1.0, squares))

    def hat_gram(self, ridge: float, *, centred: bool = True) -> Array:
        """Return ``Yc' Hat Yc`` of the centred rows, or ``Y' Hat Y`` of the rows as they are."""
        moments, Sxy = self.pair.moments, self.pair.moments.left_right
        if centred:
            S = Sxy.T @ self.pair.gram_system.solve(Sxy, ridge, "free", moments.mean_right)
            return (S + S.T) / 2
        root, _ = self.pair.gram_system.path_of(centred=False).hat_root(ridge)
        constant = moments.count * np.outer(moments.mean_left @ root, moments.mean_right)
        return self_product((root.T @ Sxy + constant).T)

"""The moments regime: the rows are gone, everything follows from first and second moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg import eigen
from compactlearn.linalg.dense import self_product
from compactlearn.linalg.eigen import leading_eigenpairs
from compactlearn.linalg.moments import Moments
from compactlearn.linalg.pairs import Codes, LearnedPath, Pair, offset_scale, recoded_energy
from compactlearn.linalg.ridge import (
    PenaltyPath,
    mean_share,
    ridge_path,
    solve_ridge,
    with_ones,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HatFactor:
    """A hat matrix as ``ZZ'``, where ``Z = Xc columns + 1 constants'`` has orthogonal columns."""

    columns: Array  # (n_left, r)
    constants: Array  # (r,)
    squares: Array  # (r,) squared norms of Z's columns: the eigenvalues of the hat matrix

    @property
    def trace(self) -> float:
        return float(self.squares.sum())


class MomentsPair(Pair):
    """Everything from first and second moments."""

    regime = "moments"

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.count = moments.count
        self.n_left, self.n_right = moments.n_left, moments.n_right
        self.given_left = self.n_left
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

    @property
    def cross_energy(self) -> float:
        return float(np.sum(self.moments.left_right**2))

    @property
    def rounding_scale(self) -> float:
        moments = self.moments
        return moments.rounding + self.left_energy if moments.rounding else 0.0

    @property
    def variances(self) -> Array:
        return np.diag(self.moments.left_left)

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
        scale = 16 * eigen.EPS * self.rounding_scale * self.right_energy
        basis, squares = eigen.leading_range(self.moments.left_right, scale=scale)
        return basis[:, :size], squares[:size]

    def cross_gram(self) -> Array:
        return self_product(self.moments.left_right.T)

    def right_gram(self, *, centre: bool) -> Array:
        if not centre:
            return self._right_right
        return self.moments.scatter[self.n_left :, self.n_left :]

    def _gram_with_mean(self, share: float) -> Array:
        if share == 0:
            return self.moments.left_left
        return self.moments.left_left + share * self.count * np.outer(
            self.mean_left, self.mean_left
        )

    def _floor_with_mean(self, convention: str) -> Array | float:
        """What rounding leaves of a column without variance, unless its mean takes part."""
        return self.floor if mean_share(convention, 0.0, self.count) == 0 else 0.0

    def hat(self, kind: str, ridge: float) -> HatFactor:
        mean, count = self.mean_left, self.count
        if kind in ("centred", "intercept"):
            path = self._left_path
        else:
            Z = self._gram_with_mean(1.0)
            if kind == "penalised":
                Z = with_ones(Z, mean, count)
            path = ridge_path(Z)
        root, squares = path.hat_root(ridge)
        if kind == "intercept":
            columns = np.hstack([np.zeros((self.n_left, 1)), root])
            constants = np.zeros(root.shape[1] + 1)
            constants[0] = 1.0 / np.sqrt(count)
            return HatFactor(columns, constants, np.append(1.0, squares))
        columns = root[1:] if kind == "penalised" else root
        constants = np.zeros(root.shape[1]) if kind == "centred" else mean @ columns
        if kind == "penalised":
            constants = constants + root[0]
        return HatFactor(columns, constants, squares)

    def hat_gram(self, kind: str, ridge: float) -> Array:
        Sxy = self.moments.left_right
        gram = self._gram_with_mean(mean_share(kind, ridge, self.count))
        S = Sxy.T @ solve_ridge(gram, Sxy, ridge, floor=self._floor_with_mean(kind))
        return (S + S.T) / 2

    def hat_codes(
        self, size: int, balance: float, hat: HatFactor, scale: float, shift: Array | None
    ) -> Codes:
        Sxx, Sxy, Syy = self.moments.left_left, self.moments.left_right, self._right_right
        terms = recoded_energy(self, scale, shift)
        shift = np.zeros(self.n_right) if shift is None else shift
        ybar, root = self.mean_right, float(np.sqrt(balance))
        T_mean = scale * ybar + shift
        inner = hat.squares.size
        G = np.zeros((inner + self.n_right, inner + self.n_right))
        G[np.arange(inner), np.arange(inner)] = balance * hat.squares
        G[:inner, inner:] = root * (
            scale * (hat.columns.T @ Sxy) + self.count * np.outer(hat.constants, T_mean)
        )
        G[inner:, :inner] = G[:inner, inner:].T
        G[inner:, inner:] = scale**2 * (
            Syy - self.count * np.outer(ybar, ybar)
        ) + self.count * np.outer(T_mean, T_mean)
        solution = leading_eigenpairs(
            G.T, size, rank_size=self.n_left + self.n_right, scale=terms, overwrite=True
        )
        del G
        q = solution.vectors / np.sqrt(solution.values)
        a = root * (hat.columns @ q[:inner])
        b = scale * q[inner:]
        constant = root * (hat.constants @ q[:inner]) + shift @ q[inner:]
        total = self.count * (ybar @ b + constant)
        return Codes(
            left=Sxx @ a + Sxy @ b,
            right=Sxy.T @ a + Syy @ b + self.count * np.outer(ybar, constant),
            total=total,
            status=solution.status,
            left_weights=a,
            right_weights=b,
            constant=constant,
            values=solution.values,
        ).oriented()

    def hat_energies(self, hat: HatFactor, codes: Codes) -> Array:
        ZV = hat.columns.T @ codes.left + np.outer(hat.constants, codes.total)
        return np.sum(ZV**2, axis=0)

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

    def _cross_times(self, weights: Array) -> Array:
        return self.moments.left_right @ weights

    def projected_gram(self, projection: Array) -> Array:
        return projection.T @ (self.moments.left_left @ projection)

    def gram_images(self, projection: Array) -> Array:
        return self.moments.left_left @ projection

    def ridge_directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        return solve_ridge(self.moments.left_left, codes.left, alpha, floor=self.floor), True

    def _solve_kept(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        share = mean_share(bias, alpha, self.count)
        cross = codes.left
        if share and bias != "target":
            cross = cross + share * np.outer(self.mean_left, codes.total)
        floor = self._floor_with_mean(bias)
        return solve_ridge(self._gram_with_mean(share), cross, alpha, floor=floor), True

    @cached_property
    def _left_path(self) -> PenaltyPath:
        """The path of Xc'Xc, shared by every balance, hat matrix and penalty."""
        return ridge_path(self.moments.left_left, floor=self.floor)

    def _kept_path(self, codes: Codes) -> LearnedPath:
        path = self._left_path
        inside = path.inside(codes.left)
        return LearnedPath(path, path.outside, inside, self.mean_left, codes.total / self.count)

    def principal_directions(
        self, size: int, avoid: Array, *, fill: bool = True
    ) -> tuple[Array, Array]:
        return self._principal_directions(self.moments.left_left, size, avoid, fill)

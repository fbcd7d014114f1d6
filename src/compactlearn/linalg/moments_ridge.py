"""Ridge regressions where the rows are gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compactlearn.linalg.codes import Codes
from compactlearn.linalg.gram_system import GramSystem
from compactlearn.linalg.hats import HatFactor
from compactlearn.linalg.moments import Moments
from compactlearn.linalg.pairs import KeptRidge
from compactlearn.linalg.ridge import LearnedPath

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MomentsRidge(KeptRidge):
    """Ridge regressions on all of the left block, from moments."""

    moments: Moments
    system: GramSystem

    def solve(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        total = None if bias == "target" else codes.total
        return self.system.solve(codes.left, alpha, bias, total), True

    def directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        return self.solve(codes, alpha, "free")

    def path(self, codes: Codes) -> LearnedPath:
        path, moments = self.system.path, self.moments
        inside = path.inside(codes.left)
        mean_code = codes.total / moments.count
        return LearnedPath(path, path.outside, inside, moments.mean_left, mean_code)

    def hat(self, kind: str, ridge: float) -> HatFactor:
        moments = self.moments
        root, squares = self.system.path_of(kind).hat_root(ridge)
        if kind == "intercept":
            columns = np.hstack([np.zeros((moments.n_left, 1)), root])
            constants = np.zeros(root.shape[1] + 1)
            constants[0] = 1.0 / np.sqrt(moments.count)
            return HatFactor(moments, columns, constants, np.append(1.0, squares))
        columns = root[1:] if kind == "penalised" else root
        constants = np.zeros(root.shape[1]) if kind == "centred" else moments.mean_left @ columns
        if kind == "penalised":
            constants = constants + root[0]
        return HatFactor(moments, columns, constants, squares)

    def hat_gram(self, kind: str, ridge: float) -> Array:
        Sxy = self.moments.left_right
        S = Sxy.T @ self.system.solve(Sxy, ridge, kind)
        return (S + S.T) / 2

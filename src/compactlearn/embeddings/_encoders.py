"""Base of methods with a linear encoder of the labels: V = (Y + 1 shift') O, decoder O'."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice
from compactlearn.embeddings._base import Embedded, Embedding, Plan, Traits, note_shortfall
from compactlearn.embeddings._components import label_count
from compactlearn.linalg._codes import Codes, peak_signs
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._routes import EXACT

Array = NDArray[np.float64]

ROUTES = (Choice("auto", *EXACT),)
OFFSETS = (Choice("mean", "none"),)


@dataclass(frozen=True)
class LabelProblem:
    """Eigenproblem whose leading eigenvectors are the directions of a method."""

    matrix: Any  # of order M, an array or an operator
    rank: int  # the largest number of directions
    shift: Array | None  # codes are (Y + 1 shift') O
    beta: float | None = None
    ridge: float | None = None


class Encoder(Embedding):
    """Base of the methods that keep the features and encode labels by orthonormal directions."""

    n_label_components: Any
    offset: Any
    solver: Any

    @property
    def traits(self) -> Traits:
        return Traits(solver=self.solver)

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=m, keeps_features=True, n_codes=m, problem="right")

    @abstractmethod
    def _matrix(self, pair: Pair) -> LabelProblem:
        """Return the problem of order M whose leading eigenvectors are the directions."""

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        problem = self._matrix(pair)
        solution = leading_eigenpairs(problem.matrix, min(m, problem.rank))
        O = solution.vectors * peak_signs(solution.vectors)
        codes = pair.combined_codes(O, problem.shift)
        codes = replace(codes, status=solution.status, values=solution.values)
        note_shortfall(self, m, codes, pair)
        return self._embedded(pair, codes, problem.beta, problem.ridge)

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        return self._embedded(pair, result.codes.leading(m), result.beta, result.ridge)

    def _embedded(
        self, pair: Pair, codes: Codes, beta: float | None, ridge: float | None
    ) -> Embedded:
        assert codes.right_weights is not None
        assert codes.values is not None
        return Embedded(
            codes=codes,
            projection=None,
            decoder=codes.right_weights.T,
            offset=_offset(pair, codes, self.offset),
            solver=f"closed-{pair.solver}",
            eigenvalues=codes.values,
            beta=beta,
            ridge=ridge,
            objective=float(codes.values.sum()),
        )


def _offset(pair: Pair, codes: Codes, kind: str) -> Array:
    """Return the offset of the scores: the labels' mean less that of the decoded codes, or 0."""
    if kind == "none":
        return np.zeros(pair.n_right)
    if codes.constant is not None:  # centred codes lack all of it
        return pair.mean_right
    assert codes.right_weights is not None
    return pair.mean_right - codes.right_weights @ (codes.total / pair.count)

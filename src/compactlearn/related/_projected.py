"""What the methods share that project the features and keep the labels as they are.

Their directions solve a generalised eigenproblem

    A p = w (B + ridge I) p,        B the scatter of the features,

and are nested: those of a smaller size are the leading ones of a larger. The learner's penalty
acts on the projected features, so their scale matters. Columns are scaled by P'(B + ridge I)P = N I
with N the number of rows (the sum of their weights), which makes the mean square of a projected
feature 1 where ridge is 0; or to unit length, as public programs do (ML-FSDR, MLC_toolbox).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Flag, Real
from compactlearn.embeddings._base import Embedded, Embedding, Head, Plan, Traits, shared_ridge
from compactlearn.embeddings._components import COUNTS, feature_count
from compactlearn.embeddings._encoders import ROUTES
from compactlearn.linalg._codes import Codes, peak_signs
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._operators import Plain, Sandwich
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rowwise_pair import RowwisePair

Array = NDArray[np.float64]

#: Constraints of the parameters that most of them have.
SIZED: dict[str, tuple[Constraint, ...]] = {"n_feature_components": COUNTS, "solver": ROUTES}
SCALED: dict[str, tuple[Constraint, ...]] = {
    **SIZED,
    "ridge": (Real(0), Choice("shared")),
    "unit_columns": (Flag(),),
}


class ProjectedFeatures(Embedding):
    """Base of the methods that only choose the directions of the features."""

    host_only: ClassVar[bool] = True
    n_feature_components: Any
    solver: Any

    @abstractmethod
    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        """Up to d directions, best first, and their eigenvalues.

        Parameters
        ----------
        pair : Pair
            The two blocks.
        d : int
            The number of directions.
        """

    def _feature_size(self, n_features: int, n_labels: int, given_features: int) -> int:
        return feature_count(self.n_feature_components, n_features, n_labels, given_features)

    @property
    def traits(self) -> Traits:
        return Traits(regime=self.solver)

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        d = self._feature_size(n_features, n_labels, given_features)
        return Plan(
            components=0,
            keeps_features=False,
            n_codes=n_labels,
            extra_directions=d,
            problem="left",
        )

    def solve(self, pair: Pair) -> Embedded:
        d = self._feature_size(pair.n_left, pair.n_right, pair.given_left)
        P, values = self.directions(pair, d)
        codes = pair.right_codes(dense=False)
        P = P * peak_signs(pair.inner(P, codes.left).T)
        if not P.shape[1]:  # no direction has any variance; the learner gets one all the same
            P = pair.some_direction()
        return Embedded(
            codes=codes,
            projection=P,
            decoder=None,
            offset=np.zeros(pair.n_right),
            solver=f"closed-{pair.regime}",
            eigenvalues=values,
            objective=float(values.sum()),
        )

    def unprojected(self, pair: Pair) -> Embedded:
        nothing = np.zeros(pair.n_right)
        return Embedded(pair.right_codes(), None, None, nothing, f"closed-{pair.regime}")

    def heads(
        self, pair: Pair, result: Embedded, m: int | None, sizes: Sequence[Any]
    ) -> list[Head | None]:
        where = (pair.n_left, pair.n_right, pair.given_left)
        counts = [own._feature_size(*where) for own in self._sized(sizes)]
        P = self.project(pair, result.codes, max(counts))
        return [Head(P[:, :d]) for d in counts]

    def project(self, pair: Pair, codes: Codes, d: int) -> Array:
        P = self.directions(pair, d)[0]
        return P if P.shape[1] else pair.some_direction()


class ScaledDirections(ProjectedFeatures):
    """Base of those that solve a generalised eigenproblem."""

    ridge: Any
    unit_columns: Any

    @abstractmethod
    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        """Up to d directions with P'(B + ridge I)P = I, best first, and their eigenvalues."""

    @property
    def traits(self) -> Traits:
        return Traits(regime=self.solver, shares_penalty=self.ridge == "shared")

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        d = self._feature_size(n_features, n_labels, given_features)
        # A matrix of order D or N is inverted or decomposed, as for a hat matrix.
        return Plan(components=d, keeps_features=False, n_codes=n_labels, problem="hat")

    def solve(self, pair: Pair) -> Embedded:
        return replace(super().solve(pair), ridge=shared_ridge(self.ridge))

    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        P, values = self._generalised(pair, d, shared_ridge(self.ridge))
        if self.unit_columns:
            return P / np.sqrt(np.diag(pair.inner(P, P))), values
        return P * float(np.sqrt(pair.count)), values


def ridge_directions(
    pair: Pair, d: int, ridge: float, root: Array | None = None
) -> tuple[Array, Array]:
    """Leading generalised eigenvectors of (Xc'T T'Xc, Xc'Xc + ridge I) with T = Yc root.

    With A = (Xc'Xc + ridge I)^-1 Xc'T the problem is that of T'Xc A, of order M, and P = A O
    w^(-1/2) are ridge coefficients of combined labels: every regime has them. P'(Xc'Xc + ridge I)P
    = I.
    """
    matrix = pair.ridge.hat_gram(ridge)
    if root is not None:
        known = isinstance(matrix, np.ndarray)
        matrix = root @ matrix @ root if known else Sandwich(Plain(root), matrix)
    found = leading_eigenpairs(matrix, min(d, pair.n_right))
    weights = found.vectors / np.sqrt(found.values)
    codes = pair.combined_codes(weights if root is None else root @ weights)
    return pair.ridge.directions(codes, ridge)[0], found.values


def all_directions(pair: Pair) -> tuple[Array, Array]:
    """Orthonormal directions that span whatever the features vary in, and their variances (sums of
    squares): the eigenvectors of the smaller of Xc'Xc and XcXc'."""
    if isinstance(pair, RowwisePair) and not pair.narrow:
        path = pair.spectrum
        s, U = path.values[: path.rank], path.vectors[:, : path.rank]
        return pair.Xc.T @ (U / np.sqrt(s)), s
    nothing = np.zeros((pair.n_left, 0))
    return pair.principal_directions(pair.n_left, nothing, fill=False)

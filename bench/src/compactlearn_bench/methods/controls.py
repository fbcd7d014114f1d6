"""Controls: what is left of compact learning when one of its parts is replaced by a simpler one.

X (N, D) features, Xc their centred rows, Y (N, M) labels, Yc the centred ones, P (D, d) orthonormal
projection, V (N, m) codes; the learner is the ridge of ``CompactClassifier`` with penalty alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._params import Constraint, Seed
from compactlearn.core._seeds import seeded
from compactlearn.embeddings import CMLL, CPLST, MDDM
from compactlearn.embeddings._base import Embedded, Head
from compactlearn.linalg._pairs import Pair
from compactlearn.related._projected import SIZED, ProjectedFeatures

__all__ = [
    "MDDMThenCodes",
    "RandomDirections",
    "one_vs_rest",
    "reduced_rank",
]

Array = NDArray[np.float64]


def reduced_rank(**params: Any) -> CompactClassifier:
    """Reduced-rank ridge: min ||Yc - Xc B||^2 + alpha ||B||^2 over B of rank m at most.

    Its solution truncates the ridge on all features, B = B_ridge O O', where O are the m leading
    eigenvectors of Yc'Xc (Xc'Xc + alpha I)^-1 Xc'Yc: the leading right singular vectors of the
    fitted values of the regression in which alpha is written as D further rows. That is
    CPLST with the learner's penalty in its hat matrix and the linear decoder, and is made so.
    """
    n_label_components = params.pop("n_label_components", "auto")
    return CompactClassifier(CPLST(n_label_components, ridge="shared"), **params)


def one_vs_rest(C: float, solver: str | None = None) -> OneVsRestClassifier:
    """One logistic regression for each label, with penalty ||w||^2 / (2 C).

    LIBLINEAR, the default here, penalises the intercept as well, so that strong penalties make
    rare labels too likely; "lbfgs", scikit-learn's default, leaves it free.
    """
    steps = {"max_iter": 300} if solver == "lbfgs" else {}
    return OneVsRestClassifier(LogisticRegression(solver=solver or "liblinear", C=C, **steps))


class RandomDirections(ProjectedFeatures):
    """P is the Q of a QR decomposition of d Gaussian columns: a uniformly random subspace."""

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **SIZED,
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        solver: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_feature_components = n_feature_components
        self.solver = solver
        self.random_state = random_state

    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        # Drawn column by column, so that a larger d begins with the columns of a smaller one.
        columns = seeded(self.random_state).standard_normal((d, pair.n_left)).T
        return np.linalg.qr(columns)[0], np.empty(0)


class MDDMThenCodes(CMLL):
    """MDDM's projection and CMLL_y's codes, neither of which has seen the other.

    P: left singular vectors of Xc'Y (and a completion); V: leading eigenvectors of
    beta XcXc' + YY'. CMLL with d >= m has the same V, and for P the range of Xc'V instead.
    Parameters are those of ``CMLL``.
    """

    def solve(self, pair: Pair) -> Embedded:
        if self.n_feature_components is None:
            return super().solve(pair)
        d, _ = self.sizes(pair.n_left, pair.n_right, pair.given_left)
        assert d is not None
        found = self.unprojected(pair)
        return replace(
            found,
            projection=self._directions_of_labels(pair, d),
            objective=None,
            dependence=None,
            recovery=None,
        )

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        return super().leading(pair, result, m) if self.n_feature_components is None else None

    def heads(
        self, pair: Pair, result: Embedded, m: int | None, sizes: Sequence[Any]
    ) -> list[Head | None]:
        if self.completion == "random":
            return [None] * len(sizes)
        counts = []
        for own in self._sized(sizes):
            d, _ = own.sizes(pair.n_left, pair.n_right, pair.given_left, m)
            assert d is not None
            counts.append(d)
        P = self._directions_of_labels(pair, max(counts))
        return [Head(P[:, :d]) for d in counts]

    def _directions_of_labels(self, pair: Pair, d: int) -> Array:
        own = MDDM(d, completion=self.completion, random_state=self.random_state)
        P = own.directions(pair, d)[0]
        return P if P.shape[1] else pair.some_direction()

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
from sklearn.utils import check_random_state

from compactlearn import CompactClassifier
from compactlearn.embeddings import CPLST
from compactlearn.related import PCA
from compactlearn.utils import Constraint, Seed
from compactlearn_bench.methods.completions import PaperCMLL, PaperMDDM

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


class RandomDirections(PCA):
    """P is the Q of a QR decomposition of d Gaussian columns: a uniformly random subspace."""

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **PCA._constraints,
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_feature_components)
        self.random_state = random_state

    def directions(self, pair: Any, d: int) -> tuple[Array, Array]:
        # Drawn column by column, so that a larger d begins with the columns of a smaller one.
        random = check_random_state(self.random_state)
        columns = random.standard_normal((d, pair.n_left)).T
        return np.linalg.qr(columns)[0], np.empty(0)


class MDDMThenCodes(PaperCMLL):
    """MDDM's projection and CMLL_y's codes, neither of which has seen the other.

    P: left singular vectors of Xc'Y (and a completion); V: leading eigenvectors of
    beta XcXc' + YY'. CMLL with d >= m has the same V, and for P the range of Xc'V instead.
    Parameters are those of ``PaperCMLL``.
    """

    def solve(self, pair: Any) -> Any:
        if self.n_feature_components is None:
            return super().solve(pair)
        d, _ = self.sizes(pair.n_left, pair.n_right, pair.given_left)
        assert d is not None
        own = PaperMDDM(d, completion=self.completion, random_state=self.random_state)
        P = own.directions(pair, d)[0]
        return replace(
            self.unprojected(pair),
            projection=P if P.shape[1] else pair.left.some_direction(),
            objective=None,
            dependence=None,
            recovery=None,
        )

    def leading(self, pair: Any, result: Any, m: int) -> Any:
        return super().leading(pair, result, m) if self.n_feature_components is None else None

    def heads(self, pair: Any, result: Any, m: int | None, sizes: Sequence[Any]) -> list[Any]:
        return [None] * len(sizes)  # each size is solved by itself

"""DMLR: directions of the labels that depend on the features and lose little of the labels.

maximise  beta ||Xc'V||^2 - ||Y - V O'||^2,  V = Y O,   with  O'O = I_m

X (N, D) features, Xc their centred rows, Y (N, M) labels, O (M, m) directions, V (N, m) codes.
Up to a constant the objective is tr O' (beta Y'Xc Xc'Y + Y'Y) O: dependence in the sense of
HSIC with linear kernels, and what the encoding keeps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np

from compactlearn.core._devices import is_array
from compactlearn.core._params import Choice, Constraint, Real
from compactlearn.embeddings._base import Embedded, automatic_balance
from compactlearn.embeddings._components import COUNTS
from compactlearn.embeddings._encoders import OFFSETS, ROUTES, Encoder, LabelProblem
from compactlearn.linalg._codes import Codes
from compactlearn.linalg._operators import Sum
from compactlearn.linalg._pairs import Pair


class DMLR(Encoder):
    """Dependence maximisation based label space dimension reduction.

    Codes V = Y O along orthonormal directions O that maximise
    ``beta ||Xc'V||^2 + ||V||^2``: dependence on the features and preservation of the labels.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500). More than the
        rank of Y are cut, with a warning.
    beta : float or "auto", default="auto"
        Weight of the dependence. "auto" is 0.1 ||Y||^2 / ||Xc'Y||^2, a tenth of what makes the
        two terms equal for m = M, so that the units of X do not matter.
    offset : {"mean", "none"}, default="mean"
        "mean" adds to the scores the labels' mean less that of the decoded codes; "none" is the
        decoder as published, which adds nothing. Both are the same for m = M.
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"
        Form in which the data are processed; the result is the same for all of them.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_label_components_, n_labels)
        O', orthonormal rows.
    offset_ : ndarray of shape (n_labels,)
    eigenvalues_ : ndarray of shape (n_label_components_,)
        Leading eigenvalues of ``beta_ Y'XcXc'Y + Y'Y``.
    beta_ : float
        The balance that was used.
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_, dependence_, recovery_ : float
        ``beta_ * dependence_ + recovery_`` with ``||Xc'V||^2`` and ``||V||^2``.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    No public code exists and only the paper's abstract was at hand: the formula is our reading of
    it (a linear orthonormal encoder, HSIC against the encoding loss, a global kernel). The authors
    also describe a local kernel, which is not offered. With the weight on the other term the
    problem is the same: eigenvalues for ``Y'XcXc'Y + a Y'Y`` are ``a`` times those for
    ``beta = 1 / a``.

    References
    ----------
    J.-J. Zhang, M. Fang, H. Wang, X. Li. Dependence maximization based label space dimension
    reduction for multi-label classification. Engineering Applications of Artificial Intelligence
    45, 453-463, 2015.

    Examples
    --------
    >>> from compactlearn import DMLR
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> method = DMLR(n_label_components=3).fit(data.X, data.Y)
    >>> method.codes_.shape
    (593, 3)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "beta": (Real(0), Choice("auto")),
        "offset": OFFSETS,
        "solver": ROUTES,
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        beta: float | str = "auto",
        offset: str = "mean",
        solver: str = "auto",
    ) -> None:
        self.n_label_components = n_label_components
        self.beta = beta
        self.offset = offset
        self.solver = solver

    def _matrix(self, pair: Pair) -> LabelProblem:
        kept, seen = pair.right_gram(centre=False), pair.cross_gram()
        beta = automatic_balance(self.beta, pair.right_energy, pair.cross_energy)
        matrix = beta * seen + kept if is_array(seen) else Sum(((beta, seen), (1.0, kept)))
        return LabelProblem(matrix, pair.n_right, None, beta=beta)

    def _embedded(
        self, pair: Pair, codes: Codes, beta: float | None, ridge: float | None
    ) -> Embedded:
        O = codes.right_weights
        assert O is not None
        return replace(
            super()._embedded(pair, codes, beta, ridge),
            dependence=float(np.trace(pair.left.inner(codes.left, codes.left))),
            recovery=float(np.vdot(O, pair.right_gram(centre=False) @ O)),
        )

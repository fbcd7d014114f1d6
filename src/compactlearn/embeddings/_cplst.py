"""CPLST: directions of the labels that vary much and that the features can predict.

    minimise  min_B ||Z B - Yc O||^2 + ridge ||B||^2  +  ||Yc - Yc O O'||^2   with  O'O = I_m

    Y (N, M) labels, ybar their mean, Yc = Y - 1 ybar', O (M, m) directions, V = Yc O (N, m) codes,
    Z the features of the hat matrix, B their coefficients; decoded scores are v O' + ybar.

Without B the objective is ||Yc||^2 - tr O' Yc' Hat Yc O with the ridge hat matrix
Hat = Z (Z'Z + ridge I)^-1 Z', so O are the leading eigenvectors of Yc' Hat Yc. PLST is Hat = I.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from compactlearn.core._params import Choice, Constraint, Real
from compactlearn.embeddings._base import Plan, Traits, shared_ridge
from compactlearn.embeddings._components import COUNTS
from compactlearn.embeddings._encoders import OFFSETS, ROUTES, Encoder, LabelProblem
from compactlearn.linalg._learning import ridge_of
from compactlearn.linalg._pairs import Pair


class CPLST(Encoder):
    """Conditional principal label space transformation: feature-aware label compression.

    Like :class:`PLST`, but a direction counts by the variance that a ridge regression on the
    features explains of it.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500). No more than the
        rank of Xc'Y exist; others are cut, with a warning.
    ridge : float or "shared", default="shared"
        Penalty in the hat matrix. "shared" is the ``alpha`` of the classifier around it, as in the
        public code, and 1.0 when the embedding is fitted by itself.
    offset : {"mean", "none"}, default="mean"
        "mean" centres labels and features, and the decoder adds the labels' mean back. "none" is
        for comparison with programs that have no constant anywhere: nothing is centred, nothing is
        added.
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"
        Form in which the data are processed; the result is the same for all of them.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_label_components_, n_labels)
        O', orthonormal rows.
    offset_ : ndarray of shape (n_labels,)
        The labels' mean.
    eigenvalues_ : ndarray of shape (n_label_components_,)
        Leading eigenvalues of Yc' Hat Yc.
    ridge_ : float
        The penalty that was used.
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_ : float
        ``tr O' Yc' Hat Yc O``, the sum of the eigenvalues.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    The hat matrix is that of ridge with a free intercept, which the learner here is. Public
    programs take the features as they are, although their regression has an intercept (the
    authors' mlc_lsdr), or penalise a column of ones (MLC_toolbox). Their penalties are 0.1 and 10.

    References
    ----------
    Y.-N. Chen, H.-T. Lin. Feature-aware label space dimension reduction for multi-label
    classification. Advances in Neural Information Processing Systems 25, 1529-1537, 2012.

    Examples
    --------
    >>> from compactlearn import CPLST
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> CPLST(n_label_components=2).fit(data.X, data.Y).codes_.shape
    (593, 2)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "ridge": (Real(0), Choice("shared")),
        "offset": OFFSETS,
        "solver": ROUTES,
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        ridge: float | str = "shared",
        offset: str = "mean",
        solver: str = "auto",
    ) -> None:
        self.n_label_components = n_label_components
        self.ridge = ridge
        self.offset = offset
        self.solver = solver

    @property
    def traits(self) -> Traits:
        return Traits(solver=self.solver, shares_penalty=self.ridge == "shared")

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        return replace(super().plan(n_features, n_labels, given_features), hat=True)

    def _matrix(self, pair: Pair) -> LabelProblem:
        ridge = shared_ridge(self.ridge)
        centred = self.offset == "mean"
        matrix = ridge_of(pair).hat_gram(ridge, centred=centred)
        shift = -pair.mean_right if centred else None
        return LabelProblem(matrix, min(pair.n_left, pair.n_right), shift, ridge=ridge)

"""MDDM: the directions of the features on which the labels depend most.

maximise  ||P'Xc'Y||^2   with  P'P = I_d

X (N, D) features, Xc their centred rows, Y (N, M) labels, P (D, d) projection: the left singular
vectors of Xc'Y. At most rank(Xc'Y) directions have any dependence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint
from compactlearn.embeddings._base import Embedded, Plan, Traits
from compactlearn.embeddings._completion import COMPLETIONS, CompletedEmbedding
from compactlearn.embeddings._components import COUNTS
from compactlearn.embeddings._encoders import ROUTES
from compactlearn.embeddings._projected import ProjectedFeatures
from compactlearn.linalg._pairs import Pair

Array = NDArray[np.float64]


class MDDM(CompletedEmbedding, ProjectedFeatures):
    """Multi-label dimensionality reduction via dependence maximisation.

    Projects the features on directions of largest dependence (HSIC with linear kernels) on the
    labels; labels are kept as they are.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). More than the rank of Xc'Y, which is at
        most M, are found only with a ``completion``.
    completion : {"none", "krylov"}, default="none"
        Columns beyond the rank: none, or those of Xc'Xc P (see :class:`CMLL`).
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"
        Form in which the data are processed; the result is the same for all of them.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
    eigenvalues_ : ndarray
        Dependence of each direction, largest first; 0 directions of a completion are not listed.
    objective_, dependence_ : float
        ``||P'Xc'Y||^2``, the sum of the eigenvalues.
    decoder_ : sparse identity, offset_ : zeros, codes_ : the labels, or None inside a classifier
    objective_path_, n_iter_, n_feature_components_, n_label_components_, solver_, \
n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    This is the variant of orthonormal directions (MDDMp), the one in the compact learning paper's
    tables. The authors' code (LAMDA) centres the label kernel instead of the features, which is the
    same, calls a general eigensolver without symmetrising and returns arbitrary columns beyond the
    rank; here they are cut or completed as asked.

    References
    ----------
    Y. Zhang, Z.-H. Zhou. Multilabel dimensionality reduction via dependence maximization. ACM
    Transactions on Knowledge Discovery from Data 4(3), 14, 2010.

    Examples
    --------
    >>> from compactlearn import MDDM
    >>> from compactlearn.datasets import load
    >>> data = load("enron")
    >>> MDDM().fit(data.X, data.Y).transform(data.X).shape
    (1702, 53)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_feature_components": COUNTS,
        "completion": (Choice(*COMPLETIONS),),
        "solver": ROUTES,
    }

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        completion: str = "none",
        solver: str = "auto",
    ) -> None:
        self.n_feature_components = n_feature_components
        self.completion = completion
        self.solver = solver

    @property
    def traits(self) -> Traits:
        return Traits(solver=self.solver)

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        d = self._feature_size(n_features, n_labels, given_features)
        extra = max(0, d - n_labels) if self.completion != "none" else 0
        return Plan(
            components=min(d, n_labels),
            keeps_features=False,
            n_codes=n_labels,
            extra_directions=extra,
            problem="left",
        )

    def solve(self, pair: Pair) -> Embedded:
        result = super().solve(pair)
        return replace(result, dependence=result.objective)

    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        P, values = pair.cross_range(d)
        if d > P.shape[1]:
            P = np.hstack([P, self.further_directions(pair, P, d - P.shape[1])])
        return P, values

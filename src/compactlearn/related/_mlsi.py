"""MLSI: directions of the features that tell both the features and the labels of a row.

maximise  tr P'Xc'((1 - t) XcXc' + t YcYc')Xc P   with  P'(Xc'Xc + ridge I)P = N I_d

X (N, D) features, Y (N, M) labels, Xc and Yc their centred rows, P (D, d) projection, t the mixing.
It is OPLS for the targets [sqrt(1 - t) Xc, sqrt(t) Yc]: t = 1 is OPLS itself, t = 0 (and ridge 0)
spans the principal directions.

With the eigenvectors E of Xc'Xc, its eigenvalues s and P = E diag(s + ridge)^(-1/2) Z, the matrix
of Z is (1 - t) diag(s^2 / (s + ridge)) + t C C', where C = diag(s + ridge)^(-1/2) E'Xc'Y: its order
is the rank of the features, in every regime.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Constraint, Real
from compactlearn.linalg._arrays import diagonal_matrix
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._pairs import Pair
from compactlearn.related._projected import SCALED, ScaledDirections, all_directions

Array = NDArray[np.float64]


class MLSI(ScaledDirections):
    """Multi-label informed latent semantic indexing.

    Between principal components, which know the features alone, and :class:`OPLS`, which asks what
    predicts the labels. Unlike the latter it has as many directions as the features have.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). No more than the rank of Xc exist.
    mixing : float in [0, 1], default=0.5
        t: the weight of the labels; that of the features is 1 - t. The two are sums of squares, so
        what a weight means depends on the units of the features.
    ridge : float or "shared", default="shared"
        Added to the features' scatter. "shared" is the ``alpha`` of the classifier around it, and
        1.0 when the embedding is fitted by itself.
    unit_columns : bool, default=False
        Whether columns of P are made of unit length, as public programs do.
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"
        How the data are held; the answer is the same.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
    eigenvalues_ : ndarray
        Of the generalised problem, largest first.
    objective_ : float
        Their sum.
    ridge_ : float
        The penalty that was used.
    decoder_ : sparse identity, offset_ : zeros, codes_ : the labels, or None inside a classifier
    objective_path_, n_iter_, n_feature_components_, n_label_components_, solver_, \
n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    All eigenvectors of the smaller of Xc'Xc and XcXc' are found, whatever d. The constraint is
    often written with I in place of N I, see :class:`OPLS`. The authors do not centre; public
    programs (ML-FSDR, MLC_toolbox) do, and have ``mixing=0.5``, ``ridge=1``, ``unit_columns=True``.

    References
    ----------
    K. Yu, S. Yu, V. Tresp. Multi-label informed latent semantic indexing. SIGIR 2005, pp. 258-265.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import MLSI
    >>> data = load("emotions")
    >>> MLSI(3).fit(data.X, data.Y).transform(data.X).shape
    (593, 3)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {**SCALED, "mixing": (Real(0, 1),)}

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        mixing: float = 0.5,
        ridge: float | str = "shared",
        unit_columns: bool = False,
        solver: str = "auto",
    ) -> None:
        self.n_feature_components = n_feature_components
        self.mixing = mixing
        self.ridge = ridge
        self.unit_columns = unit_columns
        self.solver = solver

    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        t = float(self.mixing)
        E, s = all_directions(pair)
        roots = np.sqrt(s + ridge)
        C = pair.inner(E, pair.right_codes().left) / roots[:, None]
        matrix = t * self_product(C) + (1.0 - t) * diagonal_matrix(s**2 / roots**2)
        found = leading_eigenpairs(matrix, d)
        return E @ (found.vectors / roots[:, None]), found.values

"""OPLS: the directions of the features from which a least-squares regression predicts the labels.

maximise  tr P'Xc'Yc Yc'Xc P   with  P'(Xc'Xc + ridge I)P = N I_d

X (N, D) features, Y (N, M) labels, Xc and Yc their centred rows, P (D, d) projection. The solution
are the leading generalised eigenvectors of (Xc'YcYc'Xc, Xc'Xc + ridge I), at most rank(Xc'Yc).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Constraint
from compactlearn.linalg._pairs import Pair
from compactlearn.related._projected import SCALED, ScaledDirections, ridge_directions

Array = NDArray[np.float64]


class OPLS(ScaledDirections):
    """Orthonormalised partial least squares: uncorrelated features that predict the labels.

    Among all projections to d features, the labels are best predicted by least squares from this
    one (``ridge=0``); every label counts by its variance. :class:`CCA` counts them alike.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). No more than the rank of Xc'Yc exist, which
        is at most M; others are cut.
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
    The constraint is often written with I in place of N I, which divides P by the root of N. The
    learner's penalty would then act on features of a mean square of 1/N. Public programs (ML-FSDR,
    MLC_toolbox) have ``ridge=1`` and ``unit_columns=True``.

    References
    ----------
    K. J. Worsley, J.-B. Poline, K. J. Friston, A. C. Evans. Characterizing the response of PET and
    fMRI data using multivariate linear models. NeuroImage 6(4), 305-319, 1997.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import OPLS
    >>> data = load("emotions")
    >>> OPLS(3).fit(data.X, data.Y).transform(data.X).shape
    (593, 3)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = SCALED

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        ridge: float | str = "shared",
        unit_columns: bool = False,
        solver: str = "auto",
    ) -> None:
        self.n_feature_components = n_feature_components
        self.ridge = ridge
        self.unit_columns = unit_columns
        self.solver = solver

    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        return ridge_directions(pair, d, ridge)

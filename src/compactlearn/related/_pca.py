"""PCA: the directions in which the features vary most; the labels are not looked at.

maximise  tr P'Xc'Xc P   with  P'P = I_d

X (N, D) features, Xc their centred rows, P (D, d) projection: the leading eigenvectors of Xc'Xc.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Constraint
from compactlearn.linalg._pairs import Pair
from compactlearn.related._projected import SIZED, ProjectedFeatures

Array = NDArray[np.float64]


class PCA(ProjectedFeatures):
    """Principal component analysis of the features, as an embedding with all its regimes.

    The control of every method that looks at the labels. With a kernel in front it is kernel PCA.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). No more than the rank of Xc exist.
    solver : {"auto", "moments", "dual", "krylov"}, default="auto"
        How the data are held; the answer is the same.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
    eigenvalues_ : ndarray
        Sums of squares of the projected features, largest first.
    objective_ : float
        Their sum.
    decoder_ : sparse identity, offset_ : zeros, codes_ : the labels, or None inside a classifier
    objective_path_, n_iter_, n_feature_components_, n_label_components_, solver_, \
n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    References
    ----------
    K. Pearson. On lines and planes of closest fit to systems of points in space. Philosophical
    Magazine 2(11), 559-572, 1901.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import PCA
    >>> data = load("emotions")
    >>> PCA(3).fit(data.X, data.Y).transform(data.X).shape
    (593, 3)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = SIZED

    def __init__(
        self, n_feature_components: int | float | str = "auto", solver: str = "auto"
    ) -> None:
        self.n_feature_components = n_feature_components
        self.solver = solver

    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        nothing = np.zeros((pair.n_left, 0))
        return pair.principal_directions(d, nothing, fill=False)

"""CCA: the directions of the features that correlate most with some combination of the labels.

maximise  tr P'Xc'Yc (Yc'Yc)^+ Yc'Xc P   with  P'(Xc'Xc + ridge I)P = N I_d

X (N, D) features, Y (N, M) labels, Xc and Yc their centred rows, P (D, d) projection; ^+ is the
pseudo-inverse, as rows with the same number of labels make Yc'Yc singular. It is OPLS for the
targets T = Yc (Yc'Yc)^(+1/2), which have the identity as their scatter. The eigenvalues are squared
canonical correlations where ridge is 0.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._params import Constraint
from compactlearn.linalg._eigen import symmetric_roots
from compactlearn.linalg._pairs import Pair
from compactlearn.related._projected import SCALED, ScaledDirections, ridge_directions

Array = NDArray[np.float64]


class CCA(ScaledDirections):
    """Canonical correlation analysis between features and labels, of which the features are kept.

    A combination of labels counts by how well the features predict it, and not by its variance:
    rare labels count as much as frequent ones, which :class:`OPLS` prefers.

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
        Squared correlations, shrunk where ``ridge`` is not 0; largest first.
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
    A ridge of the labels' scatter would change the label side alone (Sun, Ji and Ye), so there is
    none. The constraint is often written with I in place of N I, see :class:`OPLS`. Public programs
    (ML-FSDR, MLC_toolbox) drop labels that no row has, divide by Yc'Yc (here a pseudo-inverse),
    and have ``ridge=1`` and ``unit_columns=True``. A matrix of order M is decomposed.

    References
    ----------
    L. Sun, S. Ji, J. Ye. Canonical correlation analysis for multilabel classification: a
    least-squares formulation, extensions, and analysis. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 33(1), 194-200, 2011.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import CCA
    >>> data = load("emotions")
    >>> CCA(3).fit(data.X, data.Y).transform(data.X).shape
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
        return ridge_directions(pair, d, ridge, _whitening(pair))


def _whitening(pair: Pair) -> Array:
    """(Yc'Yc)^(+1/2), of order M."""
    n_labels = pair.n_right
    memory.require_memory(
        8 * 5 * n_labels**2,
        what=f"The inverse of a matrix of {n_labels} labels by {n_labels} labels",
        remedy="Use OPLS, which needs no such inverse, or fewer labels.",
    )
    gram = pair.right_gram(centre=True)
    if not isinstance(gram, np.ndarray):
        gram = gram @ np.eye(n_labels)
        gram = (gram + gram.T) / 2
    return symmetric_roots(gram, scale=pair.right_energy)[1]

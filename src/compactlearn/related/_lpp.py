"""LPP: directions in which rows stay close to their neighbours.

minimise  sum_ij W_ij ||P'x_i - P'x_j||^2 / 2 = tr P'X'LX P   with  P'X'DX P = N I_d

X (N, D) features, W the weights of neighbours, D their sums, L = D - W, P (D, d) projection; the
mean of the rows, weighted by D, is taken off, which leaves out the constant. ``near_rows`` has how.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Nothing, Real
from compactlearn.related._near_rows import NEAR, NearRows, Smoothness
from compactlearn.related._neighbours import Neighbours, RowProducts, affinities, laplacian

Array = NDArray[np.float64]


class LPP(NearRows):
    """Locality preserving projections: what lies together in feature space stays together.

    The labels are not looked at. Good where rows lie near a curved surface, and as a first step
    before a method that does look at them.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). No more than the rank of X exist.
    n_neighbors : int, default=5
        Two rows are neighbours where one is among so many nearest of the other; at most N - 1.
    width : float, "auto" or None, default="auto"
        Neighbours have the weight exp(-distance^2 / width); "auto" is the mean squared distance of
        neighbours, and None gives all of them the weight 1. Where all weights would be 0 in double
        precision, as with many features and few rows, the largest is made 1.
    ridge : float or "shared", default=1.0
        Added to the features' scatter; "shared" is the ``alpha`` of the classifier around it.
    unit_columns : bool, default=False
        Whether columns of P are made of unit length, as public programs do.
    solver : {"auto", "krylov"}, default="auto"
        Rows are held, whatever is asked.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_feature_components_)
    eigenvalues_ : ndarray
        Those of ``P'X'WXP`` against ``P'(X'DX + ridge I)P``, largest first: 1 less what is
        minimised, where ``ridge`` is 0.
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
    All pairs of rows are compared once (N^2 D operations), and a matrix of the order of the smaller
    of N and D is decomposed. Fits from sums or blocks of rows are refused, and so are sample
    weights. Public programs (ML-FSDR, MLC_toolbox) have ``width=1``, ``unit_columns=True``; the
    latter does not centre. The heat kernel's distances are squared here and there.

    References
    ----------
    X. He, P. Niyogi. Locality preserving projections. Advances in Neural Information Processing
    Systems 16, 153-160, 2003.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import LPP
    >>> data = load("emotions")
    >>> LPP(3).fit(data.X, data.Y).transform(data.X).shape
    (593, 3)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **NEAR,
        "width": (Real(0, open_low=True), Choice("auto"), Nothing()),
    }

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        n_neighbors: int = 5,
        width: float | str | None = "auto",
        ridge: float | str = 1.0,
        unit_columns: bool = False,
        solver: str = "auto",
    ) -> None:
        self.n_feature_components = n_feature_components
        self.n_neighbors = n_neighbors
        self.width = width
        self.ridge = ridge
        self.unit_columns = unit_columns
        self.solver = solver

    def _smoothness(self, products: RowProducts, near: Neighbours) -> Smoothness:
        return Smoothness(*laplacian(affinities(near, self.width)))

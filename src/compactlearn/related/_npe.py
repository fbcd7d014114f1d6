"""NPE: directions in which rows are still what their neighbours make of them.

minimise  ||(I - R)XP||^2 = tr P'X'(I - R)'(I - R)X P   with  P'Xc'Xc P = N I_d

X (N, D) features, Xc their centred rows, P (D, d) projection; R (N, N) has in row i the weights, of
sum 1, by which the nearest rows reconstruct row i best. ``near_rows`` has how.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.related._near_rows import NearRows, Smoothness
from compactlearn.related._neighbours import Neighbours, RowProducts, reconstruction

Array = NDArray[np.float64]


class NPE(NearRows):
    """Neighbourhood preserving embedding: locally linear embedding by a linear projection.

    The labels are not looked at. As :class:`LPP`, with weights that are fitted to the rows and need
    no width.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). No more than the rank of Xc exist.
    n_neighbors : int, default=5
        How many nearest rows reconstruct a row; at most N - 1.
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
        1 less what is minimised, where ``ridge`` is 0; largest first.
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
    A thousandth of its trace is added to the Gram matrix of a row's neighbours, as in
    scikit-learn's ``LocallyLinearEmbedding``; MLC_toolbox adds rounding, or takes equal weights
    where that is singular, and has ``unit_columns=True``. Costs and refusals are those of
    :class:`LPP`.

    References
    ----------
    X. He, D. Cai, S. Yan, H.-J. Zhang. Neighborhood preserving embedding. ICCV 2005, vol. 2,
    pp. 1208-1213.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import NPE
    >>> data = load("emotions")
    >>> NPE(3).fit(data.X, data.Y).transform(data.X).shape
    (593, 3)
    """

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        n_neighbors: int = 5,
        ridge: float | str = 1.0,
        unit_columns: bool = False,
        solver: str = "auto",
    ) -> None:
        self.n_feature_components = n_feature_components
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.unit_columns = unit_columns
        self.solver = solver

    def _smoothness(self, products: RowProducts, near: Neighbours) -> Smoothness:
        rest = scipy.sparse.eye_array(products.count, format="csr") - reconstruction(products, near)
        return Smoothness((rest.T @ rest).tocsr(), np.ones(products.count))

"""Methods that project the features and keep the labels as they are: PCA, OPLS, CCA and MLSI.

With centred rows Xc (N, D) of the features and Yc (N, M) of the labels, the directions P (D, d) are
leading generalised eigenvectors of

    PCA    (Xc'Xc, I)
    OPLS   (Xc'Yc Yc'Xc, Xc'Xc + ridge I)
    CCA    (Xc'Yc (Yc'Yc)^+ Yc'Xc, Xc'Xc + ridge I), which is OPLS for targets Yc (Yc'Yc)^(+1/2)
    MLSI   ((1 - mixing) Xc'Xc Xc'Xc + mixing Xc'Yc Yc'Xc, Xc'Xc + ridge I)

and are nested: those of a smaller size are the leading ones of a larger. The learner's penalty
acts on the projected features, so their scale matters. Columns are scaled by P'(B + ridge I)P = N I
with N the number of rows (the sum of their weights), which makes the mean square of a projected
feature 1 where ridge is 0; or to unit length, as public programs do (ML-FSDR, MLC_toolbox).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._params import Choice, Constraint, Flag, Real
from compactlearn.embeddings._base import Embedded, Plan, Traits, shared_ridge
from compactlearn.embeddings._components import COUNTS
from compactlearn.embeddings._projected import ProjectedFeatures
from compactlearn.linalg._arrays import diagonal_matrix
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import leading_eigenpairs, symmetric_roots
from compactlearn.linalg._learning import ridge_of
from compactlearn.linalg._operators import Plain, sandwich
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]

#: Constraints of the parameters that most of them have.
SCALED: dict[str, tuple[Constraint, ...]] = {
    "n_feature_components": COUNTS,
    "ridge": (Real(0), Choice("shared")),
    "unit_columns": (Flag(),),
}


class HostProjection(ProjectedFeatures):
    """Base of the methods of this module and of those on graphs of rows."""

    host_only: ClassVar[bool] = True

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        d = self._feature_size(n_features, n_labels, given_features)
        return Plan(
            components=0,
            keeps_features=False,
            n_codes=n_labels,
            extra_directions=d,
            problem="left",
        )


class ScaledDirections(HostProjection):
    """Base of those that solve a generalised eigenproblem."""

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = SCALED

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        ridge: float | str = "shared",
        unit_columns: bool = False,
    ) -> None:
        self.n_feature_components = n_feature_components
        self.ridge = ridge
        self.unit_columns = unit_columns

    @abstractmethod
    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        """Return up to d directions with P'(B + ridge I)P = I, and their eigenvalues."""

    @property
    def traits(self) -> Traits:
        return Traits(shares_penalty=self.ridge == "shared")

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        d = self._feature_size(n_features, n_labels, given_features)
        # A matrix of order D or N is inverted or decomposed, as for a hat matrix.
        return Plan(components=d, keeps_features=False, n_codes=n_labels, problem="hat")

    def solve(self, pair: Pair) -> Embedded:
        return replace(super().solve(pair), ridge=shared_ridge(self.ridge))

    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        P, values = self._generalised(pair, d, shared_ridge(self.ridge))
        if self.unit_columns:
            return P / np.sqrt(np.diag(pair.left.inner(P, P))), values
        return P * float(np.sqrt(pair.count)), values


def ridge_directions(
    pair: Pair, d: int, ridge: float, root: Array | None = None
) -> tuple[Array, Array]:
    """Return leading generalised eigenvectors of (Xc'T T'Xc, Xc'Xc + ridge I) with T = Yc root.

    With A = (Xc'Xc + ridge I)^-1 Xc'T the problem is that of T'Xc A, of order M, and P = A O
    w^(-1/2) are ridge coefficients of combined labels: every route has them. P'(Xc'Xc + ridge I)P
    = I.
    """
    matrix = ridge_of(pair).hat_gram(ridge)
    if root is not None:
        known = isinstance(matrix, np.ndarray)
        matrix = root @ matrix @ root if known else sandwich(Plain(root), matrix)
    found = leading_eigenpairs(matrix, min(d, pair.n_right))
    weights = found.vectors / np.sqrt(found.values)
    codes = pair.combined_codes(weights if root is None else root @ weights)
    return ridge_of(pair).directions(codes, ridge)[0], found.values


def all_directions(pair: Pair) -> tuple[Array, Array]:
    """Return orthonormal directions of all that the features vary in, and sums of squares.

    They are eigenvectors of the smaller of Xc'Xc and XcXc'.
    """
    if isinstance(pair, RowsPair) and not pair.left.narrow:
        path = pair.left.spectrum
        s, U = path.values[: path.rank], path.vectors[:, : path.rank]
        return pair.left.Xc.T @ (U / np.sqrt(s)), s
    nothing = np.zeros((pair.n_left, 0))
    return pair.left.principal_directions(pair.n_left, nothing)


class PCA(HostProjection):
    """Principal component analysis of the features, as an embedding.

    The control of every method that looks at the labels. With a kernel in front it is kernel PCA.

    Parameters
    ----------
    n_feature_components : int, float in (0, 1] or "auto", default="auto"
        d. A float is a ratio of D; "auto" is min(M, D). No more than the rank of Xc exist.

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

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {"n_feature_components": COUNTS}

    def __init__(self, n_feature_components: int | float | str = "auto") -> None:
        self.n_feature_components = n_feature_components

    def directions(self, pair: Pair, d: int) -> tuple[Array, Array]:
        nothing = np.zeros((pair.n_left, 0))
        return pair.left.principal_directions(d, nothing)


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

    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        return ridge_directions(pair, d, ridge)


class CCA(ScaledDirections):
    """Canonical correlation analysis between features and labels, of which the features are kept.

    A combination of labels counts by how well the features predict it, and not by its variance:
    rare labels count as much as frequent ones, which :class:`OPLS` prefers.

    Parameters
    ----------
    n_feature_components, ridge, unit_columns
        As in :class:`OPLS`.

    Attributes
    ----------
    eigenvalues_ : ndarray
        Squared correlations, shrunk where ``ridge`` is not 0; largest first.
    projection_, objective_, ridge_ and others
        As in :class:`OPLS`.

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
    """

    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        return ridge_directions(pair, d, ridge, _whitening(pair))


def _whitening(pair: Pair) -> Array:
    """Return (Yc'Yc)^(+1/2), of order M."""
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
    ridge, unit_columns
        As in :class:`OPLS`.

    Attributes
    ----------
    projection_, eigenvalues_, objective_, ridge_ and others
        As in :class:`OPLS`.

    Notes
    -----
    All eigenvectors of the smaller of Xc'Xc and XcXc' are found, whatever d. The constraint is
    often written with I in place of N I, see :class:`OPLS`. The authors do not centre; public
    programs (ML-FSDR, MLC_toolbox) do, and have ``mixing=0.5``, ``ridge=1``, ``unit_columns=True``.

    References
    ----------
    K. Yu, S. Yu, V. Tresp. Multi-label informed latent semantic indexing. SIGIR 2005, pp. 258-265.
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {**SCALED, "mixing": (Real(0, 1),)}

    def __init__(
        self,
        n_feature_components: int | float | str = "auto",
        mixing: float = 0.5,
        ridge: float | str = "shared",
        unit_columns: bool = False,
    ) -> None:
        super().__init__(n_feature_components, ridge, unit_columns)
        self.mixing = mixing

    def _generalised(self, pair: Pair, d: int, ridge: float) -> tuple[Array, Array]:
        t = float(self.mixing)
        E, s = all_directions(pair)
        roots = np.sqrt(s + ridge)
        C = pair.left.inner(E, pair.right_codes().left) / roots[:, None]
        matrix = t * self_product(C) + (1.0 - t) * diagonal_matrix(s**2 / roots**2)
        found = leading_eigenpairs(matrix, d)
        return E @ (found.vectors / roots[:, None]), found.values

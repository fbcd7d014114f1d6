"""KLST: codes of labels that are not linear, by kernel canonical correlation with the features.

    maximise  a'Qx Qy b   with  a'(Qx^2 + ridge Qx)a = 1  and  b'(Qy^2 + label_penalty Qy)b = 1

Qx = XcXc' and Qy (N, N) the centred kernels of the features' rows and of the label vectors. For
given b the best a makes of the objective, squared, b'Qy Hat Qy b with the hat matrix Hat = Qx (Qx +
ridge I)^-1 of a ridge regression, so codes V = Qy b are the leading solutions of

    Qy Hat Qy b = rho^2 (Qy^2 + label_penalty Qy) b.

:mod:`compactlearn.related._label_kernel` writes that in the distinct label sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._params import Choice, Constraint, Flag, Real
from compactlearn.embeddings._base import Embedded, Plan, Traits, note_shortfall, shared_ridge
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.embeddings._encoders import EncodesLabels
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.related._coded_labels import least_squares
from compactlearn.related._label_kernel import (
    LABEL_KERNELS,
    DistinctRows,
    LabelKernel,
    SetCodes,
    canonical_codes,
    label_basis,
)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class KernelEmbedded(Embedded):
    """An outcome, and how label vectors that were not met get their codes."""

    distinct: DistinctRows = field(kw_only=True)
    kernel: LabelKernel = field(kw_only=True)
    set_codes: SetCodes = field(kw_only=True)


class KernelLabelSpace(EncodesLabels):
    """Feature-aware non-linear label space transformation, by kernel canonical correlation.

    A code is a smooth function of the whole label vector, of those that a ridge regression on the
    features predicts best, and not a weighted sum of labels: it can say that two labels occur
    together. A linear decoder leads from codes back to labels.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500). No more exist than
        the rank of the features, or one less than there are distinct label sets; others are cut,
        with a warning.
    label_kernel : {"rbf", "linear"}, default="rbf"
        ``exp(-label_gamma |y - z|^2)`` of two label vectors, or ``y . z``. The codes of "linear"
        are, without a ``label_penalty``, the label side of linear canonical correlation
        (:class:`CCA` keeps the other side).
    label_gamma : float or "auto", default="auto"
        "auto" is ``1 / (2 s^2)``, s^2 the mean squared distance of two rows' label vectors, and 1
        where all are equal.
    ridge : float or "shared", default="shared"
        Penalty of the features' side. "shared" is the ``alpha`` of the classifier around it, and
        1.0 when the embedding is fitted by itself.
    label_penalty : float, default=1.0
        Penalty of the labels' side. Without one, a kernel that tells all label sets apart has codes
        for any function of the set, of which many are noise.
    joined : bool, default=False
        Whether every other code is one of linear canonical correlation (the first, the third, and
        so on), without a penalty of the labels' side. Where one kind is exhausted, the other fills
        up.
    decoder_ridge : float, default=1.0
        Penalty of the ridge regression from the training rows' codes to their labels. The squares
        of a code sum up to the number of rows, or less.
    solver : {"auto", "dual", "krylov"}, default="auto"
        How the data are held; the answer is the same. Rows are needed, so there are no moments.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_label_components_, n_labels)
    offset_ : ndarray of shape (n_labels,)
        The labels' mean.
    eigenvalues_ : ndarray of shape (n_label_components_,)
        rho^2 of every code: its squared correlation with what the features predict, shrunk where
        there are penalties.
    label_gamma_ : float
        The width that was used.
    ridge_ : float
        The penalty that was used.
    codes_ : ndarray of shape (n_samples, n_label_components_), or None inside a classifier
    objective_ : float
        The sum of the eigenvalues.
    objective_path_, n_iter_, projection_ (None), n_feature_components_, n_label_components_, \
solver_, n_features_in_, feature_names_in_
        As in :class:`CMLL`.

    Notes
    -----
    What is certain of the paper is its abstract: codes by kernel canonical correlation between
    features and labels, a second method that joins them with those of linear canonical correlation
    (``joined=True``, which ``method("KLST")`` takes), and a regression from the features to each
    code. The form of the penalties is that of Hardoon, Szedmak and Shawe-Taylor (2004). The kernel
    of the labels, its width, how codes are joined, the number of each kind, and the way back to
    labels, a ridge regression, are our reading.

    Kernel matrices of order N are not needed. Rows with equal labels have equal codes: let E (N,
    S) say which row has which of the S distinct label sets, n be how many rows have each (by their
    weight), and Kc the sets' kernel, centred by n; then Qy = E Kc E'. From
    ``diag(n)^(1/2) Kc diag(n)^(1/2) = U diag(s) U'`` comes a basis

        T = E diag(n)^(-1/2) U diag(s / (s + label_penalty))^(1/2),

    orthonormal where there is no penalty, in which Qy^2 + label_penalty Qy becomes the identity:
    codes are V = T u sqrt(N) with the leading eigenvectors u of T' Hat T, of the order of the label
    kernel's rank. A new label vector y has the code ``k(y) W + constant`` with its kernel values
    k(y) to the S sets and W = diag(n)^(1/2) U diag(s (s + label_penalty))^(-1/2) u sqrt(N). A
    matrix of order S is decomposed, and the S sets are kept with the model.

    Codes are nested. Kernels on the features come by ``KernelMap``. Fits from sums or blocks of
    rows are refused.

    References
    ----------
    X. Li, Y. Guo. Multi-label classification with feature-aware non-linear label space
    transformation. IJCAI 2015.

    D. R. Hardoon, S. Szedmak, J. Shawe-Taylor. Canonical correlation analysis: an overview with
    application to learning methods. Neural Computation 16(12), 2639-2664, 2004.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import KernelLabelSpace
    >>> data = load("emotions")
    >>> method = KernelLabelSpace(3).fit(data.X, data.Y)
    >>> method.codes_.shape, method.encode(data.Y[:2]).shape
    ((593, 3), (2, 3))
    """

    host_only: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "label_kernel": (Choice(*LABEL_KERNELS),),
        "label_gamma": (Real(0, open_low=True), Choice("auto")),
        "ridge": (Real(0), Choice("shared")),
        "label_penalty": (Real(0),),
        "joined": (Flag(),),
        "decoder_ridge": (Real(0),),
        "solver": (Choice("auto", "dual", "krylov"),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        label_kernel: str = "rbf",
        label_gamma: float | str = "auto",
        ridge: float | str = "shared",
        label_penalty: float = 1.0,
        joined: bool = False,
        decoder_ridge: float = 1.0,
        solver: str = "auto",
    ) -> None:
        self.n_label_components = n_label_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.ridge = ridge
        self.label_penalty = label_penalty
        self.joined = joined
        self.decoder_ridge = decoder_ridge
        self.solver = solver

    @property
    def traits(self) -> Traits:
        regime = "krylov" if self.solver == "auto" else self.solver
        return Traits(regime=regime, shares_penalty=self.ridge == "shared", needs_rows=True)

    def plan(self, n_features: int, n_labels: int, given_features: int) -> Plan:
        m = label_count(self.n_label_components, n_labels)
        return Plan(components=m, keeps_features=True, n_codes=m, problem="hat")

    def solve(self, pair: Pair) -> Embedded:
        m = label_count(self.n_label_components, pair.n_right)
        rows, ridge = self._rows(pair), shared_ridge(self.ridge)
        distinct = DistinctRows.of_pair(rows)
        kernel = LabelKernel(self.label_kernel, self._gamma(distinct))

        def codes(kernel: LabelKernel, penalty: float) -> SetCodes:
            basis = label_basis(rows, distinct, kernel)
            return canonical_codes(rows, basis, kernel, m, ridge=ridge, penalty=penalty)

        found = codes(kernel, float(self.label_penalty))
        if self.joined:
            found = codes(LabelKernel("linear", kernel.gamma), 0.0).alternating(found, m)
        result = self._embedded(rows, distinct, kernel, found)
        note_shortfall(self, m, result.codes, pair)
        return result

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        assert isinstance(result, KernelEmbedded)
        first = result.set_codes.taken(slice(m))
        return self._embedded(self._rows(pair), result.distinct, result.kernel, first)

    def _embedded(
        self, rows: RowsPair, distinct: DistinctRows, kernel: LabelKernel, found: SetCodes
    ) -> KernelEmbedded:
        codes = rows.codes_of(found.codes[distinct.places])
        weighed = distinct.counts[:, None] * found.codes
        inner = found.codes.T @ weighed + self.decoder_ridge * np.eye(found.values.size)
        decoder = least_squares(inner, (distinct.sets.T @ weighed).T)
        return KernelEmbedded(
            codes=replace(codes, status=found.status),
            projection=None,
            decoder=decoder,
            offset=rows.mean_right,  # the codes of the training rows have no mean
            solver=f"closed-{rows.regime}",
            eigenvalues=found.values,
            ridge=shared_ridge(self.ridge),
            objective=float(found.values.sum()),
            distinct=distinct,
            kernel=kernel,
            set_codes=found,
        )

    def _rows(self, pair: Pair) -> RowsPair:
        assert isinstance(pair, RowsPair)
        return pair

    def _gamma(self, distinct: DistinctRows) -> float:
        if not isinstance(self.label_gamma, str):
            return float(self.label_gamma)
        square = distinct.mean_square
        return 0.5 / square if square > 0 else 1.0

    def adopt(self, result: Embedded, *args: Any, **kwargs: Any) -> None:
        super().adopt(result, *args, **kwargs)
        assert isinstance(result, KernelEmbedded)
        found = result.set_codes
        self.label_gamma_ = result.kernel.gamma
        by_kernel = result.kernel.name != "linear"
        # Label sets, and what kernel values to them are multiplied by; what labels are multiplied
        # by; the constant.
        self._by_kernel = (result.distinct.sets, found.kernel_weights) if by_kernel else None
        self._by_labels = (found.linear_weights,) if self.joined or not by_kernel else None
        self._constant = (found.constant,)

    def _encoded(self, labels: Any) -> Array:
        codes = np.tile(self._constant[0], (labels.shape[0], 1))
        if self._by_labels is not None:
            codes += labels @ self._by_labels[0]
        if self._by_kernel is not None:
            sets, weights = self._by_kernel
            codes += LabelKernel("rbf", self.label_gamma_).between(labels, sets) @ weights
        return codes

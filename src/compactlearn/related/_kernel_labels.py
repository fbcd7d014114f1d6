"""KLST: codes of labels that are not linear, by kernel canonical correlation with the features.

    maximise  a'Qx Qy b   with  a'(Qx^2 + ridge Qx)a = 1  and  b'(Qy^2 + label_penalty Qy)b = 1

Qx = XcXc' and Qy (N, N) the centred kernels of the features' rows and of the label vectors. For
given b the best a makes of the objective, squared, b'Qy Hat Qy b with the hat matrix Hat = Qx (Qx +
ridge I)^-1 of a ridge regression, so codes V = Qy b are the leading solutions of

    Qy Hat Qy b = rho^2 (Qy^2 + label_penalty Qy) b.

Rows with the same labels have the same code, so a kernel of order N is one of order S, the number
of distinct label sets. With the letters of :mod:`compactlearn.linalg._pairs`, and

    E (N, S) which row has which set, its rows times the roots of their weights, n = E'1 the weight
    of a set (E'E = diag(n)), Kc (S, S) the kernel of the sets, centred by the weights,

the kernel of the rows is Q = E Kc E'. The columns of E diag(n)^(-1/2) are orthonormal, so from
diag(n)^(1/2) Kc diag(n)^(1/2) = U diag(s) U' come all eigenvectors of Q that are not zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._params import Choice, Constraint, Flag, Real
from compactlearn.embeddings._base import (
    Embedded,
    Embedding,
    Plan,
    Traits,
    note_shortfall,
    shared_ridge,
)
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._eigen import Status, all_eigenpairs, leading_eigenpairs, numerical_rank
from compactlearn.linalg._learning import ridge_of
from compactlearn.linalg._operators import Operator, Plain, Product, sandwich, weighted
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._rows_pair import RowsPair
from compactlearn.related._coded_labels import least_squares

Array = NDArray[np.float64]


@dataclass(frozen=True)
class KernelEmbedded(Embedded):
    """An outcome, and the codes of the distinct label sets."""

    distinct: DistinctRows = field(kw_only=True)
    kernel: LabelKernel = field(kw_only=True)
    set_codes: SetCodes = field(kw_only=True)


class KernelLabelSpace(Embedding):
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
        Penalty of the labels' side. Without one, a kernel that separates all label sets has codes
        for any function of the set, of which many are noise.
    joined : bool, default=False
        Whether every other code is one of linear canonical correlation (the first, the third, and
        so on), without a penalty of the labels' side. Where one kind is exhausted, the other fills
        up.
    decoder_ridge : float, default=1.0
        Penalty of the ridge regression from the training rows' codes to their labels. The squares
        of a code sum up to the number of rows, or less.

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

    Kernel matrices of order N are not needed: rows with equal labels have equal codes, and a matrix
    of the order of the distinct label sets is decomposed.

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
    >>> method.codes_.shape
    (593, 3)
    """

    host_only: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "label_kernel": (Choice("rbf", "linear"),),
        "label_gamma": (Real(0, open_low=True), Choice("auto")),
        "ridge": (Real(0), Choice("shared")),
        "label_penalty": (Real(0),),
        "joined": (Flag(),),
        "decoder_ridge": (Real(0),),
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
    ) -> None:
        self.n_label_components = n_label_components
        self.label_kernel = label_kernel
        self.label_gamma = label_gamma
        self.ridge = ridge
        self.label_penalty = label_penalty
        self.joined = joined
        self.decoder_ridge = decoder_ridge

    @property
    def traits(self) -> Traits:
        return Traits(solver="krylov", shares_penalty=self.ridge == "shared", needs_rows=True)

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
            return canonical_codes(rows, basis, m, ridge=ridge, penalty=penalty)

        found = codes(kernel, float(self.label_penalty))
        if self.joined:
            found = codes(LabelKernel("linear", kernel.gamma), 0.0).alternating(found, m)
        result = self._embedded(rows, distinct, kernel, found)
        note_shortfall(self, m, result.codes, pair)
        return result

    def leading(self, pair: Pair, result: Embedded, m: int) -> Embedded | None:
        assert isinstance(result, KernelEmbedded)
        first = result.set_codes.select(slice(m))
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
            solver=f"closed-{rows.solver}",
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
        self.label_gamma_ = result.kernel.gamma


@dataclass(frozen=True)
class DistinctRows:
    """The label sets of some rows, each once, in the order in which they appear."""

    sets: Any  # (S, M) CSR
    places: NDArray[np.intp]  # (N,) which of them a row has
    counts: Array  # (S,) rows that have it, by their weight

    @classmethod
    def of(cls, labels: Any, weights: Array | None = None) -> DistinctRows:
        """Return those of a matrix, sparse or dense.

        >>> found = DistinctRows.of(np.array([[0, 1], [1, 1], [0, 1]]))
        >>> found.sets.toarray(), found.places, found.counts
        (array([[0., 1.],
               [1., 1.]]), array([0, 1, 0]), array([2., 1.]))
        """
        matrix = scipy.sparse.csr_array(labels, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        known: dict[tuple[bytes, bytes], int] = {}
        first: list[int] = []
        places = np.empty(matrix.shape[0], dtype=np.intp)
        for row in range(matrix.shape[0]):
            own = slice(matrix.indptr[row], matrix.indptr[row + 1])
            key = (matrix.indices[own].tobytes(), matrix.data[own].tobytes())
            if key not in known:
                known[key] = len(first)
                first.append(row)
            places[row] = known[key]
        counts = np.bincount(places, weights, minlength=len(first)).astype(np.float64)
        return cls(matrix[first], places, counts)

    @classmethod
    def of_pair(cls, pair: RowsPair) -> DistinctRows:
        """Return those of the right block."""
        return cls.of(pair.right, pair.weights)

    @cached_property
    def mean_square(self) -> float:
        """The mean squared distance of two rows."""
        share = self.counts / self.counts.sum()
        mean = self.sets.T @ share
        squares = (self.sets * self.sets).T @ share
        return 2.0 * float(np.sum(np.maximum(squares - mean * mean, 0.0)))

    def chosen(self, pair: RowsPair) -> Operator:
        """Return E."""
        n_rows = self.places.size
        ones = (np.ones(n_rows), self.places, np.arange(n_rows + 1))
        E = scipy.sparse.csr_array(ones, shape=(n_rows, self.counts.size))
        return weighted(E, pair.left.roots)


@dataclass(frozen=True)
class LabelKernel:
    """``exp(-gamma |y - z|^2)``, or ``y . z``."""

    name: str
    gamma: float

    def between(self, A: Any, B: Any) -> Array:
        """Return values (a, b) for the rows of two CSR matrices.

        >>> one, two = scipy.sparse.eye_array(2, format="csr"), np.array([[1.0, 1.0]])
        >>> LabelKernel("rbf", np.log(2)).between(one, scipy.sparse.csr_array(two))
        array([[0.5],
               [0.5]])
        """
        products = (A @ B.T).toarray()
        if self.name == "linear":
            return products
        squares = _lengths(A)[:, None] + _lengths(B)
        products *= 2.0
        distances = np.maximum(np.subtract(squares, products, out=squares), 0.0, out=squares)
        distances *= -self.gamma
        return np.exp(distances, out=distances)


def _lengths(A: Any) -> Array:
    return np.asarray((A * A).sum(axis=1))


@dataclass(frozen=True)
class SetCodes:
    """Codes of the distinct sets."""

    codes: Array  # (S, k)
    values: Array  # (k,) squared correlations
    status: Status

    def select(self, columns: Any) -> SetCodes:
        """Return some of the codes, or all in another order."""
        return replace(self, codes=self.codes[:, columns], values=self.values[columns])

    def alternating(self, other: SetCodes, size: int) -> SetCodes:
        """Return the first of both, then the second of both, and so on, up to ``size`` codes."""
        ranks = [np.arange(one.values.size) for one in (self, other)]
        order = np.argsort(np.concatenate(ranks), kind="stable")[:size]
        statuses = (self.status, other.status)
        both = SetCodes(
            np.hstack([self.codes, other.codes]),
            np.concatenate([self.values, other.values]),
            Status.MAX_ITER if Status.MAX_ITER in statuses else self.status,
        )
        return both.select(order)


@dataclass(frozen=True)
class LabelBasis:
    """Eigenpairs of the rows' kernel Q by the distinct sets; no penalty enters them."""

    distinct: DistinctRows
    squares: Array  # (r,) s, largest first
    vectors: Array  # (S, r) U

    @classmethod
    def of(cls, distinct: DistinctRows, kernel: LabelKernel) -> LabelBasis:
        """Return those of the sets' kernel, or of the labels' scatter where that is smaller."""
        sets, n = distinct.sets, distinct.counts
        share, root = n / n.sum(), np.sqrt(n)
        if kernel.name == "linear" and sets.shape[1] < sets.shape[0]:
            mean = sets.T @ share
            scatter = ((sets * n[:, None]).T @ sets).toarray() - n.sum() * np.outer(mean, mean)
            energy = float(n @ _lengths(sets))
            s, O = _cut(*all_eigenpairs(scatter, overwrite=True), energy)
            U = (root[:, None] * (sets @ O - mean @ O)) / np.sqrt(s)
            return cls(distinct, s, U)
        _require_order(n.size)
        K = kernel.between(sets, sets)
        means, energy = K @ share, float(n @ np.diag(K))
        K -= means
        K -= (means - means @ share)[:, None]
        K *= root
        K *= root[:, None]
        return cls(distinct, *_cut(*all_eigenpairs(K, overwrite=True), energy))


def _cut(s: Array, U: Array, energy: float) -> tuple[Array, Array]:
    """Return the eigenpairs that are more than the rounding of what was centred."""
    rank = numerical_rank(s, s.size, scale=energy)
    return s[:rank], U[:, :rank]


def _require_order(n_sets: int) -> None:
    """Raise ValueError where there are too many label sets."""
    what = f"A kernel between {n_sets} distinct label sets"
    remedy = "Use fewer rows, or CPLST, whose matrix is of the order of the labels."
    if n_sets > dense.EIGEN_LIMIT:
        raise ValueError(
            f"{what} cannot be decomposed, as {dense.EIGEN_LIMIT} is the largest order. {remedy}"
        )
    memory.require_memory(8 * 5 * n_sets**2, what=what, remedy=remedy)


def label_basis(pair: RowsPair, distinct: DistinctRows, kernel: LabelKernel) -> LabelBasis:
    """Return that of a pair's labels, found once for all penalties."""
    known = pair.found_of_right
    if kernel not in known:
        known[kernel] = LabelBasis.of(distinct, kernel)
    return known[kernel]


def canonical_codes(
    pair: RowsPair,
    basis: LabelBasis,
    size: int,
    *,
    ridge: float,
    penalty: float,
) -> SetCodes:
    """Return leading codes V = Qa that the features predict, with a'(Q^2 + penalty Q)a = N.

    With T = E diag(n)^(-1/2) U diag(s / (s + penalty))^(1/2) a code is a combination of the columns
    of T, and ``T' Hat T`` has the squared correlations as eigenvalues, Hat that of a ridge on the
    centred features. The order is that of the kernel's rank.
    """
    distinct, s, U = basis.distinct, basis.squares, basis.vectors
    n, root = distinct.counts, np.sqrt(distinct.counts)[:, None]
    columns = (U / root) * np.sqrt(s / (s + penalty))
    T = Product(distinct.chosen(pair), Plain(columns))
    hat: Any = ridge_of(pair).hat(ridge, constant=False)  # of rows: it multiplies
    found = leading_eigenpairs(sandwich(T, hat.operator), min(size, s.size))
    codes = columns @ (np.sqrt(n.sum()) * found.vectors)
    # Signs as other methods fix them: by the largest sum of labels times codes.
    signs = peak_signs(distinct.sets.T @ (n[:, None] * codes))
    return SetCodes(codes * signs, found.values, found.status)

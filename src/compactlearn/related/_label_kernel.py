"""Kernels between label vectors, and the canonical codes that they give to distinct label sets.

Rows with the same labels have the same code, so a kernel of order N is one of order S, the number
of distinct label sets. With the letters of :mod:`compactlearn.linalg._pairs`, and

    E (N, S) which row has which set, its rows times the roots of their weights, n = E'1 the weight
    of a set (E'E = diag(n)), Kc (S, S) the kernel of the sets, centred by the weights,

the kernel of the rows is Q = E Kc E'. The columns of E diag(n)^(-1/2) are orthonormal, so from
diag(n)^(1/2) Kc diag(n)^(1/2) = U diag(s) U' come all eigenvectors of Q that are not zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._eigen import Status, all_eigenpairs, leading_eigenpairs, numerical_rank
from compactlearn.linalg._learning import ridge_of
from compactlearn.linalg._operators import Operator, Plain, Product, sandwich, weighted
from compactlearn.linalg._rows_pair import RowsPair

Array = NDArray[np.float64]

LABEL_KERNELS = ("rbf", "linear")


@dataclass(frozen=True)
class DistinctRows:
    """The label sets of some rows, each once, in the order in which they appear."""

    sets: Any  # (S, M) CSR
    places: NDArray[np.intp]  # (N,) which of them a row has
    counts: Array  # (S,) rows that have it, by their weight

    @classmethod
    def of(cls, labels: Any, weights: Array | None = None) -> DistinctRows:
        """Those of a matrix, sparse or dense.

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
        """Those of the right block."""
        return cls.of(pair.right, pair.weights)

    @cached_property
    def mean_square(self) -> float:
        """The mean squared distance of two rows."""
        share = self.counts / self.counts.sum()
        mean = self.sets.T @ share
        squares = (self.sets * self.sets).T @ share
        return 2.0 * float(np.sum(np.maximum(squares - mean * mean, 0.0)))

    def chosen(self, pair: RowsPair) -> Operator:
        """E."""
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
        """Values (a, b) for the rows of two CSR matrices.

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
    """Codes of the distinct sets, and how any label vector gets its own.

    The code of y is ``k(y) @ kernel_weights + y @ linear_weights + constant`` with its kernel
    values k(y) to the sets; each kind of weights is zero where a code is of the other kind.
    """

    codes: Array  # (S, k)
    kernel_weights: Array  # (S, k)
    linear_weights: Array  # (M, k)
    constant: Array  # (k,)
    values: Array  # (k,) squared correlations
    status: Status

    def taken(self, columns: Any) -> SetCodes:
        """Some of the codes, or all in another order."""
        return self._by_column(lambda part: part[..., columns])

    def turned(self, signs: Array) -> SetCodes:
        """Every code times its sign."""
        turned = self._by_column(lambda part: part * signs)
        return replace(turned, values=self.values)

    def alternating(self, other: SetCodes, size: int) -> SetCodes:
        """The first of both, then the second of both, and so on, up to ``size`` codes."""
        mine, others = self._columns(), other._columns()
        both = {name: np.concatenate([mine[name], others[name]], axis=-1) for name in mine}
        ranks = [np.arange(one.values.size) for one in (self, other)]
        order = np.argsort(np.concatenate(ranks), kind="stable")[:size]
        statuses = (self.status, other.status)
        status = Status.MAX_ITER if Status.MAX_ITER in statuses else self.status
        return replace(self, **both, status=status).taken(order)

    def _columns(self) -> dict[str, Array]:
        return {name: part for name, part in vars(self).items() if name != "status"}

    def _by_column(self, change: Callable[[Array], Array]) -> SetCodes:
        return replace(self, **{name: change(part) for name, part in self._columns().items()})


@dataclass(frozen=True)
class LabelBasis:
    """Eigenpairs of the rows' kernel Q, held in the distinct sets; no penalty enters them."""

    distinct: DistinctRows
    squares: Array  # (r,) s, largest first
    vectors: Array  # (S, r) U
    means: Array  # (S,) mean kernel values of the rows to each set

    @classmethod
    def of(cls, distinct: DistinctRows, kernel: LabelKernel) -> LabelBasis:
        """From the kernel of the sets, or where that is linear from the labels' scatter if it is
        of the smaller order."""
        sets, n = distinct.sets, distinct.counts
        share, root = n / n.sum(), np.sqrt(n)
        if kernel.name == "linear" and sets.shape[1] < sets.shape[0]:
            mean = sets.T @ share
            scatter = ((sets * n[:, None]).T @ sets).toarray() - n.sum() * np.outer(mean, mean)
            energy = float(n @ _lengths(sets))
            s, O = _cut(*all_eigenpairs(scatter, overwrite=True), energy)
            U = (root[:, None] * (sets @ O - mean @ O)) / np.sqrt(s)
            return cls(distinct, s, U, sets @ mean)
        _require_order(n.size)
        K = kernel.between(sets, sets)
        means, energy = K @ share, float(n @ np.diag(K))
        K -= means
        K -= (means - means @ share)[:, None]
        K *= root
        K *= root[:, None]
        return cls(distinct, *_cut(*all_eigenpairs(K, overwrite=True), energy), means)


def _cut(s: Array, U: Array, energy: float) -> tuple[Array, Array]:
    """Eigenpairs that are more than the rounding of what was centred."""
    rank = numerical_rank(s, s.size, scale=energy)
    return s[:rank], U[:, :rank]


def _require_order(n_sets: int) -> None:
    """Refuse label sets of which there are too many."""
    what = f"A kernel between {n_sets} distinct label sets"
    remedy = "Use fewer rows, or CPLST, whose matrix is of the order of the labels."
    if n_sets > dense.EIGEN_LIMIT:
        raise ValueError(
            f"{what} cannot be decomposed, as {dense.EIGEN_LIMIT} is the largest order. {remedy}"
        )
    memory.require_memory(8 * 5 * n_sets**2, what=what, remedy=remedy)


def label_basis(pair: RowsPair, distinct: DistinctRows, kernel: LabelKernel) -> LabelBasis:
    """That of a pair's labels, found once for all penalties."""
    known = pair.found_of_right
    if kernel not in known:
        known[kernel] = LabelBasis.of(distinct, kernel)
    return known[kernel]


def canonical_codes(
    pair: RowsPair,
    basis: LabelBasis,
    kernel: LabelKernel,
    size: int,
    *,
    ridge: float,
    penalty: float,
) -> SetCodes:
    """Leading codes V = Qa that the features predict, with a'(Q^2 + penalty Q)a = N.

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
    turn = np.sqrt(n.sum()) * found.vectors
    weights = (root * U / np.sqrt(s * (s + penalty))) @ turn
    linear = distinct.sets.T @ weights
    is_linear = kernel.name == "linear"
    codes = SetCodes(
        codes=columns @ turn,
        kernel_weights=np.zeros_like(weights) if is_linear else weights,
        linear_weights=linear if is_linear else np.zeros_like(linear),
        constant=-(basis.means @ weights),
        values=found.values,
        status=found.status,
    )
    # Signs as other methods fix them: by the largest sum of labels times codes.
    return codes.turned(peak_signs(distinct.sets.T @ (n[:, None] * codes.codes)))

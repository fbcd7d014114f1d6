"""What the regimes that have rows share: the dual, the Krylov and the kernel regime."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _memory as memory
from compactlearn.core._device_array import DeviceArray
from compactlearn.linalg._arrays import beside
from compactlearn.linalg._codes import Codes, code_rows
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._moments import scale_rows, weighted_sum
from compactlearn.linalg._operators import Gram, Operator, centred, weighted
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import GramSystem, RidgePath

Array = NDArray[np.float64]


class RowwisePair(Pair):
    """A pair whose rows are at hand: those of the right block, and Xc as something that multiplies.

    A block is ``narrow`` where its own Gram matrix is the smaller one, and fits; otherwise what is
    asked of it goes through the kernel ``XcXc'`` of its rows, or through products alone.
    """

    left: Any  # rows as they came; None where they are known by a kernel
    Xc: Operator  # centred rows, times the roots of their weights
    kernel: Array  # (N, N) XcXc'
    multiplies: bool = False  # whether the kernel is formed only where nothing else will do
    narrow: bool = False
    gram_system: GramSystem  # of a narrow block
    of_right: ClassVar[tuple[str, ...]] = ("right_energy",)  # kept of the right block
    taken: float = 0.0  # off the squares of Xc by centring, where rows are multiplied before it
    places: NDArray[np.intp] | None = None  # of a part: where its rows are among those of the whole

    def __init__(self, right: Any, weights: Array | None, n_left: int, given_left: int) -> None:
        self.right, self.n_right = right, right.shape[1]
        self.n_left, self.given_left = n_left, given_left
        self.weights = weights
        self.roots = None if weights is None else np.sqrt(weights)
        self.count = float(right.shape[0]) if weights is None else float(weights.sum())
        self.mean_right = weighted_sum(right, weights) / self.count
        self.Y: Operator = weighted(right, self.roots)
        # What a method has found of the right block alone, for its other penalties.
        self.found_of_right: dict[Any, Any] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Of the left block: how many rows, and how many directions."""
        return self.right.shape[0], self.n_left

    @property
    def ones(self) -> Array:
        """The constant row-space vector: the roots of the weights."""
        if self.roots is not None:
            return self.roots
        return beside(np.ones(self.right.shape[0]), self.right)

    def weighted(self, V: Array) -> Array:
        """Columns in row space, times the roots of the weights."""
        return V if self.roots is None else V * self.roots[:, None]

    def unweighted(self, V: Array) -> Array:
        """Columns in row space, divided by the roots of the weights."""
        return V if self.roots is None else V / self.roots[:, None]

    # ---- the right block ----------------------------------------------------------------------

    @property
    def weighted_right(self) -> Any:
        """Y as a sparse matrix."""
        return scale_rows(self.right, self.roots)

    @property
    def centred_right(self) -> Operator:
        """Yc."""
        return centred(self.right, self.mean_right, self.roots)

    @cached_property
    def right_energy(self) -> float:  # type: ignore[override]
        return weighted_square_sum(self.right, self.weights)

    @property
    def right_gram_energy(self) -> float:
        Y = self.weighted_right
        gram = Y.T @ Y
        return float(np.sum((gram.data if scipy.sparse.issparse(gram) else gram) ** 2))

    def right_gram(self, *, centre: bool) -> Operator:
        return Gram(self.centred_right if centre else self.Y)

    # ---- codes, row by row --------------------------------------------------------------------

    def code_rows(self, codes: Codes) -> Array:
        """V itself (N, k), with rows not multiplied by the roots of their weights."""
        V = code_rows(codes, self.left, self.right, self.mean_left)
        return V.toarray() if scipy.sparse.issparse(V) else V

    def codes_of(self, V: Array) -> Codes:
        """Codes given row by row, not multiplied by the roots of the weights."""
        weighted_V = self.weighted(V)
        return Codes(
            left=self.Xc.T @ weighted_V,
            right=self.Y.T @ weighted_V,
            total=self.ones @ weighted_V,
            rows=V,
        )

    def cross_times(self, weights: Array) -> Array:
        return self.Xc.T @ (self.Y @ weights)

    @abstractmethod
    def part(self, rest: Any, held: Any) -> tuple[RowwisePair, Any]:
        """A pair of some rows, and other rows of the left block as that pair knows them."""

    # ---- the left block -----------------------------------------------------------------------

    def projected_gram(self, projection: Array) -> Array:
        XcP = self.Xc @ projection
        return self_product(XcP.T)

    def left_gram(self) -> Operator:
        return Gram(self.Xc)

    def projected_rows(self, projection: Array) -> Array:
        """XP of the rows as they came."""
        return self.unweighted(self.Xc @ projection) + self.mean_left @ self.expressed(projection)

    @abstractmethod
    def rows_times(self, coefficients: Array) -> Array:
        """The rows as they came, times what new rows are multiplied by."""

    @abstractmethod
    def combined_rows(self, c: Array, share: float) -> Array:
        """``Z'c`` of the rows ``Z = Xc + sqrt(share) 1 mean'``, as what rows that come multiply."""

    @cached_property
    def mean_products(self) -> tuple[Array, float]:
        """``Xc mean`` and ``mean'mean``, for kernels of rows that are not wholly centred."""
        mean = self.mean_left
        return (self.Xc @ mean[:, None])[:, 0], float(mean @ mean)

    @cached_property
    def spectrum(self) -> RidgePath:
        """Of the kernel, shared by every balance, hat matrix and penalty."""
        n_rows = self.right.shape[0]
        memory.require_memory(
            8 * 3 * n_rows**2,
            what=f"A path of penalties for {n_rows} rows and {self.n_left} features kept",
            remedy="Project the features, or fit one penalty at a time.",
        )
        return RidgePath.from_gram(self.kernel, self.rounding_scale)

    @property
    def knows_spectrum(self) -> bool:
        """Whether a learner has asked for it before."""
        return "spectrum" in vars(self)

    def iterates(self, penalty: float) -> bool:
        """Whether a penalty asks for eigenvalues (see :func:`solve_ridge`) of an order at which
        they are refused: conjugate gradients then take the factorisation's place."""
        return False

    def solves_by_products(self, n_targets: int) -> bool:
        """Whether conjugate gradients take the place of a factorisation that would be possible,
        because they are faster or because it is not proven at that order."""
        return False

    def condensed(self, *, centred: bool) -> tuple[Array, RowwisePair] | None:
        """Few rows of columns in very different units as coordinates of the space they span, see
        :mod:`compactlearn.linalg._condensed`: that space, and their pair."""
        return None


def places_of(pair: RowwisePair, rest: Any) -> NDArray[np.intp]:
    """Where rows of a part are among those of the whole."""
    return np.asarray(rest) if pair.places is None else pair.places[rest]


AnyRows = TypeVar("AnyRows", bound=RowwisePair)


def with_right(pair: AnyRows, right: Any) -> AnyRows:
    """The same left block, and all that is known of it, beside another right one."""
    twin = copy(pair)
    for name in pair.of_right:
        vars(twin).pop(name, None)
    RowwisePair.__init__(twin, right, pair.weights, pair.n_left, pair.given_left)
    return twin


def weighted_square_sum(matrix: Any, weights: Array | None) -> float:
    """Sum of squares of a CSR matrix's entries, each times the weight of its row."""
    if isinstance(matrix, DeviceArray):
        squares = (matrix * matrix).sum(axis=1)
        return float(squares.sum() if weights is None else weights @ squares)
    if weights is None:
        return float(matrix.data @ matrix.data)
    per_entry = np.repeat(weights, np.diff(matrix.indptr))
    return float(per_entry @ (matrix.data * matrix.data))


def row_weighted(kernel: Array, roots: Array | None) -> Array:
    """A kernel matrix, weighted in place."""
    if roots is not None:
        kernel *= roots
        kernel *= roots[:, None]
    return kernel

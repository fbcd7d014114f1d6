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
from compactlearn.linalg._arrays import beside
from compactlearn.linalg._codes import Codes, code_rows, offset_scale
from compactlearn.linalg._dense import self_product
from compactlearn.linalg._eigen import (
    EigenSolution,
    krylov_pays,
    leading_eigenpairs,
)
from compactlearn.linalg._operators import (
    ColumnScaled,
    Gram,
    Operator,
    Plain,
    Stacked,
    Sum,
    centred,
    weighted,
)
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._ridge import GramSystem, RidgePath
from compactlearn.linalg._row_sums import scale_rows, weighted_square_sum, weighted_sum

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

    def leading_codes(
        self,
        size: int,
        balance: float,
        projection: Array | None = None,
        seed: int = 0,
    ) -> Codes:
        """As in :class:`Pair`.

        They are found as eigenvectors where the kernel of the rows is formed or there are fewer
        rows than columns, and otherwise by right singular vectors of ``[sqrt(balance) XcP, Y]``.
        """
        root = float(np.sqrt(balance))
        XcP = None if projection is None else self.Xc @ projection
        if not self.multiplies and XcP is None:
            found = kernel_eigenpairs(self, size, balance)
            return codes_of_eigenvectors(self, found)
        scaled = ColumnScaled(self.Xc if XcP is None else Plain(XcP), root)
        Z = Stacked((scaled, self.Y))
        # An ascent by codes of projected rows goes by its gains, which are small: these are exact.
        share = self.enough if XcP is None else 1.0
        need = {"scale": code_rounding(self, balance), "share": share, "seed": seed}
        if Z.shape[0] <= Z.shape[1]:
            return codes_of_eigenvectors(self, row_eigenpairs(self, Gram(Z.T), size, **need))
        solution = row_eigenpairs(self, Gram(Z), size, **need)
        return _codes_of_columns(self, solution, root, projection)

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
        :mod:`compactlearn.linalg._rows_ridge`: that space, and their pair."""
        return None


AnyRows = TypeVar("AnyRows", bound=RowwisePair)


def with_right(pair: AnyRows, right: Any) -> AnyRows:
    """The same left block, and all that is known of it, beside another right one."""
    twin = copy(pair)
    for name in pair.of_right:
        vars(twin).pop(name, None)
    RowwisePair.__init__(twin, right, pair.weights, pair.n_left, pair.given_left)
    return twin


def row_weighted(kernel: Array, roots: Array | None) -> Array:
    """A kernel matrix, weighted in place."""
    if roots is not None:
        kernel *= roots
        kernel *= roots[:, None]
    return kernel


def kernel_eigenpairs(pair: RowwisePair, size: int, balance: float) -> EigenSolution:
    """Return leading eigenpairs of ``balance XcXc' + YY'`` from the kernel of order N."""
    offset = code_rounding(pair, balance)
    if krylov_pays(pair.kernel.shape[0], size, is_array=True):
        matrix = Sum(((balance, Plain(pair.kernel)), (1.0, Gram(pair.Y.T))))
        return row_eigenpairs(pair, matrix, size, scale=offset)
    kernel, right = balance * pair.kernel, pair.right
    products = right @ right.T
    if scipy.sparse.issparse(products):
        products = np.asarray(products.todense())
    kernel += row_weighted(products, pair.roots)
    return row_eigenpairs(pair, kernel, size, scale=offset, overwrite=True)


def row_eigenpairs(
    pair: RowwisePair,
    matrix: Any,
    size: int,
    *,
    scale: float = 0.0,
    overwrite: bool = False,
    share: float = 1.0,
    seed: int = 0,
) -> EigenSolution:
    """Return leading eigenpairs of a matrix whose rank is that of both blocks at most."""
    order = pair.n_left + pair.n_right
    return leading_eigenpairs(
        matrix, size, rank_size=order, scale=scale, overwrite=overwrite, share=share, seed=seed
    )


def codes_of_eigenvectors(pair: RowwisePair, solution: EigenSolution) -> Codes:
    """Eigenvectors in row space as codes."""
    V = solution.vectors
    return Codes(
        left=pair.Xc.T @ V,
        right=pair.Y.T @ V,
        total=V.sum(axis=0) if pair.roots is None else pair.roots @ V,
        status=solution.status,
        rows=pair.unweighted(V),
        values=solution.values,
        share=solution.share,
    ).oriented()


def _codes_of_columns(
    pair: RowwisePair,
    solution: EigenSolution,
    root: float,
    projection: Array | None,
) -> Codes:
    w = np.sqrt(solution.values)
    inner = pair.n_left if projection is None else projection.shape[1]
    q = solution.vectors
    b = q[inner:] / w
    a = root * q[:inner] / w
    if projection is not None:
        a = projection @ a
    # [root Xc'V; Y'V] = Z'V = Z'Z q / w costs nothing, but where a block hardly takes part in a
    # code its rounding would be magnified.
    share = np.sum(q[:inner] * q[:inner], axis=0)
    balanced = share.size and 1e-6 < share.min() <= share.max() < 1 - 1e-6
    if projection is None and balanced and not pair.graded:
        images = q * w if solution.images is None else solution.images / w
        left, right = images[:inner] / root, images[inner:]
    else:
        V = pair.Xc @ a + pair.Y @ b
        left, right = pair.Xc.T @ V, pair.Y.T @ V
    return Codes(
        left=left,
        right=right,
        total=pair.count * (pair.mean_right @ b),
        status=solution.status,
        left_weights=a,
        right_weights=b,
        values=solution.values,
        share=solution.share,
    ).oriented()


def code_rounding(pair: RowwisePair, balance: float) -> float:
    """Return the scale of the rounding of codes where rows are multiplied before centring."""
    return offset_scale(balance * pair.taken, pair.n_left + pair.n_right)

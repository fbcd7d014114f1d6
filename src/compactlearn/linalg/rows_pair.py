"""The dual and Krylov regimes: rows at hand, sparse blocks stay sparse."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import memory
from compactlearn.linalg.dense import EIGEN_LIMIT, qr, self_product, symmetrise
from compactlearn.linalg.eigen import (
    EPS,
    EigenSolution,
    krylov_pays,
    leading_eigenpairs,
    leading_range,
)
from compactlearn.linalg.graded import direction_floor, graded_coordinates
from compactlearn.linalg.moments import (
    Moments,
    row_blocks,
    scale_rows,
    sparse_squared_deviations,
    weighted_sum,
)
from compactlearn.linalg.operators import (
    ColumnScaled,
    Gram,
    Operator,
    Plain,
    Product,
    Sandwich,
    Stacked,
    Sum,
    Updated,
    centred,
    weighted,
)
from compactlearn.linalg.pairs import (
    Codes,
    LearnedPath,
    Pair,
    code_rows,
    offset_scale,
    recoded_energy,
)
from compactlearn.linalg.regimes import CROSS_LIMIT, GRAM_LIMIT
from compactlearn.linalg.ridge import (
    SMALL_PENALTY,
    PenaltyPath,
    RidgePath,
    mean_share,
    ridge_inverse,
    ridge_path,
    solve_ridge,
    solve_ridge_iteratively,
    with_ones,
)

Array = NDArray[np.float64]


# Up to this order a hat matrix comes from eigenvectors, which are exact to rounding; beyond, from
# an inverse, four times faster, whose rounding grows with the condition.
SPECTRAL_HAT = 1_000

# Sparse rows of up to so many cells (64 MB) may be made dense where their columns are in very
# different units.
DENSE_ROWS = 1 << 23


@dataclass(frozen=True)
class HatMatrix:
    """A hat matrix of order N: an array, or something that multiplies."""

    matrix: Any
    trace: float


@dataclass(frozen=True)
class IterativeInverse(Operator):
    """``(Z'Z + alpha I)^-1`` by conjugate gradients, where no Gram matrix fits."""

    rows: Operator
    alpha: float
    variances: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        return self.rows.shape[1], self.rows.shape[1]

    def _multiply(self, block: Array) -> Array:
        return solve_ridge_iteratively(self.rows, block, self.alpha, variances=self.variances)[0]

    _multiply_transposed = _multiply


class RowsPair(Pair):
    """Rows at hand: the dual regime for few of them, products only otherwise."""

    def __init__(
        self, left: Any, right: Any, weights: Array | None = None, *, regime: str = "krylov"
    ) -> None:
        self.regime = regime
        self.left = left
        self.n_left = self.given_left = left.shape[1]
        self._take_right(right, weights)
        self.mean_left = weighted_sum(left, weights) / self.count
        if not scipy.sparse.issparse(left):
            self._rounded_mean = self.mean_left
            self._drift = self._mean_of_centred()  # the mean was rounded once
            self.mean_left = self.mean_left + self._drift

    def _mean_of_centred(self) -> Array:
        total = np.zeros(self.n_left)
        for rows in row_blocks(*self.left.shape):
            block = self.left[rows] - self._rounded_mean
            total += block.sum(axis=0) if self.weights is None else self.weights[rows] @ block
        return total / self.count

    @cached_property
    def _dense_Xc(self) -> Array:
        """A dense block is centred once: the copy costs one pass and saves a correction, and the
        digits that a large offset would take, in every later product. It is made when it is
        needed: rows that are only there to be divided into parts need none."""
        Xc = self.left - self._rounded_mean
        Xc -= self._drift
        if self.roots is not None:
            Xc *= self.roots[:, None]
        return Xc

    @cached_property
    def Xc(self) -> Operator:
        """The centred rows, times the roots of their weights."""
        if scipy.sparse.issparse(self.left):
            return centred(self.left, self.mean_left, self.roots)
        return Plain(self._dense_Xc)

    def _take_right(self, right: Any, weights: Array | None) -> None:
        self.right, self.n_right = right, right.shape[1]
        self.weights = weights
        self.roots = None if weights is None else np.sqrt(weights)
        self.count = float(right.shape[0]) if weights is None else float(weights.sum())
        self.mean_right = weighted_sum(right, weights) / self.count
        self.Y: Operator = weighted(right, self.roots)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the left block: how many rows, and how many directions."""
        return self.right.shape[0], self.n_left

    @property
    def ones(self) -> Array:
        """The constant row-space vector: the roots of the weights."""
        return np.ones(self.right.shape[0]) if self.roots is None else self.roots

    @cached_property
    def left_energy(self) -> float:  # type: ignore[override]
        if not scipy.sparse.issparse(self.left):
            return float(np.vdot(self._dense_Xc, self._dense_Xc))
        squares = _weighted_square_sum(self.left, self.weights)
        return float(squares - self.count * (self.mean_left @ self.mean_left))

    @cached_property
    def variances(self) -> Array | None:  # type: ignore[override]
        if not scipy.sparse.issparse(self.left):
            return np.einsum("ij,ij->j", self._dense_Xc, self._dense_Xc)
        return sparse_squared_deviations(self.left, self.mean_left, self.weights, self.count)

    @cached_property
    def right_energy(self) -> float:  # type: ignore[override]
        return _weighted_square_sum(self.right, self.weights)

    @property
    def right_gram_energy(self) -> float:
        Y = scale_rows(self.right, self.roots)
        return float(np.sum((Y.T @ Y).data ** 2))

    @cached_property
    def rounding_scale(self) -> float:  # type: ignore[override]
        if not scipy.sparse.issparse(self.left):
            return 0.0
        return self.left_energy + self.count * float(self.mean_left @ self.mean_left)

    @property
    def cross_energy(self) -> float:
        if self._cross_fits:
            return float(np.sum(self._cross**2))
        step = max(1, CROSS_LIMIT // self.n_left)
        starts = range(0, self.n_right, step)
        parts = (self.Xc.T @ (self.Y @ np.eye(self.n_right, step, -start)) for start in starts)
        return float(sum(np.vdot(part, part) for part in parts))

    @property
    def _cross_rounding(self) -> float:
        return 16 * EPS * self.rounding_scale * self.right_energy

    @property
    def _cross_fits(self) -> bool:
        return self.n_left * self.n_right <= CROSS_LIMIT

    @cached_property
    def _cross(self) -> Array:
        """Xc'Y, multiplied out."""
        Y = scale_rows(self.right, self.roots)
        if not scipy.sparse.issparse(self.left):
            return np.asarray(Y.T @ self._dense_Xc).T
        cross = (Y.T @ scale_rows(self.left, self.roots)).toarray()
        cross -= np.outer(self.mean_right, self.count * self.mean_left)
        return cross.T

    @property
    def _cross_operator(self) -> Operator:
        return Plain(self._cross) if self._cross_fits else Product(self.Xc.T, self.Y)

    def _cross_times(self, weights: Array) -> Array:
        return self.Xc.T @ (self.Y @ weights)

    def cross_range(self, size: int) -> tuple[Array, Array]:
        order = min(self.n_left, self.n_right)
        if self._cross_fits and not (order >= 300 and krylov_pays(order, size, is_array=False)):
            basis, squares = leading_range(self._cross, scale=self._cross_rounding)
            return basis[:, :size], squares[:size]
        solution = leading_eigenpairs(Gram(self._cross_operator), size, scale=self._cross_rounding)
        images = self._cross_times(solution.vectors / np.sqrt(solution.values))
        return qr(images)[0], solution.values

    def cross_gram(self) -> Operator:
        return Gram(self._cross_operator)

    def right_gram(self, *, centre: bool) -> Operator:
        return Gram(self._centred_right if centre else self.Y)

    @property
    def _centred_right(self) -> Operator:
        return centred(self.right, self.mean_right, self.roots)

    # The row-space products of the mean, for kernels of rows that are not, or not wholly, centred.

    @cached_property
    def _mean_image(self) -> Array:
        """``Xc mean``."""
        return (self.Xc @ self.mean_left[:, None])[:, 0]

    @property
    def _mean_square(self) -> float:
        return float(self.mean_left @ self.mean_left)

    def _kernel(self, share: float) -> Array:
        """``ZZ'`` of the rows ``Z = Xc + sqrt(share) 1 mean'``; a new array unless share is 0."""
        kernel = self._left_kernel
        if share == 0:
            return kernel
        z, ones, root = self._mean_image, self.ones, float(np.sqrt(share))
        kernel = kernel + np.outer(root * z, ones)
        kernel += np.outer(ones, root * z)
        kernel += np.outer(share * self._mean_square * ones, ones)
        return kernel

    @property
    def _narrow(self) -> bool:
        """Whether the left block's own Gram matrix is the smaller one, and fits."""
        n_rows, n_left = self.shape
        return n_left <= min(n_rows, GRAM_LIMIT)

    @cached_property
    def _left_gram(self) -> Array:
        nothing = scipy.sparse.csr_array((self.right.shape[0], 0))
        return Moments.from_arrays(self.left, nothing, self.weights).left_left

    # Few rows of columns in very different units: their kernel matrix has lost the small ones. As
    # the rows lie in a space of no more dimensions than there are of them, they are turned into
    # coordinates of it, in which they are narrow, and everything of the ridge is asked of these.

    def _condensed(
        self, convention: str, penalty: float = 0.0
    ) -> tuple[Array, _CondensedPair] | None:
        """Orthonormal directions, and the pair of the rows' coordinates; None where not needed.

        A penalty that is no small part of the rows' squares outweighs what the kernel has lost.
        The mean of the rows has coordinates, too, where the convention for the intercept leaves
        it in the problem. Sparse rows are not made dense, unless there are few of them.
        """
        if self._narrow or penalty > SMALL_PENALTY * self.left_energy or not self.graded:
            return None
        n_rows, n_left = self.shape
        if scipy.sparse.issparse(self.left) and n_rows * n_left > DENSE_ROWS:
            return None
        free = memory.available_bytes()
        if n_rows > GRAM_LIMIT or (free is not None and 8 * 4 * n_rows * n_left > free):
            return None
        centred = mean_share(convention, 0.0, self.count) == 0 and convention != "penalised"
        if centred not in self._condensations:
            self._condensations[centred] = self._condense(centred)
        return self._condensations[centred]

    @cached_property
    def _condensations(self) -> dict[bool, tuple[Array, _CondensedPair]]:
        return {}

    def _condense(self, centred: bool) -> tuple[Array, _CondensedPair]:
        n_rows, n_left = self.shape
        rows = np.empty((n_rows + (not centred), n_left))
        if scipy.sparse.issparse(self.left):
            rows[:n_rows] = self.left.toarray() - self.mean_left
            if self.roots is not None:
                rows[:n_rows] *= self.roots[:, None]
        else:
            rows[:n_rows] = self._dense_Xc
        variances = self.variances
        assert variances is not None
        if not centred:
            rows[n_rows] = self.mean_left
        Q, coordinates = graded_coordinates(rows)
        own = coordinates[:n_rows]
        own = own if self.roots is None else own / self.roots[:, None]
        if not centred:
            own = own + coordinates[n_rows]
        squares = variances if centred else variances + self.count * self.mean_left**2
        return Q, _CondensedPair(own, self.right, self.weights, direction_floor(Q, squares))

    def hat(self, kind: str, ridge: float) -> HatMatrix:
        n_rows = self.right.shape[0]
        condensed = self._condensed(kind, ridge)
        if condensed is not None:
            return condensed[1].hat(kind, ridge)
        iterates = self._iterates(ridge)
        if self._narrow and (self.regime == "krylov" or self.graded) and not iterates:
            hat = self._hat_from_gram(kind, ridge)
        elif n_rows <= GRAM_LIMIT and not iterates:
            hat = self._hat_from_kernel(kind, ridge)
        else:
            Z = self._hat_rows(kind)
            operator = Sandwich(Z.T, IterativeInverse(Z, ridge, self._squares_of_rows(kind)))
            # An unbiased estimate (Hutchinson 1990); the trace only scales an automatic balance.
            probes = np.random.default_rng(0).choice([-1.0, 1.0], (n_rows, 16))
            hat = HatMatrix(operator, float(np.vdot(probes, operator @ probes)) / 16)
        if kind != "intercept":
            return hat
        unit = self.ones / np.sqrt(self.count)
        if isinstance(hat.matrix, np.ndarray):
            return HatMatrix(hat.matrix + np.outer(unit, unit), hat.trace + 1.0)
        return HatMatrix(Updated(hat.matrix, unit, unit), hat.trace + 1.0)

    def _hat_rows(self, kind: str) -> Operator:
        """The rows whose hat matrix is meant."""
        if kind in ("centred", "intercept"):
            return self.Xc
        raw = Updated(self.Xc, self.ones, self.mean_left)
        return raw if kind == "raw" else Stacked((Plain(self.ones[:, None]), raw))

    def _squares_of_rows(self, kind: str) -> Array | None:
        """Squared lengths of these rows' columns."""
        squares = self.variances
        if squares is None or kind in ("centred", "intercept"):
            return squares
        squares = squares + self.count * self.mean_left**2
        return squares if kind == "raw" else np.append(self.count, squares)

    def _floor_of_rows(self, kind: str) -> Array | float:
        """What rounding leaves of those columns of theirs that are nothing else."""
        return self.floor if kind in ("free", "centred", "intercept") else 0.0

    def _gram_of_rows(self, kind: str) -> Array:
        """``Z'Z`` of these rows, but for the free intercept."""
        gram = self._left_gram
        if kind in ("raw", "penalised"):
            gram = gram + self.count * np.outer(self.mean_left, self.mean_left)
        return with_ones(gram, self.mean_left, self.count) if kind == "penalised" else gram

    def _kernel_of_rows(self, kind: str) -> Array:
        """``ZZ'`` of these rows, but for the free intercept."""
        kernel = self._kernel(1.0 if kind in ("raw", "penalised") else 0.0)
        return kernel + np.outer(self.ones, self.ones) if kind == "penalised" else kernel

    def _hat_from_gram(self, kind: str, ridge: float) -> HatMatrix:
        gram, floor = self._gram_of_rows(kind), self._floor_of_rows(kind)
        if kind == "penalised" and np.ndim(floor):
            floor = np.append(0.0, floor)
        inverse, trace = ridge_inverse(gram, ridge, floor=floor)
        return HatMatrix(Sandwich(self._hat_rows(kind).T, Plain(inverse)), trace)

    def _hat_from_kernel(self, kind: str, ridge: float) -> HatMatrix:
        path = self._spectrum_at_hand(kind)
        if path is None:
            kernel = self._kernel_of_rows(kind)
            if kernel.shape[0] > SPECTRAL_HAT:
                inverse, trace = ridge_inverse(kernel, ridge, self.rounding_scale)
                hat = kernel @ inverse
                return HatMatrix(symmetrise(hat), trace)
            path = RidgePath.from_gram(kernel, self.rounding_scale)
        assert isinstance(path, RidgePath)
        shrinkage = (path.inverse(ridge) * path.values)[: path.rank]
        root = path.vectors[:, : path.rank] * np.sqrt(shrinkage)
        return HatMatrix(self_product(root), float(shrinkage.sum()))

    def _spectrum_at_hand(self, kind: str) -> PenaltyPath | None:
        """That of the kernel whose hat matrix is meant, where the learner needed it before."""
        if kind not in ("centred", "intercept") or self._narrow or "_left_path" not in vars(self):
            return None
        return self._left_path

    def hat_gram(self, kind: str, ridge: float) -> Operator:
        matrix = self.hat("centred" if kind == "intercept" else kind, ridge).matrix
        inner = Plain(matrix) if isinstance(matrix, np.ndarray) else matrix
        return Sandwich(self._centred_right, inner)

    def hat_codes(
        self, size: int, balance: float, hat: HatMatrix, scale: float, shift: Array | None
    ) -> Codes:
        terms = recoded_energy(self, scale, shift)
        T: Operator = ColumnScaled(self.Y, scale)
        if shift is not None:
            T = Updated(T, self.ones, shift)
        if isinstance(hat.matrix, np.ndarray):
            H: Operator = Plain(hat.matrix)
            if not krylov_pays(hat.matrix.shape[0], size, is_array=True):
                A = balance * hat.matrix
                A += np.asarray(T @ (T.T @ np.eye(A.shape[0])))
                A = (A + A.T) / 2
                return self._from_rows(self._pairs(A, size, scale=terms, overwrite=True))
        else:
            H = hat.matrix
        matrix = Sum(((balance, H), (1.0, Gram(T.T))))
        return self._from_rows(self._pairs(matrix, size, scale=terms))

    def hat_energies(self, hat: HatMatrix, codes: Codes) -> Array:
        V = self.code_rows(codes)
        V = V if self.roots is None else V * self.roots[:, None]
        return np.einsum("ij,ij->j", V, hat.matrix @ V)

    @cached_property
    def _left_kernel(self) -> Array:
        """XcXc', formed once in the dual regime and shared by every balance."""
        if not scipy.sparse.issparse(self.left):
            return self_product(self._dense_Xc)
        kernel = np.asarray((self.left @ self.left.T).todense())
        shift = self.left @ self.mean_left
        kernel -= shift
        kernel -= shift[:, None]
        kernel += self.mean_left @ self.mean_left
        return _row_weighted(kernel, self.roots)

    def leading_codes(self, size: int, balance: float, projection: Array | None = None) -> Codes:
        root = float(np.sqrt(balance))
        XcP = None if projection is None else self.Xc @ projection
        if self.regime == "dual" and XcP is None:
            return self._from_rows(self._kernel_pairs(size, balance))
        scaled = ColumnScaled(self.Xc if XcP is None else Plain(XcP), root)
        Z = Stacked((scaled, self.Y))
        if Z.shape[0] <= Z.shape[1]:
            return self._from_rows(self._pairs(Gram(Z.T), size, scale=self._offset(balance)))
        solution = self._pairs(Gram(Z), size, scale=self._offset(balance))
        return self._from_columns(solution, root, projection)

    def _kernel_pairs(self, size: int, balance: float) -> EigenSolution:
        """Leading eigenpairs of ``balance XcXc' + YY'`` from the kernel of order N."""
        if krylov_pays(self._left_kernel.shape[0], size, is_array=True):
            matrix = Sum(((balance, Plain(self._left_kernel)), (1.0, Gram(self.Y.T))))
            return self._pairs(matrix, size, scale=self._offset(balance))
        kernel = balance * self._left_kernel
        kernel += _row_weighted(np.asarray((self.right @ self.right.T).todense()), self.roots)
        return self._pairs(kernel, size, scale=self._offset(balance), overwrite=True)

    def _offset(self, balance: float) -> float:
        """What the rounding of codes is judged by where rows are multiplied before centring."""
        if not scipy.sparse.issparse(self.left):
            return 0.0
        taken = balance * self.count * float(self.mean_left @ self.mean_left)
        return offset_scale(taken, self.n_left + self.n_right)

    def _pairs(
        self, matrix: Any, size: int, *, scale: float = 0.0, overwrite: bool = False
    ) -> EigenSolution:
        order = self.n_left + self.n_right
        return leading_eigenpairs(matrix, size, rank_size=order, scale=scale, overwrite=overwrite)

    def _from_rows(self, solution: EigenSolution) -> Codes:
        V = solution.vectors
        return Codes(
            left=self.Xc.T @ V,
            right=self.Y.T @ V,
            total=V.sum(axis=0) if self.roots is None else self.roots @ V,
            status=solution.status,
            rows=V if self.roots is None else V / self.roots[:, None],
            values=solution.values,
        ).oriented()

    def _from_columns(
        self, solution: EigenSolution, root: float, projection: Array | None
    ) -> Codes:
        w = np.sqrt(solution.values)
        inner = self.n_left if projection is None else projection.shape[1]
        q = solution.vectors
        b = q[inner:] / w
        a = root * q[:inner] / w
        if projection is not None:
            a = projection @ a
        # [root Xc'V; Y'V] = Z'V = q w costs nothing, but where a block hardly takes part in a code
        # its rounding would be magnified.
        share = np.einsum("ij,ij->j", q[:inner], q[:inner])
        balanced = share.size and 1e-6 < share.min() <= share.max() < 1 - 1e-6
        if projection is None and balanced and not self.graded:
            left, right = q[:inner] * (w / root), q[inner:] * w
        else:
            V = self.Xc @ a + self.Y @ b
            left, right = self.Xc.T @ V, self.Y.T @ V
        return Codes(
            left=left,
            right=right,
            total=self.count * (self.mean_right @ b),
            status=solution.status,
            left_weights=a,
            right_weights=b,
            values=solution.values,
        ).oriented()

    def code_rows(self, codes: Codes) -> Array:
        """V itself (N, k), with rows not multiplied by the roots of their weights."""
        V = code_rows(codes, self.left, self.right, self.mean_left)
        return V.toarray() if scipy.sparse.issparse(V) else V

    def codes_of(self, V: Array) -> Codes:
        """Codes given row by row, not multiplied by the roots of the weights."""
        weighted_V = V if self.roots is None else V * self.roots[:, None]
        return Codes(
            left=self.Xc.T @ weighted_V,
            right=self.Y.T @ weighted_V,
            total=self.ones @ weighted_V,
            rows=V,
        )

    def fitted_codes(self, codes: Codes, alpha: float, bias: str = "free") -> Array:
        """The training rows' codes as a ridge on all of the left block predicts them."""
        learned = self.learn(None, codes, alpha, bias)
        return self.left @ learned.coefficients + learned.intercept

    def part(self, rest: Any, held: Any) -> tuple[RowsPair, Any]:
        """A pair of some rows, and other rows of the left block as that pair knows them."""
        weights = None if self.weights is None else self.weights[rest]
        part = RowsPair(self.left[rest], self.right[rest], weights, regime=self.regime)
        part.given_left = self.given_left
        return part, self.left[held]

    @property
    def has_leverages(self) -> bool:
        """Whether the smaller Gram matrix of the left block can be decomposed."""
        return min(self.shape) <= EIGEN_LIMIT

    def leverages(self, alpha: float, bias: str = "free") -> Array:
        """How much each row's own code enters its prediction by a ridge on all of the left block:
        the diagonal of the hat matrix. A weighted row's own is that of all its weight.

        The mean that "target" takes off the codes beforehand does not count.
        """
        kind = {"free": "intercept", "penalised": "penalised"}.get(bias, "raw")
        condensed = self._condensed(bias, alpha)
        if condensed is not None:
            return condensed[1].leverages(alpha, bias)
        own = self.ones**2 / self.count if kind == "intercept" else np.zeros_like(self.ones)
        if kind == "penalised" and self._narrow:
            # The intercept profiled out, as by the fit: a large mean would cost the digits of X'X.
            share, mean = mean_share(bias, alpha, self.count), self.mean_left
            own = self.ones**2 / (self.count + alpha)
            gram = self._left_gram + share * self.count * np.outer(mean, mean)
            path = ridge_path(gram, floor=self._floor_of_rows("raw"))
            return own + path.own_shares(Updated(self.Xc, share * self.ones, mean), alpha)
        path = self._path_of_rows(kind)
        if self._narrow:
            return own + path.own_shares(self._hat_rows(kind), alpha)
        assert isinstance(path, RidgePath)  # of a kernel
        return own + path.vectors**2 @ (path.inverse(alpha) * path.values)

    def _path_of_rows(self, kind: str) -> PenaltyPath:
        if kind == "intercept":
            return self._left_path
        if self._narrow:
            return ridge_path(self._gram_of_rows(kind), floor=self._floor_of_rows(kind))
        return RidgePath.from_gram(self._kernel_of_rows(kind), self.rounding_scale)

    def right_codes(self, *, dense: bool = True) -> Codes:
        total = self.count * self.mean_right
        if dense or self._cross_fits:
            return Codes(self._cross, None, total)
        return Codes(self._cross_operator, None, total)

    def projected_gram(self, projection: Array) -> Array:
        XcP = self.Xc @ projection
        return self_product(XcP.T)

    def gram_images(self, projection: Array) -> Array:
        return self.Xc.T @ (self.Xc @ projection)

    def projected_rows(self, projection: Array) -> Array:
        """XP of the rows as they came."""
        XcP = self.Xc @ projection
        if self.roots is not None:
            XcP /= self.roots[:, None]
        return XcP + self.mean_left @ self.expressed(projection)

    def ridge_directions(self, codes: Codes, alpha: float) -> tuple[Array, bool]:
        return self._solve_kept(codes, alpha, "free")

    def _solve_kept(self, codes: Codes, alpha: float, bias: str) -> tuple[Array, bool]:
        share = mean_share(bias, alpha, self.count)
        mean = self.mean_left
        iterates = self._iterates(alpha)
        few_rows = not self._narrow and self.right.shape[0] <= GRAM_LIMIT and not iterates
        careful = few_rows and alpha <= SMALL_PENALTY * self.left_energy and self.graded
        condensed = self._condensed(bias, alpha) if careful else None
        if condensed is not None:
            Q, pair = condensed
            B, solved = pair._solve_kept(pair.codes_of(self.code_rows(codes)), alpha, bias)
            return Q @ B, solved
        if few_rows and not (careful and alpha > 0):
            c = self._dual_coefficients(codes, alpha, bias)
            return self.Xc.T @ c + np.sqrt(share) * np.outer(mean, self.ones @ c), True
        cross = codes.left
        if share and bias != "target":
            cross = cross + share * np.outer(mean, codes.total)
        if self._narrow and not iterates:
            gram = self._left_gram
            if share:
                gram = gram + share * self.count * np.outer(mean, mean)
            return solve_ridge(gram, cross, alpha, floor=self._floor_of_rows(bias)), True
        rows = Updated(self.Xc, np.sqrt(share) * self.ones, mean) if share else self.Xc
        squares = self.variances
        if squares is not None and share:
            squares = squares + share * self.count * mean**2
        return solve_ridge_iteratively(rows, cross, alpha, variances=squares)

    def _iterates(self, penalty: float) -> bool:
        """Whether a penalty asks for eigenvalues (see :func:`solve_ridge`) of an order at which
        they are refused: conjugate gradients then take the factorisation's place."""
        trace = self.left_energy + self.count * self._mean_square
        return min(self.shape) > EIGEN_LIMIT and penalty <= SMALL_PENALTY * trace

    def _centred_codes(self, codes: Codes) -> Array:
        """The rows of V, weighted, less their mean."""
        V = self.code_rows(codes) - codes.total / self.count
        return V if self.roots is None else V * self.roots[:, None]

    def _dual_coefficients(self, codes: Codes, alpha: float, bias: str) -> Array:
        """c with ``B = Z'c`` for the rows ``Z = Xc + sqrt(share) 1 mean'``."""
        share = mean_share(bias, alpha, self.count)
        V = self._centred_codes(codes)
        if share and bias != "target":
            V = V + np.sqrt(share) * np.outer(self.ones, codes.total / self.count)
        return solve_ridge(self._kernel(share), V, alpha, self.rounding_scale)

    @cached_property
    def _left_path(self) -> PenaltyPath:
        """The path of Xc'Xc, or of XcXc' where that is smaller, shared by every balance."""
        if self._narrow:
            return ridge_path(self._left_gram, floor=self.floor)
        n_rows = self.right.shape[0]
        memory.require_memory(
            8 * 3 * n_rows**2,
            what=f"A path of penalties for {n_rows} rows and {self.n_left} features kept",
            remedy="Project the features, or fit one penalty at a time.",
        )
        return RidgePath.from_gram(self._left_kernel, self.rounding_scale)

    def _kept_path(self, codes: Codes) -> LearnedPath:
        mean_code = codes.total / self.count
        condensed = self._condensed("free")
        if condensed is not None:
            Q, pair = condensed
            own = pair._kept_path(pair.codes_of(self.code_rows(codes)))
            outside = Q if own.outside is None else Q @ own.outside
            return LearnedPath(own.spectrum, outside, own.inside, self.mean_left, mean_code)
        path = self._left_path
        if self._narrow:
            inside = path.inside(codes.left)
            return LearnedPath(path, path.outside, inside, self.mean_left, mean_code)
        assert isinstance(path, RidgePath)
        inside = path.vectors.T @ self._centred_codes(codes)
        outside = self.expressed(self.Xc.T @ path.vectors)
        return LearnedPath(path, outside, inside, self.mean_left, mean_code)

    def principal_directions(
        self, size: int, avoid: Array, *, fill: bool = True
    ) -> tuple[Array, Array]:
        return self._principal_directions(Gram(self.Xc), size, avoid, fill)


class _CondensedPair(RowsPair):
    """Rows in coordinates of the space they span, which are no more than the rows and their mean.

    ``floor`` is what cancellation has left of a coordinate that no row has.
    """

    _narrow = True  # type: ignore[assignment]

    def __init__(self, left: Array, right: Any, weights: Array | None, floor: Array) -> None:
        super().__init__(left, right, weights)
        self.floor = floor

    def _floor_of_rows(self, kind: str) -> Array:
        return self.floor


def _weighted_square_sum(matrix: Any, weights: Array | None) -> float:
    """Sum of squares of a CSR matrix's entries, each times the weight of its row."""
    if weights is None:
        return float(matrix.data @ matrix.data)
    per_entry = np.repeat(weights, np.diff(matrix.indptr))
    return float(per_entry @ (matrix.data * matrix.data))


def _row_weighted(kernel: Array, roots: Array | None) -> Array:
    if roots is not None:
        kernel *= roots
        kernel *= roots[:, None]
    return kernel

"""Estimates of seconds and bytes for each route, and the choice of one.

The estimates count operations and multiply them by what one costs on two cores; only their
order matters. Constants were fitted to timings of enron, llog, plant, bibtex, corel5k, delicious
and mediamill (``bench/speed``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import scipy.sparse

from compactlearn.linalg._dense import EIGEN_LIMIT, LU_UP_TO, PROVEN
from compactlearn.linalg._eigen import ENOUGH_ABOVE, krylov_pays, many_wanted, too_many_for_krylov

EXACT = ("moments", "dual", "krylov")
ROUTES = (*EXACT, "randomized")

# The share of the largest sum of eigenvalues that the randomised route is content with. On wordnet
# precision among the first labels is that of exact codes; with 0.999
# the first label was right for 0.6780 of the rows in place of 0.6786.
ENOUGH = 0.9999

# The same for some of the rows, whose codes only show what codes of all rows are worth: it takes a
# quarter of the time less.
ENOUGH_OF_PARTS = 0.999

# Seconds that an exact fit may be estimated to take before the randomised route may be chosen.
PATIENCE = 1.0

# Whose eigenproblem a method solves: both blocks together (order D + M, or N), the right block's
# (order M), the left singular vectors of the cross products, or a hat matrix and the right
# block (a matrix of order D or N has to be inverted first).
PROBLEMS = ("joint", "right", "left", "hat")

# Largest order for which a Gram matrix is formed only to solve a ridge problem: 3.2 GB.
GRAM_LIMIT = 20_000

# Cross products Xc'Y are multiplied out up to this many entries (512 MB), where a method does not
# keep them anyway.
CROSS_LIMIT = 1 << 26

_DENSE = 2e-11  # seconds per multiply-add inside a matrix product
_THIN = 1e-10  # the same for products with a few columns: bound by memory
_SPARSE = 6e-10  # per stored entry and column of a sparse product
_SPGEMM = 8e-9  # per multiply-add of a sparse-sparse product
_EIGH_ALL = 8e-11  # times the cube of the order: divide and conquer, all pairs
_OVERHEAD = 2e-3  # of working through operators; below it, moments allow partial_fit afterwards
_STEPS = 60  # of preconditioned conjugate gradients: 40 to 150 on wordnet, bibtex, enron, llog
_EIGH_SOME = 4e-11  # times the cube of the order: a few pairs


@dataclass(frozen=True)
class Shape:
    """The sizes that the choice depends on."""

    n_rows: int
    n_left: int
    n_right: int
    left_entries: int  # stored entries: n_rows * n_left where dense
    right_entries: int
    left_sparse: bool

    def part(self, share: float) -> Shape:
        """Return the shape of a share of the rows."""
        return replace(
            self,
            n_rows=int(share * self.n_rows),
            left_entries=int(share * self.left_entries),
            right_entries=int(share * self.right_entries),
        )

    @classmethod
    def of(cls, left: Any, right: Any) -> Shape:
        sparse = scipy.sparse.issparse(left)
        entries = left.nnz if sparse else left.shape[0] * left.shape[1]
        labels = right.nnz if scipy.sparse.issparse(right) else right.size
        return cls(left.shape[0], left.shape[1], right.shape[1], entries, labels, sparse)


@dataclass(frozen=True)
class Plan:
    """The needs of a method, known from the shape of the blocks alone."""

    components: int  # leading codes to be found; 0 where there is no eigenproblem
    keeps_features: bool = False  # a ridge on the whole left block: its Gram matrix or kernel
    n_codes: int = 0  # targets of that ridge; at least the components
    extra_directions: int = 0  # principal directions of the left block next to the codes'
    problem: str = "joint"  # one of PROBLEMS
    hat: bool = False  # a hat matrix is formed, whatever the eigenproblem


def seconds(shape: Shape, demand: Plan) -> dict[str, float]:
    """Estimated time of a fit in each route."""
    exact = _exact_seconds(shape, demand)
    side, k = _side(shape), demand.components
    if demand.problem != "joint" or side <= ENOUGH_ABOVE * k:
        return {**exact, "randomized": exact["krylov"]}  # it is the same
    saved = _krylov_codes(shape, side, k, 3, 7) - _krylov_codes(shape, side, k, 2, 4)
    return {**exact, "randomized": exact["krylov"] - saved}


def widening_seconds(shape: Shape, demand: Plan) -> float:
    """Return the estimated time of directions added to the codes' by products of the left block
    (the completion "krylov") and of the ridge on all of them, where rows are multiplied."""
    k, extra = max(demand.components, demand.n_codes), demand.extra_directions
    if not extra:
        return 0.0
    entry = _SPARSE if shape.left_sparse else _THIN
    width = k + extra
    return (
        (2 * extra + width) * shape.left_entries * entry
        # Each direction is made orthogonal to the others twice, and then to those found with it.
        + _DENSE * shape.n_left * (4 * k * extra + 6 * extra**2 + k * width)
        + _DENSE * shape.n_rows * width**2 / 2
        + _EIGH_ALL * width**3
    )


def _side(shape: Shape) -> int:
    """The order of the joint eigenproblem."""
    return min(shape.n_rows, shape.n_left + shape.n_right)


def _krylov_codes(shape: Shape, side: int, k: int, columns: float, passes: float) -> float:
    """Leading codes by products, with so many columns of a basis for each code."""
    entry = _SPARSE if shape.left_sparse else _THIN
    return (
        (columns * k + 40) * 2 * (shape.left_entries * entry + shape.right_entries * _SPARSE)
        + passes * _DENSE * side * (columns * k) ** 2
        + 4 * _EIGH_ALL * (columns * k) ** 3
    )


def _exact_seconds(shape: Shape, demand: Plan) -> dict[str, float]:
    N, D, M, k = shape.n_rows, shape.n_left, shape.n_right, demand.components
    per_row = shape.left_entries / max(N, 1)
    gram = _gram(shape)
    kernel = _kernel(shape)
    solve = _DENSE * D**3 / 3
    left_only = 0.0
    if demand.keeps_features:
        products = ridge_by_products(shape, demand.n_codes)
        left_only = _by_products(shape, demand.n_codes) if products else _factorised(shape)
    entry = _SPARSE if shape.left_sparse else _THIN
    project = shape.left_entries * k * entry + _DENSE * N * k * k
    cross = shape.right_entries * (D if not shape.left_sparse else per_row + 1) * _SPARSE
    learn = solve if demand.keeps_features else _DENSE * D * D * k
    if demand.problem == "right":
        small = _eigh(M, k)
        return {
            "moments": gram + shape.right_entries * D * _SPARSE + small + learn,
            "dual": _OVERHEAD + kernel + _DENSE * N**3 / 3 + small + project,
            "krylov": _OVERHEAD + cross + small + project + left_only,
        }
    if demand.problem == "left":
        small = cross + 4 * _DENSE * D * M * min(D, M) + project
        return {
            "moments": gram + shape.right_entries * D * _SPARSE + small,
            "dual": _OVERHEAD + kernel + small,
            "krylov": _OVERHEAD + small + left_only,
        }
    if demand.problem == "hat":
        side = min(N, D) if min(N, D) <= GRAM_LIMIT else 0
        per_column = N * N if N < D else 2 * shape.left_entries + D * D
        return {
            "moments": gram + _EIGH_ALL * D**3 + _eigh(D + M, k) + learn,
            "dual": _OVERHEAD + kernel + 4 * _DENSE * N**3 + _eigh(N, k) + project + left_only,
            "krylov": _OVERHEAD
            + min(gram, kernel)
            + 4 * _DENSE * side**3
            + (3 * k + 40) * per_column * _THIN
            + 12 * _DENSE * N * (3 * k) ** 2
            + left_only,
        }
    side = _side(shape)
    krylov = _OVERHEAD + _krylov_codes(shape, side, k, 3, 7)
    if too_many_for_krylov(side, k):  # it goes dense, through products with the identity
        krylov += side * 2 * (shape.left_entries * entry + shape.right_entries * _SPARSE)
    return {
        "moments": gram + shape.right_entries * D * _SPARSE + _eigh(D + M, k) + learn,
        "dual": kernel + _eigh(N, k) + project + left_only,
        "krylov": krylov + project + left_only,
    }


def ridge_by_products(shape: Shape, n_targets: int) -> bool:
    """Return whether a ridge on all of a sparse left block is solved by conjugate gradients: always
    where the smaller Gram matrix is of an order at which factorisations are not proven, and below
    that where it is the faster way; not where a factorisation is a matter of moments.

    >>> text = Shape(24_000, 17_710, 500, 1_400_000, 60_000, left_sparse=True)
    >>> ridge_by_products(text, 500), ridge_by_products(text.part(0.1), 500)
    (True, False)
    """
    side = min(shape.n_rows, shape.n_left)
    if not shape.left_sparse or side <= LU_UP_TO:
        return False
    return side > PROVEN or _by_products(shape, n_targets) < _factorised(shape)


def _by_products(shape: Shape, n_targets: int) -> float:
    """The ridge on all of the left block by conjugate gradients."""
    one = 2 * shape.left_entries * _SPARSE + (10 * shape.n_left + 4 * shape.n_rows) * _THIN
    return _STEPS * one * n_targets


def _factorised(shape: Shape) -> float:
    """The ridge on all of the left block from the smaller Gram matrix."""
    return min(
        _gram(shape) + _DENSE * shape.n_left**3 / 3, _kernel(shape) + _DENSE * shape.n_rows**3 / 3
    )


def _kernel(shape: Shape) -> float:
    """XcXc'."""
    N, D = shape.n_rows, shape.n_left
    if shape.left_sparse:
        return _SPGEMM * shape.left_entries**2 / max(D, 1)
    return _DENSE * N * N * D / 2


def _gram(shape: Shape) -> float:
    """Xc'Xc."""
    dense = _DENSE * shape.n_rows * shape.n_left**2 / 2
    if not shape.left_sparse:
        return dense
    per_row = shape.left_entries / max(shape.n_rows, 1)
    return min(1.5 * dense, _SPGEMM * shape.left_entries * (per_row + 1))


def seconds_of_folds(
    shape: Shape, demand: Plan, n_folds: int, n_solutions: int
) -> dict[str, float]:
    """Return the estimated time of several solutions on each training part of a cross-validation.

    Moments of the folds are summed once and added up for each training part; rows are copied and
    multiplied anew for each part. A single fold is a training part by itself.
    """
    share = (n_folds - 1) / n_folds if n_folds > 1 else 1.0
    part = shape.part(share)
    one = seconds(part, demand)
    cross = shape.right_entries * shape.n_left * _SPARSE
    adding = 3 * n_folds * (shape.n_left + shape.n_right) ** 2 * _THIN
    summed = _gram(part) + share * cross
    costs = {name: n_folds * n_solutions * one[name] for name in ROUTES[1:]}
    solving = n_folds * n_solutions * max(0.0, one["moments"] - summed)
    return {"moments": _gram(shape) + cross + adding + solving, **costs}


def _eigh(order: int, k: int) -> float:
    if krylov_pays(order, k, is_array=True):
        return 2e-3 + (3 * k + 40) * order * order * _THIN
    return (_EIGH_ALL if many_wanted(order, k) else _EIGH_SOME) * order**3


def kernel_seconds(n_rows: int, demand: Plan) -> float:
    """Estimated time of a fit through a kernel matrix: products with it, and a system of its order
    where all of it is learnt from."""
    k = demand.components
    products = (3.0 * k + 40) * n_rows**2 * _THIN
    solve = 4 * _DENSE * n_rows**3 if demand.keeps_features or demand.problem == "hat" else 0.0
    return products + solve + 12 * _DENSE * n_rows * (3 * k) ** 2


def needed_bytes(shape: Shape, demand: Plan) -> dict[str, int]:
    """Estimated peak bytes of a fit in each route, beyond the data themselves."""
    N, D, M, k = shape.n_rows, shape.n_left, shape.n_right, demand.components
    codes, extra = max(k, demand.n_codes), demand.extra_directions
    model = 8 * (3 * codes * D + 3 * k * M + 4 * extra * D)
    centred_copy = 0 if shape.left_sparse else 8 * N * D
    square = 8 * min(D, N) ** 2
    own_gram = 0
    if demand.keeps_features and shape.left_sparse and ridge_by_products(shape, codes):
        own_gram = 8 * (5 * D + N) * codes
    elif demand.keeps_features and min(D, N) <= GRAM_LIMIT:
        own_gram = 2 * square
    if extra and too_many_for_krylov(D, extra):  # they are sought in the whole matrix
        own_gram += 4 * 8 * D * D
    order = {"joint": _side(shape), "right": M, "left": 0, "hat": N}[demand.problem]
    basis = 8 * order * (4 * k + 64) + 8 * D * 4 * extra
    rows = 8 * N * 2 * codes
    if demand.hat or demand.problem == "hat":
        own_gram = max(own_gram, 4 * 8 * min(D, N, GRAM_LIMIT) ** 2)
    cross = 0
    if demand.problem in ("right", "left"):
        cross = 8 * min(D * M, CROSS_LIMIT)  # its range is found by products
        if demand.problem == "left" and shape.left_sparse:  # the labels are the codes, and sparse
            rows //= 2
        if demand.problem == "right":  # multiplied out, some columns at a time
            cross += cross + 8 * 2 * N * min(M, 128) + 8 * 3 * M * M * too_many_for_krylov(M, k)
    products = basis + cross + centred_copy + model + rows + own_gram
    return {
        "moments": 8 * 4 * (D + M) ** 2 + model,
        "dual": 8 * int(kernel_copies(N, demand) * N * N) + cross + centred_copy + model + rows,
        "krylov": products,
        "randomized": products,
    }


def kernel_copies(n_rows: int, demand: Plan) -> float:
    """Return the number of matrices of the kernel's size that are in memory at once.

    Products with it need little besides. All its eigenvectors need three more; a system of its
    order itself and its factors; a hat matrix the inverse, their product and its transpose.
    """
    copies = 1.3
    if demand.problem == "joint" and not krylov_pays(n_rows, demand.components, is_array=True):
        copies = 4.0
    if demand.keeps_features:
        copies = max(copies, 3.2)
    if demand.hat or demand.problem == "hat":
        copies = max(copies, 5.2)
    return copies


def refit_bytes(shape: Shape, demand: Plan, solver: str, n_folds: int) -> int:
    """Estimated peak bytes of fits without one of the folds, beyond the data and the first fit.

    Rows are copied, those that are left out too; moments are summed fold by fold, and only the
    rows of one fold are copied at a time.
    """
    own = needed_bytes(shape.part(1.0 - 1.0 / n_folds), demand)[solver]
    data = (12 if shape.left_sparse else 8) * shape.left_entries
    if solver != "moments":
        return own + data
    sums = 8 * n_folds * (shape.n_left + shape.n_right) ** 2
    return own + sums + data // n_folds


def kernel_refit_bytes(n_rows: int, demand: Plan, n_folds: int) -> int:
    """Return the bytes through a kernel matrix: that of a part, and its rows against the others."""
    kept = 1.0 - 1.0 / n_folds
    copies = kernel_copies(n_rows, demand) * kept**2 + kept * (1.0 - kept)
    return 8 * int(copies * n_rows**2)


def choose(
    shape: Shape,
    needs: dict[str, int],
    costs: dict[str, float],
    available: int | None,
    *,
    exact_only: bool = False,
) -> str:
    """Return the fastest route that fits in the memory; the leanest where none fits.

    Moments and kernels of an order whose eigenvalues LAPACK is not trusted with (``EIGEN_LIMIT``)
    are for those who ask for them. Codes that are not exact are for problems where exact ones take
    more than a moment (``PATIENCE``), and not where ``exact_only``: on a device that is much faster
    than what the seconds are estimated for.
    """
    orders = {"moments": shape.n_left + shape.n_right, "dual": shape.n_rows}
    safe = [r for r in ROUTES if r in needs and orders.get(r, 0) <= EIGEN_LIMIT]
    fitting = [r for r in safe if available is None or needs[r] <= available]
    exact = [r for r in fitting if r != "randomized"]
    if exact and (exact_only or min(costs[r] for r in exact) <= PATIENCE):
        fitting = exact
    return min(fitting or safe, key=costs.get if fitting else needs.get)  # type: ignore[arg-type]

"""Which of the three regimes fits a shape: an estimate of seconds and of bytes for each.

The estimates count operations and multiply them by what one costs on two cores; only their
order matters. Constants were fitted to timings of enron, llog, plant, bibtex, corel5k, delicious
and mediamill (``benchmarks/speed``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse

REGIMES = ("moments", "dual", "krylov")

_DENSE = 2e-11  # seconds per multiply-add inside a matrix product
_THIN = 1e-10  # the same for products with a few columns: bound by memory
_SPARSE = 6e-10  # per stored entry and column of a sparse product
_SPGEMM = 8e-9  # per multiply-add of a sparse-sparse product
_EIGH_ALL = 8e-11  # times the cube of the order: divide and conquer, all pairs
_EIGH_SOME = 4e-11  # times the cube of the order: a few pairs


@dataclass(frozen=True)
class Shape:
    """What the choice depends on."""

    n_rows: int
    n_left: int
    n_right: int
    left_entries: int  # stored entries: n_rows * n_left where dense
    right_entries: int
    left_sparse: bool

    @classmethod
    def of(cls, left: Any, right: Any) -> Shape:
        sparse = scipy.sparse.issparse(left)
        entries = left.nnz if sparse else left.shape[0] * left.shape[1]
        return cls(left.shape[0], left.shape[1], right.shape[1], entries, right.nnz, sparse)


def seconds(shape: Shape, components: int, keeps_left: bool) -> dict[str, float]:
    """Estimated time of a fit in each regime.

    ``components`` is the number of codes; ``keeps_left`` says that the left block is used
    unprojected, so that its own Gram matrix (or kernel) is needed in any case.
    """
    N, D, M, k = shape.n_rows, shape.n_left, shape.n_right, components
    per_row = shape.left_entries / max(N, 1)
    gram = _DENSE * N * D * D / 2
    if shape.left_sparse:
        gram = min(1.5 * gram, _SPGEMM * shape.left_entries * (per_row + 1))
    kernel = (
        _SPGEMM * shape.left_entries**2 / max(D, 1) if shape.left_sparse else _DENSE * N * N * D / 2
    )
    solve = _DENSE * D**3 / 3
    left_only = min(gram + solve, kernel + _DENSE * N**3 / 3) if keeps_left else 0.0
    entry = _SPARSE if shape.left_sparse else _THIN
    products = 3.0 * k + 40
    side = min(N, D + M)
    project = shape.left_entries * k * entry + _DENSE * N * k * k
    krylov = (
        2e-3
        + products * 2 * (shape.left_entries * entry + shape.right_entries * _SPARSE)
        + 12 * _DENSE * side * (3 * k) ** 2
        + 4 * _EIGH_ALL * (3 * k) ** 3
    )
    if side <= 2 * (k + 8):  # the solver goes dense, through products with the identity
        krylov += side * 2 * (shape.left_entries * entry + shape.right_entries * _SPARSE)
    return {
        "moments": gram
        + shape.right_entries * D * _SPARSE
        + _eigh(D + M, k)
        + (solve if keeps_left else _DENSE * D * D * k),
        "dual": kernel + _eigh(N, k) + project + left_only,
        "krylov": krylov + project + left_only,
    }


def _eigh(order: int, k: int) -> float:
    if order >= 300 and k * 40 <= order:
        return 2e-3 + (3 * k + 40) * order * order * _THIN
    return (_EIGH_ALL if k * 8 > order else _EIGH_SOME) * order**3


def needed_bytes(shape: Shape, components: int, keeps_left: bool) -> dict[str, int]:
    """Estimated peak bytes of a fit in each regime, beyond the data themselves."""
    N, D, M, k = shape.n_rows, shape.n_left, shape.n_right, components
    model = 8 * 3 * k * (D + M)
    centred_copy = 0 if shape.left_sparse else 8 * N * D
    own_gram = 2 * 8 * min(D, N) ** 2 if keeps_left and min(D, N) <= 20_000 else 0
    basis = 8 * min(N, D + M) * (4 * k + 64)
    rows = 8 * N * 2 * k
    return {
        "moments": 8 * 4 * (D + M) ** 2 + model,
        "dual": 8 * 4 * N * N + centred_copy + model + rows + own_gram,
        "krylov": basis + centred_copy + model + rows + own_gram,
    }


def choose(shape: Shape, components: int, keeps_left: bool, available: int | None) -> str:
    """The fastest regime that fits in the memory; the leanest where none fits.

    >>> tall = Shape(10_000, 20, 5, 200_000, 15_000, left_sparse=False)
    >>> choose(tall, 5, False, None)
    'moments'
    >>> choose(Shape(50, 4000, 5, 200_000, 75, left_sparse=False), 5, False, None)
    'dual'
    >>> huge = Shape(10**6, 10**5, 10**4, 10**8, 10**7, left_sparse=True)
    >>> choose(huge, 100, False, None)
    'krylov'
    """
    needs = needed_bytes(shape, components, keeps_left)
    costs = seconds(shape, components, keeps_left)
    fitting = [r for r in REGIMES if available is None or needs[r] <= available]
    return min(fitting or REGIMES, key=costs.get if fitting else needs.get)  # type: ignore[arg-type]

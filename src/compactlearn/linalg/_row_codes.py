"""Leading codes where rows are at hand.

V are the leading eigenvectors of ``balance XcPP'Xc' + YY'``, found as such where the kernel of the
rows is at hand or there are fewer rows than columns, and otherwise by the right singular vectors of
``[sqrt(balance) XcP, Y]``. Where the columns of Y are smoothed by R, YR stands in place of Y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.linalg._codes import Codes, offset_scale
from compactlearn.linalg._eigen import (
    EigenSolution,
    krylov_pays,
    leading_eigenpairs,
    multiplied_out,
)
from compactlearn.linalg._operators import (
    ColumnScaled,
    Gram,
    Operator,
    Plain,
    Product,
    Stacked,
    Sum,
)
from compactlearn.linalg._rowwise_pair import RowwisePair, row_weighted
from compactlearn.linalg._smoothing import Smoothing

Array = NDArray[np.float64]


def leading_codes(
    pair: RowwisePair,
    size: int,
    balance: float,
    projection: Array | None = None,
    seed: int = 0,
    smoothing: Smoothing | None = None,
) -> Codes:
    """Return leading eigenvectors of ``balance XcPP'Xc' + YSY'`` (P = I, S = I where None)."""
    root = float(np.sqrt(balance))
    XcP = None if projection is None else pair.Xc @ projection
    if not pair.multiplies and XcP is None:
        found = kernel_eigenpairs(pair, size, balance, smoothing)
        return codes_of_eigenvectors(pair, found)
    scaled = ColumnScaled(pair.Xc if XcP is None else Plain(XcP), root)
    Z = Stacked((scaled, smoothed_right(pair, smoothing)))
    # An ascent by codes of projected rows goes by its gains, which are small: these are exact.
    share = pair.enough if XcP is None else 1.0
    need = {"scale": code_rounding(pair, balance), "share": share, "seed": seed}
    if Z.shape[0] <= Z.shape[1]:
        return codes_of_eigenvectors(pair, row_eigenpairs(pair, Gram(Z.T), size, **need))
    solution = row_eigenpairs(pair, Gram(Z), size, **need)
    return _codes_of_columns(pair, solution, root, projection, smoothing)


def smoothed_right(pair: RowwisePair, smoothing: Smoothing | None) -> Operator:
    """Return Y, or YR where columns are smoothed."""
    return pair.Y if smoothing is None else Product(pair.Y, smoothing)


def kernel_eigenpairs(
    pair: RowwisePair,
    size: int,
    balance: float,
    smoothing: Smoothing | None = None,
) -> EigenSolution:
    """Return leading eigenpairs of ``balance XcXc' + YSY'`` from the kernel of order N."""
    offset = code_rounding(pair, balance)
    if krylov_pays(pair.kernel.shape[0], size, is_array=True):
        labels = Gram(smoothed_right(pair, smoothing).T)
        matrix = Sum(((balance, Plain(pair.kernel)), (1.0, labels)))
        return row_eigenpairs(pair, matrix, size, scale=offset)
    kernel, right = balance * pair.kernel, pair.right
    if smoothing is not None:
        kernel += multiplied_out(Gram(smoothed_right(pair, smoothing).T))
    else:
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
    smoothing: Smoothing | None,
) -> Codes:
    w = np.sqrt(solution.values)
    inner = pair.n_left if projection is None else projection.shape[1]
    q = solution.vectors
    b = q[inner:] / w
    if smoothing is not None:
        b = smoothing @ b
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
        if smoothing is not None:
            right = smoothing.undo_transposed(right)
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

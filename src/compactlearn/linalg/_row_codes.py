"""Leading codes where rows are at hand.

V are the leading eigenvectors of ``balance XcPP'Xc' + YY'``, found as such where the kernel of the
rows is at hand or there are fewer rows than columns, and otherwise by the right singular vectors of
``[sqrt(balance) XcP, Y]``. Where the columns of Y are smoothed by R, YR stands in place of Y.

With a graph of the rows a multiple of its Laplacian is taken off that matrix. The eigenvectors are
no combinations of columns then, and are found in row space: the graph is one more operator.
"""

from __future__ import annotations

from dataclasses import replace
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
from compactlearn.linalg._row_graphs import Roughness
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
    rough: Roughness | None = None,
) -> Codes:
    """Leading eigenvectors of ``balance XcPP'Xc' + YSY' - weight L`` (P = I, S = I, L = 0 where
    None)."""
    root = float(np.sqrt(balance))
    XcP = None if projection is None else pair.Xc @ projection
    if not pair.multiplies and XcP is None:
        found = kernel_eigenpairs(pair, size, balance, smoothing, rough)
        return _without_shift(codes_of_eigenvectors(pair, found), rough)
    scaled = ColumnScaled(pair.Xc if XcP is None else Plain(XcP), root)
    Z = Stacked((scaled, _smoothed(pair, smoothing)))
    # An ascent by codes of projected rows goes by its gains, which are small: these are exact.
    share = pair.enough if XcP is None else 1.0
    need = {"scale": _offset(pair, balance), "share": share, "seed": seed}
    if rough is not None:
        matrix = Sum(((1.0, Gram(Z.T)), (1.0, rough.operator())))
        return _enough_of_all(pair, matrix, size, rough, **need)
    if Z.shape[0] <= Z.shape[1]:
        return codes_of_eigenvectors(pair, row_eigenpairs(pair, Gram(Z.T), size, **need))
    solution = row_eigenpairs(pair, Gram(Z), size, **need)
    return _codes_of_columns(pair, solution, root, projection, smoothing)


def _smoothed(pair: RowwisePair, smoothing: Smoothing | None) -> Operator:
    """Y, or YR."""
    return pair.Y if smoothing is None else Product(pair.Y, smoothing)


def kernel_eigenpairs(
    pair: RowwisePair,
    size: int,
    balance: float,
    smoothing: Smoothing | None = None,
    rough: Roughness | None = None,
) -> EigenSolution:
    """Leading eigenpairs of ``balance XcXc' + YSY'`` from the kernel of order N; of that and
    ``weight (2I - L)`` where there is a graph."""
    offset = _offset(pair, balance)
    if krylov_pays(pair.kernel.shape[0], size, is_array=True):
        labels = Gram(_smoothed(pair, smoothing).T)
        terms: list[tuple[float, Operator]] = [(balance, Plain(pair.kernel)), (1.0, labels)]
        if rough is not None:
            terms.append((1.0, rough.operator()))
        return row_eigenpairs(pair, Sum(terms), size, scale=offset, full=rough is not None)
    kernel, right = balance * pair.kernel, pair.right
    if rough is not None:
        kernel += rough.smooth.toarray()
    if smoothing is not None:
        kernel += multiplied_out(Gram(_smoothed(pair, smoothing).T))
    else:
        products = right @ right.T
        if scipy.sparse.issparse(products):
            products = np.asarray(products.todense())
        kernel += row_weighted(products, pair.roots)
    full = rough is not None
    return row_eigenpairs(pair, kernel, size, scale=offset, overwrite=True, full=full)


def _enough_of_all(
    pair: RowwisePair, matrix: Operator, size: int, rough: Roughness, **need: Any
) -> Codes:
    """Codes of a matrix with its shift, that reach a share of the sum without it.

    A share of the larger sum may be less of the smaller one; then what is enough is more.
    """
    wanted = need["share"]
    while True:
        solution = row_eigenpairs(pair, matrix, size, full=True, **need)
        codes = _without_shift(codes_of_eigenvectors(pair, solution), rough)
        if codes.share >= wanted or need["share"] >= 1.0:
            return codes
        assert codes.values is not None
        part = float(codes.values.sum()) / float(solution.values.sum())
        closer = 1.0 - 0.8 * part * (1.0 - wanted)
        need["share"] = closer if part > 0 and closer > need["share"] else 1.0


def _without_shift(codes: Codes, rough: Roughness | None) -> Codes:
    """Eigenvalues less what was added to all of them, and the share of their sum."""
    if rough is None:
        return codes
    assert codes.values is not None
    values = codes.values - rough.shift
    share = codes.share
    if share < 1.0:
        missing = (1.0 / share - 1.0) * float(codes.values.sum())
        reached = float(values.sum())
        share = reached / (reached + missing) if reached > 0 else 0.0
    return replace(codes, values=values, share=share)


def row_eigenpairs(
    pair: RowwisePair,
    matrix: Any,
    size: int,
    *,
    scale: float = 0.0,
    overwrite: bool = False,
    share: float = 1.0,
    seed: int = 0,
    full: bool = False,
) -> EigenSolution:
    """Leading eigenpairs of a matrix whose rank is that of both blocks at most, or ``full``."""
    order = pair.shape[0] if full else pair.n_left + pair.n_right
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


def _offset(pair: RowwisePair, balance: float) -> float:
    """What the rounding of codes is judged by where rows are multiplied before centring."""
    return offset_scale(balance * pair.taken, pair.n_left + pair.n_right)

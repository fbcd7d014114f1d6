"""Leading eigenpairs by as few products as possible, each with many columns at once.

Where a product is a pass over files it costs the same for eight columns as for a hundred, or
nearly so. So the block is as wide as the number of pairs wanted and somewhat more, and the pairs
are sought in the span of all the products made (Musco and Musco, "Randomized block Krylov methods
for stronger and faster approximate singular value decomposition", 2015): a handful of products in
place of the hundred that narrow blocks would need.

A block so wide, of random numbers, has a share of every leading eigenvector, so that none is
overlooked; what the sum of the values found may fall short by is bounded as in
:mod:`compactlearn.linalg._lanczos`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np
from numpy.typing import NDArray

from compactlearn.core._deadline import checkpoint
from compactlearn.core._threads import look_again
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._eigen import EigenSolution, above_rounding
from compactlearn.linalg._lanczos import largest_sum, next_block, small_pairs
from compactlearn.linalg._row_sums import row_blocks

Array = NDArray[np.float64]

MOST_PRODUCTS = 6


def block_width(count: int) -> int:
    """Columns of a block for so many pairs.

    >>> block_width(10), block_width(300)
    (20, 330)
    """
    return count + max(10, count // 10)


def multiplied_out(order: int, count: int) -> bool:
    """Return whether one product with the identity is no larger than the others would be."""
    return order <= (MOST_PRODUCTS + 1) * block_width(count)


def most_products(order: int, count: int) -> int:
    """Return the largest number of products."""
    return 1 if multiplied_out(order, count) else MOST_PRODUCTS


def needed_bytes(order: int, count: int) -> int:
    """Estimated bytes of a search, beyond what a product takes by itself."""
    width = block_width(count)
    if multiplied_out(order, count):
        return 8 * 4 * order**2
    return 8 * order * (MOST_PRODUCTS + 5) * width


Search = Generator[Array, Array, EigenSolution]


def together(
    searches: Sequence[Search], multiply: Callable[[dict[int, Array]], dict[int, Array]]
) -> list[EigenSolution]:
    """Run several searches together; ``multiply`` makes the products of all unfinished ones.

    ``multiply`` receives a block of columns for each search, by its index, and returns its product.
    """
    found: dict[int, EigenSolution] = {}
    asked = {place: next(one) for place, one in enumerate(searches)}
    while asked:
        products = multiply(asked)
        blocks, asked = asked, {}
        for place in blocks:
            try:
                asked[place] = searches[place].send(products.pop(place))
            except StopIteration as ended:
                found[place] = ended.value
    return [found[place] for place in range(len(searches))]


def search(n: int, count: int, share: float, scale: float = 0.0, seed: int = 0) -> Search:
    """Search pairs whose values reach a ``share`` of the largest sum of ``count`` values.

    The ``share`` of the solution is lower if the largest number of products does not suffice. The
    generator yields columns, and is sent the products of a matrix of order ``n`` with them.
    ``scale`` is as in :func:`compactlearn.linalg._eigen.leading_eigenpairs`.
    """
    count = min(count, n)
    if multiplied_out(n, count):
        values, vectors = small_pairs((yield np.eye(n)))
        found = EigenSolution(values[:count], vectors[:, :count])
    else:
        found = yield from _krylov(n, count, share, seed)
    return above_rounding(found, n, scale)


def _krylov(n: int, count: int, share: float, seed: int) -> Search:
    """Block Krylov with full orthogonalisation, and a Rayleigh-Ritz step after each product."""
    b = block_width(count)
    rng = np.random.default_rng(seed)
    basis: list[Array] = []  # its columns, block by block
    T = np.zeros((MOST_PRODUCTS * b, MOST_PRODUCTS * b))
    block = dense.qr(rng.standard_normal((n, b)))[0]
    for product in range(1, MOST_PRODUCTS + 1):
        checkpoint()
        look_again()
        size = product * b
        active = slice(size - b, size)
        basis.append(block)
        W = np.require((yield block), requirements="W")  # one that was stored cannot be changed
        H = _take_off(W, basis)
        T[:size, active], T[active, :size] = H, H.T
        block, R = next_block(W, basis, float(np.abs(H).max(initial=0.0)), rng)
        del W
        theta, S = small_pairs(T[:size, :size], in_place=True)
        coupling = R @ S[active]
        bound = largest_sum(theta, coupling, count, 0.0)
        reached = min(1.0, float(theta[:count].sum() / bound)) if bound > 0 else 1.0
        if reached >= share:
            break
    values = theta[:count]
    vectors = np.empty((n, count))
    for rows in row_blocks(n, size):
        vectors[rows] = np.hstack([part[rows] for part in basis]) @ S[:, :count]
    basis.clear()  # by far the most memory here, and what follows needs another matrix so tall
    images = block @ coupling[:, :count]
    for rows in row_blocks(*images.shape):
        images[rows] += vectors[rows] * values
    return EigenSolution(values, vectors, share=reached, images=images)


def _take_off(W: Array, basis: Sequence[Array]) -> Array:
    """Take the part of W in the span of the blocks Q out of it, twice (once is not enough); return
    Q'W.

    In place and some rows at a time: with as many columns as here, another matrix of that size is
    what the memory of a search is made of.
    """
    width = W.shape[1]
    total = np.zeros((len(basis) * width, width))
    for _ in range(2):
        H = [Q.T @ W for Q in basis]
        for Q, own in zip(basis, H, strict=True):
            for rows in row_blocks(*W.shape):
                W[rows] -= Q[rows] @ own
        total += np.vstack(H)
    return total

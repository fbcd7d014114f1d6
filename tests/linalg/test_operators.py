"""Every operator is the matrix it stands for, and its transpose is the adjoint."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.linalg._operators import (
    ColumnScaled,
    Deflated,
    Plain,
    Product,
    Stacked,
    Sum,
    Updated,
    centred,
    gram,
    sandwich,
    weighted,
)

rng = np.random.default_rng(0)
A = rng.normal(size=(7, 4)) * (rng.random((7, 4)) < 0.6)
B = rng.normal(size=(7, 3))
MEAN = rng.normal(size=4)
ROOTS = rng.uniform(0.5, 2.0, size=7)
FACTORS = rng.uniform(0.5, 2.0, size=4)
BASIS = np.linalg.qr(rng.normal(size=(4, 2)))[0]
COLUMN, ROW = rng.normal(size=7), rng.normal(size=4)
MIDDLE = B @ B.T
OUT = np.eye(4) - BASIS @ BASIS.T

CASES = {
    "plain": (lambda a: Plain(a), A),
    "centred": (lambda a: centred(a, MEAN), A - MEAN),
    "weighted": (lambda a: weighted(a, ROOTS), ROOTS[:, None] * A),
    "centred and weighted": (lambda a: centred(a, MEAN, ROOTS), ROOTS[:, None] * (A - MEAN)),
    "columns scaled": (lambda a: ColumnScaled(Plain(a), FACTORS), A * FACTORS),
    "scaled": (lambda a: ColumnScaled(Plain(a), 3.0), 3 * A),
    "stacked": (
        lambda a: Stacked((centred(a, MEAN), Plain(B), Plain(a))),
        np.hstack([A - MEAN, B, A]),
    ),
    "gram": (lambda a: gram(centred(a, MEAN)), (A - MEAN).T @ (A - MEAN)),
    "gram of the transpose": (lambda a: gram(Plain(a).T), A @ A.T),
    "sandwich": (lambda a: sandwich(Plain(a), Plain(MIDDLE)), A.T @ MIDDLE @ A),
    "sandwich of the transpose": (
        lambda a: sandwich(centred(a, MEAN).T, gram(Plain(a))),
        (A - MEAN) @ A.T @ A @ (A - MEAN).T,
    ),
    "product": (lambda a: Product(Plain(B.T), centred(a, MEAN)), B.T @ (A - MEAN)),
    "product of three": (
        lambda a: Product(Product(Plain(a), Plain(a).T), Plain(B)),
        A @ A.T @ B,
    ),
    "sum of one": (lambda a: Sum(((-2.0, Plain(a)),)), -2 * A),
    "sum": (
        lambda a: Sum(((0.5, Plain(a)), (-3.0, centred(a, MEAN)), (2.0, weighted(a, ROOTS)))),
        0.5 * A - 3 * (A - MEAN) + 2 * ROOTS[:, None] * A,
    ),
    "updated": (lambda a: Updated(Plain(a), COLUMN, ROW), A + np.outer(COLUMN, ROW)),
    "updated twice": (
        lambda a: Updated(Updated(centred(a, MEAN), COLUMN, ROW), ROOTS, MEAN),
        A - MEAN + np.outer(COLUMN, ROW) + np.outer(ROOTS, MEAN),
    ),
    "deflated": (lambda a: Deflated(gram(Plain(a)), BASIS), OUT @ A.T @ A @ OUT),
}


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_array, sp.csr_matrix])
@pytest.mark.parametrize("name", CASES)
def test_products_are_those_of_the_matrix(name, kind):
    make, matrix = CASES[name]
    operator = make(kind(A))
    assert operator.shape == matrix.shape
    assert operator.T.shape == matrix.T.shape
    right, left = rng.normal(size=(matrix.shape[1], 2)), rng.normal(size=(matrix.shape[0], 2))
    np.testing.assert_allclose(operator @ right, matrix @ right, atol=1e-12)
    np.testing.assert_allclose(operator.T @ left, matrix.T @ left, atol=1e-12)
    np.testing.assert_allclose(operator.T.T @ right, matrix @ right, atol=1e-12)


def test_a_product_leaves_its_block_alone():
    inside = [part.copy() for part in (A, B, MIDDLE, MEAN, COLUMN, ROW, ROOTS)]
    for make, matrix in CASES.values():
        for operator in (make(A), make(A).T):
            block = rng.normal(size=(operator.shape[1], 2))
            before = block.copy()
            assert (operator @ block).shape == (operator.shape[0], 2), matrix
            np.testing.assert_array_equal(block, before)
    for part, before in zip((A, B, MIDDLE, MEAN, COLUMN, ROW, ROOTS), inside, strict=True):
        np.testing.assert_array_equal(part, before)

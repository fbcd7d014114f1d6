"""Every operator is the matrix it stands for, and its transpose is the adjoint."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.linalg.operators import (
    ColumnScaled,
    Deflated,
    Gram,
    Plain,
    RowScaled,
    Stacked,
    centred,
    weighted,
)

rng = np.random.default_rng(0)
A = rng.normal(size=(7, 4)) * (rng.random((7, 4)) < 0.6)
B = rng.normal(size=(7, 3))
MEAN = rng.normal(size=4)
ROOTS = rng.uniform(0.5, 2.0, size=7)
FACTORS = rng.uniform(0.5, 2.0, size=4)
BASIS = np.linalg.qr(rng.normal(size=(4, 2)))[0]
OUT = np.eye(4) - BASIS @ BASIS.T

CASES = {
    "plain": (lambda a: Plain(a), A),
    "centred": (lambda a: centred(a, MEAN), A - MEAN),
    "weighted": (lambda a: weighted(a, ROOTS), ROOTS[:, None] * A),
    "centred and weighted": (lambda a: centred(a, MEAN, ROOTS), ROOTS[:, None] * (A - MEAN)),
    "rows scaled": (lambda a: RowScaled(Plain(a), ROOTS), ROOTS[:, None] * A),
    "columns scaled": (lambda a: ColumnScaled(Plain(a), FACTORS), A * FACTORS),
    "scaled": (lambda a: ColumnScaled(Plain(a), 3.0), 3 * A),
    "stacked": (
        lambda a: Stacked((centred(a, MEAN), Plain(B), Plain(a))),
        np.hstack([A - MEAN, B, A]),
    ),
    "gram": (lambda a: Gram(centred(a, MEAN)), (A - MEAN).T @ (A - MEAN)),
    "gram of the transpose": (lambda a: Gram(Plain(a).T), A @ A.T),
    "deflated": (lambda a: Deflated(Gram(Plain(a)), BASIS), OUT @ A.T @ A @ OUT),
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
    for make, matrix in CASES.values():
        block = rng.normal(size=(matrix.shape[1], 2))
        before = block.copy()
        make(A) @ block
        np.testing.assert_array_equal(block, before)

"""Large symmetric products and factorisations against NumPy's, and by real orders.

The threaded symmetric product of OpenBLAS brings the process down from some order on. That nothing
dies, at the orders where it did, is tested in processes of their own.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compactlearn import CMLLClassifier
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.linalg import _dense as dense
from compactlearn.linalg import _eigen as eigen
from compactlearn.linalg import _rows_ridge as rows_ridge
from compactlearn.linalg._learning import ridge_of
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._routes import Plan, Shape, choose, needed_bytes, seconds
from compactlearn.linalg._rows_pair import RowsPair

PACKAGE = Path(dense.__file__).resolve().parents[1]


def definite(n, condition=1e3, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = (Q * np.logspace(0, -np.log10(condition), n)) @ Q.T
    return (A + A.T) / 2


@pytest.mark.parametrize("n", [1, 6, 7, 15, 40])
def test_products_and_systems_of_any_order(n, monkeypatch):
    """Treat every matrix as large, with strips seven wide, and then none."""
    A = np.random.default_rng(0).standard_normal((n, 5))
    matrix, right = definite(n), np.random.default_rng(1).standard_normal((n, 3))
    for proven, up_to in ((0, 0), (100, 0), (100, 100)):
        for name, value in {"PROVEN": proven, "LU_UP_TO": up_to, "STRIP": 7}.items():
            monkeypatch.setattr(dense, name, value)
        for given in (A, np.asfortranarray(A.T).T):
            product = dense.self_product(given)
            np.testing.assert_allclose(product, np.einsum("ik,jk->ij", A, A), atol=1e-13)
            assert np.array_equal(product, product.T)
        found = dense.solve_definite(matrix, right)
        np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-9)
        inverse = dense.inverse_definite(matrix)
        np.testing.assert_allclose(inverse, np.linalg.inv(matrix), rtol=1e-9, atol=1e-9)
        assert np.array_equal(inverse, inverse.T)


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e12])
def test_the_condition_is_estimated(condition):
    found = dense.reciprocal_condition(definite(40, condition))
    assert 0.01 / condition < found <= 1.1 / condition
    assert dense.reciprocal_condition(np.ones((3, 3))) < 1e-15


# ---- orders at which eigenvalues are refused ----------------------------------------------------


def limit_to(order, monkeypatch):
    for module in (dense, rows_ridge):
        monkeypatch.setattr(module, "EIGEN_LIMIT", order)
    monkeypatch.setattr(rows_ridge, "LEVERAGE_LIMIT", order)


@pytest.fixture
def low_limit(monkeypatch):
    limit_to(100, monkeypatch)


def test_eigenvalues_of_an_unproven_order_are_refused_in_words(low_limit):
    A = definite(101)
    for call in (dense.all_pairs, dense.eigenvalues, lambda M: dense.largest_pairs(M, 2)):
        with pytest.raises(ValueError, match=r"order 100 at most.*order 101 was asked for; use"):
            call(A)


def test_a_part_of_the_pairs_of_a_large_matrix_needs_no_lapack_of_that_order(low_limit):
    A = definite(200, condition=1e6)
    found = eigen.leading_eigenpairs(A, 12)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(A)[::-1][:12], rtol=1e-8)


@pytest.mark.parametrize("shape", [(220, 160), (160, 220)])
@pytest.mark.parametrize("alpha", [1e-9, 1e-4])
def test_a_small_penalty_on_many_features_needs_no_eigenvalues(shape, alpha, monkeypatch):
    """A penalty of 1 is small compared with features in large units, which are common."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal(shape), rng.random((shape[0], 4)) < 0.4

    def scores():
        model = CMLLClassifier(
            alpha=alpha, n_label_components=2, n_feature_components=None, solver="krylov"
        )
        return model.fit(X, Y).decision_function(X)

    expected = scores()
    limit_to(100, monkeypatch)
    np.testing.assert_allclose(scores(), expected, atol=1e-7)


def test_automatic_choices_form_nothing_of_an_unproven_order():
    limit = dense.EIGEN_LIMIT
    wide = Shape(10**6, limit, 10, 10**9, 10**7, left_sparse=False)
    tall = Shape(limit + 1, 10**6, 10, 10**10, 10**5, left_sparse=False)
    for problem in ("joint", "right", "left", "hat"):
        for shape in (wide, tall):
            demand = Plan(5, problem=problem)
            chosen = choose(shape, needed_bytes(shape, demand), seconds(shape, demand), None)
            assert chosen == ("randomized" if problem == "joint" else "krylov")


def test_features_of_an_exact_kernel_are_refused_with_the_way_out(monkeypatch):
    monkeypatch.setattr("compactlearn.compact._kernel_map.EIGEN_LIMIT", 30)
    X = np.random.default_rng(0).standard_normal((40, 3))
    with pytest.raises(ValueError, match=r"up to 30 rows; 40 were asked for of 40 rows. Use algo"):
        KernelMap().fit(X)


def test_leverages_are_not_sought_where_they_need_refused_eigenvalues(low_limit):
    pair = RowsPair.of_rows(np.zeros((140, 105)), np.zeros((140, 1)))
    assert not ridge_of(pair).has_leverages


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_equal_eigenvalues_are_all_found(order, overwrite):
    """Forty equal eigenvalues and rounding: LAPACK's bisection silently finds none of them."""
    Y = np.kron(np.eye(40), np.ones((3, 1)))
    A = np.zeros((100, 100))
    A[60:, 60:] = Moments.from_arrays(np.zeros((120, 1)), Y).right_right
    for count in (1, 3, 4, 12):
        values, vectors = dense.largest_pairs(A.copy(order=order), count, overwrite=overwrite)
        np.testing.assert_allclose(values, np.full(count, 3.0), rtol=1e-12)
        np.testing.assert_allclose(A @ vectors, 3 * vectors, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-12)


# ---- nothing else calls these -------------------------------------------------------------------

FACTORISATIONS = {
    *("eigh", "eigvalsh", "eig", "eigvals", "inv", "pinv", "solve", "cholesky", "svd", "qr"),
    *("lstsq", "cho_factor", "cho_solve", "solve_triangular", "lu_factor", "matrix_rank", "sqrtm"),
}
# Calls elsewhere, and why they may be there.
EXCEPTIONS = {
    ("synthetic", "qr"): "tall columns, as many as the user asked factors for",
    ("controls", "qr"): "tall columns, as many as a method has codes",
    ("moments", "rooted_right.T @ rooted_right"): "sparse",
    ("moments", "left.T @ left"): "sparse",
    ("rows_pair", "Y.T @ Y"): "sparse",
    ("left_rows", "self.rows @ self.rows.T"): "sparse",
    ("rows_pair", "pair.right @ pair.right.T"): "sparse",
    ("row_sums", "block.T @ block"): "on a device",
    **{
        ("device_functions", name): "the library's own, on its device"
        for name in ("eigh", "eigvalsh", "svd", "qr", "cholesky", "inv", "solve")
    },
    ("blend", "solve"): "of order 6 at most, one for each model of a blend",
}


def transposed(node):
    return node.value if isinstance(node, ast.Attribute) and node.attr == "T" else None


def dangerous_calls(source):
    """Factorisations, and products of something with its own transpose, in a source text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in FACTORISATIONS:
            if ast.unparse(node.value).split(".")[-1] in ("linalg", "sl", "la", "lapack"):
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").endswith(
            ("numpy.linalg", "scipy.linalg", "scipy.linalg.lapack", "scipy.linalg.blas")
        ):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            left, right = node.left, node.right
            for one, other in ((left, transposed(right)), (transposed(left), right)):
                if one is not None and other is not None and ast.dump(one) == ast.dump(other):
                    yield ast.unparse(node)


def test_the_walk_sees_what_it_looks_for():
    source = "np.linalg.eigh(A); scipy.linalg.cho_factor(A); self.A.T @ self.A; B @ B.T; A.T @ B"
    assert sorted(dangerous_calls(source)) == ["B @ B.T", "cho_factor", "eigh", "self.A.T @ self.A"]


def test_dense_is_the_only_module_that_factorises():
    """Check the product only; related methods are for data of moderate size."""
    found = {
        (path.stem.lstrip("_"), call)
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "linalg" / "_dense.py" and "related" not in path.parts
        for call in dangerous_calls(path.read_text())
    }
    assert found <= set(EXCEPTIONS)


# ---- real orders, two threads -----------------------------------------------------------------


def in_a_process(code, threads):
    """Run it, and say how it ended; a crash of the BLAS must not end the tests."""
    environment = os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
        env=environment | {"PYTHONPATH": str(PACKAGE.parent)},
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"


PRODUCT = """
import numpy as np
from compactlearn.linalg._dense import self_product
rng = np.random.default_rng(0)
A = rng.standard_normal((16_000, 384))
v = rng.standard_normal((16_000, 2))
expected = A @ (A.T @ v)
assert np.allclose(self_product(A) @ v, expected, atol=1e-8)
columns = np.ascontiguousarray(A.T)
assert np.allclose(self_product(columns.T) @ v, expected, atol=1e-8)
"""

FACTOR = """
import numpy as np
from compactlearn.linalg._dense import solve_definite
rng = np.random.default_rng(0)
n = 16_000
G = rng.standard_normal((n, 40))
A = np.empty((n, n))
for start in range(0, n, 1000):
    A[start : start + 1000] = G[start : start + 1000] @ G.T
A[np.diag_indices(n)] += 5.0
v = rng.standard_normal((n, 3))
found = solve_definite(A, G @ (G.T @ v) + 5.0 * v, overwrite=True)
assert np.allclose(found, v, atol=1e-8)
"""

FIT = """
import numpy as np
from compactlearn import CMLLClassifier
rng = np.random.default_rng(0)
X = rng.standard_normal((16_000, 384))
Y = X[:, :8] + 0.1 * rng.standard_normal((16_000, 8)) > 1.0
fit = lambda solver: CMLLClassifier(n_label_components=5, threshold=0.5, solver=solver).fit(X, Y)
dual, moments = (fit(solver).decision_function(X[:50]) for solver in ("dual", "moments"))
assert np.allclose(dual, moments, atol=1e-6)
"""

KEPT = """
import resource
import numpy as np
import scipy.sparse as sp
from compactlearn import CMLLClassifier
rng = np.random.default_rng(0)
N, D, M = 20_000, 17_710, 24
places = (D * rng.random((N, 12)) ** 3).astype(int)
X = sp.csr_array((np.ones(N * 12), (np.repeat(np.arange(N), 12), places.ravel())), shape=(N, D))
scores = X @ rng.standard_normal((D, M))
Y = sp.csr_array((scores > np.quantile(scores, 0.9, axis=0)).astype(float))
model = CMLLClassifier(None, 1.0, threshold=0.5).fit(X, Y)
assert model.score(X[:500], Y[:500].toarray()) > 0.2
megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
assert megabytes < 1500, megabytes  # a matrix of order D has 2500
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [PRODUCT, FACTOR, FIT], ids=["product", "factor", "fit"])
def test_no_order_brings_the_process_down(code):
    in_a_process(code, threads="2")


@pytest.mark.slow
def test_no_matrix_of_that_order_is_made_where_all_features_are_kept():
    """One thread will do: two would spend most of their time waiting for each other."""
    in_a_process(KEPT, threads="1")


def gives_up(*_, **__):
    raise np.linalg.LinAlgError("did not converge")


def test_eigenpairs_where_divide_and_conquer_gives_up(monkeypatch):
    half = np.random.default_rng(0).standard_normal((7, 5))
    matrix = half @ half.T
    known = dense.all_pairs(matrix)
    monkeypatch.setattr(np.linalg, "eigh", gives_up)
    values, vectors = dense.all_pairs(matrix)
    np.testing.assert_allclose(values, known[0], atol=1e-13)
    np.testing.assert_allclose(vectors * values @ vectors.T, matrix, atol=1e-13)
    with pytest.raises(np.linalg.LinAlgError):
        dense.all_pairs(np.full((3, 3), np.nan))


def test_singular_values_where_divide_and_conquer_gives_up(monkeypatch):
    matrix = np.random.default_rng(0).standard_normal((7, 5)) @ np.diag([1, 1, 1, 1e-9, 0])
    known = dense.svd(matrix)
    monkeypatch.setattr(np.linalg, "svd", gives_up)
    U, singular, Vt = dense.svd(matrix)
    np.testing.assert_allclose(singular, known[1], atol=1e-14)
    np.testing.assert_allclose(U * singular @ Vt, matrix, atol=1e-14)
    assert U.shape == (7, 5)
    with pytest.raises(np.linalg.LinAlgError):
        dense.svd(np.full((3, 3), np.nan))

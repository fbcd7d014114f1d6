"""The choice of a route follows shape, density and memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import Moments
from compactlearn.linalg._arrays import working_form
from compactlearn.linalg._build import build_pair
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._learning import learn, learn_path, ridge_of
from compactlearn.linalg._left_rows import LeftRows
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._operators import Operator
from compactlearn.linalg._ridge import BIASES
from compactlearn.linalg._routes import (
    ENOUGH,
    PATIENCE,
    ROUTES,
    Plan,
    Shape,
    choose,
    needed_bytes,
    seconds,
)
from compactlearn.linalg._rows_pair import RowsPair
from tests.makers import literal_ridge

TALL = Shape(40_000, 120, 100, 40_000 * 120, 170_000, left_sparse=False)
WIDE = Shape(60, 5_000, 10, 60 * 5_000, 100, left_sparse=False)
SPARSE = Shape(7_400, 1_836, 159, 508_000, 17_800, left_sparse=True)
HUGE = Shape(10**6, 10**6, 10**4, 10**8, 10**7, left_sparse=True)


def chosen(shape, demand):
    return choose(shape, needed_bytes(shape, demand), seconds(shape, demand), None)


@pytest.mark.parametrize(
    ("shape", "components", "expected"),
    [(TALL, 50, "moments"), (WIDE, 5, "dual"), (SPARSE, 80, "krylov"), (HUGE, 100, "randomized")],
)
def test_shape_decides(shape, components, expected):
    assert chosen(shape, Plan(components)) == expected


@pytest.mark.parametrize("shape", [TALL, WIDE, SPARSE, HUGE])
def test_the_fastest_that_fits_or_else_the_leanest(shape):
    needs, costs = needed_bytes(shape, Plan(20)), seconds(shape, Plan(20))
    for room in (0, *needs.values(), 10**30):
        fitting = [solver for solver in ROUTES if needs[solver] <= room]
        quick = [r for r in fitting if r != "randomized" and costs[r] <= PATIENCE]
        fitting = quick or fitting
        expected = min(fitting, key=costs.get) if fitting else min(needs, key=needs.get)
        assert choose(shape, needs, costs, room) == expected


def problem(n=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 9)) * (rng.random((n, 9)) < 0.5) + (seed == 1)
    return X, sp.csr_array((rng.random((n, 5)) < 0.4).astype(float))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_codes_that_are_not_exact_are_codes_all_the_same(form, wide, weighted):
    """Orthonormal, with the products that belong to them, and as good as is said of them."""
    rng = np.random.default_rng(5)
    n, shape = (200, (300, 60)) if wide else (400, (150, 60))
    X = rng.normal(size=(n, shape[0])) * (rng.random((n, shape[0])) < 0.2)
    Y = sp.csr_array((rng.random((n, shape[1])) < 0.1).astype(float))
    w = rng.uniform(0.2, 2, size=n) if weighted else None
    exact, other = (
        RowsPair.of_rows(form(X), Y, w, solver=solver) for solver in ("krylov", "randomized")
    )
    best, codes = exact.leading_codes(20, 0.3), other.leading_codes(20, 0.3)
    V = other.weighted(other.code_rows(codes))
    np.testing.assert_allclose(V.T @ V, np.eye(20), atol=1e-10)
    np.testing.assert_allclose(other.left.Xc.T @ V, codes.left, atol=1e-9)
    np.testing.assert_allclose(other.Y.T @ V, codes.right, atol=1e-9)
    np.testing.assert_allclose(other.ones @ V, codes.total, atol=1e-9)
    reached = (0.3 * np.sum(codes.left**2) + np.sum(codes.right**2)) / best.values.sum()
    assert best.share == 1.0
    assert ENOUGH <= codes.share <= reached <= 1 + 1e-12
    assert codes.share < 1  # it stopped before the end


def test_mostly_zero_matrices_are_compressed():
    dense = np.random.default_rng(0).normal(size=(100, 30))
    assert working_form(dense) is dense
    thin = dense * (np.random.default_rng(1).random((100, 30)) < 0.05)
    np.testing.assert_array_equal(working_form(thin).toarray(), thin)
    assert sp.issparse(working_form(thin))


# --- what methods ask of a pair, against the matrices themselves ---------------------------------

KINDS = ["moments", "dual", "krylov", "sparse dual", "sparse krylov", "kernel"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def make_pair(kind, X, Y, weights):
    """Return the pair of one problem by one route; the kernel is that of the given rows."""
    if kind == "moments":
        return MomentsPair(Moments.from_arrays(X, Y, weights))
    if kind == "kernel":
        return RowsPair.of_kernel(X @ X.T, Y, weights, given_left=X.shape[1])
    form = sp.csr_array if kind.startswith("sparse") else np.asarray
    return RowsPair.of_rows(form(X), Y, weights, solver=kind.split()[-1])


@pytest.fixture(params=[(50, False), (50, True), (7, False), (7, True)], ids=str)
def case(request):
    """Tall and wide, with and without weights: X, Y, weights, and the weighted centred blocks."""
    n, is_weighted = request.param
    X, Y = problem(n=n, seed=1)
    w = np.random.default_rng(3).uniform(0.2, 2, size=n) if is_weighted else None
    ones = np.ones(n) if w is None else np.sqrt(w)
    mean, ybar = (ones**2 @ X) / (ones @ ones), (ones**2 @ Y) / (ones @ ones)
    rows = {
        "X": ones[:, None] * X,
        "Xc": ones[:, None] * (X - mean),
        "Y": ones[:, None] * Y.toarray(),
        "Yc": ones[:, None] * (Y.toarray() - ybar),
        "ones": ones,
    }
    return X, Y, w, rows


def literal_hat(rows, ridge, constant=True, block="Xc"):
    Z = rows[block]
    shrunk = Z @ np.linalg.pinv(Z.T @ Z + ridge * np.eye(Z.shape[1]), rcond=1e-12) @ Z.T
    unit = rows["ones"] / np.linalg.norm(rows["ones"])
    return shrunk + constant * np.outer(unit, unit)


def assert_hat_grams(pair, rows, ridge, atol=1e-8):
    """Compare hat Gram matrices of centred and of uncentred blocks with literal ones."""
    for centred, left, right in ((True, "Xc", "Yc"), (False, "X", "Y")):
        gram = multiplied(ridge_of(pair).hat_gram(ridge, centred=centred))
        expected = rows[right].T @ literal_hat(rows, ridge, False, left) @ rows[right]
        np.testing.assert_allclose(gram, expected, atol=atol)


def multiplied(matrix):
    return np.asarray(matrix @ np.eye(matrix.shape[1]))


def in_feature_space(pair, X, C):
    """Return the directions of a pair as columns (D, k), whatever they are represented by."""
    C = C.toarray() if sp.issparse(C) else C
    C = multiplied(C) if isinstance(C, Operator) else np.asarray(C)
    return X.T @ pair.left.expressed(C) if pair.solver == "kernel" else C


@every_kind
def test_sums_of_squares(kind, case):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    cross = rows["Xc"].T @ rows["Y"]
    np.testing.assert_allclose(pair.left.energy, np.sum(rows["Xc"] ** 2))
    np.testing.assert_allclose(pair.right_energy, np.sum(rows["Y"] ** 2))
    np.testing.assert_allclose(pair.cross_energy, np.sum(cross**2))
    np.testing.assert_allclose(pair.right_gram_energy, np.sum((rows["Y"].T @ rows["Y"]) ** 2))
    np.testing.assert_allclose(pair.count, rows["ones"] @ rows["ones"])
    assert pair.given_left == 9


@every_kind
def test_products_of_the_blocks(kind, case):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    cross = rows["Xc"].T @ rows["Y"]
    np.testing.assert_allclose(multiplied(pair.cross_gram()), cross.T @ cross, atol=1e-8)
    for centre, block in ((True, rows["Yc"]), (False, rows["Y"])):
        gram = multiplied(pair.right_gram(centre=centre))
        np.testing.assert_allclose(gram, block.T @ block, atol=1e-10)
    codes = pair.right_codes()
    np.testing.assert_allclose(in_feature_space(pair, X, codes.left), cross, atol=1e-9)
    np.testing.assert_allclose(codes.total, rows["ones"] @ rows["Y"])
    O = np.random.default_rng(5).normal(size=(5, 2))
    shift = np.arange(5.0)
    for given in (None, shift):
        combined = pair.combined_codes(O, given)
        V = (rows["Y"] + (0 if given is None else np.outer(rows["ones"], given))) @ O
        left = in_feature_space(pair, X, combined.left)
        np.testing.assert_allclose(left, rows["Xc"].T @ V, atol=1e-8)
        np.testing.assert_allclose(combined.total, rows["ones"] @ V, atol=1e-9)


@every_kind
@pytest.mark.parametrize("size", [2, 4])
def test_directions_of_dependence(kind, size, case):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    P, squares = pair.cross_range(size)
    left, s, _ = np.linalg.svd(rows["Xc"].T @ rows["Y"])
    np.testing.assert_allclose(squares, s[:size] ** 2, rtol=1e-9)
    np.testing.assert_allclose(pair.left.inner(P, P), np.eye(size), atol=1e-9)
    actual = in_feature_space(pair, X, P)
    np.testing.assert_allclose(actual * peak_signs(actual), _signed(left[:, :size]), atol=1e-8)


def _signed(columns):
    return columns * peak_signs(columns)


@every_kind
def test_codes_of_projected_rows(kind, case):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    P = pair.cross_range(2)[0]
    XP = rows["Xc"] @ in_feature_space(pair, X, P)
    values, vectors = np.linalg.eigh(0.7 * XP @ XP.T + rows["Y"] @ rows["Y"].T)
    V = vectors[:, ::-1][:, :3]
    V = V * peak_signs(rows["Y"].T @ V)
    codes = pair.leading_codes(3, 0.7, P)
    np.testing.assert_allclose(codes.values, values[::-1][:3], rtol=1e-9)
    np.testing.assert_allclose(codes.right, rows["Y"].T @ V, atol=1e-8)
    np.testing.assert_allclose(codes.total, rows["ones"] @ V, atol=1e-8)
    np.testing.assert_allclose(in_feature_space(pair, X, codes.left), rows["Xc"].T @ V, atol=1e-8)
    if isinstance(pair, RowsPair):
        plain = pair.code_rows(codes) * rows["ones"][:, None]
        np.testing.assert_allclose(plain, V, atol=1e-8)


@every_kind
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.3, 40.0])
def test_hat_matrices(kind, constant, ridge, case):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    expected = literal_hat(rows, ridge, constant)
    hat = ridge_of(pair).hat(ridge, constant=constant)
    np.testing.assert_allclose(hat.trace, np.trace(expected), rtol=1e-9)
    assert_hat_grams(pair, rows, ridge)
    codes = pair.leading_codes(2, 0.5)
    scatter = rows["Y"] @ rows["Y"].T + 0.5 * rows["Xc"] @ rows["Xc"].T
    V = np.linalg.eigh(scatter)[1][:, ::-1][:, :2]
    energies = hat.energies(codes)
    np.testing.assert_allclose(energies, np.diag(V.T @ expected @ V), rtol=1e-8)


def assert_hat_codes(pair, constant, case, atol=1e-8):
    X, _, _, rows = case
    H = literal_hat(rows, 0.3, constant)
    values, vectors = np.linalg.eigh(3.0 * H + rows["Y"] @ rows["Y"].T)
    V = vectors[:, ::-1][:, :3]
    codes = ridge_of(pair).hat(0.3, constant=constant).codes(3, 3.0)
    np.testing.assert_allclose(codes.values, values[::-1][:3], rtol=1e-8)
    V = V * peak_signs(rows["Y"].T @ V)
    np.testing.assert_allclose(codes.right, rows["Y"].T @ V, atol=atol)
    np.testing.assert_allclose(in_feature_space(pair, X, codes.left), rows["Xc"].T @ V, atol=atol)
    np.testing.assert_allclose(codes.total, rows["ones"] @ V, atol=atol)
    energies = ridge_of(pair).hat(0.3, constant=constant).energies(codes)
    np.testing.assert_allclose(energies.sum(), np.trace(V.T @ H @ V), rtol=1e-8)
    if isinstance(pair, RowsPair):
        plain = pair.code_rows(codes) * rows["ones"][:, None]
        np.testing.assert_allclose(plain, V, atol=atol)


@every_kind
@pytest.mark.parametrize("constant", [True, False])
def test_codes_of_a_hat_matrix(kind, constant, case):
    X, Y, w, _ = case
    assert_hat_codes(make_pair(kind, X, Y, w), constant, case)


def assert_learns(pair, bias, case, atol=1e-8):
    """Labels and eigenvectors as codes, on all features and on projected ones."""
    X, Y, _, rows = case
    ones = rows["ones"]
    scatter = rows["Y"] @ rows["Y"].T + 0.5 * rows["Xc"] @ rows["Xc"].T
    V = np.linalg.eigh(scatter)[1][:, ::-1][:, :3]
    V = V * peak_signs(rows["Y"].T @ V) / ones[:, None]
    O, shift = np.random.default_rng(5).normal(size=(5, 2)), np.linspace(-1, 0.5, 5)
    P = pair.cross_range(2)[0]
    XP = X @ in_feature_space(pair, X, P)
    for codes, T in (
        (pair.right_codes(), Y.toarray()),
        (pair.leading_codes(3, 0.5), V),
        (pair.combined_codes(O, shift), (Y.toarray() + shift) @ O),
    ):
        learned = learn(pair, None, codes, 0.7, bias)
        assert learned.solved
        B, intercept = literal_ridge(X, T, 0.7, ones**2, bias)
        kept = learned.coefficients
        kept = X.T @ kept if pair.solver == "kernel" else kept  # they act on kernel rows
        np.testing.assert_allclose(kept, B, atol=atol)
        np.testing.assert_allclose(learned.intercept, intercept, atol=atol)
        learned = learn(pair, P, codes, 0.7, bias)
        B, intercept = literal_ridge(XP, T, 0.7, ones**2, bias)
        np.testing.assert_allclose(learned.coefficients, B, atol=atol)
        np.testing.assert_allclose(learned.intercept, intercept, atol=atol)


@every_kind
@pytest.mark.parametrize("bias", BIASES)
def test_the_ridge_of_every_bias(kind, bias, case):
    X, Y, w, _ = case
    assert_learns(make_pair(kind, X, Y, w), bias, case)


@every_kind
@pytest.mark.parametrize("projected", [False, True])
def test_a_path_is_the_ridge_of_every_penalty(kind, projected, case):
    X, Y, w, _ = case
    pair = make_pair(kind, X, Y, w)
    P = pair.cross_range(3)[0] if projected else None
    for codes in (pair.leading_codes(3, 0.5), pair.right_codes()):
        path = learn_path(pair, P, codes)
        for alpha in (0.0, 1e-3, 0.7, 50.0):
            alone = learn(pair, P, codes, alpha)
            together = path.spectrum.shrunk(path.inside, alpha)
            together = together if path.outside is None else path.outside @ together
            atol = 1e-8 * max(1.0, np.abs(alone.coefficients).max())
            np.testing.assert_allclose(together, alone.coefficients, atol=atol)
            intercept = codes.total / pair.count - path.mean_left @ together
            np.testing.assert_allclose(intercept, alone.intercept, atol=atol)


@every_kind
def test_directions_of_a_ridge(kind, case):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    found = in_feature_space(pair, X, ridge_of(pair).directions(pair.right_codes(), 0.3)[0])
    Xc = rows["Xc"]
    expected = np.linalg.solve(Xc.T @ Xc + 0.3 * np.eye(9), Xc.T @ rows["Y"])
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_ratios_refer_to_the_columns_as_they_were_given():
    X, Y = problem()
    for solver in ROUTES:
        pair = build_pair(X, Y, solver=solver, given_left=4)
        assert (pair.solver, pair.given_left) == (solver, 4)
    for pair in (
        RowsPair.of_rows(X, Y, given_left=4),
        RowsPair.of_kernel(X @ X.T, Y, given_left=4),
    ):
        assert pair.part(np.arange(30), np.arange(30, 50))[0].given_left == 4


# --- where nothing of order N, D or D x M is formed ----------------------------------------------


@pytest.fixture
def cramped(monkeypatch):
    """No Gram matrix and no cross products may be formed."""
    monkeypatch.setattr("compactlearn.linalg._routes.GRAM_LIMIT", 2)
    monkeypatch.setattr("compactlearn.linalg._routes.CROSS_LIMIT", 20)

    def forbidden(self):
        raise AssertionError("a matrix was formed that would not fit")

    for name in ("gram_system", "kernel"):
        monkeypatch.setattr(LeftRows, name, property(forbidden))


every_form = pytest.mark.parametrize("kind", ["krylov", "sparse krylov"])


@every_form
def test_cross_products_that_do_not_fit(kind, case, cramped):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    cross = rows["Xc"].T @ rows["Y"]
    np.testing.assert_allclose(pair.cross_energy, np.sum(cross**2))
    np.testing.assert_allclose(multiplied(pair.cross_gram()), cross.T @ cross, atol=1e-8)
    codes = pair.right_codes(dense=False)
    assert isinstance(codes.left, Operator)
    assert codes.size == 5
    np.testing.assert_allclose(in_feature_space(pair, X, codes.left), cross, atol=1e-9)
    P, squares = pair.cross_range(2)
    left, s, _ = np.linalg.svd(cross)
    np.testing.assert_allclose(squares, s[:2] ** 2, rtol=1e-9)
    np.testing.assert_allclose(_signed(P), _signed(left[:, :2]), atol=1e-7)
    np.testing.assert_allclose(pair.left.inner(P, codes.left), P.T @ cross, atol=1e-9)


@every_form
def test_hat_matrices_by_conjugate_gradients(kind, case, cramped):
    X, Y, w, rows = case
    pair = make_pair(kind, X, Y, w)
    expected = literal_hat(rows, 0.3)
    found = ridge_of(pair).hat(0.3)
    assert isinstance(found.matrix, Operator)
    np.testing.assert_allclose(multiplied(found.matrix), expected, atol=1e-9)
    # The trace is a seeded estimate from 16 probes.
    assert abs(found.trace - np.trace(expected)) < 0.35 * np.trace(expected)
    assert found.trace == ridge_of(pair).hat(0.3).trace
    without = ridge_of(pair).hat(0.3, constant=False)
    np.testing.assert_allclose(found.trace, without.trace + 1, rtol=1e-12)
    assert_hat_grams(pair, rows, 0.3)
    assert_hat_codes(pair, True, case, atol=1e-7)


@every_form
@pytest.mark.parametrize("bias", BIASES)
def test_the_ridge_of_every_bias_by_conjugate_gradients(kind, bias, case, cramped):
    X, Y, w, _ = case
    assert_learns(make_pair(kind, X, Y, w), bias, case)


@pytest.mark.parametrize("kind", ["dual", "krylov", "kernel"])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_hat_matrices_from_an_inverse(kind, ridge, monkeypatch):
    """Large kernels are inverted, because eigenvectors would be slow."""
    X, Y = problem(n=7, seed=1)
    spectral = ridge_of(make_pair(kind, X, Y, None)).hat(ridge)
    monkeypatch.setattr("compactlearn.linalg._rows_ridge.SPECTRAL_HAT", 2)
    inverted = ridge_of(make_pair(kind, X, Y, None)).hat(ridge)
    np.testing.assert_allclose(inverted.matrix, spectral.matrix, atol=1e-8)
    np.testing.assert_allclose(inverted.trace, spectral.trace, rtol=1e-8)
    np.testing.assert_array_equal(inverted.matrix, inverted.matrix.T)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_is_no_direction_of_a_kernel(weighted):
    """A kernel matrix is centred but for rounding; coefficients of directions are exactly so."""
    X, Y = problem(seed=1)
    w = np.random.default_rng(3).uniform(0.2, 2, size=50) if weighted else None
    pair = make_pair("kernel", X, Y, w)
    np.testing.assert_allclose(pair.left.Xc.T @ pair.ones[:, None], 0, atol=1e-13)
    left = pair.leading_codes(3, 0.5).left
    np.testing.assert_allclose(pair.ones @ left, 0, atol=1e-13)


@pytest.mark.parametrize("kind", ["moments", "dual", "krylov", "sparse krylov", "kernel"])
def test_codes_of_the_labels_alone(kind, case):
    """No columns of P give the codes of no balance."""
    X, Y, w, _ = case
    pair = make_pair(kind, X, Y, w)
    nothing = pair.cross_range(1)[0][:, :0]
    small, whole = pair.leading_codes(2, 0.0, nothing), pair.leading_codes(2, 0.0)
    np.testing.assert_allclose(small.values, whole.values, rtol=1e-9)
    for block in ("left", "right", "total"):
        mine, theirs = getattr(small, block), getattr(whole, block)
        np.testing.assert_allclose(mine, theirs, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [3, 20])
def test_principal_directions_of_a_kernel(weighted, size, monkeypatch):
    """For a linear kernel they are the directions of the rows, and none beyond its rank."""
    # Many of them come from the matrix itself: an operator would be multiplied by the identity.
    monkeypatch.delattr("compactlearn.linalg._eigen.multiplied_out")
    X, Y = problem(seed=1)
    w = np.random.default_rng(3).uniform(0.2, 2, size=50) if weighted else None
    kernel, rows = make_pair("kernel", X, Y, w), make_pair("krylov", X, Y, w)
    (A, _), (B, _) = kernel.cross_range(2), rows.cross_range(2)
    mine = in_feature_space(kernel, X, kernel.left.principal_directions(size, A)[0])
    monkeypatch.undo()
    theirs = rows.left.principal_directions(min(size, 7), B)[0]
    np.testing.assert_allclose(_signed(mine), theirs, atol=1e-8)
    assert mine.shape[1] == min(size, 7)


@pytest.mark.parametrize("weighted", [False, True])
def test_bases_in_the_space_of_a_kernel(weighted):
    X, Y = problem(seed=1)
    w = np.random.default_rng(3).uniform(0.2, 2, size=50) if weighted else None
    pair = make_pair("kernel", X, Y, w)
    C = np.random.default_rng(0).standard_normal((pair.n_left, 3))
    Q = pair.left.orthonormal(C)
    np.testing.assert_allclose(pair.left.inner(Q, Q), np.eye(3), atol=1e-10)
    first = pair.left.orthonormal(C[:, :1])
    cosine = pair.left.inner(Q[:, :1], first)
    np.testing.assert_allclose(np.abs(cosine), 1, atol=1e-9)  # in the order of the columns
    more = pair.left.extension(
        Q, np.hstack([C, np.random.default_rng(1).standard_normal((pair.n_left, 2))])
    )
    np.testing.assert_allclose(pair.left.inner(Q, more), 0, atol=1e-9)
    np.testing.assert_allclose(pair.left.inner(more, more), np.eye(more.shape[1]), atol=1e-9)
    basis, squares = pair.left.leading_range(C)
    np.testing.assert_allclose(pair.left.inner(basis, basis), np.eye(3), atol=1e-9)
    F = in_feature_space(pair, X, C)
    np.testing.assert_allclose(squares, np.linalg.svd(F, compute_uv=False) ** 2, rtol=1e-9)
    gram = pair.left.projected_gram(Q)
    XQ = (X - pair_mean(X, w)) @ in_feature_space(pair, X, Q)
    XQ = XQ if w is None else np.sqrt(w)[:, None] * XQ
    np.testing.assert_allclose(gram, XQ.T @ XQ, atol=1e-8)
    np.testing.assert_allclose(pair.projected_rows(Q), X @ in_feature_space(pair, X, Q), atol=1e-8)


def pair_mean(X, w):
    return np.average(X, axis=0, weights=w)


@pytest.mark.parametrize("kind", ["moments", "dual", "krylov"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [0.0, 1.0, 100.0, 1e4])
@pytest.mark.parametrize("copies", [1, 4])
@pytest.mark.parametrize("n_left", [10, 60])
def test_there_are_no_more_codes_than_distinct_rows(kind, form, offset, copies, n_left):
    """Whatever is taken off the rows to centre them: the rounding of that is no direction."""
    rng = np.random.default_rng(1)
    X = np.repeat((rng.random((15, n_left)) + offset).round(3), copies, axis=0)
    Y = sp.csr_array(np.repeat((rng.random((15, 50)) < 0.3).astype(float), copies, axis=0))
    if kind == "moments":
        parts = [slice(0, 7 * copies), slice(7 * copies, None)]
        whole = Moments.from_arrays(form(X), Y)
        sums = Moments.from_blocks((form(X[rows]), Y[rows]) for rows in parts)
        pairs = [MomentsPair(whole), MomentsPair(sums), MomentsPair(sums.rescaled(np.ones(n_left)))]
    else:
        pairs = [RowsPair.of_rows(form(X), Y, solver=kind)]
    for pair in pairs:
        balance = 0.1 * pair.right_energy / pair.left.energy
        codes = pair.leading_codes(40, balance)
        assert codes.size == 15
        assert pair.left.leading_range(codes.left)[0].shape[1] == min(n_left, 14)


@pytest.mark.parametrize(
    ("solver", "whole", "of_a_part"),
    [("randomized", 0.9999, 0.999), ("krylov", 1.0, 1.0), ("dual", 1.0, 1.0)],
)
def test_a_part_of_the_rows_may_be_content_with_less_where_the_whole_is_not_exact_either(
    solver, whole, of_a_part
):
    X, Y = problem()
    pair = RowsPair.of_rows(X, Y, solver=solver)
    part, _ = pair.part(np.arange(30), np.arange(30, 50))
    assert (pair.enough, part.enough) == (whole, of_a_part)

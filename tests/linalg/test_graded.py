"""The ridge in any units: columns of 1e8 and columns of 1, against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn.linalg._learning import learn, learn_path, ridge_of
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._moments_pair import MomentsPair
from compactlearn.linalg._ridge import BIASES, Learned
from compactlearn.linalg._rows_pair import RowsPair

exact = np.vectorize(Fraction, otypes=[object])


def rational(values):
    return exact(np.asarray(values, dtype=float))


def solved(A, C):
    """A^-1 C by elimination over the rational numbers."""
    n = len(A)
    M = np.hstack([A, C])
    for k in range(n):
        pivot = next(i for i in range(k, n) if M[i, k] != 0)
        M[[k, pivot]] = M[[pivot, k]]
        M[k] = M[k] / M[k, k]
        for i in range(n):
            if i != k and M[i, k] != 0:
                M[i] = M[i] - M[i, k] * M[k]
    return M[:, n:]


def identity(n):
    return rational(np.eye(n))


def means(Z, w):
    return (w @ Z) / w.sum()


def exact_ridge(Z, T, w, alpha, bias):
    """Coefficients and intercept of the ridge with one of the biases, as definitions have it."""
    p, a = Z.shape[1], Fraction(alpha)
    zbar, tbar = means(Z, w), means(T, w)
    if bias == "free":
        Zc, Tc = Z - zbar, T - tbar
        if len(Z) <= p and alpha == 0:  # least norm: coefficients are combinations of the rows
            ones = rational(np.ones((len(Z), len(Z))))
            B = Zc.T @ solved(Zc @ Zc.T + ones, Tc)
        else:
            B = solved((Zc.T * w) @ Zc + a * identity(p), (Zc.T * w) @ Tc)
        return B, tbar - zbar @ B
    B = solved((Z.T * w) @ Z + a * identity(p), (Z.T * w) @ T)
    return B, 0 * tbar


def exact_hat(Z, w, kind, alpha):
    """The hat matrix between rows that are not multiplied by the roots of their weights, times
    the weights of the columns."""
    Zc = Z - means(Z, w) if kind in ("intercept", "centred") else Z
    inverse = solved((Zc.T * w) @ Zc + Fraction(alpha) * identity(Zc.shape[1]), Zc.T * w)
    hat = Zc @ inverse
    return hat + w / w.sum() if kind == "intercept" else hat


UNITS = {
    "one large": [1e8, 1, 1, 1, 1],
    "all kinds": [1e8, 1e4, 1, 1e-3, 1e-6],
    "two large, one small": [1e7, 1e7, 1, 1, 1e-3],
}
FORMS = [np.asarray, sp.csr_array]
DIRECT = [(solver, form) for solver in ("moments", "dual", "krylov") for form in FORMS]
WITH_ROWS = [case for case in DIRECT if case[0] != "moments"]


@pytest.fixture(params=list(UNITS))
def units(request):
    return np.array(UNITS[request.param])


@pytest.fixture(params=[(14, True), (4, False), (4, True)], ids=str)
def data(request, units):
    """Rows in these units, more or fewer of them than columns, with weights or without."""
    n, weighted = request.param
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 5)) + rng.normal(size=5)
    Y = np.where(X[:, :3] + 0.3 * rng.normal(size=(n, 3)) > 0, 1.0, 0.0)
    Y[0], Y[1] = 0.0, 1.0
    w = rng.integers(1, 5, size=n).astype(float) if weighted else None
    return X * units, Y, w, rng.normal(size=(6, 5)) * units


def make_pair(solver, X, Y, w, form):
    Y = sp.csr_array(Y)
    if solver == "moments":
        return MomentsPair(Moments.from_arrays(form(X), Y, w))
    return RowsPair.of_rows(form(X), Y, w, solver=solver)


@pytest.fixture(params=DIRECT, ids=str)
def pair(request, data):
    return make_pair(request.param[0], *data[:3], request.param[1])


@pytest.fixture(params=WITH_ROWS, ids=str)
def pair_with_rows(request, data):
    return make_pair(request.param[0], *data[:3], request.param[1])


@pytest.fixture(params=FORMS)
def iterative(request, data, monkeypatch):
    """No Gram matrix fits."""
    monkeypatch.setattr("compactlearn.linalg._routes.GRAM_LIMIT", 0)
    monkeypatch.setattr("compactlearn.linalg._left_rows.LU_UP_TO", 0)
    return make_pair("krylov", *data[:3], request.param)


def exact_data(data):
    X, Y, w, _ = data
    return rational(X), rational(Y), rational(np.ones(len(X)) if w is None else w)


def assert_scores(learned, expected, data, P=None, tolerance=1e-10):
    """Scores of the rows and of new ones, relative to the largest."""
    X, _, _, new = data
    B, intercept = expected
    A = learned.coefficients if P is None else P @ learned.coefficients
    for rows in (X, new):
        scores = np.asarray(rational(rows) @ B + intercept, dtype=float)
        error = np.abs(rows @ A + learned.intercept - scores).max()
        assert error <= tolerance * max(1.0, np.abs(scores).max())


@pytest.mark.parametrize("bias", BIASES)
def test_the_ridge_on_all_columns(pair, data, bias):
    for alpha in (1e-3, 1.0, 1e3):
        learned = learn(pair, None, pair.right_codes(), alpha, bias)
        assert_scores(learned, exact_ridge(*exact_data(data), alpha, bias), data)


@pytest.mark.parametrize("bias", BIASES)
def test_the_ridge_on_all_columns_by_conjugate_gradients(iterative, data, bias):
    for alpha in (1e-3, 1.0, 1e3):
        learned = learn(iterative, None, iterative.right_codes(), alpha, bias)
        assert learned.solved
        expected = exact_ridge(*exact_data(data), alpha, bias)
        assert_scores(learned, expected, data, tolerance=1e-8)


def on_path(pair, path, alpha):
    """The learner of one penalty, of the labels."""
    B = path.spectrum.shrunk(path.inside, alpha)
    B = B if path.outside is None else path.outside @ B
    return Learned(B, pair.mean_right - path.mean_left @ B)


def test_a_path_over_all_columns(pair, data):
    """Without a penalty, and with fewer rows than columns, only seen rows are decided."""
    path = learn_path(pair, None, pair.right_codes())
    X, Y, w, new = data
    for alpha in (0.0, 1e-3, 1.0, 1e12):
        rows = (X, Y, w, X if alpha == 0 and len(X) < 5 else new)
        expected = exact_ridge(*exact_data(data), alpha, "free")
        assert_scores(on_path(pair, path, alpha), expected, rows)
        assert_scores(learn(pair, None, pair.right_codes(), alpha), expected, rows)


def test_the_ridge_on_projected_columns(pair, data, units):
    """Directions that mix small and large columns a little, as those of a method do."""
    Z, T, w = exact_data(data)
    rng = np.random.default_rng(3)
    P = np.linalg.qr((rng.normal(size=(5, 3)) + 2 * np.eye(5, 3)) * units[:, None])[0]
    codes, Q = pair.right_codes(), rational(P)
    for alpha in (0.0, 1.0):
        B, intercept = exact_ridge(Z @ Q, T, w, alpha, "free")
        path = on_path(pair, learn_path(pair, P, codes), alpha)
        for learned in (learn(pair, P, codes, alpha), path):
            assert_scores(learned, (Q @ B, intercept), data, P, tolerance=1e-8)


def assert_hat(pair, data, alpha, tolerance):
    X = data[0]
    Z, T, w = exact_data(data)
    roots = np.sqrt(w.astype(float))
    outer = roots[:, None] / roots
    expected = exact_hat(Z, w, "intercept", alpha).astype(float) * outer
    hat = ridge_of(pair).hat(alpha)
    if isinstance(pair, MomentsPair):
        rows = ((X - means(Z, w).astype(float)) @ hat.columns + hat.constants) * roots[:, None]
        found = rows @ rows.T
        np.testing.assert_allclose(np.sum(rows**2, axis=0), hat.squares, atol=1e-9)
    else:
        found = hat.matrix @ np.eye(len(X))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    for centred in (True, False):
        right = (T - means(T, w) if centred else T).astype(float) * roots[:, None]
        gram = ridge_of(pair).hat_gram(alpha, centred=centred)
        gram = gram if isinstance(gram, np.ndarray) else gram @ np.eye(3)
        literal = exact_hat(Z, w, "centred" if centred else "raw", alpha).astype(float) * outer
        np.testing.assert_allclose(gram, right.T @ literal @ right, rtol=0, atol=100 * tolerance)
    return hat.trace, np.trace(expected)


def test_hat_matrices(pair, data):
    for alpha in (1e-3, 1.0):
        trace, expected = assert_hat(pair, data, alpha, 1e-10)
        np.testing.assert_allclose(trace, expected, atol=1e-9)


@pytest.mark.parametrize("bias", BIASES)
def test_leverages(pair_with_rows, data, bias):
    Z, _, w = exact_data(data)
    kind = "intercept" if bias == "free" else "raw"
    for alpha in (1e-3, 1.0):
        expected = np.diag(exact_hat(Z, w, kind, alpha)).astype(float)
        np.testing.assert_allclose(
            ridge_of(pair_with_rows).leverages(alpha, bias), expected, atol=1e-9
        )


# --- the systems themselves ----------------------------------------------------------------------


def test_a_constant_column_is_none_whatever_its_size():
    """A constant column of 1e8 is rounding after centring, not a feature in small units."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(30, 3)) * [1e5, 1, 1], np.full((30, 1), 1e8 + 0.1)])
    Y = np.where(X[:, 1:3] > 0, 1.0, 0.0)
    for solver, form in DIRECT:
        pair = make_pair(solver, X, Y, None, form)
        learned = learn(pair, None, pair.right_codes(), 0.0)
        np.testing.assert_allclose(learned.coefficients[3], 0, atol=1e-20)
        without = make_pair(solver, X[:, :3], Y, None, form)
        alone = learn(without, None, without.right_codes(), 0.0)
        np.testing.assert_allclose(learned.coefficients[:3], alone.coefficients, rtol=1e-9)

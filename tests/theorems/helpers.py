"""Slow and literal versions of the formulas: dense N x N matrices, no shortcuts, no shared code.

Letters as in the paper: X (N, D) features, Y (N, M) labels, V (N, m) codes, P (D, d) projection,
W (m, M) decoder, Xc = X minus its column means.
"""

from dataclasses import dataclass

import numpy as np

from tests.makers import maker, ridge_scores

#: Below this relative gap two solvers may rightly choose different subspaces.
GAP = 1e-4


# --- data ----------------------------------------------------------------------------------------


problem = maker(40, 7, 5, scale=True, noise=0.5, share=0.65)


def new_rows(X, n=9, seed=1):
    """Rows the fit has not seen, in the same units as X."""
    rng = np.random.default_rng(seed)
    return X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(n, X.shape[1]))


def tiny():
    """The six rows of the oracle table."""
    X = np.array([[1, 0, 2], [0, 1, 1], [2, 1, 0], [1, 3, 1], [0, 2, 3], [3, 1, 1]], dtype=float)
    Y = np.array(
        [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 1, 1]],
        dtype=float,
    )
    return X, Y


# --- the two eigenproblems -----------------------------------------------------------------------


def centred(X):
    return X - X.mean(axis=0)


def joint_matrix(X, Y, beta):
    """The N x N matrix whose leading eigenvectors are the codes when P does not bind."""
    Xc = centred(X)
    A = beta * Xc @ Xc.T + Y @ Y.T
    return (A + A.T) / 2


def spectrum(S):
    """Eigenvalues and eigenvectors, largest first, round-off below zero cut away."""
    values, vectors = np.linalg.eigh(S)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def top(S, k):
    return spectrum(S)[1][:, :k]


def n_positive(values):
    """Return the number of eigenvalues of a Gram matrix that are above round-off."""
    values = np.asarray(values)
    if not len(values) or values[0] <= 0:
        return 0
    return int(np.sum(values > len(values) * np.finfo(float).eps * values[0]))


def dependence(X, V, P=None):
    G = centred(X).T @ V
    return float(np.sum((G if P is None else P.T @ G) ** 2))


def recovery(Y, V):
    return float(np.sum((Y.T @ V) ** 2))


def objective(X, Y, beta, V, P=None):
    return beta * dependence(X, V, P) + recovery(Y, V)


def relative_gap(values, k):
    """Distance of the k-th value from the next, in units of the first (values: largest first)."""
    values = np.append(np.asarray(values, dtype=float), 0.0)
    if values[0] <= 0 or k >= len(values):
        return 0.0
    return float((values[k - 1] - values[k]) / values[0])


def code_gap(X, Y, beta, m):
    """Relative eigengap at m of the joint problem: 0 where the leading codes are not unique."""
    return relative_gap(spectrum(joint_matrix(X, Y, beta))[0], m)


def projection_gap(X, V, d):
    """The same for P: the gap at d, or at the rank when d reaches it.

    Squared singular values that are neither clearly there nor clearly zero make the rank itself
    undecided, so they count as no gap at all.
    """
    squares = np.linalg.svd(centred(X).T @ V, compute_uv=False) ** 2
    if not squares.size or squares[0] <= 0:
        return 0.0
    share = squares / squares[0]
    kept = share > 1e-24
    if np.any(kept & (share < GAP)):
        return 0.0
    d = min(d, int(kept.sum()))
    return relative_gap(np.where(kept, squares, 0.0), d)


def is_well_posed(X, Y, beta, m, d=None, gap=GAP):
    """True where codes and projection are unique up to rotation, with room to spare."""
    if code_gap(X, Y, beta, m) < gap:
        return False
    if d is None:
        return True
    V = top(joint_matrix(X, Y, beta), m)
    return projection_gap(X, V, d) >= gap


# --- the whole method, literally -----------------------------------------------------------------


@dataclass(frozen=True)
class Literal:
    codes: np.ndarray
    projection: np.ndarray | None
    decoder: np.ndarray
    offset: np.ndarray


def literal_cmll(X, Y, beta, m, d, *, label_ridge=0.0, offset="mean"):
    """The closed form, for d >= min(m, rank), where P is cut; d None keeps the features."""
    V = top(joint_matrix(X, Y, beta), m)
    P = None
    if d is not None:
        G = centred(X).T @ V
        left, s, _ = np.linalg.svd(G, full_matrices=False)
        P = left[:, : min(d, n_positive(s**2))]
    W = V.T @ Y / (1 + label_ridge)
    b = Y.mean(axis=0) - V.mean(axis=0) @ W if offset == "mean" else np.zeros(Y.shape[1])
    return Literal(V, P, W, b)


def literal_scores(X, Y, X_new, beta, m, d, *, alpha=1.0, **options):
    model = literal_cmll(X, Y, beta, m, d, **options)
    P = np.eye(X.shape[1]) if model.projection is None else model.projection
    codes = ridge_scores(X @ P, model.codes, alpha, X_new @ P)
    return codes @ model.decoder + model.offset


def alternate(X, Y, beta, m, d, seed, *, tol=1e-12, max_rounds=3000):
    """Algorithm 1 with N x N and D x D matrices, from a random P; returns (objective, V, P)."""
    rng = np.random.default_rng(seed)
    Xc = centred(X)
    P = np.linalg.qr(rng.normal(size=(X.shape[1], d)))[0]
    before = 0.0
    for _ in range(max_rounds):
        XP = Xc @ P
        V = top(beta * XP @ XP.T + Y @ Y.T, m)
        G = Xc.T @ V
        P = top(G @ G.T, d)
        now = objective(X, Y, beta, V, P)
        if abs(now - before) <= tol * abs(now):
            break
        before = now
    return now, V, P


# --- assertions ----------------------------------------------------------------------------------


def assert_orthonormal(Q, atol=1e-9):
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=atol)


def assert_same_span(U, V, atol=1e-7):
    """Orthonormal bases of one subspace: their projectors agree (vectors need not)."""
    assert U.shape == V.shape
    np.testing.assert_allclose(U @ U.T, V @ V.T, atol=atol)


def assert_scores(actual, expected, atol=1e-8):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)

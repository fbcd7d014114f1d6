"""Slow and literal versions of the comparison methods: dense, N x N or D x D, no shared code.

Letters: X (N, D) features, Y (N, M) labels, K (N, N) the Gram matrix of the features (XX' or a
kernel matrix Q), Hat (N, N) a hat matrix, V (N, m) codes, O (M, m) an orthonormal encoder, W (m, M)
decoder, P (D, d) projection, R (N, d) the coefficients of a projection P = Phi'R.

Sample weights are row repetitions and nothing else: see :func:`repeated`.
"""

from dataclasses import dataclass

import numpy as np

BIASES = ("free", "none")

#: Eigenvalues below this share of the first are zero ...
ZERO = 1e-11
#: ... and those above it but below this share make the rank a matter of taste.
CLEAR = 1e-6


@dataclass(frozen=True)
class Fitted:
    """Result of a method; `spectrum` has all eigenvalues of its matrix, largest first."""

    codes: np.ndarray
    decoder: np.ndarray
    offset: np.ndarray
    spectrum: np.ndarray
    kept: int = 0  # number of eigenvectors, at most the rank
    projection: np.ndarray | None = None
    beta: float | None = None
    dependence: float | None = None
    recovery: float | None = None

    @property
    def eigenvalues(self):
        return self.spectrum[: self.kept]

    @property
    def encoder(self):
        return self.decoder.T


def repeated(X, Y, weights):
    """Integer weights, literally."""
    return np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0)


# --- eigenproblems -------------------------------------------------------------------------------


def centring(n):
    return np.eye(n) - np.ones((n, n)) / n


def decomposed(S):
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    return values[::-1], vectors[:, ::-1]


def rank_of(values):
    values = np.asarray(values)
    return int(np.sum(values > ZERO * values[0])) if len(values) and values[0] > 1e-12 else 0


def leading(S, k):
    """All eigenvalues, and the k leading eigenvectors, or as many as the rank allows."""
    values, vectors = decomposed(S)
    return values, vectors[:, : min(k, rank_of(values))]


def generalised(A, B):
    """Eigenpairs of the pencil (A, B) within the range of B; vectors with Z'BZ = I."""
    w, E = decomposed(B)
    E = E[:, : rank_of(w)] / np.sqrt(w[: rank_of(w)])
    values, vectors = decomposed(E.T @ A @ E)
    return values, E @ vectors


def is_unique(values, kept, gap=1e-4):
    """Whether the span of the `kept` leading eigenvectors is a fact and not a choice."""
    values = np.asarray(values)
    if kept == 0 or values[0] <= 1e-9:
        return False
    share = values / values[0]
    if np.any((share > ZERO) & (share < CLEAR)):
        return False
    share = np.append(np.where(share > ZERO, share, 0.0), 0.0)
    return share[kept - 1] - share[kept] > gap


# --- hat matrices --------------------------------------------------------------------------------


def shrinker(Z, ridge):
    """Z (Z'Z + ridge I)^-1 Z', the projector on the range of Z where ridge is 0."""
    if ridge == 0:
        return Z @ np.linalg.pinv(Z, rcond=1e-10)
    return Z @ np.linalg.solve(Z.T @ Z + ridge * np.eye(Z.shape[1]), Z.T)


def hat_matrix(X, ridge, kind="intercept"):
    n = len(X)
    if kind == "raw":
        return shrinker(X, ridge)
    return shrinker(X - X.mean(axis=0), ridge) + np.ones((n, n)) / n


def kernel_hat_matrix(K, ridge, kind="intercept"):
    """The same from the Gram matrix: K (K + ridge I)^-1."""
    n = len(K)
    H, ones = centring(n), np.ones((n, n))
    K = K if kind == "raw" else H @ K @ H
    if ridge == 0:
        values, vectors = decomposed(K)
        vectors = vectors[:, : rank_of(values)]
        Hat = vectors @ vectors.T
    else:
        Hat = np.linalg.solve(K + ridge * np.eye(n), K)
    return Hat if kind == "raw" else Hat + ones / n


# --- methods -------------------------------------------------------------------------------------


def original(Y):
    n_labels = Y.shape[1]
    return Fitted(Y, np.eye(n_labels), np.zeros(n_labels), np.empty(0))


def cplst(Y, Hat, m, *, offset="mean"):
    b = Y.mean(axis=0) if offset == "mean" else np.zeros(Y.shape[1])
    L = Y - b
    values, O = leading(L.T @ Hat @ L, m)
    return Fitted(L @ O, O.T, b, values, O.shape[1])


def plst(Y, m, **options):
    return cplst(Y, np.eye(len(Y)), m, **options)


def added(Y, V, W, offset):
    """Return the offset that the decoder adds to VW."""
    lost = Y.mean(axis=0) - V.mean(axis=0) @ W
    return lost if offset == "mean" else np.zeros_like(lost)


def dmlr(Y, K, m, beta="auto", *, offset="mean"):
    H = centring(len(Y))
    dependent, own = Y.T @ H @ K @ H @ Y, Y.T @ Y
    if beta == "auto":
        beta = 0.1 * np.trace(own) / np.trace(dependent)
    values, O = leading(beta * dependent + own, m)
    V = Y @ O
    return Fitted(
        V,
        O.T,
        added(Y, V, O.T, offset),
        values,
        O.shape[1],
        beta=beta,
        dependence=float(np.trace(V.T @ H @ K @ H @ V)),
        recovery=float(np.trace(V.T @ V)),
    )


def faie(Y, Hat, m, beta="auto", *, offset="mean"):
    if beta == "auto":
        beta = 0.1 * np.trace(Y @ Y.T) / np.trace(Hat)
    values, V = leading(Y @ Y.T + beta * Hat, m)
    W = V.T @ Y
    return Fitted(
        V,
        W,
        added(Y, V, W, offset),
        values,
        V.shape[1],
        beta=beta,
        dependence=float(np.trace(V.T @ Hat @ V)),
        recovery=float(np.trace(V.T @ Y @ Y.T @ V)),
    )


def mddm(X, Y, d):
    H = centring(len(X))
    values, vectors = decomposed(X.T @ H @ Y @ Y.T @ H @ X)
    kept = min(d, rank_of(values))
    n_labels, P = Y.shape[1], vectors[:, :kept]
    return Fitted(Y, np.eye(n_labels), np.zeros(n_labels), values, kept, projection=P)


def kernel_mddm(Q, Y, d):
    """P = Phi'R with R'QR = I, within the range of Q."""
    H = centring(len(Q))
    A = Q @ H @ Y @ Y.T @ H @ Q
    w, E = decomposed(Q)
    E = E[:, : rank_of(w)]
    values, vectors = generalised(E.T @ A @ E, E.T @ Q @ E)
    kept = min(d, rank_of(values))
    n_labels = Y.shape[1]
    R = E @ vectors[:, :kept]
    return Fitted(Y, np.eye(n_labels), np.zeros(n_labels), values, kept, projection=R)


# --- learners ------------------------------------------------------------------------------------


def ridge_predict(Z, T, alpha, Z_new, bias="free"):
    """Normal equations, with a free bias or none."""
    z_mean = Z.mean(axis=0) if bias == "free" else np.zeros(Z.shape[1])
    t_mean = T.mean(axis=0) if bias == "free" else np.zeros(T.shape[1])
    Z, Z_new = Z - z_mean, Z_new - z_mean
    B = np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T @ (T - t_mean))
    return Z_new @ B + t_mean


def kernel_ridge_predict(K, T, alpha, K_new, bias="free"):
    """The same from kernel values; the free bias by the bordered system."""
    n = len(K)
    one = np.ones((n, 1))
    C = np.linalg.inv(K + alpha * np.eye(n))
    b = np.zeros((1, T.shape[1]))
    if bias == "free":
        b = (one.T @ C @ T) / (one.T @ C @ one)
    return K_new @ C @ (T - one @ b) + b


def scores(method, X, X_new, alpha=1.0, bias="free"):
    if method.projection is not None:
        X, X_new = X @ method.projection, X_new @ method.projection
    return ridge_predict(X, method.codes, alpha, X_new, bias) @ method.decoder + method.offset


def kernel_scores(method, K, K_new, alpha=1.0, bias="free"):
    if method.projection is not None:
        U, U_new = K @ method.projection, K_new @ method.projection
        codes = ridge_predict(U, method.codes, alpha, U_new, bias)
    else:
        codes = kernel_ridge_predict(K, method.codes, alpha, K_new, bias)
    return codes @ method.decoder + method.offset


def rbf(A, B, gamma):
    squares = np.sum(A**2, axis=1)[:, None] + np.sum(B**2, axis=1) - 2 * A @ B.T
    return np.exp(-gamma * np.maximum(squares, 0.0))


def linear(A, B):
    return A @ B.T

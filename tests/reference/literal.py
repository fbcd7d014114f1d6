"""Algorithm 1 of the CMLL paper taken at its word: slow, plain, and independent of the library.

It imports nothing of compactlearn, so that it can serve as an oracle for the tests and as the
baseline of the speed benchmarks. It forms the N x N matrices of the paper, starts at random and
stops by the paper's rule. Where the printed algorithm cannot be run as printed:

* the V-step of round j + 1 uses the P of round j (the P it prints does not exist yet);
* the objective of the random start is tr(V' A V), with the transpose the print leaves out;
* `max_iter` rounds are run at most, where the print's "j > maxc" allows one more;
* the random V and P have orthonormal columns, as the constraints demand;
* the classifier, which the paper leaves open, is ridge regression with an unpenalised intercept.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse.linalg

Array = np.ndarray
Eigen = Literal["full", "arpack"]


@dataclass(frozen=True)
class LiteralSolution:
    """Result of Algorithm 1, in the paper's notation."""

    V: Array  # (N, m) label codes, orthonormal columns
    P: Array  # (D, d) feature projection, orthonormal columns
    W: Array  # (m, M) decoder, V'Y / (1 + lam)
    objective: float  # Gamma at (V, P)
    path: tuple[float, ...]  # Gamma of the random start, then after each round
    n_iter: int


@dataclass(frozen=True)
class LiteralRidge:
    """Ridge regression Z -> T: predictions are Z coef + intercept."""

    coef: Array  # (d, t)
    intercept: Array  # (t,)


def algorithm_1(
    X: Array,
    Y: Array,
    m: int,
    d: int,
    *,
    beta: float = 1.0,
    lam: float = 0.0,
    max_iter: int = 50,
    tol: float = 1e-5,
    seed: int = 0,
    eigen: Eigen = "full",
) -> LiteralSolution:
    """Alternate between the two eigenproblems from a random start.

    Parameters
    ----------
    X, Y : ndarray of shape (N, D) and (N, M)
        Dense features and 0/1 labels.
    m, d : int
        Label and feature components. Beyond the rank of X'HV the columns of P are whatever the
        eigen-solver returned, as in the paper.
    beta, lam : float
        Weight of the dependence, ridge of the decoder.
    max_iter, tol
        The paper's 50 rounds and 1e-5 relative change.
    seed : int
        Of the random start.
    eigen : {"full", "arpack"}
        All eigenvectors by LAPACK, or only the wanted ones by Arnoldi; both on explicit matrices.
    """
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    N, D = X.shape
    rng = np.random.default_rng(seed)
    H = np.eye(N) - np.full((N, N), 1 / N)
    HX = H @ X
    YYt = Y @ Y.T
    V, P = _orthonormal(N, m, rng), _orthonormal(D, d, rng)
    path = [_objective(V, beta * (HX @ P) @ (HX @ P).T + YYt)]
    for _ in range(max_iter):
        A = beta * (HX @ P) @ (HX @ P).T + YYt
        V = _top(A, m, eigen, rng)
        B = (HX.T @ V) @ (HX.T @ V).T
        P = _top(B, d, eigen, rng)
        path.append(_objective(V, beta * (HX @ P) @ (HX @ P).T + YYt))
        if abs(path[-1] - path[-2]) < tol * path[-2]:
            break
    W = V.T @ Y / (1 + lam)
    return LiteralSolution(V, P, W, path[-1], tuple(path), len(path) - 1)


def ridge(Z: Array, T: Array, alpha: float) -> LiteralRidge:
    """Ridge regression with a free intercept, from the normal equations of centred data."""
    z, t = Z.mean(axis=0), T.mean(axis=0)
    gram = (Z - z).T @ (Z - z) + alpha * np.eye(Z.shape[1])
    coef = scipy.linalg.solve(gram, (Z - z).T @ (T - t), assume_a="pos")
    return LiteralRidge(coef, t - z @ coef)


def scores(solution: LiteralSolution, X: Array, X_new: Array, alpha: float) -> Array:
    """The last lines of Algorithm 1 up to the threshold: learn XP -> V, predict, decode."""
    g = ridge(X @ solution.P, solution.V, alpha)
    return (X_new @ solution.P @ g.coef + g.intercept) @ solution.W


def dependence_and_recovery(V: Array, P: Array, X: Array, Y: Array) -> tuple[float, float]:
    """The two terms of the objective, the first without its weight."""
    Xc = X - X.mean(axis=0)
    return float(np.sum((P.T @ Xc.T @ V) ** 2)), float(np.sum((Y.T @ V) ** 2))


def _objective(V: Array, A: Array) -> float:
    return float(np.trace(V.T @ A @ V))


def _orthonormal(n: int, k: int, rng: np.random.Generator) -> Array:
    return np.linalg.qr(rng.normal(size=(n, k)))[0]


def _top(S: Array, k: int, eigen: Eigen, rng: np.random.Generator) -> Array:
    """Eigenvectors of the k largest eigenvalues of S, largest first."""
    S = (S + S.T) / 2
    if eigen == "full" or k >= S.shape[0]:  # ARPACK cannot return every eigenvector
        values, vectors = scipy.linalg.eigh(S)
    else:
        start = rng.normal(size=S.shape[0])
        values, vectors = scipy.sparse.linalg.eigsh(S, k=k, which="LA", v0=start)
    return np.asarray(vectors)[:, np.argsort(values)[::-1][:k]]

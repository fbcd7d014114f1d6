"""LEML: a linear model of all labels whose matrix of coefficients has a low rank.

minimise  1/2 sum_ij (y_ij - z_ij)^2 + alpha/2 (||P||^2 + ||W||^2),    Z = X P W + 1 b'

over the labels that are known; X (N, D) features, Y (N, M) labels, P (D, k), W (k, M), b (M,) free.
P, and W with b, are found exactly in turn. Every step lowers the objective or leaves it as it is.

With no label unknown the intercept is gone once both sides are centred. The step of P
is Xc'Xc P WW' + alpha P = Xc'Yc W', which the eigenvectors of WW' and of the smaller of Xc'Xc and
XcXc' turn into one division; where both are large, conjugate gradients solve it by products.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Constraint, Integer, Numbers, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.core._warn import warn_user
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.linalg import _dense as dense
from compactlearn.linalg._eigen import all_eigenpairs
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._operators import Operator, centred
from compactlearn.linalg._row_sums import weighted_sum
from compactlearn.related._scored import FactoredClassifier

Array = NDArray[np.float64]


class LEML(FactoredClassifier):
    """Low-rank empirical risk minimisation for multi-label learning.

    Scores are ``X P W + b`` with thin P (D, k) and W (k, M), found together:

        minimise  1/2 sum over known labels of (y - score)^2 + alpha/2 (||P||^2 + ||W||^2).

    Labels may be unknown (NaN): they are left out of the sum, for which the method is known. It
    suits many labels that go together; with no label unknown, reduced-rank ridge regression
    (:class:`CPLST` with a shared penalty) is close to it and has a closed form.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        k. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500).
    alpha : float > 0, default=1.0
        The penalty. With k large enough both norms together are twice the nuclear norm of PW.
    max_iter : int, default=100
        Rounds of a step of P and a step of W.
    tol : float, default=1e-5
        Stop when a round lowers the objective by less than this, relative to it.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its score is strictly above.
    random_state : int, RandomState, Generator or None, default=None
        Draws the W that is begun with.

    Attributes
    ----------
    projection_ : ndarray of shape (n_features, n_label_components_)
        P.
    decoder_ : ndarray of shape (n_label_components_, n_labels)
        W.
    intercept_ : ndarray of shape (n_labels,)
    objective_path_ : ndarray
        The objective after each round; it never rises.
    objective_ : float
    n_iter_, n_label_components_ : int
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    With all labels known, X and Y stay as they are and nothing of shape (N, M) is formed; the step
    of P is exact where the smaller of N and D is at most 4,000, and elsewhere by conjugate
    gradients. Unknown labels need a dense (N, M) matrix. The authors' losses other than squares are
    left out. Their program has no intercept; here it is free. It stops after 10 rounds, of
    conjugate gradients within; MLC_toolbox calls it with ``alpha=1`` and k = M / 2.

    References
    ----------
    H.-F. Yu, P. Jain, P. Kar, I. S. Dhillon. Large-scale multi-label learning with missing labels.
    ICML 2014, PMLR 32, 593-601.

    Examples
    --------
    >>> import numpy as np
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import LEML
    >>> data = load("emotions")
    >>> Y = data.Y.astype(float)
    >>> Y[::3, 0] = np.nan  # not known
    >>> LEML(3, random_state=0).fit(data.X, Y).predict(data.X[:2]).shape
    (2, 6)
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "alpha": (Real(0, open_low=True),),
        "max_iter": (Integer(1),),
        "tol": (Real(0),),
        "threshold": (Real(), Numbers()),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        *,
        alpha: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-5,
        threshold: Any = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> None:
        X, Y = data.X.astype(np.float64, copy=False), data.targets.matrix.astype(np.float64)
        unknown = data.targets.unknown
        k, alpha = label_count(self.n_label_components, Y.shape[1]), float(self.alpha)
        steps: SquaredSteps | PartlySquaredSteps = (
            SquaredSteps(X, Y, alpha)
            if unknown is None
            else PartlySquaredSteps(X, Y, unknown, alpha)
        )
        found = first_factors(X, Y, k, seeded(self.random_state))
        path = [steps.objective(found)]
        settled = False
        while not settled and len(path) <= self.max_iter:
            found = steps.round(found)
            path.append(steps.objective(found))
            settled = path[-2] - path[-1] <= self.tol * abs(path[-1])
        if not settled:
            warn_user(
                f"LEML stopped after max_iter={self.max_iter} rounds with the objective still "
                f"falling by more than tol={self.tol:g} (relative); raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.projection_, self.decoder_, self.intercept_ = found.P, found.W, found.b
        self.objective_path_, self.objective_ = np.array(path), path[-1]
        self.n_iter_, self.n_label_components_ = len(path) - 1, k


DENSE_SIDE = 4_000  # up to this order the smaller Gram matrix is decomposed
_CG_STEPS = 100
_CG_ENOUGH = 1e-9  # of the residual at P = 0


@dataclass(frozen=True)
class Factors:
    """P, W and b."""

    P: Array  # (D, k)
    W: Array  # (k, M)
    b: Array  # (M,)

    def penalty(self, alpha: float) -> float:
        return alpha / 2 * float(np.vdot(self.P, self.P) + np.vdot(self.W, self.W))


class SquaredSteps:
    """Squares, with every label known."""

    def __init__(self, X: Any, Y: Any, alpha: float) -> None:
        self.alpha = alpha
        count = X.shape[0]
        self.mean_left = weighted_sum(X, None) / count
        self.mean_right = weighted_sum(Y, None) / count
        self.X: Operator = centred(X, self.mean_left, None)
        self.Y: Operator = centred(Y, self.mean_right, None)
        squares = weighted_sum(Y.multiply(Y).tocsr(), None)
        self.energy = float(squares.sum() - count * self.mean_right @ self.mean_right)
        self.narrow = X.shape[1] <= X.shape[0]
        self.spectrum = self._decomposed(X) if min(X.shape) <= DENSE_SIDE else None

    def _decomposed(self, X: Any) -> tuple[Array, Array]:
        """Eigenvalues and vectors of the smaller of Xc'Xc and XcXc'."""
        if self.narrow:
            nothing = scipy.sparse.csr_array((X.shape[0], 0))
            gram = Moments.from_arrays(X, nothing).left_left
        else:
            gram = self.X @ (self.X.T @ np.eye(X.shape[0]))
        values, vectors = all_eigenpairs((gram + gram.T) / 2)
        return np.maximum(values, 0.0), vectors

    def objective(self, found: Factors) -> float:
        U = self.X @ found.P
        inner = np.vdot(self.Y.T @ U, found.W.T)
        fitted = np.vdot(dense.self_product(U.T), dense.self_product(found.W))
        return 0.5 * float(self.energy - 2 * inner + fitted) + found.penalty(self.alpha)

    def round(self, found: Factors) -> Factors:
        return self._labels(self._features(found))

    def _features(self, found: Factors) -> Factors:
        """The best P for this W."""
        s, Q = all_eigenpairs(dense.self_product(found.W))
        s = np.maximum(s, 0.0)
        T = self.Y @ (found.W.T @ Q)
        if self.spectrum is None:
            P = self._by_products(T, s, found.P @ Q)
        else:
            e, E = self.spectrum
            shrunk = 1.0 / (np.outer(e, s) + self.alpha)
            inside = E.T @ (self.X.T @ T if self.narrow else T)
            P = E @ (shrunk * inside)
            P = P if self.narrow else self.X.T @ P
        P = P @ Q.T
        return Factors(P, found.W, self._intercept(P, found.W))

    def _by_products(self, T: Array, s: Array, start: Array) -> Array:
        def times(P: Array) -> Array:
            return (self.X.T @ (self.X @ P)) * s + self.alpha * P

        return conjugate_gradients(times, self.X.T @ T, start)

    def _labels(self, found: Factors) -> Factors:
        """The best W for this P."""
        U = self.X @ found.P
        gram = dense.self_product(U.T) + self.alpha * np.eye(U.shape[1])
        W = dense.solve(gram, (self.Y.T @ U).T)
        return Factors(found.P, W, self._intercept(found.P, W))

    def _intercept(self, P: Array, W: Array) -> Array:
        return self.mean_right - (self.mean_left @ P) @ W


class PartlySquaredSteps:
    """Squares, over the labels that are known; with a matrix of all rows by all labels."""

    def __init__(self, X: Any, Y: Any, unknown: Any, alpha: float) -> None:
        self.X, self.Y, self.alpha = X, Y.toarray(), alpha
        self.known = np.where(unknown.toarray() > 0, 0.0, 1.0)

    def objective(self, found: Factors) -> float:
        scores = (self.X @ found.P) @ found.W + found.b
        missed = self.known * (scores - self.Y) ** 2
        return 0.5 * float(missed.sum()) + found.penalty(self.alpha)

    def round(self, found: Factors) -> Factors:
        return self._labels(self._features(found))

    def _features(self, found: Factors) -> Factors:
        W, b = found.W, found.b

        def times(P: Array) -> Array:
            return self.X.T @ ((self.known * ((self.X @ P) @ W)) @ W.T) + self.alpha * P

        right = self.X.T @ ((self.known * (self.Y - b)) @ W.T)
        return Factors(conjugate_gradients(times, right, found.P), W, b)

    def _labels(self, found: Factors) -> Factors:
        U = np.hstack([self.X @ found.P, np.ones((self.X.shape[0], 1))])
        shrink = np.append(np.full(found.P.shape[1], self.alpha), 0.0)
        both = np.array([self._label(U, shrink, j) for j in range(self.Y.shape[1])]).T
        return Factors(found.P, both[:-1], both[-1])

    def _label(self, U: Array, shrink: Array, j: int) -> Array:
        """The ridge of one label on its known rows; nothing where there are none."""
        known = self.known[:, j]
        if not known.any():
            return np.zeros(U.shape[1])
        gram = U.T @ (known[:, None] * U) + np.diag(shrink)
        return dense.solve(gram, U.T @ (known * self.Y[:, j]))


def conjugate_gradients(times: Callable[[Array], Array], right: Array, start: Array) -> Array:
    """Solve ``times(P) = right`` from a start, so that the minimised function never rises."""
    P, residual = start, right - times(start)
    ahead, size = residual, float(np.vdot(residual, residual))
    enough = _CG_ENOUGH**2 * float(np.vdot(right, right))
    for _ in range(_CG_STEPS):
        if size <= enough:
            break
        image = times(ahead)
        length = size / float(np.vdot(ahead, image))
        P, residual = P + length * ahead, residual - length * image
        new = float(np.vdot(residual, residual))
        ahead, size = residual + (new / size) * ahead, new
    return P


def first_factors(X: Any, Y: Any, k: int, rng: np.random.RandomState) -> Factors:
    """W is a random basis near the labels' own directions; of P and b nothing is known yet."""
    drawn = rng.standard_normal((Y.shape[1], k))
    basis = dense.qr(Y.T @ (Y @ drawn) + 1e-3 * drawn)[0]
    mean = weighted_sum(Y, None) / Y.shape[0]
    return Factors(np.zeros((X.shape[1], k)), basis.T, mean)

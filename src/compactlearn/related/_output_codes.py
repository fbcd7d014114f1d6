"""CCA-OC: every label by a classifier of its own, and a few combinations of labels by regressions.

log P(y | x) = sum_j log p_j(y_j | x) - w sum_k (t_k'(y - ybar) - mu_k(x))^2 / (2 s_k^2)

p_j a logistic regression for label j, t_k'(y - ybar) the canonical variates of the labels with
the features, mu_k a ridge regression for each and s_k^2 its noise, w a weight. Labels are read
off the mean field of P.

Canonical variates of the labels: combinations of labels that the features predict best.

    maximise  t' Yc' Hat Yc t   with  t' Yc'Yc t = n   and all of them uncorrelated

Hat is the hat matrix of a ridge with a free intercept; without penalty this is canonical
correlation analysis, and the values are squared correlations.

Labels that are independent but for a few Gaussian observations of their combinations.

    log P(y) = sum_j y_j l_j - w sum_k (t_k'y - mu_k)^2 / (2 s_k^2) + const

    y in {0, 1}^M, l (M,) log-odds of the labels by themselves, t_k (M,) combinations, mu_k what was
    observed of them and s_k^2 its variance, w a weight.

The mean field is the product of independent labels, with probabilities q, that is nearest to P in
the sense of KL(q || P); each of its updates is the exact minimum in one label's probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Constraint, Real, Seed
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.embeddings._base import Plan
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.linalg._arrays import working_form
from compactlearn.linalg._build import build_pair, plan_route
from compactlearn.linalg._codes import peak_signs
from compactlearn.linalg._eigen import all_eigenpairs, numerical_rank
from compactlearn.linalg._learning import learn, ridge_of
from compactlearn.linalg._pairs import Pair
from compactlearn.linalg._row_sums import weighted_sum
from compactlearn.related._scored import ProbableClassifier, predicted_codes

Array = NDArray[np.float64]

# Log-odds of a label that all training rows have, or with the other sign none.
_CERTAIN = 1e6

_SMALLEST_NOISE = 1e-6  # of the variance of a variate, which is 1


class OutputCodesClassifier(ProbableClassifier):
    """Label classifiers that a few predicted combinations of the labels correct (CCA-OC).

    The code of a row is redundant: all its labels, and m canonical variates of them. Both are
    predicted, and the labels that agree best with both are decoded by a mean field.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        m, the number of canonical variates. A float is a ratio of M; "auto" is
        min(M, max(16, ceil(M / 2)), 500). No more than independent labels are there.
    C : float, default=1.0
        Inverse penalty of the logistic regression of each label.
    alpha : float, default=1.0
        Penalty of the ridge regressions of the variates, in the hat matrix and as learners.
    weight : float, default=1.0
        w. With 0 the labels are independent.
    threshold : float in (0, 1), default=0.5
        A label is predicted where its probability is strictly above.
    random_state : int, RandomState, Generator or None, default=None
        Has no effect on the model; methods of a benchmark are given one.

    Attributes
    ----------
    label_coef_ : ndarray of shape (n_labels, n_features)
    label_intercept_ : ndarray of shape (n_labels,)
        Of the logistic regressions.
    directions_ : ndarray of shape (n_labels, n_components_)
        The combinations t_k, in columns.
    coef_ : ndarray of shape (n_components_, n_features)
    intercept_ : ndarray of shape (n_components_,)
        Of the ridge regressions of the variates, which have mean 0 and variance 1.
    noise_ : ndarray of shape (n_components_,)
        s_k^2: the variance of training rows, divided by the square of the share of parameters that
        are left over (generalised cross-validation).
    correlations_ : ndarray of shape (n_components_,)
        Canonical correlations, shrunk by the penalty.
    n_components_ : int
        m.
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`; the threshold is in the units of ``decision_function``.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    No public program exists. The update of the mean field follows from the model; it starts from
    the labels' own probabilities and ends when none changes by 1e-4, or after 100 sweeps. The
    matrices that are decomposed have the order of the labels.

    References
    ----------
    Y. Zhang, J. Schneider. Multi-label output codes using canonical correlation analysis. AISTATS
    2011, 873-882.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import OutputCodesClassifier
    >>> from sklearn.preprocessing import scale
    >>> data = load("emotions")
    >>> X = scale(data.X)
    >>> model = OutputCodesClassifier(3, alpha=10.0).fit(X, data.Y)
    >>> model.predict_proba(X).shape, model.directions_.shape
    ((593, 6), (6, 3))
    """

    _kept: ClassVar[tuple[str, ...]] = (
        "label_coef_",
        "label_intercept_",
        "coef_",
        "intercept_",
        "directions_",
        "noise_",
    )
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_label_components": COUNTS,
        "C": (Real(0, open_low=True),),
        "alpha": (Real(0),),
        "weight": (Real(0),),
        "threshold": (Real(0, 1, open_low=True, open_high=True),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_label_components: int | float | str = "auto",
        *,
        C: float = 1.0,
        alpha: float = 1.0,
        weight: float = 1.0,
        threshold: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.C = C
        self.alpha = alpha
        self.weight = weight
        self.threshold = threshold
        self.random_state = random_state

    def _level(self, labels: LabelSpace) -> float:
        return float(logit(self.threshold))

    def _learn(self, data: TrainingData) -> None:
        self._learn_variates(data)
        self.label_coef_, self.label_intercept_ = _logistic(data, self.C)
        self._weight = float(self.weight)  # as fitted: parameters may change afterwards

    def _learn_variates(self, data: TrainingData) -> None:
        X, Y = working_form(data.X), data.targets.matrix
        m = label_count(self.n_label_components, Y.shape[1])
        plan = Plan(components=m, keeps_features=True, n_codes=m, problem="right", hat=True)
        route = plan_route(X, Y, plan)
        pair = build_pair(X, Y, solver=route.solver)
        found = canonical_variates(pair, m, float(self.alpha))
        self.directions_, self.coef_, self.intercept_ = (
            found.directions,
            found.coef,
            found.intercept,
        )
        self.correlations_ = np.sqrt(np.clip(found.squares, 0.0, 1.0))
        self.n_components_ = found.directions.shape[1]
        self._mean = pair.mean_right @ found.directions
        self.noise_ = self._noise_of(data, found, pair.count)

    def _noise_of(self, data: TrainingData, found: Variates, count: float) -> Array:
        codes = np.asarray(data.targets.matrix @ found.directions) - self._mean
        missed = codes - predicted_codes(data.X, found.coef, found.intercept)
        # No np.average, which has no mean of no columns: constant labels have no variates.
        squares = weighted_sum(missed**2, None) / count
        # Of training rows, made larger as generalised cross-validation does.
        return np.maximum(squares / max(1.0 - found.freedom / count, 1e-3) ** 2, _SMALLEST_NOISE)

    def _scored(self, X: Any) -> Array:
        odds = np.asarray(X @ self.label_coef_.T) + self.label_intercept_
        observed = predicted_codes(X, self.coef_, self.intercept_) + self._mean
        return mean_field(odds, self.directions_, observed, self.noise_, self._weight)

    def _of_classes(self, scores: Array) -> Array:
        return self._sigmoids(scores)


def _logistic(data: TrainingData, C: float) -> tuple[Array, Array]:
    """Return weights (M, D) and intercepts (M,) of one logistic regression for each label."""
    Y = data.targets.matrix.tocsc()
    coef, intercept = np.zeros((Y.shape[1], data.X.shape[1])), np.zeros(Y.shape[1])
    model = LogisticRegression(C=C, solver="liblinear", tol=1e-6, max_iter=1000, random_state=0)
    for j in range(Y.shape[1]):
        y = np.zeros(Y.shape[0])
        y[Y.indices[Y.indptr[j] : Y.indptr[j + 1]]] = 1.0
        if y.all() or not y.any():
            intercept[j] = _CERTAIN if y.all() else -_CERTAIN
            continue
        model.fit(data.X, y)
        coef[j], intercept[j] = model.coef_[0], model.intercept_[0]
    return coef, intercept


@dataclass(frozen=True)
class Variates:
    """Canonical variates ``T'(y - mean)`` and their ridge regression on the features."""

    directions: Array  # T (M, m)
    squares: Array  # (m,) squared correlations, shrunk by the penalty
    coef: Array  # (m, D)
    intercept: Array  # (m,)
    freedom: float  # effective parameters of each regression, the intercept among them


def canonical_variates(pair: Pair, size: int, alpha: float) -> Variates:
    """Return the leading variates, as many as are asked for or exist, and their regressions."""
    T, squares = canonical_directions(pair, size, alpha)
    codes = pair.combined_codes(T, -pair.mean_right)
    learned = learn(pair, None, codes, alpha)
    freedom = float(ridge_of(pair).hat(alpha).trace)
    return Variates(T, squares, learned.coefficients.T, learned.intercept, freedom)


def canonical_directions(pair: Pair, size: int, alpha: float) -> tuple[Array, Array]:
    """Return T (M, m) with ``T'Yc'Yc T = n I``, and ``t'Yc'Hat Yc t / n`` of each."""
    whole = np.eye(pair.n_right)
    values, vectors = all_eigenpairs(_symmetric(pair.right_gram(centre=True) @ whole))
    rank = numerical_rank(values, values.size, scale=pair.right_energy)
    root = vectors[:, :rank] / np.sqrt(values[:rank])
    inner = root.T @ _symmetric(ridge_of(pair).hat_gram(alpha) @ whole) @ root
    squares, turn = all_eigenpairs(_symmetric(inner))
    T = root @ turn[:, :size] * np.sqrt(pair.count)
    return T * peak_signs(T), squares[:size]


def _symmetric(matrix: Any) -> Array:
    return (matrix + matrix.T) / 2


ENOUGH = 1e-4  # change of a probability in a sweep
SWEEPS = 100


def mean_field(
    odds: Array,
    directions: Array,
    observed: Array,
    variances: Array,
    weight: float,
    *,
    enough: float = ENOUGH,
    sweeps: int = SWEEPS,
) -> Array:
    """Return log-odds (n, M) of the labels of n rows, from log-odds (n, M) by themselves.

    ``directions`` is T (M, m), ``observed`` (n, m), ``variances`` (m,). Starting from the labels by
    themselves, one label after the other is updated, until no probability of a row changes by more
    than ``enough``.

    >>> T, nothing = np.array([[1.0], [1.0]]), np.zeros((1, 2))
    >>> np.round(expit(mean_field(nothing, T, np.array([[2.0]]), np.array([0.1]), 1.0)), 2)
    array([[0.99, 0.99]])
    """
    found = odds.copy()
    if weight == 0.0 or directions.shape[1] == 0:
        return found
    scaled = weight * directions / variances  # (M, m)
    own = np.einsum("jk,jk->j", directions, scaled)
    rows = np.arange(odds.shape[0])
    for _ in range(sweeps):
        found[rows], change = _sweep(
            odds[rows], found[rows], directions, scaled, own, observed[rows]
        )
        rows = rows[change > enough]
        if not rows.size:
            break
    return found


def _sweep(
    odds: Array, found: Array, directions: Array, scaled: Array, own: Array, observed: Array
) -> tuple[Array, Array]:
    """Update every label once; return the log-odds and the largest change in each row."""
    Q = expit(found).T.copy()  # a label's probabilities lie together
    L = found.T.copy()
    beyond = Q.T @ directions - observed  # (n, m)
    change = np.zeros(odds.shape[0])
    for j, column in enumerate(directions):
        L[j] = odds[:, j] - own[j] / 2 - (beyond @ scaled[j] - own[j] * Q[j])
        q = expit(L[j])
        step = q - Q[j]
        beyond += np.outer(step, column)
        np.maximum(change, np.abs(step), out=change)
        Q[j] = q
    return L.T, change

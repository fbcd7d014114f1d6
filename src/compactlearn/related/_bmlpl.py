"""TopicClassifier (BMLPL): labels are drawn from topics, which depend on the features.

The model of BMLPL and its variational EM: labels are words, rows documents.

The model of row n, with K topics T (M, K) whose columns sum to 1:

    u_nk ~ Gamma(shape r_k, scale exp(s_nk)),   s_nk = x_n'w_k + b_k
    c_nl ~ Poisson(sum_k T_lk u_nk),            y_nl = 1 where c_nl >= 1

Where a label is absent its count is 0, and the sum of all rates of a row is sum_k u_nk: what is
computed for labels is computed for those that are present, and the cost goes with nnz(Y).

Learning is variational EM. With q(u_nk) = Gamma(shape a_nk, rate 1/z_nk) and the best q(c), the
bound on the log-posterior of T, w, b, r is, up to constants,

    sum over present (n, l) of log(exp(t_nl) - 1),  t_nl = sum_k T_lk exp(E log u_nk)
    + sum_nk [ -E u_nk + E log p(u_nk) - E log q(u_nk) ]
    + (eta - 1) sum_lk log T_lk - alpha/2 sum_k |w_k|^2 + sum_k (log r_k - r_k)

and every step below raises it or leaves it as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import digamma, gammaln
from sklearn.exceptions import ConvergenceWarning

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Constraint, Integer, Numbers, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.core._warn import warn_user
from compactlearn.embeddings._components import COUNTS, component_count, default_label_size
from compactlearn.linalg._row_sums import weighted_sum
from compactlearn.related._scored import ProbableClassifier

Array = NDArray[np.float64]


class TopicClassifier(ProbableClassifier):
    """Bayesian multi-label learning by topics of labels (BMLPL).

    Labels are to a row what words are to a document: each of K topics is a distribution over the
    labels, and how much of a topic a row has depends on its features. A label is present where a
    Poisson count of it is at least one,

        u_nk ~ Gamma(r_k, scale exp(w_k'x_n + b_k)),  c_nl ~ Poisson(sum_k T_lk u_nk),
        y_nl = 1 where c_nl >= 1,

    so that the probability of a label has a closed form:
    ``P(y_l = 1 | x) = 1 - prod_k (1 + T_lk exp(w_k'x + b_k))^(-r_k)``.

    It suits many rare labels, since the cost of learning goes with the labels that are present, and
    it gives probabilities and topics that can be read.

    Parameters
    ----------
    n_components : int, float in (0, 1] or "auto", default="auto"
        K, the number of topics; a float is a ratio of the number of labels M, "auto" is
        min(M, max(16, ceil(M / 2)), 500).
    alpha : float, default=1.0
        Precision of the Gaussian prior of the weights, a ridge penalty; the intercepts are free.
    eta : float >= 1, default=1.01
        Of the Dirichlet prior of topics: pseudo-counts eta - 1 of every label in every topic.
    max_iter : int, default=100
        Rounds of EM.
    tol : float, default=1e-3
        Stop when a round raises the bound by less than this, relative to its size.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its probability is strictly above.
    random_state : int, RandomState, Generator or None, default=None
        Draws the topics that EM begins with.

    Attributes
    ----------
    topics_ : ndarray of shape (n_labels, n_components_)
        T; columns sum to 1.
    coef_ : ndarray of shape (n_features, n_components_)
    intercept_ : ndarray of shape (n_components_,)
    shapes_ : ndarray of shape (n_components_,)
        r.
    n_components_ : int
    objective_path_ : ndarray
        The bound after each round; it never falls.
    n_iter_ : int
    threshold_, classes_, n_labels_, label_names_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    The model is the authors'. They learn it by Gibbs sampling or by EM with Polya-Gamma variables;
    here it is variational EM in which u is kept, so that no such variables are needed, and T, w, b
    and r are point estimates. Details of the priors are not in what we have of the paper: those of
    T and r (a Gamma of shape 2 and rate 1) are ours.

    References
    ----------
    P. Rai, C. Hu, R. Henao, L. Carin. Large-scale Bayesian multi-label learning via topic-based
    label embeddings. Advances in Neural Information Processing Systems 28, 3222-3230, 2015.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.related import TopicClassifier
    >>> data = load("emotions")
    >>> model = TopicClassifier(3, random_state=0).fit(data.X, data.Y)
    >>> model.topics_.shape, model.predict_proba(data.X[:2]).shape
    ((6, 3), (2, 6))
    """

    _kept: ClassVar[tuple[str, ...]] = ("topics_", "coef_", "intercept_", "shapes_")
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "n_components": COUNTS,
        "alpha": (Real(0, open_low=True),),
        "eta": (Real(1),),
        "max_iter": (Integer(1),),
        "tol": (Real(0),),
        "threshold": (Real(), Numbers()),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        n_components: int | float | str = "auto",
        *,
        alpha: float = 1.0,
        eta: float = 1.01,
        max_iter: int = 100,
        tol: float = 1e-3,
        threshold: Any = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.eta = eta
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def _learn(self, data: TrainingData) -> None:
        Y = scipy.sparse.csr_array(data.targets.matrix, dtype=np.float64)
        n_labels = Y.shape[1]
        K = component_count(
            self.n_components, n_labels, "n_components", "labels", default_label_size
        )
        assert K is not None
        prior = Prior(float(self.alpha), float(self.eta))
        rows = TopicRows(data.X, Y)
        rng = seeded(self.random_state)
        topics = rng.dirichlet(np.ones(n_labels), size=K).T + 1.0 / n_labels
        model = begun(rows, topics / topics.sum(axis=0))
        path = [bound(rows, model, prior)]
        settled = False
        while not settled and len(path) <= self.max_iter:
            model = round_of_em(rows, model, prior)
            path.append(bound(rows, model, prior))
            settled = path[-1] - path[-2] <= self.tol * abs(path[-1])
        if not settled:
            warn_user(
                f"TopicClassifier stopped after max_iter={self.max_iter} rounds with the bound "
                f"still rising by more than tol={self.tol:g} (relative); raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.topics_, self.coef_, self.intercept_ = model.T, model.w, model.b
        self.shapes_, self.n_components_ = model.r, K
        self.objective_path_, self.n_iter_ = np.array(path), len(path) - 1

    def _scored(self, X: Any) -> Array:
        return probabilities(X @ self.coef_ + self.intercept_, self.topics_, self.shapes_)


_AT_ONCE = 1 << 20  # entries of present labels times topics in one block
_STEPS = 10  # of conjugate gradients for the weights in each round
_SHAPES = (1e-3, 1e3)  # between which r is looked for
_HALVINGS = 60


@dataclass(frozen=True)
class Prior:
    """Precision of the weights, and concentration of the topics."""

    alpha: float
    eta: float


@dataclass(frozen=True)
class TopicRows:
    """Training rows and their labels."""

    X: Any  # (N, D)
    Y: Any  # (N, M) csr_array of ones

    @cached_property
    def ones(self) -> Array:
        """Return factors for sums by products: rounding decides where EM goes."""
        return np.ones(self.X.shape[0])

    @cached_property
    def mean(self) -> Array:
        """Mean of the features."""
        return weighted_sum(self.X, self.ones) / self.X.shape[0]

    @cached_property
    def squares(self) -> Array:
        """Sums of squares of the centred features."""
        X = self.X
        squared = X.multiply(X) if scipy.sparse.issparse(X) else X * X
        raw = weighted_sum(squared, self.ones) - X.shape[0] * self.mean**2
        return np.maximum(raw, 0.0)

    def times(self, block: Array) -> Array:
        """``Xc block``."""
        return self.X @ block - self.mean @ block

    def times_transposed(self, block: Array) -> Array:
        """``Xc' block``."""
        return self.X.T @ block - np.outer(self.mean, block.sum(axis=0))


@dataclass(frozen=True)
class Model:
    """The point estimates, and the moments of q(u)."""

    T: Array  # (M, K) topics
    w: Array  # (D, K)
    b: Array  # (K,)
    r: Array  # (K,)
    a: Array  # (N, K) shapes of q(u)
    z: Array  # (N, K) scales of q(u)

    @property
    def mean(self) -> Array:
        """E u."""
        return self.a * self.z

    @property
    def mean_log(self) -> Array:
        """E log u."""
        return digamma(self.a) + np.log(self.z)


def begun(rows: TopicRows, T: Array) -> Model:
    """Every row has as much of each topic; no feature counts yet."""
    N, D, K = rows.X.shape[0], rows.X.shape[1], T.shape[1]
    ones = np.ones((N, K))
    return Model(T, np.zeros((D, K)), np.zeros(K), np.ones(K), ones, ones)


def round_of_em(rows: TopicRows, model: Model, prior: Prior) -> Model:
    """Counts, topics, q(u), weights and shapes, one after the other."""
    counts, by_label = expected_counts(rows, model)
    raised = prior.eta - 1.0 + by_label
    total = raised.sum(axis=0)
    T = np.where(total > 0, raised / np.where(total > 0, total, 1.0), model.T)
    s = rows.X @ model.w + model.b
    model = replace(model, T=T, a=model.r + counts, z=1.0 / (1.0 + np.exp(-s)))
    w, b = best_weights(rows, model, prior)
    model = replace(model, w=w, b=b)
    return replace(model, r=best_shapes(rows, model))


def expected_counts(rows: TopicRows, model: Model) -> tuple[Array, Array]:
    """``sum_l E c_nlk`` (N, K), and ``sum_n E c_nlk`` (M, K).

    A count that is at least one, of rate t, has the mean t / (1 - exp(-t)); topics share it in
    proportion to what they have of t.
    """
    G = np.exp(model.mean_log)
    t = rates(rows.Y, G, model.T)
    shared = rows.Y.copy()
    shared.data = -1.0 / np.expm1(-np.maximum(t, 1e-300))  # E c / t
    counts = G * (shared @ model.T)
    return counts, model.T * (shared.T @ G)


def rates(Y: Any, G: Array, T: Array) -> Array:
    """``sum_k G_nk T_lk`` where a label is present, in the order of Y's entries."""
    n = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    found = np.empty(Y.nnz)
    step = max(1, _AT_ONCE // max(1, T.shape[1]))
    for start in range(0, Y.nnz, step):
        part = slice(start, start + step)
        found[part] = np.einsum("ik,ik->i", G[n[part]], T[Y.indices[part]])
    return found


def best_weights(rows: TopicRows, model: Model, prior: Prior) -> tuple[Array, Array]:
    """Lower ``sum_n (r_k s_nk + E u_nk exp(-s_nk)) + alpha/2 |w_k|^2`` over w and b.

    One step of Newton's method for every topic, by conjugate gradients, and halved where it is too
    long. The problem is convex in s. Its curvature E u exp(-s), r on average, is replaced by the
    mean of itself and r, so that steps stay finite where the curvature of rows vanishes. With
    centred features, the intercepts are solved separately.
    """
    u, r = model.mean, model.r
    b = model.b + rows.mean @ model.w  # the intercepts of centred features

    def loss(w: Array, b: Array) -> tuple[Array, Array]:
        s = rows.times(w) + b
        missing = u * np.exp(np.minimum(-s, 500.0))
        value = np.sum(r * s + missing, axis=0)
        return value + prior.alpha / 2 * np.sum(w**2, axis=0), missing

    value, missing = loss(model.w, b)
    slope = r - missing
    curvature = (r + missing) / 2
    gradient = rows.times_transposed(slope) + prior.alpha * model.w
    step_w = solved(rows, curvature, prior.alpha, gradient)
    step_b = slope.sum(axis=0) / curvature.sum(axis=0)
    length, worse = np.ones(r.shape), np.ones(r.shape, dtype=bool)
    for _ in range(_HALVINGS):
        worse = ~(loss(model.w - length * step_w, b - length * step_b)[0] <= value)
        if not worse.any():
            break
        length = np.where(worse, length / 2, length)
    length = np.where(worse, 0.0, length)
    w = model.w - length * step_w
    return w, b - length * step_b - rows.mean @ w


def solved(rows: TopicRows, curvature: Array, alpha: float, right: Array) -> Array:
    """``(Xc' diag(curvature_k) Xc + alpha I)^-1 right_k`` of every topic, by a few steps of
    conjugate gradients; as many columns as topics are multiplied at once."""
    scale = 1.0 / (rows.squares[:, None] * (curvature.sum(axis=0) / rows.X.shape[0]) + alpha)
    found, residual = np.zeros_like(right), right.copy()
    ahead = scale * residual
    size = np.sum(residual * ahead, axis=0)
    for _ in range(_STEPS):
        image = rows.times_transposed(curvature * rows.times(ahead)) + alpha * ahead
        curved = np.sum(ahead * image, axis=0)
        length = np.where(curved > 0, size / np.where(curved > 0, curved, 1.0), 0.0)
        found += length * ahead
        residual -= length * image
        turned = scale * residual
        new = np.sum(residual * turned, axis=0)
        ahead = turned + np.where(size > 0, new / np.where(size > 0, size, 1.0), 0.0) * ahead
        size = new
    return found


def best_shapes(rows: TopicRows, model: Model) -> Array:
    """The maximum over r of ``sum_n (r (E log u - s) - log Gamma(r)) + log r - r``.

    It is concave, and the zero of its slope is found by bisection of log r.
    """
    s = rows.X @ model.w + model.b
    pull = rows.ones @ (model.mean_log - s)
    count = rows.X.shape[0]
    low, high = (np.full(model.r.shape, np.log(end)) for end in _SHAPES)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        r = np.exp(middle)
        rising = pull - count * digamma(r) + 1.0 / r - 1.0 > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    return np.exp((low + high) / 2)


def bound(rows: TopicRows, model: Model, prior: Prior) -> float:
    """The bound on the log-posterior, up to constants."""
    a, z, r, T = model.a, model.z, model.r, model.T
    u, log_u = model.mean, model.mean_log
    s = rows.X @ model.w + model.b
    t = np.maximum(rates(rows.Y, np.exp(log_u), T), 1e-300)
    present = t + np.log(-np.expm1(-t))  # log(exp(t) - 1)
    prior_u = -gammaln(r) - r * s + (r - 1.0) * log_u - u * np.exp(-s)
    entropy = a + np.log(z) + gammaln(a) + (1.0 - a) * digamma(a)
    found = present.sum() + rows.ones @ (prior_u + entropy - u).sum(axis=1)
    if prior.eta > 1:
        found += (prior.eta - 1.0) * np.log(T).sum()
    found -= prior.alpha / 2 * np.sum(model.w**2)
    return float(found + np.sum(np.log(r) - r))


def probabilities(s: Array, T: Array, r: Array) -> Array:
    """``1 - prod_k (1 + T_lk exp(s_nk))^(-r_k)`` (n, M), one topic after the other.

    >>> probabilities(np.zeros((1, 1)), np.ones((1, 1)), np.ones(1))
    array([[0.5]])
    """
    with np.errstate(divide="ignore"):
        log_T = np.log(T)
    total = np.zeros((s.shape[0], T.shape[0]))
    for k in range(T.shape[1]):
        total += r[k] * np.logaddexp(0.0, log_T[:, k] + s[:, k, None])
    return -np.expm1(-total)

"""TopicClassifier (BMLPL): labels are drawn from topics, which depend on the features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._params import Constraint, Integer, Numbers, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.core._warn import warn_user
from compactlearn.embeddings._components import COUNTS, component_count, default_label_size
from compactlearn.related._scored import WeightedClassifier
from compactlearn.related._topic_model import Prior, Rows, begun, bound, probabilities, round_of_em

Array = NDArray[np.float64]


class TopicClassifier(WeightedClassifier):
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
    threshold_ : float or ndarray
    classes_ : ndarray; ``arange(n_labels)`` for a label matrix, names where labels had such
    n_labels_ : int
    label_names_ : list of str, where Y was a frame (its columns) or held names (sorted)
    nbytes_ : int
        Bytes of all arrays that the model is saved with, each counted once.
    numbers_ : int
        How many numbers must be kept to predict.
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
        rows = Rows(data.X, Y, np.ones(Y.shape[0]) if data.weights is None else data.weights)
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

    @property
    def numbers_(self) -> int:
        """How many numbers must be kept to predict: topics, weights, intercepts and shapes."""
        check_is_fitted(self, "topics_")
        return sum(part.size for part in (self.topics_, self.coef_, self.intercept_, self.shapes_))

    def _scored(self, X: Any) -> Array:
        return probabilities(X @ self.coef_ + self.intercept_, self.topics_, self.shapes_)

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels), or (n_samples, n_classes).

        Each label has its own; those of the classes of a vector y sum to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        found = self._scores(self._prepare(X)) + self._boundary
        if self._labels.kind == "binary":
            return np.hstack([1.0 - found, found])
        if self._labels.kind == "multiclass":
            return found / found.sum(axis=1, keepdims=True)
        return found

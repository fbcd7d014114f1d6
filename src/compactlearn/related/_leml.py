"""LEML: a linear model of all labels whose matrix of coefficients has a low rank."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.exceptions import ConvergenceWarning

from compactlearn.compact._inputs import TrainingData
from compactlearn.compact._label_output import LabelSpace
from compactlearn.core._available import available_if
from compactlearn.core._params import Choice, Constraint, Integer, Numbers, Real, Seed
from compactlearn.core._seeds import seeded
from compactlearn.core._warn import warn_user
from compactlearn.embeddings._components import COUNTS, label_count
from compactlearn.related._leml_steps import (
    LogisticSteps,
    PartlySquaredSteps,
    Rows,
    SquaredSteps,
    first_factors,
)
from compactlearn.related._scored import FactoredClassifier

Array = NDArray[np.float64]


def _has_probabilities(classifier: LEML) -> bool:
    loss = vars(classifier).get("_loss", classifier.loss)
    if loss != "logistic":
        raise AttributeError(
            "predict_proba is the sigmoid of the scores of the logistic loss, and loss is "
            f"{loss!r}; use decision_function, or fit with loss='logistic'."
        )
    return True


class LEML(FactoredClassifier):
    """Low-rank empirical risk minimisation for multi-label learning.

    Scores are ``X P W + b`` with thin P (D, k) and W (k, M), found together:

        minimise  sum over known labels of loss(y, score) + alpha/2 (||P||^2 + ||W||^2).

    Labels may be unknown (NaN): they are left out of the sum, for which the method is known. It
    suits many labels that go together; with no label unknown and the squared loss, reduced-rank
    ridge regression (:class:`CPLST` with a shared penalty) is close to it and has a closed form.

    Parameters
    ----------
    n_label_components : int, float in (0, 1] or "auto", default="auto"
        k. A float is a ratio of M; "auto" is min(M, max(16, ceil(M / 2)), 500).
    alpha : float > 0, default=1.0
        The penalty. With k large enough both norms together are twice the nuclear norm of PW.
    loss : {"squared", "logistic"}, default="squared"
        ``(y - score)^2 / 2``, or ``log(1 + exp(score)) - y score``, which has probabilities.
    max_iter : int, default=100
        Rounds of a step of P and a step of W; for the logistic loss of 30 steps of L-BFGS.
    tol : float, default=1e-5
        Stop when a round lowers the objective by less than this, relative to it.
    threshold : float or array-like of shape (n_labels,), default=0.5
        A label is predicted where its score, or its probability, is strictly above.
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
    threshold_ : float or ndarray, in the units of ``decision_function``
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
    With squares and all labels known, X and Y stay as they are and nothing of shape (N, M) is
    formed; the step of P is exact where the smaller of N and D is at most 4,000, and elsewhere by
    conjugate gradients. The logistic loss, and unknown labels, need a dense (N, M) matrix. The
    authors' program has no intercept; here it is free. It stops after 10 rounds, of conjugate
    gradients within; MLC_toolbox calls it with ``alpha=1`` and k = M / 2.

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
        "loss": (Choice("squared", "logistic"),),
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
        loss: str = "squared",
        max_iter: int = 100,
        tol: float = 1e-5,
        threshold: Any = 0.5,
        random_state: Any = None,
    ) -> None:
        self.n_label_components = n_label_components
        self.alpha = alpha
        self.loss = loss
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        unknown: Any = None,
        sep: str | None = None,
    ) -> Self:
        """Find both matrices.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1, or NaN where unknown; a
            vector is read as one class per row.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight two counts as that row twice.
        unknown : boolean array-like or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known, in place of NaN.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        """
        return self._fitted(X, y, sample_weight, sep=sep, unknown=unknown)

    def _level(self, labels: LabelSpace) -> float | Array:
        threshold = super()._level(labels)
        if self.loss == "squared":
            return threshold
        if not np.all((np.asarray(threshold) > 0) & (np.asarray(threshold) < 1)):
            raise ValueError(
                "With loss='logistic' a threshold is a probability strictly between 0 and 1, and "
                f"{threshold} was given; choose another."
            )
        found = logit(threshold)
        return found if np.ndim(found) else float(found)

    def _learn(self, data: TrainingData) -> None:
        rows = Rows.of(data)
        self._loss = self.loss  # as fitted: parameters may change afterwards
        k = label_count(self.n_label_components, rows.Y.shape[1])
        alpha = float(self.alpha)
        if self.loss == "logistic":
            kind: Any = LogisticSteps
        else:
            kind = SquaredSteps if rows.unknown is None else PartlySquaredSteps
        steps = kind(rows, alpha)
        found = first_factors(rows, k, seeded(self.random_state))
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

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels), or (n_samples, n_classes).

        For the logistic loss only. Each label has its own; those of the classes of a vector y sum
        to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._sigmoids(X)

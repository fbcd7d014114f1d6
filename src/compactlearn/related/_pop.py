"""POPClassifier: one linear classifier per label, then as few of their weights as will do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression

from compactlearn.compact._inputs import TrainingData
from compactlearn.core._available import available_if
from compactlearn.core._params import (
    Constraint,
    Integer,
    Methods,
    Nothing,
    Real,
    Seed,
)
from compactlearn.core._seeds import seeded
from compactlearn.decoding import top_labels
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.related._scored import ScoredClassifier

Array = NDArray[np.float64]

_CUTOFFS = (1, 3, 5)  # the k of the P@k whose mean is the performance
_SMALLEST = 1e-150  # of the largest feature: its square is far from underflow
# The score of a label that all training rows have, or with the other sign none: sigmoid(1e6) is 1,
# and metrics refuse to rank infinity.
_CERTAIN = 1e6
_FEWEST_LABELS = 4  # with fewer the search has nowhere to go, see _bisect
# Points of performance. Hits that sum to the same mean may differ in the last digit.
_ROUNDING = 1e-9


def _has_probabilities(classifier: POPClassifier) -> bool:
    logistic = getattr(classifier, "_logistic", None)
    if not (_is_logistic(classifier.estimator) if logistic is None else logistic):
        raise AttributeError(
            "predict_proba is the sigmoid of the scores of logistic regression, and the estimator "
            "is another classifier; use decision_function, or fit with estimator=None or a "
            "LogisticRegression."
        )
    return True


class POPClassifier(ScoredClassifier):
    """Binary relevance with most of its weights removed (POP).

    A linear classifier is trained for each label, ``S = X W' + b``. Most labels of a large
    problem are rare, and most weights small: the method looks for the fewest weights that keep
    the ranking of the labels,

        minimise    number of non-zero weights in W
        subject to  performance(W) >= performance(all weights) - tolerance,

    and answers in two greedy parts:

    * label part: the r rarest labels whose complete removal keeps the performance, found by
      bisection, keep only their ``max(min_kept, ceil(kept_ratio * D))`` largest weights;
    * feature part: every weight of size ``min_weight`` or less becomes zero.

    Symbols: X (N, D) features; Y (N, M) labels, 0 or 1; W (M, D) weights, one row per label; b
    (M,) intercepts, which are never removed; S (N, M) scores. The performance is 100 times the
    mean of P@1, P@3 and P@5 (those with k <= M), where P@k is the share of present labels among
    the k best scores of a row, averaged over the rows. All labels keep a score and can be
    predicted, the pruned ones too.

    It suits many features and many labels, where the model's size matters and a linear
    classifier per label is affordable. Weights are judged by their size, so the features should
    be of one scale. For few labels an embedding of the same size is better.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        A clone is fitted to each label, 0 against 1, and must then have a ``coef_``, one weight
        per feature, whose score has its boundary at 0. None is
        ``LogisticRegression(solver="liblinear", C=0.1, fit_intercept=False)``.
    tolerance : float, default=0.1
        Percentage points of performance that the label part may cost.
    min_kept : int, default=50
    kept_ratio : float in [0, 1], default=0.05
        A rare label keeps ``max(min_kept, ceil(kept_ratio * n_features))`` weights.
    min_weight : float, default=0.01
        Weights of this size or less become zero; 0 keeps all.
    validation_fraction : float in (0, 1), default=0.2
        Share of the training rows, rounded down, on which the label part measures performance
        of a model trained on the others. The weights that are kept are trained on all rows.
    threshold : float in (0, 1), default=0.5
        A label is predicted where ``sigmoid(score)`` is strictly above. From logistic
        regression that is a probability. From a classifier that has margins only, such as
        ``LinearSVC``, it is not, but 0.5 is still its own boundary, a score of 0, and higher
        thresholds ask for wider margins.
    random_state : int, RandomState, Generator or None, default=None
        Draws the validation rows; handed also to an estimator that has none of its own.

    Attributes
    ----------
    coef_ : csr_array of shape (n_labels, n_features)
        The weights that are left.
    intercept_ : ndarray of shape (n_labels,)
    n_pruned_labels_ : int
        r, the number of rarest labels that were cut to their largest weights.
    n_weights_, n_weights_full_ : int
        Non-zero weights after and before pruning.
    threshold_, classes_, n_labels_, label_names_, label_space_, boundary_, n_parameters_, nbytes_
        As in :class:`CompactClassifier`; the threshold is in the units of ``decision_function``.
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Rare means few training rows; labels of equal frequency go by their index, lowest first, and so
    do equal weights and equal scores.

    The bisection is exact where performance only falls as labels are removed. It need not: a
    rare label that ranked too high can be better gone. The r found always keeps the performance,
    and r + 1 does not or was beyond reach, but a larger r might keep it again. Like the authors',
    the search ends below M - 2, so the three most frequent labels are never pruned, and with
    fewer than four there is no label part. There is none either where the validation share is
    less than one row or its rows have no label at all: nothing could be measured.

    The tolerance binds the label part, as removal, on the validation rows. Cutting weights is
    milder than removal; what the feature part costs is not measured.

    A label that all training rows have, or none, has nothing to be learnt: its weights are zero,
    its intercept 1e6 or -1e6, and it is predicted always or never.

    A vector y is binarised: two classes give one column of scores with 0 as the boundary (the
    threshold is taken off), several classes go by the largest score.

    Differences from the authors' public code (LMLL-POP): it measures performance on the test
    rows, here training rows are set aside; the number of kept weights is rounded up, there it
    may be a fraction; where fewer than k labels are left, P@k counts the missing ones as misses,
    there it fails; intercepts and constant labels are provided for.

    References
    ----------
    T. Wei, Y.-F. Li. Learning compact model for large-scale multi-label data. AAAI 2019,
    pp. 5385-5392.

    Examples
    --------
    >>> from compactlearn import POPClassifier
    >>> from compactlearn.datasets import load
    >>> from sklearn.preprocessing import scale
    >>> data = load("emotions")
    >>> X = scale(data.X)
    >>> model = POPClassifier(tolerance=5.0, min_kept=10, random_state=0).fit(X, data.Y)
    >>> model.n_pruned_labels_, model.n_weights_full_, model.n_weights_ < 400
    (1, 432, True)
    >>> model.predict(X[:2]).shape
    (2, 6)
    """

    _kept: ClassVar[tuple[str, ...]] = ("coef_", "intercept_")
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "estimator": (Methods("fit", "get_params"), Nothing()),
        "tolerance": (Real(0),),
        "min_kept": (Integer(0),),
        "kept_ratio": (Real(0, 1),),
        "min_weight": (Real(0),),
        "validation_fraction": (Real(0, 1, open_low=True, open_high=True),),
        "threshold": (Real(0, 1, open_low=True, open_high=True),),
        "random_state": (Seed(),),
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        tolerance: float = 0.1,
        min_kept: int = 50,
        kept_ratio: float = 0.05,
        min_weight: float = 0.01,
        validation_fraction: float = 0.2,
        threshold: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.tolerance = tolerance
        self.min_kept = min_kept
        self.kept_ratio = kept_ratio
        self.min_weight = min_weight
        self.validation_fraction = validation_fraction
        self.threshold = threshold
        self.random_state = random_state

    # ---- fitting ------------------------------------------------------------------------------

    def _level(self, labels: LabelSpace) -> float:
        return float(logit(self.threshold))

    def _learn(self, data: TrainingData) -> None:
        self._logistic = _is_logistic(self.estimator)
        _refuse_vanishing(data.X)
        rows = LabelRows(_training_form(data.X), data.targets.matrix.tocsc())
        rng = seeded(self.random_state)
        order = rng.permutation(rows.X.shape[0])
        base = self._make_base(rng)
        rarest = np.argsort(rows.frequencies(), kind="stable")
        n_pruned = self._count_removable(base, rows, rarest, order)
        n_features = rows.X.shape[1]
        n_kept = np.full(rows.n_labels, n_features)
        n_kept[rarest[:n_pruned]] = _kept_weights(n_features, self.min_kept, self.kept_ratio)
        coefs, intercepts, n_full = [], np.empty(rows.n_labels), 0
        for j in range(
            rows.n_labels
        ):  # one by one: the dense weights of all labels are never in memory
            w, intercepts[j] = _fit_label(base, rows, j)
            n_full += int(np.count_nonzero(w))
            coefs.append(scipy.sparse.csr_array(_prune(w, n_kept[j], self.min_weight)[None, :]))
        self.coef_ = scipy.sparse.vstack(coefs, format="csr")
        self.intercept_, self.n_pruned_labels_ = intercepts, n_pruned
        self.n_weights_, self.n_weights_full_ = int(self.coef_.nnz), n_full

    def _make_base(self, rng: np.random.RandomState) -> Any:
        """Return the classifier whose clones are fitted, with a seed if it lacks one."""
        if self.estimator is None:
            # The seed changes no weight; without one, NumPy's global generator would advance.
            return LogisticRegression(
                solver="liblinear", C=0.1, fit_intercept=False, random_state=0
            )
        base = clone(self.estimator)
        if not (hasattr(base, "__sklearn_tags__") and is_classifier(base)):
            # A regressor has weights too, but the boundary of its scores is not 0.
            raise _not_linear(base)
        if self.random_state is not None and base.get_params().get("random_state", "") is None:
            base.set_params(random_state=int(rng.randint(2**31 - 1)))
        return base

    def _count_removable(
        self, base: Any, rows: LabelRows, rarest: NDArray[np.intp], order: NDArray[np.intp]
    ) -> int:
        """Return how many of the rarest labels can go, judged on held-out rows."""
        if rows.n_labels < _FEWEST_LABELS:
            return 0
        n_validation = int(self.validation_fraction * rows.X.shape[0])
        held_out = rows.take(np.sort(order[:n_validation]))
        rest = rows.take(np.sort(order[n_validation:]))
        X_held_out = drop_unseen_features(rest.X, held_out.X)
        if held_out.Y.nnz == 0:
            return 0  # without a row or a label every performance is 0 and says nothing
        scores = np.empty((X_held_out.shape[0], rows.n_labels))
        for j in range(rows.n_labels):
            w, b = _fit_label(base, rest, j)
            scores[:, j] = X_held_out @ w + b
        present = held_out.Y.toarray() > 0
        cutoffs = [k for k in _CUTOFFS if k <= rows.n_labels]

        def performance(n_removed: int) -> float:
            kept = np.sort(rarest[n_removed:])  # in their own order, which decides between equals
            hits = _precision(present[:, kept], scores[:, kept], cutoffs)
            return 100.0 * float(np.mean(hits))

        bound = performance(0) - self.tolerance - _ROUNDING
        return _bisect(lambda n: performance(n) >= bound, rows.n_labels)

    # ---- predicting ---------------------------------------------------------------------------

    def _scored(self, X: Any) -> Array:
        product = X @ self.coef_.T.tocsr()
        return (product.toarray() if scipy.sparse.issparse(product) else product) + self.intercept_

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels), or (n_samples, n_classes).

        For logistic regression only, where the sigmoid of a score is one. Each label has its
        own; those of the classes of a vector y sum to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._sigmoids(self._scores(self._prepare(X)) + self.boundary_)


def _refuse_vanishing(X: Any) -> None:
    """Refuse features whose squares are all zero to the machine: LIBLINEAR would never end."""
    values = X.data if scipy.sparse.issparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if 0.0 < largest < _SMALLEST:
        raise ValueError(
            f"The largest magnitude among the features must be 0 or at least {_SMALLEST:g}, so "
            f"that its square is a number, and is {largest:g}; multiply the features by a common "
            "factor, for example by 1 / np.abs(X).max()."
        )


def _is_logistic(estimator: Any) -> bool:
    return estimator is None or isinstance(estimator, LogisticRegression)


# ---- the two parts --------------------------------------------------------------------------


def _bisect(enough: Callable[[int], bool], n_labels: int) -> int:
    """Return the largest number of labels whose removal leaves enough.

    The bounds are the authors': zero, which is never asked for, and M - 2, which never counts
    as enough.

    >>> _bisect(lambda n: n <= 4, n_labels=10), _bisect(lambda n: True, n_labels=10)
    (4, 7)
    """
    low, high = 0, n_labels - 2
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            low = middle
        else:
            high = middle
    return low


def _precision(present: NDArray[np.bool_], scores: Array, cutoffs: list[int]) -> Array:
    """Return the mean of P@k over the cutoffs for each row; empty places are misses.

    >>> _precision(np.array([[True, False]]), np.array([[0.9, 0.1]]), [1, 4])
    array([0.625])
    """
    best, _ = top_labels(scores, min(max(cutoffs), scores.shape[1]))
    hits = np.cumsum(np.take_along_axis(present, best, axis=1), axis=1)
    return np.mean([hits[:, min(k, best.shape[1]) - 1] / k for k in cutoffs], axis=0)


def _kept_weights(n_features: int, min_kept: int, kept_ratio: float) -> int:
    """Return how many weights a rare label keeps.

    >>> _kept_weights(1836, 50, 0.05), _kept_weights(100, 2, 0.07), _kept_weights(30, 50, 0.05)
    (92, 7, 30)
    """
    share = math.ceil(kept_ratio * n_features * (1 - 1e-12))  # 0.07 * 100 is 7 and a rounding
    return min(n_features, max(min_kept, share))


def _prune(w: Array, n_kept: int, min_weight: float) -> Array:
    """Zero all but the largest weights, and of those the small ones.

    >>> _prune(np.array([3.0, -0.1, 2.0, -2.0]), n_kept=2, min_weight=0.5)
    array([3., 0., 2., 0.])
    """
    kept = np.abs(w) > min_weight
    kept[np.argsort(-np.abs(w), kind="stable")[n_kept:]] = False
    return np.where(kept, w, 0.0)


@dataclass(frozen=True)
class LabelRows:
    """Training rows in the forms that the fits of single labels use."""

    X: Any  # (N, D) ndarray or CSR
    Y: Any  # (N, M) CSC of ones

    @property
    def n_labels(self) -> int:
        return self.Y.shape[1]

    def frequencies(self) -> NDArray[np.intp]:
        """Return (M,) rows of each label."""
        return np.diff(self.Y.indptr)

    def label(self, j: int) -> NDArray[np.int64]:
        """Return (N,) label j as 0 and 1."""
        y = np.zeros(self.X.shape[0], dtype=np.int64)
        y[self.Y.indices[self.Y.indptr[j] : self.Y.indptr[j + 1]]] = 1
        return y

    def take(self, chosen: NDArray[np.intp]) -> LabelRows:
        return LabelRows(self.X[chosen], self.Y[chosen])


def _fit_label(base: Any, rows: LabelRows, j: int) -> tuple[Array, float]:
    """Return weights (D,) and intercept of label j; a constant label has no weights."""
    y = rows.label(j)
    if y.all() or not y.any():
        return np.zeros(rows.X.shape[1]), _CERTAIN if y.all() else -_CERTAIN
    return _linear_part(clone(base).fit(rows.X, y), rows.X.shape[1])


def _linear_part(model: Any, n_features: int) -> tuple[Array, float]:
    """Return weights and intercept of a fitted binary classifier."""
    coef: Any = getattr(model, "coef_", np.empty(0))
    coef = coef.toarray() if scipy.sparse.issparse(coef) else coef
    w, b = np.asarray(coef, dtype=np.float64), np.ravel(getattr(model, "intercept_", 0.0))
    shaped = w.shape in ((1, n_features), (n_features,)) and b.size == 1
    if not (shaped and np.isfinite(w).all() and np.isfinite(b).all()):
        raise _not_linear(model)
    return w.ravel(), float(b[0])


def _not_linear(estimator: Any) -> ValueError:
    return ValueError(
        "estimator must be a linear scikit-learn classifier, which has one finite coef_ for each "
        f"feature and one intercept after a fit to two classes, and {type(estimator).__name__} has "
        "not; pass one such as LogisticRegression or LinearSVC, or scale the features."
    )


def _training_form(X: Any) -> Any:
    """Return X as every clone would convert it, converted once.

    That is float64, and for a sparse X indices of 32 bits where these suffice: LIBLINEAR takes
    no others.
    """
    if not scipy.sparse.issparse(X):
        return X.astype(np.float64, copy=False)
    kind = scipy.sparse.get_index_dtype(maxval=max(X.nnz, *X.shape))
    parts = (X.data, X.indices.astype(kind), X.indptr.astype(kind))
    return scipy.sparse.csr_array(parts, shape=X.shape, dtype=np.float64)

"""ThresholdTuner: label decisions for any classifier, tuned on scores of held-out rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from compactlearn.compact._any_classifier import Evaluated, RanksScores, n_parameters_of
from compactlearn.core._available import available_if, reason_of
from compactlearn.core._devices import host
from compactlearn.core._left_out import refuse_leaving_out
from compactlearn.core._model_methods import Explainable, Exportable, Storable
from compactlearn.core._params import (
    Choice,
    Constraint,
    Flag,
    Integer,
    Methods,
    Nothing,
    Seed,
    check_parameters,
)
from compactlearn.core._progress import track
from compactlearn.core._seeds import seeded
from compactlearn.core._targets import Targets, check_labels, take_rows
from compactlearn.core._unknown_labels import rows_that_count, with_absent
from compactlearn.core._validation import (
    check_weights,
    n_rows_of,
    unchanged_on_error,
    with_rows_to_take,
)
from compactlearn.crossfit._folds import make_splits
from compactlearn.crossfit._scores import OutOfFoldScores
from compactlearn.crossfit._together import held_out_together
from compactlearn.decoding._thresholds import STRATEGIES
from compactlearn.decoding._topk import top_labels
from compactlearn.linalg._unseen_features import drop_unseen_features
from compactlearn.metrics._scoring import one_matrix

Array = NDArray[np.float64]


def _has(name: str) -> Any:
    def check(tuner: ThresholdTuner) -> None:
        model = getattr(tuner, "estimator_", tuner.estimator)
        try:
            getattr(model, name)
        except AttributeError as error:
            reason = reason_of(error).rstrip(".")
            raise AttributeError(
                f"This needs an estimator with {name}, and was given {type(model).__name__}, "
                f"which has none{f' ({reason})' if reason else ''}; use predict, or "
                "another estimator."
            ) from error

    return check


class ThresholdTuner(
    RanksScores,
    Explainable,
    Storable,
    Exportable,
    MetaEstimatorMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Turn any multi-label classifier's scores into label sets by tuned thresholds.

    Clones of the estimator are fitted without each fold and score it; thresholds are chosen on
    those scores, never on scores of rows that a model has seen. Then one estimator is fitted to all
    rows.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba`` for a label matrix
    strategy : {"f1", "per-label", "cardinality", "top-k"}, default="f1"
        One threshold of largest micro-F1; one of largest F1 for every label; one that predicts as
        many labels as there are; or always the ``k`` best labels.
    k : int or None, default=None
        For "top-k"; None is the mean number of labels of a row, rounded.
    min_positives : int, default=5
        Labels in fewer rows take the common threshold where one per label is asked for.
    cv : int, splitter or iterable, default=5
        Folds; an int is a shuffled, seeded K-fold that keeps equal rows (or the ``groups`` of
        ``fit``) in one fold.
    response : {"auto", "decision_function", "predict_proba"}, default="auto"
        Whose scores; "auto" takes the first of these that the estimator has.
    random_state : int, RandomState or None, default=None
        Shuffles the folds.
    verbose : int, default=0
        1 shows a progress bar, fold by fold.

    Attributes
    ----------
    estimator_ : the classifier fitted to all rows
    threshold_ : float or ndarray of shape (n_labels,); None for "top-k"
    k_ : int, for "top-k"
    classes_, n_labels_, n_features_in_, feature_names_in_
        As in the estimator.
    label_names_ : list of str, where Y was a frame (its columns) or lists of names (sorted)
    nbytes_, n_parameters_ : int
        Bytes of all arrays that the model is saved with; parameters of the estimator.

    Notes
    -----
    For a vector y use scikit-learn's ``TunedThresholdClassifierCV``: a single class has nothing to
    decide by label.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from compactlearn import ThresholdTuner
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> base = OneVsRestClassifier(LogisticRegression(max_iter=5000))
    >>> tuner = ThresholdTuner(base, random_state=0).fit(data.X, data.Y)
    >>> 0.0 < tuner.threshold_ < 0.5 or tuner.threshold_ < 0.0
    True
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "estimator": (Methods("fit"),),
        "strategy": (Choice(*STRATEGIES, "top-k"),),
        "k": (Integer(1), Nothing()),
        "min_positives": (Integer(0),),
        "response": (Choice("auto", "decision_function", "predict_proba"),),
        "random_state": (Seed(),),
        "verbose": (Integer(0), Flag()),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        strategy: Any = "f1",
        k: int | None = None,
        min_positives: int = 5,
        cv: Any = 5,
        response: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.k = k
        self.min_positives = min_positives
        self.cv = cv
        self.response = response
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        sep: str | None = None,
        unknown: Any = None,
    ) -> Self:
        """Tune on held-out scores, then fit the estimator to all rows.

        Parameters
        ----------
        X : whatever the estimator takes
        y : lists of names, matrix or frame of shape (n_samples, n_labels)
            A list, tuple or set of names for each row; or labels, 0 or 1. NaN is a label that is
            not known, for an estimator that takes such; thresholds are tuned without it.
        sample_weight : array-like of shape (n_samples,), optional
            For the estimator and for the counts that thresholds are tuned by.
        groups : array-like of shape (n_samples,), optional
            Rows of a group are held out together; handed to ``cv`` where that is a splitter.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known; for sparse labels, and in place of NaN.
        """
        with unchanged_on_error(self):
            check_parameters(self, self._constraints)
            X, Y = with_rows_to_take(X), with_rows_to_take(y)
            owner = "ThresholdTuner.fit"
            refuse_leaving_out(self.estimator, owner)
            targets = check_labels(
                Y, n_rows_of(X), unknown=unknown, sep=sep, owner=owner, features=X
            )
            if targets.kind != "multilabel":
                raise ValueError(
                    "ThresholdTuner decides label by label and needs a 0/1 matrix Y with at least "
                    "two columns, and was given a vector of classes; use scikit-learn's "
                    "TunedThresholdClassifierCV for those."
                )
            weights = check_weights(sample_weight, targets.matrix.shape[0])
            rows_that_count(targets, weights)  # refuses where there are none
            partial = targets.unknown is not None
            targets = with_absent(targets)
            if targets.by_name or partial:
                Y = _labels_for(self.estimator, targets)
            self._asked = self.response
            self.__dict__.pop("k_", None)
            if self.strategy == "top-k":
                self.threshold_, self.k_ = None, self._k_of(targets, weights)
            else:
                found = self._out_of_fold_scores(X, Y, targets, weights, groups)
                self.threshold_ = found.tuned(self.strategy, min_positives=self.min_positives)
            self.estimator_ = self._fitted(X, Y, weights)
            self.n_labels_ = targets.n_labels
            self.classes_ = getattr(self.estimator_, "classes_", targets.classes)
            known = {"label_names_": targets.names}
            for name in ("n_features_in_", "feature_names_in_", "label_names_"):
                self.__dict__.pop(name, None)
                value = getattr(self.estimator_, name, known.get(name))
                if value is not None:
                    setattr(self, name, value)
        return self

    def _k_of(self, targets: Targets, weights: Array | None) -> int:
        """Return ``k``, by default the mean number of labels of a row."""
        n_rows, n_labels = targets.matrix.shape
        w = np.ones(n_rows) if weights is None else weights
        known = w.sum()
        if targets.unknown is not None:  # of a row as long as one whose labels are all known
            known -= (targets.unknown.T @ w).sum() / n_labels
        mean = (targets.matrix.T @ w).sum() / known
        return int(min(n_labels, self.k or max(1, round(float(mean)))))

    def _out_of_fold_scores(
        self, X: Any, Y: Any, targets: Targets, weights: Array | None, groups: Any
    ) -> OutOfFoldScores:
        matrix = targets.matrix
        scores = np.full(matrix.shape, np.nan)
        labels = matrix if targets.unknown is not None or isinstance(Y, Targets) else Y
        folds = make_splits(
            self.cv,
            X,
            labels,
            groups,
            matrix.shape[0],
            seed=seeded(self.random_state),
            together=lambda: held_out_together(X, groups),
        )
        for train, test in track(folds, description="ThresholdTuner", disable=not self.verbose):
            part = None if weights is None else weights[train]
            model = self._fitted(take_rows(X, train), take_rows(Y, train), part)
            scores[test] = self._scores(model, _held_out_rows(X, train, test, weights))
        seen = ~np.isnan(scores).any(axis=1)
        S = scores[seen]
        return OutOfFoldScores(
            np.flatnonzero(seen),
            lambda labels: S[:, labels],
            matrix[seen],
            None if weights is None else weights[seen],
            None if targets.unknown is None else targets.unknown[seen],
        )

    def _fitted(self, X: Any, Y: Any, weights: Array | None) -> Any:
        model = clone(self.estimator)
        name = type(model).__name__
        if weights is not None and not has_fit_parameter(model, "sample_weight"):
            raise ValueError(
                f"sample_weight was given, but {name}.fit does not take one; leave it out."
            )
        try:
            return model.fit(X, Y, **({} if weights is None else {"sample_weight": weights}))
        except ValueError as error:
            tags = get_tags(model).classifier_tags if hasattr(model, "__sklearn_tags__") else None
            if tags is None or tags.multi_label:
                raise
            raise ValueError(
                f"ThresholdTuner needs a classifier of several labels, and {name} refuses a label "
                f"matrix ({' '.join(str(error).split())[:120].rstrip('.')}); if it takes one label "
                f"at a time, pass OneVsRestClassifier({name}()), from sklearn.multiclass."
            ) from error

    def _scores(self, model: Any, X: Any) -> Array:
        """Return (N, M) scores, whatever form the estimator gives them in."""
        names = [self._asked]  # response as it was at fit
        if self._asked == "auto":
            names = ["decision_function", "predict_proba"]
        found = [name for name in names if hasattr(model, name)]
        if not found:
            raise ValueError(
                f"ThresholdTuner needs scores by {' or '.join(names)}, and the estimator "
                f"{type(model).__name__} has no such method; choose another response or estimator."
            )
        answer = one_matrix(model, getattr(model, found[0])(X))
        if scipy.sparse.issparse(answer):
            answer = answer.toarray()
        return np.asarray(host(answer), dtype=np.float64)  # decisions are the host's

    @property
    def response_(self) -> str:
        """Whose scores decide: ``response`` as it was at fit."""
        check_is_fitted(self, "estimator_")
        return self._asked

    def _scores_to_rank(self, X: Any) -> Array:
        """The scores that decisions are made from, whichever of the two they are."""
        check_is_fitted(self, "estimator_")
        return self._scores(self.estimator_, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return 0/1 labels of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        scores = self._scores_to_rank(X)
        if self.threshold_ is None:
            labels = np.zeros(scores.shape, dtype=np.int64)
            np.put_along_axis(labels, top_labels(scores, self.k_)[0], 1, axis=1)
            return labels
        return (scores > self.threshold_).astype(np.int64)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Return the estimator's scores."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the estimator's probabilities."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters kept to predict, without the thresholds."""
        check_is_fitted(self, "estimator_")
        return n_parameters_of(self.estimator_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        tags.target_tags.single_output = False
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        return tags


def _held_out_rows(X: Any, train: Any, test: Any, weights: Array | None) -> Any:
    """Return held-out rows; sparse ones without features that no training row has."""
    rows = take_rows(X, test)
    if not scipy.sparse.issparse(rows):
        return rows
    counted = train if weights is None else np.asarray(train)[weights[train] > 0]
    return drop_unseen_features(take_rows(X, counted), rows)


def _labels_for(estimator: Any, targets: Targets) -> Any:
    """Labels by name in a form that the estimator takes: of others' estimators few take a sparse
    matrix. Those that are not known are NaN for others."""
    if isinstance(estimator, Evaluated):
        return targets
    if targets.unknown is not None:
        return targets.truth.toarray()
    if isinstance(estimator, Pipeline) and isinstance(estimator[-1], Evaluated):
        return targets.matrix
    return targets.matrix.toarray().astype(np.int64)

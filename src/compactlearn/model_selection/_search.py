"""Base of the searches: cross-validation, the table of results, the refit and predictions."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._any_classifier import RanksScores
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._available import available_if
from compactlearn.core._chunked import is_dask, lazy_on_dask
from compactlearn.core._model_methods import Explainable, Exportable, Storable
from compactlearn.core._params import Constraint, Flag, Integer, Nothing, Seed, check_parameters
from compactlearn.core._unknown_labels import refuse_on_dask
from compactlearn.core._validation import check_features, unchanged_on_error
from compactlearn.core._warn import warn_user
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._picked import Pairs
from compactlearn.model_selection._crossval import cross_validate_grid
from compactlearn.model_selection._folds import Data
from compactlearn.model_selection._outcome import Outcome, results_table
from compactlearn.model_selection._search_data import SearchData, read_rows, sum_rows

Array = NDArray[np.float64]


def _gives_probabilities(search: Search) -> None:
    fitted = getattr(search, "best_estimator_", None)
    if fitted is None and hasattr(search, "best_index_"):
        search._best()  # raises the error with the reason
    if not hasattr(search._template() if fitted is None else fitted, "predict_proba"):
        which = "its estimator, as yet not fitted," if fitted is None else "the best one found"
        raise AttributeError(
            f"Probabilities need a classifier with decoder='logistic', and {which} has another "
            f"decoder; fit with {search._logistic_remedy}, or use decision_function."
        )


class Search(
    RanksScores,
    Explainable,
    Exportable,
    Storable,
    MetaEstimatorMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """Base of the searches: splits, scores, the table, the refit and predictions."""

    scoring: Any
    cv: Any
    refit: Any
    n_jobs: Any
    random_state: Any
    verbose: Any

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "refit": (Flag(),),
        "n_jobs": (Integer(), Nothing()),
        "random_state": (Seed(),),
        "verbose": (Integer(0), Flag()),
    }

    _logistic_remedy: ClassVar[str] = "estimator=CMLLClassifier(decoder='logistic')"

    @abstractmethod
    def _template(self) -> CompactClassifier:
        """Return the classifier with all parameters that are not searched."""

    @abstractmethod
    def _run(self, problem: SearchData) -> None:
        """Search, by :meth:`_score` and :meth:`_keep`."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        sep: str | None = None,
        unknown: Any = None,
    ) -> Self:
        """Cross-validate the settings, and fit the best to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1; a vector is read as one
            class per row. NaN in a matrix is a label that is not known: fits
            complete it, and no score counts it.
        sample_weight : array-like of shape (n_samples,), optional
            For the fits, and for the scores where the metric ranks the labels of rows.
        groups : array-like of shape (n_samples,), optional
            Rows of a group are held out together: by folds, if ``cv`` is a number or a splitter of
            groups, and by fits in which decoder or threshold are learnt. By default equal rows are.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known; for sparse labels, and in place of NaN.
        """
        with unchanged_on_error(self):
            check_parameters(self, self._constraints)
            start = time.perf_counter()
            if is_dask(X):
                refuse_on_dask(unknown, f"{type(self).__name__}.fit")
                problem = sum_rows(self, self._cv, X, y, sample_weight, groups, sep)
            else:
                problem = read_rows(self, self._cv, X, y, sample_weight, groups, sep, unknown)
            targets = problem.targets
            self.scorer_, self.n_splits_ = problem.scoring, len(problem.splits)
            model = clone(self._template())  # raises errors of every fit before the search
            model.make_embedding()
            LabelSpace.of(targets).given_threshold(model.threshold, model.decoder)
            self._run(problem)
            self.search_time_ = time.perf_counter() - start
            self.classes_, self.n_labels_ = targets.classes, targets.n_labels
            for name in ("label_names_", "best_estimator_", "refit_time_"):
                self.__dict__.pop(name, None)
            if targets.names is not None:
                self.label_names_ = targets.names
            if self.refit:
                start = time.perf_counter()
                best = clone(self._template()).set_params(**self._final_params())
                weights, groups = problem.sample_weight, problem.groups
                self.best_estimator_ = best.fit(
                    problem.X, problem.y, sample_weight=weights, groups=groups
                )
                self.refit_time_ = time.perf_counter() - start
        return self

    def _cv(self, data: Data | None, kind: str) -> Any:
        """Return a number of folds, a splitter or splits; ``data`` is None for rows on Dask."""
        return self.cv

    def _score(self, problem: SearchData, candidates: Sequence[Mapping[str, Any]]) -> Outcome:
        if not candidates:
            raise ValueError(
                "The grid is empty: there is no setting to try; give every parameter at least one "
                "value."
            )
        return cross_validate_grid(
            self._template(),
            candidates,
            problem,
            racing=bool(getattr(self, "racing", False)),
            n_jobs=self.n_jobs,
            verbose=int(self.verbose),
        )

    def _keep(
        self, problem: SearchData, candidates: Sequence[Mapping[str, Any]], outcome: Outcome
    ) -> None:
        """Store the table of results, and the best of them."""
        reached, merits = outcome.reached, outcome.merits
        if outcome.interrupted:
            if not reached.any():
                raise KeyboardInterrupt
            warn_user(
                f"The search was interrupted: {int(np.sum(reached == self.n_splits_))} of "
                f"{len(candidates)} settings were tried on all {self.n_splits_} splits. The best "
                "of those tried on most splits is selected."
            )
        if not reached.any():
            raise ValueError(
                f"No setting has a score: {problem.scoring!r} is not defined on any of the "
                "validation folds; use fewer folds or another metric."
            )
        self.best_index_ = int(np.argmax(merits))
        self.best_params_ = dict(candidates[self.best_index_])
        self.best_score_ = float(merits[self.best_index_])
        self.n_distinct_, self.interrupted_ = outcome.n_distinct, outcome.interrupted
        self.cv_results_ = results_table(candidates, outcome)

    def _final_params(self) -> dict[str, Any]:
        """Return the best setting, and parameters that depend on it."""
        return self.best_params_

    # ---- what the best predicts ---------------------------------------------------------------

    def _best(self, X: Any = None) -> Any:
        """Return the best classifier; rows that it will be asked about are checked first."""
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"This {type(self).__name__} was fitted with refit=False and has no classifier to "
                "predict with; fit with refit=True, or fit one with best_params_."
            )
        if X is not None:
            check_features(self, X, reset=False)
        return self.best_estimator_

    @lazy_on_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels that the best classifier predicts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._best(X).predict(X)

    @lazy_on_dask
    def decision_function(self, X: Any) -> Array:
        """Return the best classifier's scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._best(X).decision_function(X)

    @available_if(_gives_probabilities)
    @lazy_on_dask
    def predict_proba(self, X: Any) -> Array:
        """Return the best classifier's probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._best(X).predict_proba(X)

    @lazy_on_dask
    def predict_topk(self, X: Any, k: int, *, sparse: bool = False, names: bool = False) -> Any:
        return self._best(X).predict_topk(X, k, sparse=sparse, names=names)

    def predict_labels(self, X: Any, k: int | None = None) -> Pairs:
        return self._best(X).predict_labels(X, k)

    def compress(
        self,
        dtype: Any = "float32",
        X: Any = None,
        Y: Any = None,
        *,
        scoring: Any = "average_precision",
    ) -> CompactClassifier:
        """Return the best classifier in smaller numbers; see ``CompactClassifier``.

        Parameters
        ----------
        dtype : {"float64", "float32", "float16"}, default="float32"
            What numbers are stored in.
        X, Y : as in ``fit``, optional
            Rows on which both are judged.
        scoring : str or scorer, default="average_precision"
            By which metric.
        """
        return self._best().compress(dtype, X, Y, scoring=scoring)

    @property
    def n_parameters_(self) -> int:
        """Return the number of parameters that the best classifier stores to predict."""
        return self._best().n_parameters_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        return tags

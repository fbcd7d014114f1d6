"""What the searches have in common, and the search over an explicit grid."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._any_classifier import Evaluated
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._label_output import LabelSpace
from compactlearn.compact._model_size import Weighed
from compactlearn.core._available import available_if
from compactlearn.core._chunked import is_dask
from compactlearn.core._model_methods import Exportable, Storable
from compactlearn.core._params import (
    Constraint,
    Flag,
    Integer,
    Nothing,
    Seed,
    check_parameters,
    nearest,
)
from compactlearn.core._seeds import seeded
from compactlearn.core._targets import Targets
from compactlearn.core._unknown_labels import check_labels, refuse_on_dask, rows_that_count
from compactlearn.core._validation import (
    check_features,
    check_weights,
    unchanged_on_error,
    with_rows_to_take,
)
from compactlearn.core._warn import warn_user
from compactlearn.crossfit._folds import Split, make_splits, member_splits
from compactlearn.crossfit._together import held_out_together
from compactlearn.decoding._picked import Pairs
from compactlearn.inspection._decomposition import Inside
from compactlearn.inspection._explain import Explained, inside_of
from compactlearn.metrics._scoring import Scorer, scorer
from compactlearn.model_selection._crossval import Outcome, SearchData, cross_validate_grid
from compactlearn.model_selection._folds import Data
from compactlearn.model_selection._summed import rows_to_split, sum_folds
from compactlearn.scale.dask._predicting import lazy_on_dask
from compactlearn.scale.dask._source import source_of

Array = NDArray[np.float64]


def _gives_probabilities(search: Search) -> None:
    fitted = getattr(search, "best_estimator_", None)
    if fitted is None and hasattr(search, "best_index_"):
        search._best()  # says that there is none
    if not hasattr(search._template() if fitted is None else fitted, "predict_proba"):
        which = "its estimator, as yet not fitted," if fitted is None else "the best one found"
        raise AttributeError(
            f"Probabilities need a classifier with decoder='logistic', and {which} has another "
            f"decoder; fit with {search._logistic_remedy}, or use decision_function."
        )


class Search(
    Evaluated,
    Explained,
    Exportable,
    Storable,
    Weighed,
    MetaEstimatorMixin,
    ClassifierMixin,
    TransformerMixin,
    BaseEstimator,
):
    """Base of the searches: splits, scores, the table, the refit, and what it then predicts."""

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
        """The classifier, with everything that is not searched for."""

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
                problem = _sum_up(self, X, y, sample_weight, groups, sep)
            else:
                problem = _read(self, X, y, sample_weight, groups, sep, unknown)
            targets = problem.targets
            self.scorer_, self.n_splits_ = problem.scoring, len(problem.splits)
            self._check_template(targets)
            self._run(problem)
            self.search_time_ = time.perf_counter() - start
            self.classes_, self.n_labels_ = targets.classes, targets.n_labels
            self.__dict__.pop("label_names_", None)
            if targets.names is not None:
                self.label_names_ = targets.names
            self._refit(problem)
        return self

    def _check_template(self, targets: Targets) -> None:
        """Refuse at once what every fit would refuse."""
        model = clone(self._template())
        model.make_embedding()
        LabelSpace.of(targets).given_threshold(model.threshold, model.decoder)

    def _scorer(self) -> Scorer:
        if isinstance(self.scoring, Scorer):
            return self.scoring
        if isinstance(self.scoring, str):
            return scorer(self.scoring)
        raise ValueError(
            f"scoring must be the name of a metric or what compactlearn.metrics.scorer returns, "
            f"and is {self.scoring!r}; for other scorers use scikit-learn's GridSearchCV."
        )

    def _cv(self, data: Data | None, kind: str) -> Any:
        """A number of folds, a splitter or splits; there are no data here if rows are on Dask."""
        return self.cv

    def _splits(
        self, X: Any, y: Any, kind: str, groups: Any, n_rows: int, cv: Any, rows: Any = None
    ) -> list[Split]:
        """Return training and validation rows of every split.

        Folds that are not the user's own keep groups together, or else equal ``rows``.
        """

        def together() -> NDArray[np.intp]:
            return np.arange(n_rows) if rows is None else held_out_together(rows, groups)

        if cv is not self.cv and hasattr(cv, "split"):
            splits = list(member_splits(cv, together()))
        else:
            # Seeded in any case: the same search twice has the same answer.
            seed = 0 if self.random_state is None else seeded(self.random_state)
            classes = None if kind == "multilabel" else y
            splits = make_splits(
                cv, X, y, groups, n_rows, seed=seed, together=together, classes=classes
            )
        if kind != "multilabel":
            _refuse_one_class(splits, y)
        return splits

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
        """The table of results, and the best of them."""
        reached, merits = outcome.reached, outcome.merits
        if outcome.interrupted:
            if not reached.any():
                raise KeyboardInterrupt
            warn_user(
                f"The search was interrupted: {int(np.sum(reached == self.n_splits_))} of "
                f"{len(candidates)} settings were tried on all {self.n_splits_} splits. The best "
                "of those tried on most splits is taken."
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
        self.cv_results_ = _table(problem, candidates, outcome)

    def _refit(self, problem: SearchData) -> None:
        for name in ("best_estimator_", "refit_time_"):
            self.__dict__.pop(name, None)
        if self.refit:
            start = time.perf_counter()
            best = clone(self._template()).set_params(**self._final_params())
            weights, groups = problem.sample_weight, problem.groups
            self.best_estimator_ = best.fit(
                problem.X, problem.y, sample_weight=weights, groups=groups
            )
            self.refit_time_ = time.perf_counter() - start

    def _final_params(self) -> dict[str, Any]:
        """The best setting, and what is decided only once it is known."""
        return self.best_params_

    # ---- what the best predicts ---------------------------------------------------------------

    def _best(self) -> CompactClassifier:
        check_is_fitted(self, "best_index_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"This {type(self).__name__} was fitted with refit=False and has no classifier to "
                "predict with; fit with refit=True, or fit one with best_params_."
            )
        return self.best_estimator_

    def _asked(self, X: Any) -> Any:
        best = self._best()
        check_features(self, X, reset=False)
        return best

    @lazy_on_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels that the best classifier predicts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._asked(X).predict(X)

    @lazy_on_dask
    def decision_function(self, X: Any) -> Array:
        """Return the best classifier's scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._asked(X).decision_function(X)

    @available_if(_gives_probabilities)
    @lazy_on_dask
    def predict_proba(self, X: Any) -> Array:
        """Return the best classifier's probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._asked(X).predict_proba(X)

    @lazy_on_dask
    def predict_topk(self, X: Any, k: int, *, sparse: bool = False, names: bool = False) -> Any:
        """Return the k best labels of each row and their scores; see ``CompactClassifier``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        k : int
            How many labels.
        sparse : bool, default=False
            Whether to return one CSR matrix.
        names : bool, default=False
            Whether to return names of labels in place of their indices.
        """
        return self._asked(X).predict_topk(X, k, sparse=sparse, names=names)

    def predict_labels(self, X: Any, k: int | None = None) -> Pairs:
        """Return for each row pairs of a label's name and its score; see ``CompactClassifier``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        k : int or None, default=None
            None returns the labels that ``predict`` gives, a number the k best.
        """
        return self._asked(X).predict_labels(X, k)

    @lazy_on_dask
    def predict_codes(self, X: Any) -> Array:
        """Return predicted codes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._asked(X).predict_codes(X)

    @lazy_on_dask
    def transform(self, X: Any) -> Any:
        """Return the projected features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        return self._asked(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that ``transform`` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; by default those that ``fit`` saw.
        """
        return self._best().get_feature_names_out(input_features)

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

    def _inside(self) -> Inside:
        return inside_of(self._best())

    @property
    def numbers_(self) -> int:
        """How many numbers the best classifier must keep to predict."""
        return self._best().numbers_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_label = True
        return tags


def _read(
    search: Search,
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    sep: str | None,
    unknown: Any = None,
) -> SearchData:
    """What ``fit`` was given, checked and divided into folds."""
    given = with_rows_to_take(X)
    X = check_features(search, given, reset=True)
    y = with_rows_to_take(y)
    owner = f"{type(search).__name__}.fit"
    targets = check_labels(y, X.shape[0], unknown=unknown, sep=sep, owner=owner, features=X)
    read = targets.by_name or targets.unknown is not None
    if read:
        y = targets  # read once, for all the fits
    weights = check_weights(sample_weight, X.shape[0])
    rows_that_count(targets, weights)  # refuses where there are none
    data = Data(X, targets.matrix, weights, targets.unknown)
    to_split = targets.matrix if read else y
    cv = search._cv(data, targets.kind)
    splits = search._splits(given, to_split, targets.kind, groups, X.shape[0], cv, X)
    _refuse_uncounted(data, splits)
    return SearchData(given, y, data, targets, splits, search._scorer(), groups, weights)


def _sum_up(
    search: Search, X: Any, y: Any, sample_weight: Any, groups: Any, sep: str | None
) -> SearchData:
    """The same of a Dask collection: its folds are summed on the workers, in one pass."""
    owner = f"{type(search).__name__}.fit"
    source = source_of(search, X, y, sample_weight, groups=groups, sep=sep, owner=owner)
    n_rows, kind = source.n_rows, source.labels.kind
    to_split = y
    if is_dask(y):  # of classes, which folds are stratified by, there is one for each row
        to_split = None if kind == "multilabel" else np.ravel(np.asarray(y))
    cv = search._cv(None, kind)
    splits = search._splits(rows_to_split(n_rows), to_split, kind, None, n_rows, cv)
    data, places = sum_folds(source, n_rows, splits)
    if not data.training or not all(part.count for part in data.training):
        raise ValueError(_UNWEIGHTED)
    labels = source.labels
    targets = Targets(data.Y, labels.classes, kind, labels.names, labels.dtype)
    return SearchData(X, y, data, targets, places, search._scorer(), None, sample_weight)


def _refuse_one_class(splits: Sequence[Split], y: Any) -> None:
    """Refuse what ``fit`` would: a training part with a single class."""
    classes = np.asarray(y)
    for number, (train, _) in enumerate(splits):
        if (classes[train] == classes[train[0]]).all():
            raise ValueError(
                f"A classifier needs at least two classes in y, and the training rows of split "
                f"{number} have one class only; use other splits, for example stratified ones."
            )


def _refuse_uncounted(data: Data, splits: Sequence[Split]) -> None:
    """Refuse what ``fit`` would: a training part of which no row counts."""
    if data.counted_rows is None:
        return
    for train, _ in splits:
        if data.weights is not None and not data.weights[train].any():
            raise ValueError(_UNWEIGHTED)
        if not np.isin(train, data.counted_rows).any():
            raise ValueError(
                "Of the training rows of a split no label is known, so that there is nothing to "
                "learn from; use other splits, or leave out rows whose labels are all unknown."
            )


_UNWEIGHTED = (
    "All sample_weight of the training rows of a split are zero, so no row would count; use other "
    "splits, or give at least one of these rows a positive weight."
)


def _table(
    problem: SearchData, candidates: Sequence[Mapping[str, Any]], outcome: Outcome
) -> dict[str, Any]:
    """One entry per setting, in the columns of scikit-learn's searches, and for each split the
    number of labels that its training or its validation rows have no example of."""
    scores, mean, merits = outcome.scores, outcome.means, outcome.merits
    reached = np.maximum(outcome.reached, 1)
    own = np.where(np.isnan(scores), 0.0, scores).sum(axis=1) / reached
    squares = np.where(np.isnan(scores), 0.0, (scores - own[:, None]) ** 2)
    std = np.sqrt(squares.sum(axis=1) / reached)
    results: dict[str, Any] = {}
    for name in dict.fromkeys(name for params in candidates for name in params):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for place, params in enumerate(candidates):
            if name in params:
                column[place] = params[name]
        results[f"param_{name}"] = column
    results["params"] = [dict(params) for params in candidates]
    for number in range(scores.shape[1]):
        results[f"split{number}_test_score"] = scores[:, number]
    results["mean_test_score"], results["std_test_score"] = mean, std
    order = np.argsort(-merits, kind="stable")
    rank = np.empty(len(candidates), dtype=np.int64)
    ordered = merits[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    rank[order] = np.repeat(first + 1, np.diff(np.append(first, len(ordered))))
    results["rank_test_score"] = rank
    for number in range(len(problem.splits)):
        for present, name in zip(problem.present(number), ("train", "test"), strict=True):
            absent = int(np.sum(~present))
            results[f"split{number}_labels_absent_{name}"] = np.full(len(candidates), absent)
    return results


class GridSearchMoments(Search):
    """Search over a grid of parameters of a classifier of this package, by k-fold cross-validation.

    What :class:`sklearn.model_selection.GridSearchCV` does, with the same attributes, in a small
    part of the time: folds are held as second moments, and one decomposition serves all sizes and
    penalties. The scores are those of separate fits.

    Parameters
    ----------
    estimator : CompactClassifier or CMLLClassifier
    param_grid : dict or list of dict
        Names of parameters (``alpha``, ``embedding__beta`` or, for ``CMLLClassifier``, ``beta``)
        and the values to be tried.
    scoring : str or scorer, default="average_precision"
        A name in ``compactlearn.metrics.METRICS``, or ``compactlearn.metrics.scorer(name, ...)``.
    cv : int, splitter or iterable of splits, default=5
        An int is a shuffled, seeded K-fold, stratified where y is a vector, that keeps equal rows
        (or the ``groups`` of ``fit``) in one fold.
    refit : bool, default=True
        Whether to fit the best setting to all rows.
    n_jobs : int or None, default=None
        Threads that work side by side; None is one, and leaves the cores to the BLAS (where that
        pays: not up to some 1200 columns).
    random_state : int, RandomState or None, default=None
        Shuffles the folds; None is a fixed seed.
    verbose : int, default=0
        Above 0, a progress bar.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, scorer_, n_splits_, \
refit_time_, classes_, n_features_in_, feature_names_in_
        As in ``GridSearchCV``. ``cv_results_`` also counts, for each split, the labels that its
        training or validation rows have no example of.
    n_labels_, label_names_, nbytes_, numbers_
        As in :class:`CompactClassifier`.
    n_distinct_ : int
        How many of the settings differ in their scores: with ``completion="none"``, all numbers of
        feature components from the rank on are the same model.
    search_time_ : float
        Seconds.
    interrupted_ : bool
        Whether Ctrl-C ended the search.

    Notes
    -----
    ``score`` is scikit-learn's for classifiers (all labels of a row right); ``scorer_`` is what was
    searched by.

    Foreign regressors, other decoders, tuned thresholds with a metric of labels, other intercepts
    and Algorithm 1 as printed share nothing; such settings are fitted one by one.

    Examples
    --------
    >>> from compactlearn import CMLLClassifier
    >>> from compactlearn.datasets import load
    >>> from compactlearn.model_selection import GridSearchMoments
    >>> data = load("emotions")
    >>> grid = {"alpha": [1.0, 100.0], "n_label_components": [2, 4, 6]}
    >>> search = GridSearchMoments(CMLLClassifier(), grid, random_state=0).fit(data.X, data.Y)
    >>> len(search.cv_results_["params"]), sorted(search.best_params_)
    (6, ['alpha', 'n_label_components'])
    """

    def __init__(
        self,
        estimator: CompactClassifier,
        param_grid: Any,
        *,
        scoring: Any = "average_precision",
        cv: Any = 5,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _template(self) -> CompactClassifier:
        if not isinstance(self.estimator, CompactClassifier):
            raise TypeError(
                f"{type(self).__name__} needs a CompactClassifier or CMLLClassifier, and was given "
                f"{self.estimator!r:.80}; for others use scikit-learn's GridSearchCV."
            )
        return self.estimator

    def _run(self, problem: SearchData) -> None:
        grid = self.param_grid
        if not isinstance(grid, Mapping) and (isinstance(grid, str) or not np.iterable(grid)):
            raise TypeError(
                f"param_grid must be a dictionary of parameters and values to try, or a list of "
                f"such, and is {grid!r:.80}; pass one, for example {{'alpha': [1, 10]}}."
            )
        grids = [grid] if isinstance(grid, Mapping) else list(grid)
        self._check_grids(grids)
        given = getattr(self.estimator, "embedding", self.estimator)
        if given is None and any(
            "embedding" not in one and any(name.startswith("embedding__") for name in one)
            for one in grids
        ):
            raise ValueError(
                "The grid has parameters of the embedding, and the classifier was given none; pass "
                "CompactClassifier(CMLL()) or another embedding."
            )
        candidates = list(ParameterGrid([dict(one) for one in grids]))
        self._keep(problem, candidates, self._score(problem, candidates))

    def _check_grids(self, grids: Sequence[Any]) -> None:
        """Refuse what is no grid, and names that the classifier has not."""
        known = self._template().get_params(deep=False)
        for one in grids:
            if not isinstance(one, Mapping):
                raise TypeError(
                    f"A list as param_grid must hold dictionaries of parameters and values to try, "
                    f"and holds {one!r:.80}; pass for example [{{'alpha': [1, 10]}}]."
                )
            for name in one:
                if str(name).partition("__")[0] not in known:
                    raise ValueError(
                        f"param_grid must name parameters of {type(self.estimator).__name__}, "
                        f"which are {', '.join(sorted(known))}, and names {name!r}; correct it."
                        f"{nearest(str(name), known)}"
                    )

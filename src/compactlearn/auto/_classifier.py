"""AutoCompactClassifier: an automatic search for the best model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from compactlearn.auto._blend import Blend
from compactlearn.auto._budgets import SizeBudget, TimeBudget
from compactlearn.auto._candidates import candidates, counted
from compactlearn.auto._choice import best_choice, too_large
from compactlearn.auto._leaderboard import (
    checked_references,
    draw_frontier,
    frontier,
    leaderboard,
    reasons,
    trial_row,
)
from compactlearn.auto._problem import Problem, given_folds, row_folds, scorer_of
from compactlearn.auto._schedule import SearchRun, run_candidates
from compactlearn.auto._small_candidates import small_candidates
from compactlearn.auto._trials import Trial
from compactlearn.compact._compression import (
    HUGE,
    TYPES,
    compressed_parts,
    forget_compression,
    lightened,
)
from compactlearn.compact._empty_rows import base_scores, with_base_scores
from compactlearn.compact._inputs import check_training
from compactlearn.compact._label_output import DenseScores, RanksLabels, describe
from compactlearn.core._params import (
    Choice,
    Constraint,
    Integer,
    Nothing,
    Numbers,
    Real,
    Seed,
    SomeLabels,
    check_parameters,
)
from compactlearn.core._progress import Steps
from compactlearn.core._seeds import seeded
from compactlearn.core._threads import blas_threads
from compactlearn.core._validation import check_features, n_rows_of, unchanged_on_error
from compactlearn.core._warn import warn_user
from compactlearn.core._weight import bytes_in
from compactlearn.decoding._label_space import LabelSpace
from compactlearn.decoding._thresholds import STRATEGIES
from compactlearn.metrics._checks import row_blocks
from compactlearn.metrics._scoring import Scorer

Array = NDArray[np.float64]

CHECKED_ROWS = 200  # rows whose scores in a smaller type are compared


class AutoCompactClassifier(RanksLabels, DenseScores):
    """Automatic search for the best model of this package, without any argument.

    The search fits one kind of model after the other, those that gain most in a second first:

    1. :class:`ShortlistClassifier` for sparse features and 2,000 rows or more; with more than 2,000
       labels, it is the only model. All models of sparse rows together take at most about three
       times as long as a shortlist, and are at most ten times as large;
    2. a linear model with a logistic decoder, on features as they are, rows of unit length or
       columns of unit variance, whichever is best. Penalty and number of codes are selected by a
       cross-validation that shares its decompositions; with more than 100 labels the model may be
       compact (CMLL);
    3. the same with an RBF kernel: exact up to 3,000 rows, with landmarks beyond;
    4. extra trees on all labels for dense features, and a random forest if it takes about a second.

    Each model is scored on held-out rows. Finally the best models are blended, if the blend has a
    better score. The result always has probabilities and a tuned threshold.

    Parameters
    ----------
    scoring : str or scorer, default="average_precision"
        Metric to optimise: a name in ``compactlearn.metrics.METRICS``, or
        ``compactlearn.metrics.scorer(name, ...)``. Propensity-scored metrics, such as "psp@5", take
        the weights of labels from the labels of ``fit`` where they are given by name. With these
        and "macro_f1" the shortlist weights rare labels (``label_weight=0.5``).
    time_budget : float or None, default=None
        Seconds. A large search begins with a quick compact model of about a second. A model is
        skipped if it is estimated to take longer than the time left, and stopped between its steps
        if it does. The first model is always finished; a warning says if it takes longer than the
        budget. None skips models that would make the search take longer than about five minutes,
        or on sparse rows longer than three times one shortlist.
    size_budget : int, float in (0, 1], str or None, default=None
        Largest size of the model: a number of parameters, a share of features times labels, which a
        plain linear model has, or bytes with a unit, such as "2 MB" (the model is then stored in
        single precision). Within it, linear models with as many codes as it allows, with more
        codes of fewer features, and with few weights are tried. The index of a feature or a weight
        that is kept counts as a parameter, as the weight itself does.
    cv : int, splitter or iterable of splits, default=5
        Folds of the rows: their number, at least 2, or splits whose validation rows are all rows
        once. A number keeps equal rows (or the ``groups`` of ``fit``) in one fold; every model is
        judged by splits that are given, or by groups. More than five folds are held out five at a
        time where decoders are learnt.
    threshold : float, array of shape (n_labels,), "auto", "f1", "per-label" or "cardinality", \
default="f1"
        A label is predicted where its probability is strictly above. A name is tuned on the
        scores that models are judged by: one threshold of largest micro-F1 ("auto" is the same),
        one of largest F1 for each label, or one that predicts as many labels as there are.
    min_label_count : int, default=1
        Labels of fewer training rows are left out: they are never suggested, and their columns are
        not among ``classes_``. A row of weight 2 counts twice.
    exclude : str, int, list of these or None, default=None
        Labels to leave out likewise: by name, or by column where labels have no names.
    dtype : {"auto", "float64", "float32", "float16"}, default="auto"
        Type that the numbers of the model are stored in. "auto" is float64 up to 10 MB; a larger
        model is stored in float32 where no probability of some training rows changes by more than
        .001, and one that is still above 100 MB in float16 where none changes by more than .05.
    n_jobs : int or None, default=None
        Threads for trees and sparse regressions; None is one.
    random_state : int, RandomState, Generator or None, default=None
        Divides rows into folds, and seeds trees and landmarks; None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar with what is being tried, how long it will take and the best so far.

    Attributes
    ----------
    best_estimator_ : the model, or where several are blended, a list of them
    best_score_ : float
        Mean over the folds of out-of-fold scores. It is the largest of several on the same rows,
        and therefore slightly larger than on new rows.
    leaderboard_ : list of dict
        Models that were tried, best first: name, score, its deviation over the folds, seconds,
        n_parameters and bytes. ``pandas.DataFrame(model.leaderboard_)`` shows it as a table.
    frontier_ : list of dict
        The rows of ``leaderboard_`` that no other row of the same size or smaller beats, smallest
        first. :meth:`plot_frontier` draws them.
    references_ : list of dict
        The same values for plain ridge, for comparison: it is tried last, if it takes a few
        seconds at most, and never selected. :meth:`plot_frontier` marks it.
    weights_ : dict
        The weight of each blended model.
    blend_ : the weighted sum of log-odds that the scores are; often of one model
    skipped_ : list of dict
        Models that were not tried, were stopped, failed or are larger than ``size_budget``: name,
        seconds (estimated if the model was not tried) and reason.
    why_ : str
        Which model was selected by which score, the score of the next best model, and which
        models were skipped and why.
    base_scores_ : ndarray of shape (n_labels,) or None
        After a fit to sparse rows the log-odds of the labels' frequencies: the scores of a row
        without any feature, such as a text without a known word.
    interrupted_ : bool
        Whether Ctrl-C ended the search; the best model by then is selected.
    threshold_ : float or ndarray, in the units of ``decision_function``, which are log-odds
    excluded_labels_ : list
        Labels that ``min_label_count`` and ``exclude`` left out, by name or column.
    classes_, n_labels_, label_names_, label_space_, boundary_, nbytes_, n_parameters_, \
compression_, n_features_in_, feature_names_in_
        As in :class:`CompactClassifier`.

    Notes
    -----
    A vector y is binarised; its probabilities sum to 1 in each row, and its folds are stratified.

    See Also
    --------
    CMLLClassifierCV : one linear model with its parameters chosen by cross-validation.

    Examples
    --------
    >>> from compactlearn import AutoCompactClassifier
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = AutoCompactClassifier(random_state=0).fit(data.X[:391], data.Y[:391])
    >>> model.predict_proba(data.X[391:]).shape
    (202, 6)
    >>> model.best_score_ > 0.8
    True

    What smaller models cost, of those that were tried:

    >>> sizes = [row["n_parameters"] for row in model.frontier_]
    >>> sizes == sorted(sizes) and model.frontier_[-1] == model.leaderboard_[0]
    True
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        "time_budget": (Real(0, open_low=True), Nothing()),
        "threshold": (Real(), Numbers(), Choice("auto", *STRATEGIES)),
        "min_label_count": (Integer(1),),
        "exclude": (SomeLabels(), Nothing()),
        "dtype": (Choice("auto", *TYPES),),
        "n_jobs": (Integer(), Nothing()),
        "random_state": (Seed(),),
        "verbose": (Integer(0),),
    }

    def __init__(
        self,
        *,
        scoring: Any = "average_precision",
        time_budget: float | None = None,
        size_budget: Any = None,
        cv: Any = 5,
        threshold: Any = "f1",
        min_label_count: int = 1,
        exclude: Any = None,
        dtype: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.scoring = scoring
        self.time_budget = time_budget
        self.size_budget = size_budget
        self.cv = cv
        self.threshold = threshold
        self.min_label_count = min_label_count
        self.exclude = exclude
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        """Try one kind of model after the other, and keep the best, or a blend of the best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : lists of names, matrix or frame of shape (n_samples, n_labels), or (n_samples,)
            A list, tuple or set of names for each row; or labels, 0 or 1; a vector is read as one
            class per row. NaN in a matrix is a label that is not known; such
            labels count nowhere, and trees are not tried.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as that row twice; of weight 0, not at all.
        groups : array-like of shape (n_samples,), optional
            Rows of a group are in one fold; by default equal rows are. Handed to ``cv`` where that
            is a splitter.
        sep : str or None, default=None
            The sign between names where y is a column of joined names, such as "jazz;blues".
        unknown : Boolean array or sparse matrix of shape (n_samples, n_labels), optional
            True where a label is not known; for sparse labels, and in place of NaN.
        """
        with unchanged_on_error(self), blas_threads():
            check_parameters(self, self._constraints)
            time_budget = TimeBudget(None if self.time_budget is None else float(self.time_budget))
            labels, problem = self._read(X, y, sample_weight, groups, sep, unknown)
            size = None
            if self.size_budget is not None:
                size = SizeBudget.of(self.size_budget, problem.n_features, problem.n_labels)
            search = self._search(problem, time_budget, size)
            most = np.inf if size is None else size.numbers
            self._keep(
                problem,
                labels,
                search,
                best_choice(problem, search.tried, most, search.stopgaps),
                size,
            )
        return self

    def _read(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, sep: str | None, unknown: Any
    ) -> tuple[LabelSpace, Problem]:
        """Check what ``fit`` was given; return the labels and the rows that count, in folds."""
        given = check_training(
            self, X, y, sample_weight, groups, sep=sep, unknown=unknown, partial=True
        )
        targets, n_rows = given.targets, given.X.shape[0]
        if targets.unknown is not None and self.size_budget is not None:
            raise ValueError(
                "size_budget was given, and small models need labels that are all known; got "
                f"size_budget={self.size_budget!r:.60} and unknown labels. Leave size_budget out, "
                "or drop the rows with unknown labels."
            )
        labels = LabelSpace.of(targets)
        labels.given_threshold(self.threshold, "logistic")  # raises ValueError for a wrong one
        describe(self, labels, given.left_out)
        if n_rows < 4:
            raise ValueError(
                f"AutoCompactClassifier scores models on folds of the rows and needs 4 rows at "
                f"least, and X has {n_rows} sample(s). Pass more rows."
            )
        rng = seeded(0 if self.random_state is None else self.random_state)
        folds_given = not Integer().accepts(self.cv)
        if folds_given:
            n_given = n_rows if given.rows is None else n_rows_of(X)
            fold = given_folds(self.cv, given.X, targets, given.rows, n_given, given.groups)
        elif self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds; got {self.cv}. Pass 2 or more.")
        else:
            fold = row_folds(given.X, targets, min(int(self.cv), n_rows // 2), rng, given.groups)
        seed = int(rng.randint(2**31 - 1))
        return labels, Problem(
            given.X,
            targets.matrix,
            given.weights,
            targets,
            fold,
            scorer_of(self.scoring, targets, given.weights),
            self.threshold if isinstance(self.threshold, str) else "f1",
            seed,
            self.n_jobs,
            folds_given=folds_given or groups is not None,
            random_state=self.random_state if Integer().accepts(self.random_state) else seed,
            verbose=self.verbose,
        )

    def _search(
        self, problem: Problem, time_budget: TimeBudget, size: SizeBudget | None
    ) -> SearchRun:
        """Try one candidate after the other within the budgets."""
        source = (
            candidates(problem)
            if size is None
            else small_candidates(problem, size.numbers, size.n_bytes)
        )
        with Steps(type(self).__name__, 7, verbose=self.verbose) as steps:
            search = run_candidates(
                source,
                time_budget,
                too_large=lambda one, tried: too_large(one, tried, size),
                say=steps.say,
                done=steps.done,
            )
        if search.interrupted:
            warn_user(
                f"The search was interrupted: {counted(len(search.every), 'model')} finished, and "
                "the best result so far is selected."
            )
        if not search.every:
            assert size is not None  # without one the first model is always accepted
            raise ValueError(
                f"size_budget must allow at least one of the models that were tried; got "
                f"{self.size_budget!r}, {size.numbers:,} parameters. Pass a larger size_budget."
            )
        return search

    def _keep(
        self,
        problem: Problem,
        labels: LabelSpace,
        search: SearchRun,
        chosen: Trial,
        size: SizeBudget | None,
    ) -> None:
        """Set the fitted attributes."""
        metric = self._metric
        if not np.isfinite(chosen.score):
            warn_user(
                f"scoring={metric!r} is not defined on any fold of these rows, so the first model "
                "is selected. Pass another metric as scoring."
            )
        threshold = labels.given_threshold(self.threshold, "logistic")
        if isinstance(self.threshold, str) and labels.kind == "multilabel":
            threshold = problem.tuned(chosen.rows, chosen.log_odds)
        dtype = self.dtype
        if size is not None and size.n_bytes is not None and dtype == "auto":
            dtype = size.type_for(chosen.blend)
        chosen = replace(chosen, blend=_stored(chosen.blend, problem.X, dtype))
        forget_compression(self)
        members = chosen.blend.members
        models = [member.model for member in members]
        self.blend_ = chosen.blend
        self.best_estimator_ = models[0] if len(models) == 1 else models
        self.weights_ = {member.name: member.weight for member in members}
        self.best_score_, self._numbers = chosen.score, chosen.numbers
        self.threshold_, self.boundary_ = labels.placed(threshold)
        self.base_scores_ = base_scores(problem.X, problem.Y, problem.weights, problem.unknown)
        self.leaderboard_ = leaderboard(search, chosen)
        self.frontier_ = frontier(self.leaderboard_)
        self.references_ = [trial_row(one) for one in search.references]
        self.skipped_ = search.skipped
        self.why_ = reasons(chosen, search, metric)
        self.interrupted_ = search.interrupted

    @property
    def _metric(self) -> str:
        return self.scoring.name if isinstance(self.scoring, Scorer) else str(self.scoring)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters of the model."""
        check_is_fitted(self, "best_estimator_")
        return self._numbers

    # ---- predicting ---------------------------------------------------------------------------

    def _prepare(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return check_features(self, X, reset=False)

    def _score_blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        for rows in row_blocks((X.shape[0], self.n_labels_)):
            scores = with_base_scores(self.blend_.log_odds(X[rows]), X[rows], self.base_scores_)
            yield rows, scores - self.boundary_

    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (n_samples, n_labels); for a vector y, of its classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows with the features of ``fit``.
        """
        p = expit(self._scores(self._prepare(X)) + self.boundary_)
        if self.label_space_.kind == "binary":
            return np.hstack([1.0 - p, p])
        if self.label_space_.kind == "multiclass":
            p = np.maximum(p, np.finfo(np.float64).tiny)
            p /= p.sum(axis=1, keepdims=True)
        return p

    def plot_frontier(self, references: Any = None) -> Any:
        """Return a plotly figure of score against size: all trials, and the frontier as a line.

        Parameters
        ----------
        references : dict or None, default=None
            Further models to mark, by name: number of parameters and score, such as
            ``{"mine": (53106, 0.70)}``. For a fair comparison, pass the score of a
            cross-validation on the same rows, as ``best_score_`` is.
        """
        check_is_fitted(self, "best_estimator_")
        own = {row["name"]: (row["n_parameters"], row["score"]) for row in self.references_}
        marked = own | checked_references(references or {})
        return draw_frontier(self.leaderboard_, marked, self._metric)


def _stored(blend: Blend, X: Any, dtype: str) -> Blend:
    """Return the model in the type that it is stored in; warn where it is still large."""
    if dtype == "auto":
        some = X[:: -(-X.shape[0] // CHECKED_ROWS)]
        blend = lightened(blend, lambda part: expit(part.log_odds(some)))
    else:
        blend = compressed_parts(blend, dtype)
    size = bytes_in(blend)
    if size > HUGE:
        warn_user(
            f"The model takes {size / 1e6:,.0f} MB. Pass dtype='float16' for a smaller one, or "
            "a size_budget such as '50 MB'."
        )
    return blend

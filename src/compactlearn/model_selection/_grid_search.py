"""GridSearchMoments: a search over an explicit grid."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import ParameterGrid

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.model_selection._search import Search
from compactlearn.model_selection._search_data import SearchData


class GridSearchMoments(Search):
    """Search over a grid of parameters of a classifier of this package, by k-fold cross-validation.

    It does the work of :class:`sklearn.model_selection.GridSearchCV`, with the same attributes, in
    a small part of the time: folds are stored as second moments, and one decomposition serves all
    sizes and penalties. The scores are those of separate fits.

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
        Number of threads; None is one, and leaves the cores to the BLAS (with more than about 1200
        columns, where that is faster).
    random_state : int, RandomState or None, default=None
        Shuffles the folds; None is a fixed seed.
    verbose : int, default=0
        Above 0, a progress bar.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, scorer_, n_splits_, \
refit_time_, classes_, n_features_in_, feature_names_in_
        As in ``GridSearchCV``.
    n_labels_, label_names_, nbytes_, n_parameters_
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
        candidates = list(ParameterGrid(self.param_grid))
        given = getattr(self.estimator, "embedding", self.estimator)
        if given is None and any(
            "embedding" not in one and any(name.startswith("embedding__") for name in one)
            for one in candidates
        ):
            raise ValueError(
                "The grid has parameters of the embedding, and the classifier was given none; pass "
                "CompactClassifier(CMLL()) or another embedding."
            )
        self._keep(problem, candidates, self._score(problem, candidates))

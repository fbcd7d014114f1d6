"""CMLLClassifierCV: compact learning with its parameters chosen by cross-validation."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import ParameterGrid, ShuffleSplit

from compactlearn.core.params import Constraint, Flag, listed, nearest
from compactlearn.core.seeds import seeded
from compactlearn.embeddings.cmll import CMLL
from compactlearn.embeddings.components import LARGEST_AUTO
from compactlearn.estimators.cmll import CMLLClassifier
from compactlearn.estimators.penalty import penalty_of_columns
from compactlearn.linalg.arrays import working_form
from compactlearn.linalg.moments import column_moments
from compactlearn.linalg.regimes import Shape, seconds
from compactlearn.model_selection.crossval import Outcome, SearchData
from compactlearn.model_selection.folds import Data
from compactlearn.model_selection.search import Search

# Multiples of the penalty that alpha="auto" is. On 18 sets, in three units each, the best lies
# within, but for one (flags) to which all large ones are alike.
MULTIPLES = tuple(np.logspace(-3, 2, 11).tolist())

RATIOS = (0.1, 0.25, 0.5, 0.75, 1.0)
COARSE_RATIOS = (0.25, 0.5, 1.0)  # of a long search, which has every other penalty too

# Where five folds are estimated to take longer than this, one split has to do, in which a fifth of
# the rows judges, and these are at least so many.
LARGE_SEARCH = 30.0
JUDGES = 2_000

SHORTLIST = 3  # settings of the linear decoder that the others are tried with

DECODERS = ("linear", "learned", "logistic")


class CMLLClassifierCV(Search):
    """Compact learning (CMLL) with balance, sizes, penalty and decoder chosen by cross-validation.

    Good without any argument, in any units: five folds, five label sizes and eleven penalties, from
    one eigenproblem on each fold.

    Parameters
    ----------
    betas : "auto" or sequence of float and "auto", default="auto"
        Balances; "auto" is the classifier's own (0.1 ||Y||^2 / ||Xc||^2 of the rows fitted to).
    alphas : "auto" or sequence of float and "auto", default="auto"
        Penalties of the learner. "auto" is a thousandth to a hundred times the penalty that
        ``alpha="auto"`` of :class:`CompactClassifier` is on these rows, in eleven steps: features
        multiplied by a constant have the same answer.
    n_feature_components : sequence, default=("auto",)
        Sizes of the feature space as in :class:`CMLL`; None keeps all features.
    n_label_components : "auto" or sequence, default="auto"
        Sizes of the label space as in :class:`CMLL`. "auto" is (0.1, 0.25, 0.5, 0.75, 1.0), or of
        more than 500 labels these shares of 500.
    completions : sequence of {"none", "variance", "krylov", "random"}, default=("krylov",)
        What further feature components are. With "krylov" the size "auto" is twice that of the
        label space: about as good as all the features.
    decoders : sequence of {"linear", "learned", "logistic"}, default=("linear",)
        Others than "linear" are fitted one by one, to the three settings in which the linear
        decoder is best.
    threshold : float, array, "f1", "per-label" or "cardinality", default="f1"
        Of the classifier that is fitted at last; see :class:`CompactClassifier`.
    cv : "auto", int, splitter or iterable of splits, default="auto"
        An int is a shuffled, seeded K-fold, stratified where y is a vector. "auto" is 5; where that
        is estimated to take more than half a minute and there are 10,000 rows or more, it is one
        shuffled, seeded split, in which four fifths of the rows are learnt from, and "auto" sizes
        and penalties are fewer: 0.25, 0.5 and 1.0, and six.
    scoring : str or scorer, default="average_precision"
        A name in ``compactlearn.metrics.METRICS``, or ``compactlearn.metrics.scorer(name, ...)``.
        With a metric of labels and a tuned threshold every setting is fitted by itself.
    racing : bool, default=True
        Whether only the best third of the settings, and at least five, goes on from one fold to the
        next; on the first fold, if it is large, penalties are tried from the largest on until two
        in a row have not been better. ``cv_results_`` has NaN for what was not tried; the best is
        one that was tried on all.
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
    best_estimator_ : CMLLClassifier, fitted to all rows
    best_params_, best_score_, best_index_, cv_results_, scorer_, n_splits_, n_distinct_, \
search_time_, refit_time_, interrupted_
        As in :class:`GridSearchMoments`.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_, nbytes_, numbers_
        As in :class:`CMLLClassifier`.

    Examples
    --------
    >>> from compactlearn import CMLLClassifierCV
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = CMLLClassifierCV().fit(data.X, data.Y)
    >>> model.best_score_ > 0.79
    True
    >>> model.predict(data.X[:3]).shape
    (3, 6)
    """

    _logistic_remedy: ClassVar[str] = "decoders=('logistic',)"
    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **Search._constraints,
        "racing": (Flag(),),
        "threshold": CMLLClassifier._constraints["threshold"],
    }

    def __init__(
        self,
        *,
        betas: Any = "auto",
        alphas: Any = "auto",
        n_feature_components: Any = ("auto",),
        n_label_components: Any = "auto",
        completions: Any = ("krylov",),
        decoders: Any = ("linear",),
        threshold: Any = "f1",
        cv: Any = "auto",
        scoring: Any = "average_precision",
        racing: bool = True,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.betas = betas
        self.alphas = alphas
        self.n_feature_components = n_feature_components
        self.n_label_components = n_label_components
        self.completions = completions
        self.decoders = decoders
        self.threshold = threshold
        self.cv = cv
        self.scoring = scoring
        self.racing = racing
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _template(self) -> CMLLClassifier:
        # A tuned threshold belongs to the last fit; rankings do not need it.
        later = isinstance(self.threshold, str) and self._scorer().needs == "scores"
        threshold = 0.5 if later else self.threshold
        return CMLLClassifier(threshold=threshold, random_state=self.random_state)

    def _final_params(self) -> dict[str, Any]:
        return {**self.best_params_, "threshold": self.threshold}

    def _cv(self, data: Data, kind: str) -> Any:
        if not _is_auto(self.cv):
            return self.cv
        n_rows, n_features = data.X.shape
        if n_rows < 5 * JUDGES or kind != "multilabel":
            return min(5, n_rows)
        grid = self._grid(data)
        longest = 0.0
        for completion in grid["completion"]:
            for features in grid["n_feature_components"]:
                for labels in grid["n_label_components"]:
                    embedding = CMLL(features, labels, completion=completion)
                    plan = embedding.plan(n_features, data.Y.shape[1], n_features)
                    takes = seconds(Shape.of(data.X, data.Y), plan.demand(learns=True))
                    longest = max(longest, min(takes.values()))
        if 5 * len(grid["beta"]) * len(grid["completion"]) * longest <= LARGE_SEARCH:
            return 5
        seed = 0 if self.random_state is None else seeded(self.random_state)
        return ShuffleSplit(1, test_size=0.2, random_state=seed)

    def _grid(self, data: Data, *, coarse: bool = False) -> dict[str, list[Any]]:
        sizes, alphas = self.n_label_components, self.alphas
        if _is_auto(sizes):
            n_labels = data.Y.shape[1]
            whole = LARGEST_AUTO if n_labels > LARGEST_AUTO else None
            ratios = COARSE_RATIOS if coarse else RATIOS
            sizes = ratios if whole is None else [math.ceil(r * whole) for r in ratios]
        if _is_auto(alphas):
            unit = _penalty_of(data)
            alphas = [unit * multiple for multiple in (MULTIPLES[::2] if coarse else MULTIPLES)]
        given = {
            "beta": ("betas", ["auto"] if _is_auto(self.betas) else self.betas),
            "completion": ("completions", self.completions),
            "n_feature_components": ("n_feature_components", self.n_feature_components),
            "n_label_components": ("n_label_components", sizes),
            "alpha": ("alphas", alphas),
        }
        return {name: listed(values, own) for name, (own, values) in given.items()}

    def _run(self, problem: SearchData) -> None:
        decoders = listed(self.decoders, "decoders")
        for decoder in decoders:
            if decoder not in DECODERS:
                raise ValueError(
                    f"decoders must hold some of {', '.join(map(repr, DECODERS))}, and holds "
                    f"{decoder!r}; use one of these.{nearest(str(decoder), DECODERS)}"
                )
        coarse = _is_auto(self.cv) and len(problem.splits) == 1
        candidates = [
            dict(params) for params in ParameterGrid(self._grid(problem.data, coarse=coarse))
        ]
        outcome = self._score(problem, candidates)
        others = [decoder for decoder in decoders if decoder != "linear"]
        if others and not outcome.interrupted:
            first = np.argsort(-outcome.merits, kind="stable")[:SHORTLIST]
            more = [{**candidates[i], "decoder": name} for name in others for i in first]
            second = self._score(problem, more)
            if "linear" in decoders:
                linear = [{**params, "decoder": "linear"} for params in candidates]
                candidates, outcome = linear + more, Outcome.joined(outcome, second)
            else:
                candidates, outcome = more, second
        self._keep(problem, candidates, outcome)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _penalty_of(data: Data) -> float:
    """What ``alpha="auto"`` is on these rows."""
    X, _, weights = data.counted()
    mean, variances, count = column_moments(working_form(X), weights)
    return penalty_of_columns(mean, count * variances, count)

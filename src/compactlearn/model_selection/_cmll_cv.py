"""CMLLClassifierCV: compact learning with its parameters chosen by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import ParameterGrid, ShuffleSplit

from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.compact._penalty import penalty_of_columns
from compactlearn.core._params import Constraint, Flag, listed, nearest
from compactlearn.core._seeds import seeded
from compactlearn.crossfit._plan import planned_work
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import LARGEST_AUTO
from compactlearn.linalg._arrays import working_form
from compactlearn.linalg._routes import Plan, Shape, seconds, widening_seconds
from compactlearn.linalg._row_sums import column_moments
from compactlearn.model_selection._folds import Data, SummedData
from compactlearn.model_selection._outcome import Outcome
from compactlearn.model_selection._search import Search
from compactlearn.model_selection._search_data import SearchData, checked_scorer

# Multiples of the value of alpha="auto". On 18 data sets, in three units each, the best penalty is
# within this range, except on flags, where all large penalties score the same.
MULTIPLES = tuple(np.logspace(-3, 2, 11).tolist())

RATIOS = (0.1, 0.25, 0.5, 0.75, 1.0)
COARSE_RATIOS = (0.25, 0.5, 1.0)  # of a long search, which also has only every second penalty

# If five folds are estimated to take longer than this many seconds, one split is used, with a fifth
# of the rows for validation, if these are at least so many rows.
LARGE_SEARCH = 20.0
JUDGES = 2_000

# If the best penalty is the first or last of the range, FURTHER more are tried beyond it, in up to
# ROUNDS rounds; each round costs as much as the search for one label size.
FURTHER, ROUNDS = 4, 2

SHORTLIST = 3  # settings of the linear decoder that the others are tried with
AUTO_SHORTLIST = 1  # those that "auto" tries the logistic decoder with

# Seconds that "auto" may spend on the logistic decoder, the last fit included: on all splits, or on
# the first split if all would take longer (bench/accuracy/decoder_choice.py).
AUTO_SECONDS_OF_ALL, AUTO_SECONDS = 10.0, 60.0

DECODERS = ("linear", "logistic")


class CMLLClassifierCV(Search):
    """Compact learning (CMLL) with balance, sizes, penalty and decoder chosen by cross-validation.

    Good without any argument, in any units: five folds, five label sizes and eleven penalties, from
    one eigenproblem on each fold, and then the logistic decoder in the best setting.

    Parameters
    ----------
    betas : "auto" or sequence of float and "auto", default="auto"
        Balances; "auto" is the classifier's own (0.1 ||Y||^2 / ||Xc||^2 of the rows fitted to).
    alphas : "auto" or sequence of float and "auto", default="auto"
        Penalties of the learner. "auto" is a thousandth to a hundred times the penalty that
        ``alpha="auto"`` of :class:`CompactClassifier` is on these rows, in eleven steps: features
        multiplied by a constant have the same answer. Where the best is the smallest or the largest
        of these, up to eight more are tried beyond it.
    n_feature_components : sequence, default=("auto",)
        Sizes of the feature space as in :class:`CMLL`; None keeps all features.
    n_label_components : "auto" or sequence, default="auto"
        Sizes of the label space as in :class:`CMLL`. "auto" is (0.1, 0.25, 0.5, 0.75, 1.0), or of
        more than 500 labels these shares of 500.
    completions : sequence of {"none", "krylov"}, default=("krylov",)
        Kinds of further feature components. With "krylov" the size "auto" is twice that of the
        label space, which is about as good as all the features.
    decoders : "auto" or sequence of {"linear", "logistic"}, default="auto"
        Decoders other than "linear" are fitted separately, in the three settings in which the
        linear decoder is best. "auto" is "linear" and, in the best of its settings, "logistic". It
        is tried on all splits if that is estimated to take at most ten seconds with the last fit,
        and otherwise on the first split, where its gain decides. It is not tried if that would take
        more than a minute, or if y is a vector.
    threshold : float, array, "f1", "per-label" or "cardinality", default="f1"
        Threshold of the final classifier; see :class:`CompactClassifier`.
    cv : "auto", int, splitter or iterable of splits, default="auto"
        An int is a shuffled, seeded K-fold, stratified where y is a vector, that keeps equal rows
        (or the ``groups`` of ``fit``) in one fold. "auto" is 5; if that is estimated to take more
        than 20 seconds and there are 10,000 rows or more, it is one shuffled, seeded split with
        four fifths of the rows for training, and "auto" tries fewer sizes (0.25, 0.5 and 1.0) and
        six penalties.
    scoring : str or scorer, default="average_precision"
        A name in ``compactlearn.metrics.METRICS``, or ``compactlearn.metrics.scorer(name, ...)``.
        With a metric of labels and a tuned threshold every setting is fitted separately.
    racing : bool, default=True
        Whether only the best third of the settings, and at least five, is kept from one fold to the
        next; on the first fold, if it is large, penalties are tried from the largest on until two
        in a row have not been better. ``cv_results_`` has NaN for folds on which a setting was not
        tried; the best setting was tried on all folds.
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
    best_estimator_ : CMLLClassifier, fitted to all rows
    best_params_, best_score_, best_index_, cv_results_, scorer_, n_splits_, n_distinct_, \
search_time_, refit_time_, interrupted_
        As in :class:`GridSearchMoments`. The mean score of a decoder that was tried only on
        the first split is that of the linear decoder plus its gain on this split.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_, nbytes_, n_parameters_
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
        decoders: Any = "auto",
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
        later = isinstance(self.threshold, str) and checked_scorer(self.scoring).needs == "scores"
        threshold = 0.5 if later else self.threshold
        return CMLLClassifier(threshold=threshold, random_state=self.random_state)

    def _final_params(self) -> dict[str, Any]:
        return {**self.best_params_, "threshold": self.threshold}

    def _cv(self, data: Data | None, kind: str) -> Any:
        if not _is_auto(self.cv):
            return self.cv
        if data is None:  # one pass sums all folds
            return 5
        n_rows = data.X.shape[0]
        if n_rows < 5 * JUDGES or kind != "multilabel":
            return min(5, n_rows)
        grid = self._grid(data)
        settings = [*ParameterGrid({**grid, "alpha": [1.0], "beta": ["auto"]})]
        # One eigenproblem serves all sizes, but each size has directions of its own.
        one = max(_fit_seconds(data, params, widened=False) for params in settings)
        one *= len(grid["completion"])
        each = sum(_widening_seconds(data, params) for params in settings)
        if 5 * len(grid["beta"]) * (one + each) <= LARGE_SEARCH:
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
        auto = _is_auto(self.decoders)
        decoders = ["linear", "logistic"] if auto else listed(self.decoders, "decoders")
        for decoder in decoders:
            if decoder not in DECODERS:
                raise ValueError(
                    f"decoders must hold some of {', '.join(map(repr, DECODERS))}, and holds "
                    f"{decoder!r}; use one of these.{nearest(str(decoder), DECODERS)}"
                )
        coarse = _is_auto(self.cv) and len(problem.splits) == 1
        grid = self._grid(problem.data, coarse=coarse)
        candidates = [dict(params) for params in ParameterGrid(grid)]
        outcome = self._score(problem, candidates)
        if _is_auto(self.alphas):
            candidates, outcome = self._beyond(problem, candidates, outcome, grid["alpha"])
        first = np.argsort(-outcome.merits, kind="stable")
        first = first[: AUTO_SHORTLIST if auto else SHORTLIST].tolist()
        n_splits = len(problem.splits)
        if auto:
            tried, threshold = [candidates[i] for i in first], self._template().threshold
            n_splits = _affordable_splits(problem, tried, threshold, self.threshold)
        others = [decoder for decoder in decoders if decoder != "linear"] if n_splits else []
        if others and not outcome.interrupted:
            more = [{**candidates[i], "decoder": name} for name in others for i in first]
            second = self._score(replace(problem, splits=problem.splits[:n_splits]), more)
            if "linear" in decoders:
                partners = {len(candidates) + k: i for k, i in enumerate(first * len(others))}
                candidates = [{**params, "decoder": "linear"} for params in candidates] + more
                outcome = replace(Outcome.joined(outcome, second), partners=partners)
            else:
                candidates, outcome = more, second
        self._keep(problem, candidates, outcome)

    def _beyond(
        self,
        problem: SearchData,
        candidates: list[dict[str, Any]],
        outcome: Outcome,
        alphas: list[float],
    ) -> tuple[list[dict[str, Any]], Outcome]:
        """Extend the range of penalties while the best is at one of its ends."""
        low, high = min(alphas), max(alphas)
        step = (high / low) ** (1 / (len(alphas) - 1)) if high > low else 10.0
        for _ in range(ROUNDS):
            if outcome.interrupted or not outcome.reached.any():
                break
            best = candidates[int(np.argmax(outcome.merits))]
            if best["alpha"] not in (low, high):
                break
            factor = step if best["alpha"] == high else 1 / step
            more = [{**best, "alpha": best["alpha"] * factor**k} for k in range(1, FURTHER + 1)]
            low, high = min(low, more[-1]["alpha"]), max(high, more[-1]["alpha"])
            outcome = Outcome.joined(outcome, self._score(problem, more))
            candidates = candidates + more
        return candidates, outcome


def _affordable_splits(
    problem: SearchData, settings: list[dict[str, Any]], trial_threshold: Any, last_threshold: Any
) -> int:
    """Return on how many splits the logistic decoder can be tried within the time for it."""
    if problem.targets.kind != "multilabel" or isinstance(problem.data, SummedData):
        return 0
    trial = last = 0.0
    for params in settings:
        trial += _logistic_seconds(problem.data, params, trial_threshold)
        last = max(last, _logistic_seconds(problem.data, params, last_threshold))
    n_splits = len(problem.splits)
    if n_splits * trial + last <= AUTO_SECONDS_OF_ALL:
        return n_splits
    return 1 if trial + last <= AUTO_SECONDS else 0


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _penalty_of(data: Data) -> float:
    """Return the value of ``alpha="auto"`` for these rows."""
    if isinstance(data, SummedData):
        total = data.total
        return penalty_of_columns(total.mean_left, np.diag(total.left_left), total.count)
    X, _, weights = data.counted()
    mean, variances, count = column_moments(working_form(X), weights)
    return penalty_of_columns(mean, count * variances, count)


def _fit_seconds(data: Data, params: Mapping[str, Any], *, widened: bool = True) -> float:
    """Return the estimated seconds of the embedding and the ridge of a setting."""
    least = min(seconds(Shape.of(data.X, data.Y), _demand(data, params)).values())
    return least + _widening_seconds(data, params) if widened else least


def _widening_seconds(data: Data, params: Mapping[str, Any]) -> float:
    """Return the estimated seconds for the directions beyond those of the codes."""
    return widening_seconds(Shape.of(data.X, data.Y), _demand(data, params))


def _demand(data: Data, params: Mapping[str, Any]) -> Plan:
    n_features, n_labels = data.X.shape[1], data.Y.shape[1]
    embedding = CMLL(
        params["n_feature_components"],
        params["n_label_components"],
        completion=params["completion"],
    )
    return embedding.plan(n_features, n_labels, n_features)


def _logistic_seconds(data: Data, params: Mapping[str, Any], threshold: Any) -> float:
    """Return the estimated seconds of a fit with the logistic decoder and its threshold."""
    (n_rows, n_features), n_labels = data.X.shape, data.Y.shape[1]
    sizes = CMLL(n_label_components=params["n_label_components"]).sizes(
        n_features, n_labels, n_features
    )
    present = np.asarray(data.Y.sum(axis=0), dtype=np.float64).ravel()
    _, _, work = planned_work(
        "logistic",
        (n_rows, n_labels if sizes[1] is None else sizes[1], n_labels),
        present,
        _fit_seconds(data, params),
        threshold if isinstance(threshold, str) else None,
    )
    return work.seconds

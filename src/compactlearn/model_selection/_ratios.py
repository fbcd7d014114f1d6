"""RatioSearchCV: how many feature and label components, by one sweep along each axis.

The search of Lv et al., section 5.7: the curve over the feature ratio mu looks alike for every
label ratio nu, so mu is chosen with nu fixed, then nu with mu fixed; other starting values of nu
make it more certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._cmll import CMLLClassifier
from compactlearn.core._optional import require
from compactlearn.core._params import Constraint, Flag, Integer, Real, listed
from compactlearn.model_selection._outcome import Outcome
from compactlearn.model_selection._search import Search
from compactlearn.model_selection._search_data import SearchData

DECILES = tuple(round(0.1 * k, 1) for k in range(1, 11))

# The paper's grid (section 5.3) for CMLLClassifier(completion="variance"). Its third penalty, the
# decoder's, only divides scores.
PAPER_GRID: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "beta": tuple(10.0**k for k in range(-5, 6)),
        "n_label_components": DECILES,
        "n_feature_components": DECILES,
        "alpha": tuple(10.0**k for k in range(-5, 0)),
    }
)


class RatioSearchCV(Search):
    """Search for the feature ratio mu and the label ratio nu of a classifier.

    Parameters
    ----------
    estimator : CMLLClassifier or CompactClassifier or None, default=None
        With both sizes; None is ``CMLLClassifier(completion="variance")``: without a completion,
        ratios of features above the rank are all the same.
    feature_ratios, label_ratios : sequence of float in (0, 1], default: 0.1, 0.2, ..., 1.0
        mu and nu.
    starts : sequence of float, default=(0.5,)
        Label ratios at which a search begins; the best of all searches is taken.
    n_rounds : int, default=1
        How often mu and nu are swept in turn; a search ends when nothing changes.
    exhaustive : bool, default=False
        Whether to try every pair instead.
    param_grid : dict or None, default=None
        Further parameters (``alpha``, ``beta``), tried at every pair; a pair is as good as the best
        of them.
    scoring, cv, refit, n_jobs, random_state, verbose
        As in :class:`GridSearchMoments`.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, scorer_, n_splits_, \
search_time_, refit_time_, interrupted_, classes_, n_labels_, label_names_, n_features_in_, \
feature_names_in_, nbytes_, n_parameters_
        As in :class:`GridSearchMoments`; ``cv_results_`` has what was tried, in that order.
    surface_ : ndarray of shape (n_feature_ratios, n_label_ratios)
        The mean score of each pair, NaN where it was not tried.

    Examples
    --------
    >>> from compactlearn.datasets import load
    >>> from compactlearn.model_selection import RatioSearchCV
    >>> data = load("emotions")
    >>> search = RatioSearchCV(cv=3).fit(data.X, data.Y)
    >>> int(np.isfinite(search.surface_).sum())
    19
    """

    _constraints: ClassVar[dict[str, tuple[Constraint, ...]]] = {
        **Search._constraints,
        "n_rounds": (Integer(1),),
        "exhaustive": (Flag(),),
    }

    def __init__(
        self,
        estimator: CompactClassifier | None = None,
        *,
        feature_ratios: Any = DECILES,
        label_ratios: Any = DECILES,
        starts: Any = (0.5,),
        n_rounds: int = 1,
        exhaustive: bool = False,
        param_grid: Any = None,
        scoring: Any = "average_precision",
        cv: Any = 5,
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.feature_ratios = feature_ratios
        self.label_ratios = label_ratios
        self.starts = starts
        self.n_rounds = n_rounds
        self.exhaustive = exhaustive
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _template(self) -> CompactClassifier:
        if self.estimator is None:
            return CMLLClassifier(completion="variance")
        if not isinstance(self.estimator, CompactClassifier):
            raise TypeError(
                f"RatioSearchCV needs a CMLLClassifier or a CompactClassifier with both sizes, and "
                f"was given {self.estimator!r:.80}; pass such a classifier."
            )
        return self.estimator

    def _names(self) -> tuple[str, str]:
        """The parameters that hold mu and nu."""
        known = self._template().get_params(deep=True)
        for prefix in ("", "embedding__"):
            names = (f"{prefix}n_feature_components", f"{prefix}n_label_components")
            if all(name in known for name in names):
                return names
        raise ValueError(
            f"RatioSearchCV searches for two sizes, and {self._template()!r:.120} has not both "
            "n_feature_components and n_label_components; use CMLL, or GridSearchMoments for the "
            "size that there is."
        )

    def _run(self, problem: SearchData) -> None:
        mus, nus = (
            _ratios(getattr(self, name), name) for name in ("feature_ratios", "label_ratios")
        )
        names = self._names()
        score = partial(self._score, problem)
        search = _Sweeps(score, self.param_grid or {}, names, mus, nus)
        if any(name in other for other in search.others for name in names):
            raise ValueError(
                f"param_grid is for parameters other than {' and '.join(names)}, and is "
                f"{self.param_grid!r}; pass these as feature_ratios and label_ratios."
            )
        if self.exhaustive:
            search.visit([(mu, nu) for mu in mus for nu in nus])
        else:
            for start in _ratios(self.starts, "starts"):
                search.climb(start, self.n_rounds)
        found = search.scores
        surface = np.array([[found.get((mu, nu), np.nan) for nu in nus] for mu in mus])
        self.surface_ = np.where(np.isfinite(surface), surface, np.nan)
        self._keep(problem, search.tried, Outcome.joined(*search.outcomes))

    def plot(self) -> Any:
        """A plotly heat map of ``surface_``, with the pair that was chosen."""
        check_is_fitted(self, "surface_")
        go = require("plotly.graph_objects", extra="plot", purpose="the plot of a ratio search")
        mu, nu = (self.best_params_[name] for name in self._names())
        name = self.scorer_.name
        figure = go.Figure()
        figure.add_heatmap(
            x=list(self.label_ratios),
            y=list(self.feature_ratios),
            z=self.surface_,
            colorbar={"title": name},
        )
        figure.add_scatter(
            x=[nu], y=[mu], mode="markers", marker={"symbol": "x", "size": 12}, name="chosen"
        )
        figure.update_xaxes(title="label ratio nu")
        figure.update_yaxes(title="feature ratio mu")
        return figure


class _Sweeps:
    """What has been tried so far."""

    def __init__(
        self,
        score: Callable[[Sequence[Mapping[str, Any]]], Outcome],
        others: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        names: tuple[str, str],
        mus: list[float],
        nus: list[float],
    ) -> None:
        self.score, self.names = score, names
        self.mus, self.nus = mus, nus
        self.others = list(ParameterGrid(others))
        self.scores: dict[tuple[float, float], float] = {}
        self.tried: list[Mapping[str, Any]] = []
        self.outcomes: list[Outcome] = []

    def climb(self, nu: float, n_rounds: int) -> None:
        """Sweep mu at nu, then nu at the best mu, and again while that changes anything."""
        mu = None
        for _ in range(n_rounds):
            before = (mu, nu)
            mu = self.best([(value, nu) for value in self.mus])[0]
            nu = self.best([(mu, value) for value in self.nus])[1]
            if (mu, nu) == before:
                break

    def best(self, pairs: list[tuple[float, float]]) -> tuple[float, float]:
        self.visit(pairs)
        return max(pairs, key=lambda pair: self.scores.get(pair, -np.inf))

    def visit(self, pairs: list[tuple[float, float]]) -> None:
        """Score the pairs that are new."""
        if any(outcome.interrupted for outcome in self.outcomes):
            return
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.scores]
        if not new:
            return
        candidates = [
            {self.names[0]: mu, self.names[1]: nu, **other}
            for mu, nu in new
            for other in self.others
        ]
        outcome = self.score(candidates)
        best = outcome.merits.reshape(len(new), len(self.others)).max(axis=1)
        self.scores.update(zip(new, best.tolist(), strict=True))
        self.tried.extend(candidates)
        self.outcomes.append(outcome)


def _ratios(values: Any, name: str) -> list[float]:
    ratios = listed(values, name)
    for value in ratios:
        if not Real(0, 1, open_low=True).accepts(value):
            raise ValueError(
                f"{name} must hold ratios above 0 and up to 1, and holds {value!r}; pass such "
                "numbers, for example 0.1 to 1.0."
            )
    return [float(value) for value in ratios]

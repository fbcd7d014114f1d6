"""Entries for compact classifiers, whose configurations share one pass of the search's engine."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from compactlearn import CompactClassifier
from compactlearn.model_selection import GridSearchMoments, scores_on_split
from compactlearn_bench.methods.entry import Answer, Task
from compactlearn_bench.methods.frequency import by_frequency
from compactlearn_bench.methods.grids import (
    AXES,
    OF_THE_ROWS,
    PRINTED_HAT_RIDGE,
    PRINTED_RIDGES,
    SETTINGS,
    complete_settings,
    configurations,
)
from compactlearn_bench.methods.judging import Clock, JudgedGrid, pickled_bytes
from compactlearn_bench.methods.model_numbers import TaskShape, landmark_numbers, within
from compactlearn_bench.methods.ratio_search import RatioSearch
from compactlearn_bench.methods.table import MethodRow
from compactlearn_bench.methods.trace import traced

__all__ = ["EngineEntry"]

Settings = Mapping[str, Any]
Configuration = Mapping[str, Any]


@dataclass(frozen=True)
class EngineEntry:
    """A method that is a ``CompactClassifier``.

    `make` returns the unfitted classifier, of the settings and a seed, without what the axes vary.
    Where its decoder is learnt, the inner folds judge all configurations with the linear one, and
    only the ``finalists`` best again with the decoder itself, which costs a fit for each; of a
    single finalist ``inner_score`` is None.

    "paper": ``fit_seconds`` are those up to the scores of the test rows, for all configurations
    together, ``predict_seconds`` those of reading labels off them and judging.

    "nested": the inner folds are a shuffled K-fold by average precision; all configurations are
    tried, or with ``search="coordinate"`` those of the paper's search over the ratios, from the
    label ratio of ``centre``. Where the label ridge only divides the scores (no offset), average
    precision does not depend on it, and the first value is selected. Seconds of fitting and
    predicting are those of the last fit. Metrics of probabilities are not defined for "paper", nor
    where the classifier has none.
    """

    row: MethodRow
    make: Callable[[Settings, int], CompactClassifier]
    learnt_decoder: bool = False

    @property
    def axes(self) -> tuple[str, ...]:
        """The settings that span its grid."""
        return self.row.axes

    def settings(self, given: Settings) -> dict[str, Any]:
        """See ``Entry``."""
        names = ("protocol", "threshold", "inner_folds", "n_numbers", *OF_THE_ROWS)
        names += self.row.axes + self.row.options
        defaults = dict(self.row.defaults)
        if given.get("protocol") == "as printed":
            defaults |= {"alphas": PRINTED_RIDGES, "hat_ridge": PRINTED_HAT_RIDGE}
            given = {name: value for name, value in given.items() if name != "ridge"}
        if given.get("trace") and "trace" in names:  # the paper's figure: half of everything
            defaults |= {"label_ratios": (0.5,), "feature_ratios": (0.5,), "label_ridges": (0.0,)}
        found = complete_settings(self.row.name, given, names, defaults)
        if found.get("search") == "coordinate":
            _check_centre(self.row.name, found)
        if found.get("trace") and "auto" in found["betas"]:
            raise ValueError(
                f"{self.row.name} was given trace=True, which is about numbers, and betas="
                f"{found['betas']!r}; leave out 'auto'."
            )
        return found

    def answer(self, task: Task) -> Answer:
        """See ``Entry``."""
        own = self.settings({k: v for k, v in task.settings.items() if k in SETTINGS})
        grid = configurations(own, self.axes)
        shape = TaskShape.of(task, own)
        if own["n_numbers"] is not None:
            grid = within(self.row.name, grid, shape, own["n_numbers"])
        answer = self._paper if task.selection == "paper" else self._nested
        with warnings.catch_warnings(action="ignore"):  # each configuration would repeat them
            return answer(task, own, grid, shape)

    # ---- every configuration on the test rows ---------------------------------------------------

    def _paper(
        self, task: Task, own: Settings, grid: list[dict[str, Any]], shape: TaskShape
    ) -> Answer:
        estimator = self.make(own, task.seed)
        solved, places = _solved_together(estimator, grid)
        judged = JudgedGrid(task, len(grid))
        fitting, judging = Clock(), Clock()
        with fitting:
            parts = scores_on_split(
                estimator,
                [_params(estimator, configuration) for configuration in solved],
                task.X_train,
                task.Y_train,
                task.X_test,
                task.device,
            )
        while True:
            with fitting:
                part = next(parts, None)
            if part is None:
                break
            with judging:
                # Dividing the scores by 1 + ridge is raising the threshold by as much.
                thresholds: dict[float, list[int]] = {}
                for index in part.indices:
                    for place, ridge in places[index]:
                        thresholds.setdefault(ridge, []).append(place)
                judged.add(
                    part.scores,
                    [(found, part.threshold * (1 + ridge)) for ridge, found in thresholds.items()],
                    shape.numbers(part.n_features, part.n_codes),
                )
        with judging:
            judged.flush()
        details = self._said(task, own, shape, len(grid))
        if own.get("trace"):
            details |= traced(estimator, grid, task)
        return Answer(grid, judged.values, judged.sizes, fitting.seconds, judging.seconds, details)

    def _said(self, task: Task, own: Settings, shape: TaskShape, n_tried: int) -> dict[str, Any]:
        details: dict[str, Any] = {"n_tried": n_tried}
        if own.get("search") == "coordinate":
            details["search"] = "coordinate"
        if shape.n_landmarks is not None:
            details["landmarks"] = shape.n_landmarks
            details["landmark_numbers"] = landmark_numbers(task.X_train, shape.n_landmarks)
        return details

    # ---- one configuration, by inner folds ------------------------------------------------------

    def _nested(
        self, task: Task, own: Settings, grid: list[dict[str, Any]], shape: TaskShape
    ) -> Answer:
        estimator = self.make(own, task.seed)
        searching = Clock()
        with searching:
            chosen, inner, n_tried = self._chosen(task, own, grid, estimator)
        model = clone(estimator).set_params(**_params(estimator, chosen))
        fitting, predicting = Clock(), Clock()
        with fitting:
            model.fit(task.X_train, task.Y_train)
        with predicting:
            scores = model.decision_function(task.X_test)
            labels = scores > model.threshold_
        judged = JudgedGrid(task, 1)
        embedding = model.embedding_
        d = None if embedding.projection_ is None else embedding.n_feature_components_
        judged.add(
            scores, [([0], model.threshold_)], shape.numbers(d, embedding.n_label_components_)
        )
        judged.flush()
        values = judged.values
        if judged.judges.needs_probabilities and hasattr(model, "predict_proba"):
            probabilities = model.predict_proba(task.X_test)
            known = judged.judges.of_probabilities(probabilities[None])
            values = np.where(np.isnan(values), known, values)
        details = self._said(task, own, shape, n_tried) | {
            "inner_score": inner,
            "inner_folds": own["inner_folds"],
            "by_frequency": by_frequency(task.Y_train, task.Y_test, scores, labels),
        }
        return Answer(
            [chosen],
            values,
            judged.sizes,
            fitting.seconds,
            predicting.seconds,
            details,
            searching.seconds,
            pickled_bytes(model),
        )

    def _chosen(
        self,
        task: Task,
        own: Settings,
        grid: list[dict[str, Any]],
        estimator: CompactClassifier,
    ) -> tuple[dict[str, Any], float | None, int]:
        """The best configuration, its score on the inner folds, and how many were tried."""
        tried = _without_equal_ridges(estimator, grid)
        searched = clone(estimator).set_params(decoder="linear")
        folds = KFold(own["inner_folds"], shuffle=True, random_state=task.inner_seed)
        if own.get("search") == "coordinate":
            swept = _ratio_search(searched, tried, own, folds).fit(task.X_train, task.Y_train)
            params, scores = swept.params_, swept.scores_
        else:
            search = GridSearchMoments(searched, _listed(estimator, tried), cv=folds, refit=False)
            found = search.fit(task.X_train, task.Y_train).cv_results_
            params, scores = found["params"], found["mean_test_score"]
        order = np.argsort(-scores, kind="stable")
        if not self.learnt_decoder:
            return _plain(params[order[0]]), float(scores[order[0]]), len(params)
        finalists = [_plain(params[k]) for k in order[: own["finalists"]]]
        if len(finalists) == 1:
            return finalists[0], None, len(params)
        final = GridSearchMoments(estimator, _listed(estimator, finalists), cv=folds, refit=False)
        final.fit(task.X_train, task.Y_train)
        return _plain(final.best_params_), float(final.best_score_), len(params)


# ---- configurations and parameters -------------------------------------------------------------


def _params(estimator: CompactClassifier, configuration: Configuration) -> dict[str, Any]:
    """The estimator's names: outside CMLLClassifier those of the embedding have a prefix."""
    known = estimator.get_params(deep=False)
    return {k if k in known else f"embedding__{k}": v for k, v in configuration.items()}


def _plain(params: Configuration) -> dict[str, Any]:
    """Back to plain names, in the order of the axes."""
    plain = {name.removeprefix("embedding__"): value for name, value in params.items()}
    return {name: plain[name] for name in AXES.values() if name in plain}


def _listed(estimator: CompactClassifier, grid: Sequence[Configuration]) -> list[dict[str, Any]]:
    return [{k: [v] for k, v in _params(estimator, one).items()} for one in grid]


def _has_no_offset(estimator: CompactClassifier) -> bool:
    """Whether the decoder's ridge divides the scores as a whole, and so keeps their order."""
    return getattr(estimator.make_embedding(), "offset", "mean") == "none"


def _solved_together(
    estimator: CompactClassifier, grid: Sequence[Configuration]
) -> tuple[list[dict[str, Any]], list[list[tuple[int, float]]]]:
    """Configurations to be solved, and for each the places in the grid that it serves, with the
    ridge by which the scores there are divided; 0 where the solution sees to that."""
    learnt = estimator.decoder != "linear" or isinstance(estimator.threshold, str)
    if learnt or not _has_no_offset(estimator):
        return [dict(one) for one in grid], [[(k, 0.0)] for k in range(len(grid))]
    served: dict[tuple[Any, ...], list[tuple[int, float]]] = {}
    solved = []
    for place, one in enumerate(grid):
        rest = {name: value for name, value in one.items() if name != "label_ridge"}
        key = tuple((name, type(value), value) for name, value in rest.items())
        if key not in served:
            solved.append(rest)
        served.setdefault(key, []).append((place, float(one.get("label_ridge", 0.0))))
    return solved, list(served.values())


def _without_equal_ridges(
    estimator: CompactClassifier, grid: Sequence[Configuration]
) -> list[dict[str, Any]]:
    """Return the grid without label ridges that have the average precision of the first."""
    first = grid[0].get("label_ridge") if _has_no_offset(estimator) else None
    return [dict(one) for one in grid if first is None or one["label_ridge"] == first]


def _ratio_search(
    estimator: CompactClassifier, grid: Sequence[Configuration], own: Settings, folds: KFold
) -> RatioSearch:
    """The paper's search, from the label ratio of the centre, over what else the grid has."""
    others: dict[str, list[Any]] = {}
    for one in grid:
        for name, value in _params(estimator, one).items():
            if not name.endswith(("n_label_components", "n_feature_components")):
                values = others.setdefault(name, [])
                if value not in values:
                    values.append(value)
    ratios = own["feature_ratios"], own["label_ratios"]
    return RatioSearch(estimator, *ratios, own["centre"][1], others, folds)


def _check_centre(owner: str, settings: Settings) -> None:
    names = ("feature_ratios", "label_ratios")
    for name, ratio in zip(names, settings["centre"], strict=True):
        if ratio not in settings[name]:
            raise ValueError(
                f"The setting 'centre' of {owner} must be one of the feature_ratios and one of the "
                f"label_ratios, and {ratio!r} is not among the {name} {settings[name]!r}; choose "
                "another, or add it to them."
            )
    if settings["n_numbers"] is not None:
        raise ValueError(
            f"{owner} was given search='coordinate' and n_numbers={settings['n_numbers']!r}; the "
            "sweeps do not know of a bound on the size: use search='grid'."
        )

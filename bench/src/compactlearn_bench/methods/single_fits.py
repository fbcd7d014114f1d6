"""Entries for any other classifier: every configuration is a fit of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from compactlearn.metrics import Judges
from compactlearn.utils import silence
from compactlearn_bench.methods.entry import Answer, Task
from compactlearn_bench.methods.frequency import by_frequency
from compactlearn_bench.methods.grids import (
    OF_THE_ROWS,
    SETTINGS,
    complete_settings,
    configurations,
)
from compactlearn_bench.methods.judging import (
    Clock,
    best_place,
    chances_of,
    inner_means,
    pickled_bytes,
)

__all__ = ["SingleFits"]

Settings = Mapping[str, Any]
Configuration = Mapping[str, Any]


@dataclass(frozen=True)
class SingleFits:
    """A method that is a classifier of label matrices, with ``predict`` and scores.

    Parameters
    ----------
    name : str
    make : callable
        The unfitted classifier, of the settings, a configuration and a seed.
    numbers : callable
        How many numbers a fitted one keeps to predict.
    axes, options, defaults
        As in ``EngineEntry``.
    plain : callable, optional
        In place of ``make`` on the inner folds, which need scores and no decisions.
    scores : callable, optional
        Scores of rows by a fitted classifier; by default its ``decision_function``.
    probable : bool
        Whether these scores are probabilities. Where they are not, the metrics that need such are
        of its ``predict_proba``, or not defined if it has none.
    told : callable, optional
        What the record shall tell of a fitted classifier under "nested", in plain values.

    Notes
    -----
    Seconds of "paper" are those of all fits, and of all predictions. "nested" is as in
    ``EngineEntry``; where there is only one configuration no inner folds are needed, and
    ``inner_score`` is None.
    """

    name: str
    make: Callable[[Settings, Configuration, int], Any]
    numbers: Callable[[Any], int]
    axes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    defaults: Settings = field(default_factory=dict)
    plain: Callable[[Settings, Configuration, int], Any] | None = None
    scores: Callable[[Any, Any], Any] = lambda model, X: model.decision_function(X)
    probable: bool = False
    told: Callable[[Any], dict[str, Any]] = lambda model: {}

    def settings(self, given: Settings) -> dict[str, Any]:
        """See ``Entry``."""
        names = ("inner_folds", *OF_THE_ROWS, *self.axes, *self.options)
        return complete_settings(self.name, given, names, self.defaults)

    def answer(self, task: Task) -> Answer:
        """See ``Entry``."""
        own = self.settings({k: v for k, v in task.settings.items() if k in SETTINGS})
        grid = configurations(own, self.axes)
        with silence():  # each configuration would repeat what one fit says
            details: dict[str, Any] = {"n_tried": len(grid)}
            tried, searching = grid, Clock()
            if task.selection == "nested":
                with searching:
                    chosen, inner = self._chosen(task, own, grid)
                details |= {"inner_score": inner, "inner_folds": own["inner_folds"]}
                tried = [chosen]
            judges = Judges(task.metrics, task.Y_test, task.Y_train)
            fitting, predicting = Clock(), Clock()
            rows, sizes = [], []
            for configuration in tried:
                model = self.make(own, configuration, task.seed)
                with fitting:
                    model.fit(task.X_train, task.Y_train)
                with predicting:
                    scores = np.asarray(self.scores(model, task.X_test))
                    labels = _dense(model.predict(task.X_test)) > 0
                chances = None
                if judges.needs_probabilities:
                    chances = scores if self.probable else chances_of(model, task.X_test)
                rows.append(_judged(judges, scores, labels, chances))
                sizes.append(self.numbers(model))
            answer = Answer(
                tried, np.array(rows), sizes, fitting.seconds, predicting.seconds, details
            )
            if task.selection == "paper":
                return answer
            details["by_frequency"] = by_frequency(task.Y_train, task.Y_test, scores, labels)
            details |= self.told(model)
            return replace(
                answer, search_seconds=searching.seconds, model_bytes=pickled_bytes(model)
            )

    def _chosen(
        self, task: Task, own: Settings, grid: list[dict[str, Any]]
    ) -> tuple[dict[str, Any], float | None]:
        """The configuration of largest mean average precision on inner folds."""
        if len(grid) == 1:
            return grid[0], None
        make = self.plain or self.make

        def scored(configuration: Configuration, X: Any, Y: Any, X_test: Any) -> Any:
            model = make(own, configuration, task.seed).fit(X, Y)
            return np.asarray(self.scores(model, X_test))

        means = inner_means(task, own["inner_folds"], grid, scored)
        best = best_place(means)
        return grid[best], means[best]


def _judged(judges: Judges, scores: Any, labels: Any, chances: Any) -> np.ndarray:
    return judges(scores[None], labels[None], None if chances is None else chances[None])[0]


def _dense(labels: Any) -> np.ndarray:
    return np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels)

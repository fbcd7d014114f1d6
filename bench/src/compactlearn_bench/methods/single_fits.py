"""Entries for any other classifier: every configuration is a fit of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from compactlearn.metrics import Judges
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
    inner_means,
    n_parameters,
    pickled_bytes,
    probabilities_of,
)
from compactlearn_bench.methods.table import MethodRow

__all__ = ["Reading", "SingleFits", "answer_by_single_fits"]

Settings = Mapping[str, Any]
Configuration = Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """The fit of a classifier and the values that a record keeps of it.

    Where scores are not `probable`, metrics that need probabilities are of its ``predict_proba``,
    or not defined if it has none. `details` is for records under "nested", in plain values.
    """

    fit: Callable[[Any, Any, Any], Any] = lambda model, X, Y: model.fit(X, Y)
    numbers: Callable[[Any], int] = n_parameters
    scores: Callable[[Any, Any], Any] = lambda model, X: model.decision_function(X)
    probable: bool = False
    details: Callable[[Any], dict[str, Any]] = lambda model: {}


@dataclass(frozen=True)
class SingleFits:
    """A method that is a classifier of label matrices, with ``predict`` and scores.

    `make` returns the unfitted classifier, of the settings, a configuration and a seed; `plain` one
    for the inner folds, which need scores and no decisions.
    """

    row: MethodRow
    make: Callable[[Settings, Configuration, int], Any]
    reading: Reading = field(default_factory=Reading)
    plain: Callable[[Settings, Configuration, int], Any] | None = None

    @property
    def axes(self) -> tuple[str, ...]:
        """The settings that span its grid."""
        return self.row.axes

    def settings(self, given: Settings) -> dict[str, Any]:
        """See ``Entry``."""
        names = ("inner_folds", *OF_THE_ROWS, *self.row.axes, *self.row.options)
        return complete_settings(self.row.name, given, names, self.row.defaults)

    def answer(self, task: Task) -> Answer:
        """See ``Entry``."""
        own = self.settings({k: v for k, v in task.settings.items() if k in SETTINGS})
        return answer_by_single_fits(
            task,
            configurations(own, self.axes),
            own["inner_folds"],
            partial(self.make, own),
            self.reading,
            partial(self.plain or self.make, own),
        )


def answer_by_single_fits(
    task: Task,
    grid: Sequence[Configuration],
    inner_folds: int,
    make: Callable[[Configuration, int], Any],
    reading: Reading,
    plain: Callable[[Configuration, int], Any],
) -> Answer:
    """Fit and judge every configuration, or for "nested" the one that inner folds prefer.

    Seconds of "paper" are those of all fits, and of all predictions; those of "nested" are of the
    last fit, and the search has its own. Of one configuration no inner folds are needed, and
    ``inner_score`` is None.
    """
    details: dict[str, Any] = {"n_tried": len(grid)}
    searching, fitting, predicting = Clock(), Clock(), Clock()
    judges = Judges(task.metrics, task.Y_test, task.Y_train)
    rows, sizes = [], []
    with warnings.catch_warnings(action="ignore"):  # each configuration would repeat them
        if task.selection == "nested":
            with searching:
                chosen, inner = _chosen(task, grid, inner_folds, plain, reading)
            details |= {"inner_score": inner, "inner_folds": inner_folds}
            grid = [chosen]
        for configuration in grid:
            model = make(configuration, task.seed)
            with fitting:
                reading.fit(model, task.X_train, task.Y_train)
            with predicting:
                scores = np.asarray(reading.scores(model, task.X_test))
                labels = _dense(model.predict(task.X_test)) > 0
            probabilities = None
            if judges.needs_probabilities:
                probabilities = scores if reading.probable else probabilities_of(model, task.X_test)
            given = None if probabilities is None else probabilities[None]
            rows.append(judges(scores[None], labels[None], given)[0])
            sizes.append(reading.numbers(model))
        answer = Answer(grid, np.array(rows), sizes, fitting.seconds, predicting.seconds, details)
        if task.selection == "paper":
            return answer
        details["by_frequency"] = by_frequency(task.Y_train, task.Y_test, scores, labels)
        details |= reading.details(model)
        return replace(answer, search_seconds=searching.seconds, model_bytes=pickled_bytes(model))


def _chosen(
    task: Task,
    grid: Sequence[Configuration],
    inner_folds: int,
    make: Callable[[Configuration, int], Any],
    reading: Reading,
) -> tuple[Configuration, float | None]:
    """Return the configuration of largest mean average precision on inner folds."""
    if len(grid) == 1:
        return grid[0], None

    def scored(configuration: Configuration, X: Any, Y: Any, X_test: Any) -> Any:
        model = reading.fit(make(configuration, task.seed), X, Y)
        return np.asarray(reading.scores(model, X_test))

    means = inner_means(task, inner_folds, grid, scored)
    best = best_place(means)
    return grid[best], means[best]


def _dense(labels: Any) -> np.ndarray:
    return np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels)

"""Any scikit-learn classifier as a method that takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import ParameterGrid

from compactlearn.metrics import get_metric, inverse_propensities, predicted_scores
from compactlearn.utils import Integer, nearest
from compactlearn_bench.methods.entry import Answer, Task
from compactlearn_bench.methods.judging import (
    Clock,
    best_place,
    chances_of,
    inner_means,
    n_parameters,
    pickled_bytes,
)

__all__ = ["ClassifierEntry", "judged"]

_COMMON = ("inner_folds", "ridge")  # what a spec gives to every method
_FOLDS = Integer(2)
_READ: Mapping[str, Callable[[Any, Any], Any]] = {
    "labels": lambda model, X: model.predict(X),
    "scores": predicted_scores,
    "probabilities": chances_of,
}


@dataclass(frozen=True, eq=False)
class ClassifierEntry:
    """A classifier of several labels, with the parameters that are tried.

    In a spec, a list for a parameter is what is tried of it, anything else its value. A parameter
    `random_state` that nobody sets is seeded from the names of the cell.

    Parameters
    ----------
    make : callable
        Without arguments, returns an unfitted classifier.
    grid : mapping from parameter to sequence of values
        What is tried where the spec does not say.
    """

    make: Callable[[], Any]
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as the spec and the grid give them, the spec's first.

        Parameters
        ----------
        given : mapping
            What a spec says beside the method's name.
        """
        model = self.make()
        if not all(callable(getattr(model, name, None)) for name in ("fit", "get_params")):
            raise TypeError(
                "A method must be a callable that returns an unfitted scikit-learn classifier, but "
                f"it returned {model!r:.80}; correct it."
            )
        known = model.get_params()
        grid = {name: _listed(values) for name, values in self.grid.items()}
        own = {name: value for name, value in given.items() if name not in _COMMON}
        for name, value in (grid | own).items():
            if name not in known:
                raise ValueError(
                    f"{type(model).__name__} has the parameters {', '.join(known)}, but not "
                    f"{name!r}; leave it out.{nearest(name, known)}"
                )
            if value == []:
                raise ValueError(
                    f"A list of values to try must hold at least one, and that of {name!r} is "
                    "empty; add one, or leave the parameter out."
                )
        inner_folds = given.get("inner_folds", 5)
        if not _FOLDS.accepts(inner_folds):
            raise ValueError(
                f"The setting 'inner_folds' must be {_FOLDS.describe()}; got {inner_folds!r}. Give "
                "it such a value."
            )
        return {"inner_folds": inner_folds, "parameters": grid | own}

    def answer(self, task: Task) -> Answer:
        """Fit and judge every configuration, or the one that inner folds prefer.

        Parameters
        ----------
        task : Task
            The rows of a fold, and what is asked about them.
        """
        configurations = _configurations(task.settings["parameters"])
        details: dict[str, Any] = {}
        searching = Clock()
        if task.selection == "nested":
            with searching:
                means = self._inner(task, configurations)
            details = {"inner_average_precision": means}
            configurations = [configurations[best_place(means)]]
        fitting, predicting = Clock(), Clock()
        rows, sizes = [], []
        for configuration in configurations:
            model = self._fitted(configuration, task.X_train, task.Y_train, task.seed, fitting)
            rows.append(judged(model, task, predicting))
            sizes.append(n_parameters(model))
        values = np.array(rows, dtype=np.float64).reshape(len(rows), len(task.metrics))
        answer = Answer(configurations, values, sizes, fitting.seconds, predicting.seconds, details)
        if task.selection == "paper":
            return answer
        return replace(answer, search_seconds=searching.seconds, model_bytes=pickled_bytes(model))

    def _inner(self, task: Task, configurations: list[dict[str, Any]]) -> list[float]:
        """How inner folds judge each configuration; nothing is to be chosen among one."""
        if len(configurations) == 1:
            return [float("nan")]

        def scored(configuration: Mapping[str, Any], X: Any, Y: Any, X_test: Any) -> Any:
            return predicted_scores(self._fitted(configuration, X, Y, task.seed, Clock()), X_test)

        return inner_means(task, task.settings["inner_folds"], configurations, scored)

    def _fitted(
        self, configuration: Mapping[str, Any], X: Any, Y: Any, seed: int, fitting: Clock
    ) -> Any:
        model = self.make()
        if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
            model.set_params(random_state=seed)
        model.set_params(**configuration)
        Y = Y.toarray() if sparse.issparse(Y) else Y
        with fitting:
            model.fit(X, Y)
        return model


def judged(model: Any, task: Task, predicting: Clock) -> list[float]:
    """The task's metrics of a fitted classifier on the test rows."""
    metrics = [get_metric(name) for name in task.metrics]
    answers: dict[str, NDArray[Any] | None] = {}
    for needs, read in _READ.items():
        if any(metric.needs == needs for metric in metrics):
            with predicting:
                answers[needs] = read(model, task.X_test)
    values = []
    for metric in metrics:
        weighted = "weights" in metric.options
        options = {"weights": inverse_propensities(task.Y_train)} if weighted else {}
        given = answers[metric.needs]
        if given is None:  # a classifier without probabilities
            values.append(float("nan"))
        else:
            values.append(float(metric.function(task.Y_test, given, **options)))
    return values


def _listed(values: Any) -> Any:
    """What a grid holds for one parameter, in plain values; anything but a sequence is one."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    return list(values) if isinstance(values, Sequence) and not isinstance(values, str) else values


def _configurations(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    lists = {
        name: value if isinstance(value, list) else [value] for name, value in parameters.items()
    }
    return [dict(sorted(configuration.items())) for configuration in ParameterGrid(lists)]

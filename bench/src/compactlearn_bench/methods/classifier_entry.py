"""Any scikit-learn classifier as a method that takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from compactlearn.metrics import predicted_scores
from compactlearn.utils import Integer, nearest
from compactlearn_bench.methods.entry import Answer, Task
from compactlearn_bench.methods.single_fits import Reading, answer_by_single_fits

__all__ = ["ClassifierEntry"]

_COMMON = ("inner_folds", "ridge")  # what a spec gives to every method
_FOLDS = Integer(2)
_READING = Reading(fit=lambda model, X, Y: model.fit(X, Y.toarray()), scores=predicted_scores)


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
            The settings of the method in a spec.
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
        lists = {
            name: value if isinstance(value, list) else [value]
            for name, value in task.settings["parameters"].items()
        }
        grid = [dict(sorted(one.items())) for one in ParameterGrid(lists)]
        folds = task.settings.get("inner_folds", 0)  # cells of "paper" have none
        return answer_by_single_fits(task, grid, folds, self._unfitted, _READING, self._unfitted)

    def _unfitted(self, configuration: Mapping[str, Any], seed: int) -> Any:
        model = self.make()
        if "random_state" in model.get_params() and model.get_params()["random_state"] is None:
            model.set_params(random_state=seed)
        return model.set_params(**configuration)


def _listed(values: Any) -> Any:
    """Return what a grid holds for one parameter, in plain values; anything else is one value."""
    if isinstance(values, np.ndarray):
        return values.tolist()
    return list(values) if isinstance(values, Sequence) and not isinstance(values, str) else values

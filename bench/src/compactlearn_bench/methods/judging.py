"""Parts that entries share: a clock, scores judged in batches, the choice by inner folds."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold

from compactlearn.metrics import Judges, average_precision, predicted_probabilities
from compactlearn.utils import n_parameters_in
from compactlearn_bench.methods.entry import Task

__all__ = [
    "Clock",
    "JudgedGrid",
    "best_place",
    "inner_means",
    "n_parameters",
    "pickled_bytes",
    "probabilities_of",
]

# Scores judged together: so many that calls do not count, so few that they stay in the cache.
_TOGETHER = 1 << 18


@dataclass
class Clock:
    """Seconds spent in a block: ``with clock: ...``, as often as one likes."""

    seconds: float = 0.0
    _start: float = field(default=0.0, repr=False)

    def __enter__(self) -> Clock:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._start


@dataclass(frozen=True, eq=False)
class _Waiting:
    scores: NDArray[np.float64]
    # Places in the grid, and the threshold that the labels of each are read off with.
    places: Sequence[tuple[Sequence[int], Any]]


class JudgedGrid:
    """The metrics of every configuration on the test rows, filled in as scores come.

    Small matrices are judged several at a time: a call costs more than ranking a few rows.
    """

    def __init__(self, task: Task, n_configurations: int) -> None:
        self.judges = Judges(task.metrics, task.Y_test, task.Y_train)
        self.values = np.full((n_configurations, len(task.metrics)), np.nan)
        self.sizes = [0] * n_configurations
        self._waiting: list[_Waiting] = []

    def add(
        self,
        scores: NDArray[np.float64],
        places: Sequence[tuple[Sequence[int], Any]],
        size: int,
    ) -> None:
        """Scores (N, M); for each threshold, the configurations that have these."""
        for indices, _ in places:
            for index in indices:
                self.sizes[index] = size
        self._waiting.append(_Waiting(scores, places))
        if sum(one.scores.size for one in self._waiting) >= _TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Judge what is waiting."""
        if not self._waiting:
            return
        ranked = self.judges.of_scores(np.stack([one.scores for one in self._waiting]))
        for one, values in zip(self._waiting, ranked, strict=True):
            for indices, threshold in one.places:
                row = values
                if self.judges.needs_labels:
                    read = self.judges.of_labels((one.scores > threshold)[None])[0]
                    row = np.where(np.isnan(values), read, values)
                self.values[list(indices)] = row
        self._waiting.clear()


def inner_means(
    task: Task,
    n_folds: int,
    configurations: Sequence[Mapping[str, Any]],
    scored: Callable[[Mapping[str, Any], Any, Any, Any], Any],
) -> list[float]:
    """The mean average precision of each configuration over inner folds of the training rows.

    ``scored`` is given a configuration, rows with their labels to fit, and rows to score.
    """
    X, Y = task.X_train, task.Y_train
    means = np.zeros(len(configurations))
    folds = KFold(n_folds, shuffle=True, random_state=task.inner_seed)
    for train, test in folds.split(np.empty((X.shape[0], 1))):
        for place, configuration in enumerate(configurations):
            scores = scored(configuration, X[train], Y[train], X[test])
            means[place] += average_precision(Y[test], scores) / n_folds
    return means.tolist()


def probabilities_of(model: Any, X: Any) -> NDArray[np.float64] | None:
    """Probabilities (N, M) of a fitted classifier; None where it has none."""
    if not callable(getattr(model, "predict_proba", None)):
        return None
    probabilities = predicted_probabilities(model, X)
    return np.asarray(probabilities.toarray() if sparse.issparse(probabilities) else probabilities)


def n_parameters(model: Any) -> int:
    """Return the number of parameters of a fitted classifier.

    Of a classifier that does not say it, all numbers of its arrays.
    """
    own = getattr(model, "n_parameters_", None)
    return n_parameters_in(model) if own is None else int(own)


class _Counter:
    """A file that only counts what is written to it."""

    def __init__(self) -> None:
        self.count = 0

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.count += size
        return size


def pickled_bytes(model: Any) -> int | None:
    """Bytes of a model as it is pickled; None where it cannot be. Nothing is kept of them."""
    counter = _Counter()
    try:
        pickle.dump(model, counter, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None
    return counter.count


def best_place(means: Sequence[float]) -> int:
    """The place of the largest, the first of several; one that is not a number is the least.

    >>> best_place([float("nan"), 0.25, 0.5, 0.5]), best_place([float("nan")])
    (2, 0)
    """
    return int(np.argmax(np.nan_to_num(means, nan=-np.inf)))

"""The seam between the harness and what it measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from compactlearn_bench.records import Selection

__all__ = ["Answer", "Entry", "Task"]


@dataclass(frozen=True, eq=False)
class Task:
    """The rows of one fold, and what is asked about them."""

    X_train: Any
    Y_train: Any  # csr_array of 0/1
    X_test: Any
    Y_test: Any
    metrics: tuple[str, ...]
    selection: Selection
    settings: Mapping[str, Any]  # the cell's
    seed: int  # for what the method draws
    inner_seed: int = 0  # of inner folds: the same for all methods
    device: str | None = None  # where grids may be solved; not part of the cell


@dataclass(frozen=True, eq=False)
class Answer:
    """Result of an entry; the fields are those of a `Record`."""

    configurations: Sequence[Mapping[str, Any]]
    values: NDArray[np.float64]  # (n_configurations, n_metrics)
    sizes: Sequence[int]
    fit_seconds: float
    predict_seconds: float
    details: Mapping[str, Any] = field(default_factory=dict)
    search_seconds: float | None = None  # of choosing the configuration, for "nested"
    model_bytes: int | None = None  # of the model of the only configuration, pickled


class Entry(Protocol):
    """A method that takes part."""

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Complete the settings of a spec by the entry's own defaults, in plain values.

        Unknown or wrong ones are refused in a sentence. The others become part of the cell.

        Parameters
        ----------
        given : mapping
            The settings of the method in a spec.
        """
        ...

    def answer(self, task: Task) -> Answer:
        """Fit and judge.

        Every configuration for "paper", the one chosen by inner folds for "nested".

        Parameters
        ----------
        task : Task
            The rows of a fold, and what is asked about them.
        """
        ...

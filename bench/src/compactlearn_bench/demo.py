"""A comparison on one data set: the automatic search, baselines, and single predictions.

The scores are those of a spec in ``data/``, run like any other. Some held-out rows are shown with
their predicted and true labels, and the words with the largest terms of each score.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from compactlearn import CMLLClassifier, explain
from compactlearn.datasets import Dataset, load
from compactlearn_bench.harness.events import OnEvent, RunError
from compactlearn_bench.harness.execute import fold_rows
from compactlearn_bench.harness.run import run
from compactlearn_bench.records import Cell, Record, Results, Score, Store, aggregate
from compactlearn_bench.spec.cells import cells_of
from compactlearn_bench.spec.reading import Override, Spec, parse_spec

__all__ = ["Demo", "Guess", "Mail", "demonstrate", "explained", "label_words", "spec"]

#: Settings of --quick: fewer rows and trees, one penalty, and only the first model of Auto.
_QUICK: Mapping[str, Any] = {"trees": 10, "Cs": [0.1], "alphas": [100.0], "time_budget": 0.1}
_QUICK_ROWS = 400
N_MAILS, N_WORDS = 5, 3


@dataclass(frozen=True)
class Guess:
    """A predicted label, and the words with its largest terms."""

    label: str
    words: tuple[str, ...]
    right: bool


@dataclass(frozen=True)
class Mail:
    """A held-out row with its predicted and true labels."""

    row: int
    guesses: tuple[Guess, ...]
    true: tuple[str, ...]

    @property
    def missed(self) -> tuple[str, ...]:
        """True labels that were not predicted."""
        found = {guess.label for guess in self.guesses}
        return tuple(label for label in self.true if label not in found)


@dataclass(frozen=True, eq=False)
class Demo:
    """Scores of all methods, and predictions for some held-out rows."""

    spec: Spec
    results: Results
    training_seconds: Mapping[str, float]  # of search and fit, the mean over the folds
    data: Dataset
    mails: tuple[Mail, ...]
    seconds: float

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order of the table."""
        return [method.shown for method in self.spec.methods]

    @property
    def n_rows(self) -> int:
        """Number of rows used."""
        return self.spec.datasets[0].rows or self.data.n_samples

    def settings(self, method: str) -> Mapping[str, Any]:
        """Return the settings of a method's cells."""
        return next(cell.settings for cell in cells_of(self.spec) if cell.method == method)

    def score(self, method: str, metric: str) -> Score:
        """Return one metric on the folds; a RunError where a fold has none."""
        found = self.results.cell(self.data.name, method, metric)
        if not isinstance(found, Score):
            reason = "it was not run" if found is None else found.reason
            raise RunError(f"The demo has no score of {method}: {reason}.")
        return found

    def n_parameters(self, method: str) -> float:
        """Return the number of parameters of a method's model, the mean over the folds."""
        return float(np.mean(self.score(method, "average_precision").sizes))


def spec(n_folds: int | None = None, seed: int = 0, *, quick: bool = False) -> Spec:
    """Return the specification of the demo; the number of folds is the file's by default."""
    found = parse_spec(_read("demo_tags"))
    found = replace(found, folds=found.folds if n_folds is None else n_folds, seed=seed)
    if not quick:
        return found
    few = tuple(replace(data, rows=_QUICK_ROWS) for data in found.datasets)
    return replace(found, datasets=few, overrides=(*found.overrides, Override(_QUICK)))


def demonstrate(
    spec: Spec, store: Store, *, workers: int = 1, on_event: OnEvent | None = None
) -> Demo:
    """Run the cells of the spec that the store lacks, and explain some held-out rows."""
    start = time.perf_counter()
    run(spec, store, workers=workers, on_event=on_event)
    cells = cells_of(spec)
    records = [record for record in map(store.read, cells) if record is not None]
    data = load(spec.datasets[0].name)
    mails = _first_mails(data, cells[0])
    return Demo(
        spec,
        aggregate(records, "nested"),
        _training_seconds(records),
        data,
        mails,
        time.perf_counter() - start,
    )


def label_words() -> dict[str, str]:
    """Return the meaning of each code of enron's labels.

    >>> label_words()["C.C6"]
    "California's energy crisis"
    """
    groups = _read("enron_labels")
    return {f"{group}.{code}": words for group, of in groups.items() for code, words in of.items()}


def _read(name: str) -> dict[str, Any]:
    file = resources.files("compactlearn_bench") / "data" / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8"))


def _training_seconds(records: Sequence[Record]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {}
    for record in records:
        if record.status == "done":
            spent = record.circumstances["seconds"]
            seconds.setdefault(record.cell.method, []).append(spent["search"] + spent["fit"])
    return {method: float(np.mean(values)) for method, values in seconds.items()}


def _first_mails(data: Dataset, cell: Cell) -> tuple[Mail, ...]:
    """Return the first test rows of a fold, explained."""
    used, train, test = fold_rows(cell, data.n_samples)
    # Linear, so that a score is a sum over words; with its default size and a logistic decoder.
    model = CMLLClassifier(decoder="logistic").fit(data.X[used[train]], data.Y[used[train]])
    return explained(model, data, used[test[:N_MAILS]])


def explained(model: Any, data: Dataset, rows: NDArray[np.intp]) -> tuple[Mail, ...]:
    """Return the predicted and true labels of rows, with the words of the largest terms."""
    assert data.label_names is not None
    means = label_words()
    labels = [means.get(name, name) for name in data.label_names]
    truth = sparse.csr_array(data.Y[rows]).toarray() > 0
    why = explain(model, data.X[rows], k=None, feature_names=data.feature_names)
    names = getattr(model, "label_names_", None)
    places = {str(name): k for k, name in enumerate(model.classes_ if names is None else names)}
    found = []
    for place, row in enumerate(rows):
        guesses = []
        for one in (one for one in why if one.row == place):
            if one.predicted:
                k = places[one.label]
                words = tuple(term.name for term in one.speaks_for[:N_WORDS])
                guesses.append(Guess(labels[k], words, bool(truth[place, k])))
        true = tuple(labels[k] for k in np.flatnonzero(truth[place]))
        found.append(Mail(int(row), tuple(guesses), true))
    return tuple(found)

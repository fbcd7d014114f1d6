"""Plain ridge, CMLL_y and CMLL on one data set, under two protocols that are never mixed.

Each protocol is a spec in ``data/``, run as any other: the figures are those of the benchmark.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Literal

from compactlearn.datasets import load
from compactlearn_bench.harness.events import OnEvent, RunError
from compactlearn_bench.harness.run import run
from compactlearn_bench.methods.model_numbers import TaskShape
from compactlearn_bench.records import Figure, Results, Selection, Store, aggregate
from compactlearn_bench.spec.cells import cells_of
from compactlearn_bench.spec.reading import Override, Spec, parse_spec

__all__ = ["PaperDemo", "Protocol", "demonstrate", "specs"]

#: "paper": the best configuration on the test folds, which flatters every method alike; "fair": the
#: ridge penalty by inner folds of the training rows. The test rows are scored once.
Protocol = Literal["paper", "fair"]
_SELECTIONS: Mapping[Protocol, Selection] = {"paper": "paper", "fair": "nested"}
#: Coarse grids, for a glance.
_QUICK: Mapping[Protocol, Mapping[str, Any]] = {
    "paper": {"alphas": [0.1], "betas": [0.1], "label_ratios": [0.5]},
    "fair": {"alphas": [1.0, 10.0, 100.0]},
}


@dataclass(frozen=True, eq=False)
class PaperDemo:
    """What came out, by protocol."""

    specs: Mapping[Protocol, Spec]
    results: Mapping[Protocol, Results]
    shape: TaskShape
    seconds: float

    @property
    def dataset(self) -> str:
        """The name of the data set."""
        return self.specs["fair"].datasets[0].name

    @property
    def methods(self) -> list[str]:
        """Their names, in the order of the tables."""
        return [method.shown for method in self.specs["fair"].methods]

    def settings(self, method: str, protocol: Protocol) -> Mapping[str, Any]:
        """What the cells of a method were asked."""
        cells = cells_of(self.specs[protocol])
        return next(cell.settings for cell in cells if cell.method == method)

    def figure(self, method: str, protocol: Protocol, metric: str) -> Figure:
        """One metric on the folds.

        Raises
        ------
        RunError
            If a fold has none.
        """
        found = self.results[protocol].cell(self.dataset, method, metric)
        if not isinstance(found, Figure):
            reason = "it was not run" if found is None else found.reason
            raise RunError(f"The demo has no figure of {method} under {protocol}: {reason}.")
        return found

    def components(self, method: str, protocol: Protocol) -> tuple[int, int]:
        """Columns that the learner sees and predicts, in the configuration best for ranking."""
        chosen = self.figure(method, protocol, "average_precision").configurations[0]
        d, m = self.shape.components(chosen)
        return (
            self.shape.n_features if d is None else d,
            self.shape.n_labels if m is None else m,
        )

    def fit_seconds(self, method: str, protocol: Protocol) -> float:
        """Of one configuration on the training rows of a fold, on average."""
        seconds = self.results[protocol].seconds[self.dataset, method]
        n_configurations = len(self.results[protocol].grids[self.dataset, method].configurations)
        return sum(seconds) / len(seconds) / n_configurations


def specs(n_folds: int = 5, seed: int = 0, *, quick: bool = False) -> dict[Protocol, Spec]:
    """What is run, by protocol."""
    found: dict[Protocol, Spec] = {}
    for protocol in _SELECTIONS:
        file = resources.files("compactlearn_bench") / "data" / f"demo_{protocol}.toml"
        spec = parse_spec(tomllib.loads(file.read_text("utf-8")))
        coarse = (Override(_QUICK[protocol]),) if quick else ()
        found[protocol] = replace(
            spec, folds=n_folds, seed=seed, overrides=(*spec.overrides, *coarse)
        )
    return found


def demonstrate(
    specs: Mapping[Protocol, Spec],
    store: Store,
    *,
    workers: int = 1,
    on_event: OnEvent | None = None,
) -> PaperDemo:
    """Run the specs, as far as the store has no records of them, and put their folds together.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = demonstrate(specs(2, quick=True), Store(folder))
    >>> found.methods, found.components("CMLL", "fair")
    (['ORI', 'CMLL_y', 'CMLL'], (27, 27))
    >>> len(found.figure("CMLL", "fair", "one_error").values)
    2
    """
    start = time.perf_counter()
    results: dict[Protocol, Results] = {}
    for protocol, spec in specs.items():
        run(spec, store, workers=workers, on_event=on_event)
        records = [store.read(cell) for cell in cells_of(spec)]
        known = [record for record in records if record is not None]
        results[protocol] = aggregate(known, _SELECTIONS[protocol])
    data = load(specs["fair"].datasets[0].name)
    shape = TaskShape(data.n_features, data.n_labels, data.n_samples, None)
    return PaperDemo(specs, results, shape, time.perf_counter() - start)

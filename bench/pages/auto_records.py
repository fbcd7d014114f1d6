"""The records of ``bench/auto``, as the tables of docs/results/paper.md ask for them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from statistics import geometric_mean
from typing import Any

import numpy as np

from compactlearn.datasets import describe
from compactlearn.metrics import greater_is_better
from compactlearn_bench import Spec, cells_of, read_spec
from compactlearn_bench.records import Record, Results, aggregate
from pages.shared import ROOT, by_place, hosts_of, packed_records

AUTO = ROOT / "bench" / "auto"  # two specs, and one file of records
YARDSTICK = "One-vs-rest"  # whose seconds and bytes are one
ENDINGS = {"timeout": "time", "memory": "memory", "absent": "absent", "failed": "failed"}


@dataclass(frozen=True, eq=False)
class Compared:
    """A spec and what its cells came to."""

    spec: Spec
    found: Results
    records: Mapping[tuple[str, str], list[Record]]  # of a data set and an entry

    @cached_property
    def entries(self) -> list[str]:
        """Entries that were run on every recorded set, however they ended."""
        asked = Counter((cell.dataset, cell.method) for cell in cells_of(self.spec))
        ran = Counter({place: len(records) for place, records in self.records.items()})
        names = (method.shown for method in self.spec.methods)
        return [n for n in names if all(ran[d, n] == asked[d, n] for d in self.datasets)]

    @property
    def waiting(self) -> str:
        """A sentence on the others."""
        names = [m.shown for m in self.spec.methods if m.shown not in self.entries]
        return f" Not run on all of these sets yet, and left out: {', '.join(names)}." * bool(names)

    @property
    def datasets(self) -> list[str]:
        """Recorded data sets, in the order of the spec."""
        return [data.name for data in self.spec.datasets if data.name in self.found.datasets]

    def described(self, dataset: str) -> str:
        """The name of a set, and how much of it was used."""
        drawn, folds = self.found.rows[dataset], self.found.n_folds[dataset]
        there = describe(dataset).expected.samples
        rows = f"{drawn:,} of {there:,} rows" if drawn else f"{there:,} rows"
        return f"{dataset} ({rows}, {folds} folds)"

    @property
    def hosts(self) -> str:
        """A sentence on the machines."""
        return f"{hosts_of(chain.from_iterable(self.records.values()))}."

    def scores(self, metric: str) -> np.ndarray:
        """(data sets, entries); NaN where there is no score."""
        scores = [[self.found.score(d, e, metric) for e in self.entries] for d in self.datasets]
        return np.array([[np.nan if f is None else f.mean for f in row] for row in scores])

    def means_of(self, entry: str, read: Callable[[Record], Any]) -> list[float | None]:
        """For each set the mean over the folds of what is read; None unless all ended."""
        return [
            None
            if self.found.score(dataset, entry, "average_precision") is None
            else float(np.mean([read(record) for record in self.records[dataset, entry]]))
            for dataset in self.datasets
        ]

    def ratio(self, entry: str, read: Callable[[Record], Any]) -> str:
        """Return the geometric mean of the ratios to the yardstick, where both ended."""
        pairs = zip(self.means_of(entry, read), self.means_of(YARDSTICK, read), strict=True)
        ratios = [own / other for own, other in pairs if own and other]
        if not ratios:
            return ""
        mean = geometric_mean(ratios)
        return f"{mean:.2g}" if mean < 10 else f"{mean:,.0f}"

    def without_score(self, dataset: str, entry: str) -> str:
        """Why, in a word."""
        ends = [record.status for record in self.records.get((dataset, entry), [])]
        return next((ENDINGS[status] for status in ends if status in ENDINGS), "")


def compared(name: str) -> Compared:
    """The records of a spec."""
    spec = read_spec(AUTO / f"{name}.toml")
    asked = {cell.name for cell in cells_of(spec)}
    records = [r for r in packed_records(AUTO / "records.jsonl.xz") if r.cell.name in asked]
    return Compared(spec, aggregate(records, "nested"), by_place(records))


def training_seconds(record: Record) -> float:
    """Choosing the configuration, and the last fit."""
    seconds = record.circumstances["seconds"]
    return seconds["search"] + seconds["fit"]


def model_bytes(record: Record) -> float:
    """Return the bytes of the pickled model."""
    return record.circumstances["model_bytes"]


def filled(scores: np.ndarray, metric: str) -> np.ndarray:
    """An entry that has no score on a set is the last there."""
    worst = np.nanmin(scores) - 1.0 if greater_is_better(metric) else np.nanmax(scores) + 1.0
    return np.where(np.isnan(scores), worst, scores)

"""Tables of docs/results/related.md: related methods compared with ridge and CMLL.

The records of the related work lie in related/, those of ridge and CMLL in paper/. Both met the
same rows and folds: `aggregate` refuses to join them if they did not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import geometric_mean

from compactlearn_bench import Spec, cells_of, read_spec
from compactlearn_bench.methods.frequency import BANDS
from compactlearn_bench.records import Record, Results, Score, Selection, aggregate
from compactlearn_bench.records.significance import SIGNS, paired_t_test
from pages.shared import PAPER, Parts, by_place, hosts_of, markdown, packed_records, table

FOLDER = PAPER.parents[1] / "related"
PACK = FOLDER / "records.jsonl.xz"

RIDGE = "ORI"
YARDSTICK = "yardstick"  # ridge once more, timed with the others
REFERENCES: Mapping[Selection, Mapping[str, str]] = {
    "nested": {
        RIDGE: "**ridge (ORI)**",
        "BR-logistic": "**one-vs-rest, logistic**",
        "CMLL": "**CMLL**",
        "CMLL+logistic": "**CMLL, logistic decoder**",
        "Shortlist": "**Shortlist**",
    },
    "paper": {RIDGE: "**ridge (ORI)**", "CMLL": "**CMLL**"},
}
UNTRIED = "†"
TITLES = {"average_precision": "average precision", "micro_f1": "micro-F1"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """The related work and its references under one protocol."""

    spec: Spec
    found: Results
    records: Mapping[tuple[str, str], Sequence[Record]]  # of a data set and a method

    @property
    def datasets(self) -> list[str]:
        """Return the data sets of the specification."""
        return [data.name for data in self.spec.datasets]

    @property
    def methods(self) -> list[str]:
        """Return the related methods in the order of the specification."""
        return [one.shown for one in self.spec.methods if one.shown != YARDSTICK]

    def table(self, metric: str) -> Parts:
        """One line for each method, one column for each set."""
        titles = REFERENCES[self.found.selection]
        yield [TITLES[metric], *self.datasets, "sets below, above"]
        for method in (*titles, *self.methods):
            cells, signs = [], []
            for data in self.datasets:
                ridge, score = (self.found.score(data, name, metric) for name in (RIDGE, method))
                signs.append(sign(ridge, score))
                mean = f"{score.mean:.3f}" if score else "failed"
                cells.append(f"{mean}{self._untried(data, method)} {signs[-1]}".rstrip())
            counts = [signs.count(SIGNS[mark]) for mark in ("better", "worse")]
            marks = "" if method == RIDGE else f"{counts[0]}, {counts[1]}"
            yield [titles.get(method, method), *cells, marks]

    def _untried(self, dataset: str, method: str) -> str:
        """A mark where nothing was chosen though the method has something to choose."""
        tried = {
            record.details.get("n_tried") for record in self.records.get((dataset, method), ())
        }
        return UNTRIED if method in self.methods and tried == {1} else ""

    def cost(self) -> Parts:
        """Return seconds and parameters of a model as multiples of ridge's."""
        yield ["multiples of ridge", "fit", "selection and fit", "predict", "parameters"]
        for method in self.methods:
            ratios = [
                _ratio(
                    (self._seconds(data, method, parts), self._seconds(data, YARDSTICK, other))
                    for data in self.datasets
                )
                for parts, other in (
                    (("fit",), ("fit",)),
                    (("search", "fit"), ("fit",)),
                    (("predict",), ("predict",)),
                )
            ]
            sizes = _ratio(
                (self._size(data, method), self._size(data, RIDGE)) for data in self.datasets
            )
            yield [method, *map(_times, ratios), f"{sizes:.2f}" if sizes else ""]

    def rare(self) -> Parts:
        """Return the average precision of rare labels for each data set."""
        bands = {data: self._rarest(data) for data in self.datasets}
        shown = [data for data, band in bands.items() if band is not None]
        yield ["average precision of a label", *(f"{data}, {bands[data]} rows" for data in shown)]
        titles = REFERENCES[self.found.selection]
        for method in (*titles, *self.methods):
            parts = [self.found.by_frequency.get((data, method), {}) for data in shown]
            values = [
                part.get(bands[data] or "", {}).get("label_average_precision")
                for data, part in zip(shown, parts, strict=True)
            ]
            cells = ["" if value is None else f"{value:.3f}" for value in values]
            yield [titles.get(method, method), *cells]

    def _rarest(self, dataset: str) -> str | None:
        """The rarest labels that some training rows have, if they are ten or more."""
        known = self.found.by_frequency[dataset, RIDGE]
        names = (name for name, *_ in BANDS[1:])
        return next((name for name in names if known.get(name, {}).get("n_labels", 0) >= 10), None)

    def _seconds(self, dataset: str, method: str, parts: Iterable[str]) -> float:
        """The smallest of the folds: what the neighbours on the machine add is never negative."""
        phases = [
            record.circumstances["seconds"] for record in self.records.get((dataset, method), ())
        ]
        return min((sum(one.get(part, 0.0) for part in parts) for one in phases), default=0.0)

    def _size(self, dataset: str, method: str) -> float:
        score = self.found.score(dataset, method, "average_precision")
        return sum(score.sizes) / len(score.sizes) if score and score.sizes else 0.0

    @property
    def hosts(self) -> str:
        """The class of machine that the records name."""
        records = (one for own in self.records.values() for one in own)
        return hosts_of(one for one in records if one.cell.method in self.methods)


def sign(ridge: Score | None, score: Score | None) -> str:
    """● where ridge is significantly better, ○ where it is worse."""
    if ridge is None or score is None:
        return ""
    return SIGNS[paired_t_test(ridge.values, score.values).mark]


@cache
def _references() -> tuple[Record, ...]:
    """Return those of the paper's records that some table needs."""
    names = {name for titles in REFERENCES.values() for name in titles}
    return tuple(record for record in packed_records(PAPER) if record.cell.method in names)


@cache
def comparison(selection: Selection) -> Comparison:
    """Both files of records, joined."""
    spec = read_spec(FOLDER / f"{selection}.toml")
    datasets = {data.name for data in spec.datasets}
    asked = {cell.name for cell in cells_of(spec)}
    records = [record for record in packed_records(PACK) if record.cell.name in asked]
    records += [
        record
        for record in _references()
        if record.cell.selection == selection
        and record.cell.dataset in datasets
        and record.cell.method in REFERENCES[selection]
    ]
    return Comparison(spec, aggregate(records, selection), by_place(records))


@table
def related_nested() -> Parts:
    """The fair protocol."""
    found = comparison("nested")
    yield from (markdown(found.table(metric)) for metric in TITLES)
    yield (
        "● significantly below tuned ridge, ○ above it (paired t-test over the five folds, 10 %: "
        f"of a hundred comparisons of equals ten would have a mark). {UNTRIED} a single "
        f"configuration: nothing was chosen, where ridge chose its penalty."
    )


@table
def related_paper() -> Parts:
    """The paper's protocol."""
    found = comparison("paper")
    yield from (markdown(found.table(metric)) for metric in TITLES)
    yield (
        "● significantly below ridge under the same protocol, ○ above it (paired t-test, 10 %). "
        f"{UNTRIED} a single configuration."
    )


@table
def related_rare() -> Parts:
    """Rare labels under the fair protocol."""
    yield from comparison("nested").rare()
    yield (
        "For each label the test rows are ranked by its scores; the mean over the labels that have "
        "as many training rows as the column says."
    )


@table
def related_cost() -> Parts:
    """Seconds under the fair protocol, where each fold has one last fit."""
    found = comparison("nested")
    yield from found.cost()
    yield (
        "Geometric means over the sets, of the shortest of five folds, as multiples of one fit (or "
        f"prediction) of ridge with one penalty; {found.hosts}, next to other work, so that a "
        "factor of two means nothing. Choosing is among what the spec gave each method."
    )


def _ratio(pairs: Iterable[tuple[float, float]]) -> float | None:
    """The geometric mean of those that are known."""
    ratios = [own / other for own, other in pairs if own and other]
    return geometric_mean(ratios) if ratios else None


def _times(ratio: float | None) -> str:
    """Two digits of what is small, one of what is large: more was not measured.

    >>> _times(0.714), _times(7.14), _times(714.0), _times(None)
    ('0.7', '7', '700', '')
    """
    return "" if ratio is None else f"{float(f'{ratio:.1g}'):,g}"

"""How many published cells come back under the protocol "as printed", beside the paper's own.

``tables.py`` writes these tables into docs/results.md. The records of the first are those of
``paper/linear.toml`` and ``paper/kernel.toml``, of the second those of ``paper/printed.toml`` and
``paper/printed_kernel.toml``; C2AE, which no convention concerns, has the first alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from compactlearn_bench.records import Record, Results, aggregate, open_records
from compactlearn_bench.report.tables.published import dataset_order, method_order, published
from compactlearn_bench.report.words.summary import CLOSE

FOLDER = Path(__file__).resolve().parent / "paper"
PAPER = FOLDER / "records.jsonl.xz"
PRINTED = FOLDER / "printed.jsonl.xz"
UNCHANGED = ("C2AE",)
SHORT = {
    "average_precision": "AP",
    "micro_f1": "F1",
    "ranking_loss": "RL",
    "one_error": "OE",
    "precision_at_3": "P@3",
    "ndcg_at_3": "nDCG@3",
}


@dataclass(frozen=True)
class PublishedCell:
    """A published figure and how far ours are from it, in its deviations.

    Parameters
    ----------
    before : float
        Under the paper's protocol.
    after, by_ap : float or None
        As printed, with each metric's best configuration and with the best in average precision;
        None where this has not been run.
    """

    dataset: str
    method: str
    metric: str
    before: float
    after: float | None
    by_ap: float | None


def near(distance: float | None) -> bool:
    """Whether a cell lies within two published deviations.

    >>> near(-2.0), near(2.1), near(None)
    (True, False, False)
    """
    return distance is not None and abs(distance) <= CLOSE


def best_mean(results: Results, dataset: str, method: str, metric: str) -> float | None:
    """The best mean over the folds of all configurations, as the tables have it."""
    figure = results.figure(dataset, method, metric)
    return None if figure is None else figure.mean


def mean_by_ap(results: Results, dataset: str, method: str, metric: str) -> float | None:
    """The mean over the folds of the one configuration that is best in average precision."""
    grid = results.grids.get((dataset, method))
    if grid is None:
        return None
    means = np.asarray(grid.values).mean(axis=0)
    place = int(means[:, list(grid.metrics).index("average_precision")].argmax())
    return float(means[place, list(grid.metrics).index(metric)])


def compared(before: Results, after: Results) -> list[PublishedCell]:
    """Every published cell of which there is a figure under the paper's protocol."""
    found = []
    for dataset, method in before.grids:
        later = before if method in UNCHANGED else after
        for metric in SHORT:
            printed = published(dataset, method, metric)
            first = best_mean(before, dataset, method, metric)
            if printed is None or first is None:
                continue
            far = [
                None if mean is None else (mean - printed.mean) / printed.std
                for mean in (
                    first,
                    best_mean(later, dataset, method, metric),
                    mean_by_ap(later, dataset, method, metric),
                )
            ]
            assert far[0] is not None
            found.append(PublishedCell(dataset, method, metric, far[0], far[1], far[2]))
    return found


@cache
def packed_records(path: Path) -> tuple[Record, ...]:
    """All records of a packed file, read once for all the tables that are made of them."""
    return tuple(open_records(path))


@cache
def _cells() -> tuple[PublishedCell, ...]:
    before = aggregate(packed_records(PAPER), "paper")
    return tuple(compared(before, aggregate(packed_records(PRINTED), "paper")))


def printed_by_method() -> str:
    """Published cells within two deviations, method by method."""
    return counted(_cells(), lambda cell: cell.method, method_order)


def printed_by_set() -> str:
    """The same, set by set."""
    return counted(_cells(), lambda cell: cell.dataset, dataset_order)


def counted(
    cells: Iterable[PublishedCell],
    key: Callable[[PublishedCell], str],
    order: Callable[[str], tuple[int, str]],
) -> str:
    """A line for each method or set, and one for all."""
    groups: dict[str, list[PublishedCell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    lines = [["", "published cells", "paper's protocol", "as printed", "one configuration"]]
    names = sorted(groups, key=order)
    lines += [[name.replace("_", "\\_"), *_counts(groups[name])] for name in names]
    lines.append(["all", *_counts([cell for group in groups.values() for cell in group])])
    return _markdown(lines)


def _counts(cells: list[PublishedCell]) -> list[str]:
    run = [cell for cell in cells if cell.after is not None]
    shares = (
        sum(near(cell.before) for cell in cells),
        sum(near(cell.after) for cell in run),
        sum(near(cell.by_ap) for cell in run),
    )
    if len(run) == len(cells):
        return [str(len(cells)), *map(str, shares)]
    known = f"{len(cells)}, {len(run)} of them run"
    of_run = f"{shares[0]} ({sum(near(cell.before) for cell in run)} of those run)"
    return [known, of_run, *(str(share) if run else "" for share in shares[1:])]


def printed_unexplained() -> str:
    """What lies outside, in published deviations, for each set and method."""
    return unexplained(_cells())


def unexplained(cells: Iterable[PublishedCell]) -> str:
    """Methods down, sets across: the metrics outside, with their distance and its sign."""
    cells = list(cells)
    sets = sorted({cell.dataset for cell in cells}, key=dataset_order)
    lines = [["", *sets]]
    for method in sorted({cell.method for cell in cells}, key=method_order):
        own = [cell for cell in cells if cell.method == method]
        lines.append([method.replace("_", "\\_"), *(_outside(own, name) for name in sets)])
    return _markdown(lines)


def _outside(cells: list[PublishedCell], dataset: str) -> str:
    own = [cell for cell in cells if cell.dataset == dataset]
    if any(cell.after is None for cell in own):
        return "not run"
    return ", ".join(
        f"{SHORT[cell.metric]} {cell.after:+.0f}" for cell in own if not near(cell.after)
    )


def printed_conventions(record: dict[str, Any]) -> str:
    """Plain ridge as printed, and with one thing changed: cells within two deviations, by set."""
    rows = record["measurements"]
    sets = sorted({row["data"] for row in rows}, key=dataset_order)
    counts: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        distance = (row["mean"] - row["paper_mean"]) / row["paper_std"]
        counts.setdefault((row["convention"], row["data"]), []).append(near(distance))
    lines = [["", *sets]]
    for convention in dict.fromkeys(row["convention"] for row in rows):
        found = (counts.get((convention, name)) for name in sets)
        lines.append([convention, *("" if one is None else _share(one) for one in found)])
    return _markdown(lines)


def printed_methods(record: dict[str, Any]) -> str:
    """Methods as printed, and with one thing of theirs changed: cells within two deviations."""
    return changed_methods(_cells(), record["measurements"])


def changed_methods(cells: Iterable[PublishedCell], rows: Iterable[dict[str, Any]]) -> str:
    """A line for each method as printed, and one below it for what was changed; sets across."""
    cells, rows = list(cells), list(rows)
    sets = sorted({row["data"] for row in rows}, key=dataset_order)
    lines = [["", *sets, "all"]]
    for name in dict.fromkeys(row["method"] for row in rows):
        own = [cell for cell in cells if cell.method == name and cell.dataset in sets]
        lines.append([f"{name}, as printed", *_by_set(sets, [(c.dataset, c.after) for c in own])])
        own = [row for row in rows if row["method"] == name]
        far = [(row["mean"] - row["paper_mean"]) / row["paper_std"] for row in own]
        places = [row["data"] for row in own]
        title = own[0]["convention"]
        lines.append([f"{name}, {title}", *_by_set(sets, zip(places, far, strict=True))])
    return _markdown(lines)


def _by_set(sets: list[str], distances: Iterable[tuple[str, float | None]]) -> list[str]:
    """How many of each set's distances are near, and how many of all."""
    hits: dict[str, list[bool]] = {name: [] for name in sets}
    for place, distance in distances:
        hits[place].append(near(distance))
    return [*map(_share, hits.values()), _share([hit for own in hits.values() for hit in own])]


def _share(hits: list[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}"


def _markdown(lines: list[list[str]]) -> str:
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(lines[0]) + "|", *body])

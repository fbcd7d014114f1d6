"""Published cells that come back under the protocol "as printed" and under the paper's own.

The records of the first are those of
``paper/linear.toml`` and ``paper/kernel.toml``, of the second those of ``paper/printed.toml`` and
``paper/printed_kernel.toml``; C2AE, which no convention concerns, has the first alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from compactlearn_bench.records import Results, aggregate
from compactlearn_bench.report.tables.metric_tables import CLOSE
from compactlearn_bench.report.tables.published import dataset_order, method_order, published
from pages.shared import PAPER, Parts, packed_records, paper_results

PRINTED = PAPER.with_name("printed.jsonl.xz")
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
    """A published score and how far ours are from it, in its deviations.

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
    score = results.score(dataset, method, metric)
    return None if score is None else score.mean


def mean_by_ap(results: Results, dataset: str, method: str, metric: str) -> float | None:
    """The mean over the folds of the one configuration that is best in average precision."""
    grid = results.grids.get((dataset, method))
    if grid is None:
        return None
    means = np.asarray(grid.values).mean(axis=0)
    place = int(means[:, list(grid.metrics).index("average_precision")].argmax())
    return float(means[place, list(grid.metrics).index(metric)])


def compared(before: Results, after: Results) -> list[PublishedCell]:
    """Every published cell of which there is a score under the paper's protocol."""
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
def _cells() -> tuple[PublishedCell, ...]:
    return tuple(compared(paper_results("paper"), aggregate(packed_records(PRINTED), "paper")))


def printed_by_method() -> Parts:
    """Published cells within two deviations, method by method."""
    return counted(_cells(), lambda cell: cell.method, method_order)


def printed_by_set() -> Parts:
    """The same, set by set."""
    return counted(_cells(), lambda cell: cell.dataset, dataset_order)


def counted(
    cells: Iterable[PublishedCell],
    key: Callable[[PublishedCell], str],
    order: Callable[[str], tuple[int, str]],
) -> Parts:
    """A line for each method or set, and one for all."""
    groups: dict[str, list[PublishedCell]] = {}
    for cell in cells:
        groups.setdefault(key(cell), []).append(cell)
    yield ["", "published cells", "paper's protocol", "as printed", "one configuration"]
    for name in sorted(groups, key=order):
        yield [name.replace("_", "\\_"), *_counts(groups[name])]
    yield ["all", *_counts([cell for group in groups.values() for cell in group])]


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


def printed_unexplained() -> Parts:
    """Methods down, sets across: the metrics outside, with their distance and its sign."""
    cells = _cells()
    sets = sorted({cell.dataset for cell in cells}, key=dataset_order)
    yield ["", *sets]
    for method in sorted({cell.method for cell in cells}, key=method_order):
        own = [cell for cell in cells if cell.method == method]
        yield [method.replace("_", "\\_"), *(_outside(own, name) for name in sets)]


def _outside(cells: list[PublishedCell], dataset: str) -> str:
    own = [cell for cell in cells if cell.dataset == dataset]
    if any(cell.after is None for cell in own):
        return "not run"
    return ", ".join(
        f"{SHORT[cell.metric]} {cell.after:+.0f}" for cell in own if not near(cell.after)
    )

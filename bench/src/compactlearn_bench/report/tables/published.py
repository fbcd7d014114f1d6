"""The scores that the paper prints, and the order in which it prints them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from compactlearn_bench.methods.table import ROWS, Family

__all__ = [
    "PUBLISHED",
    "REFERENCES",
    "Family",
    "Published",
    "dataset_order",
    "family_of",
    "has_its_rows",
    "method_order",
    "published",
    "published_first",
]

#: A table's reference; in the third and fourth CMLL is a guest.
REFERENCES: Mapping[Family, str] = MappingProxyType(
    {"linear": "CMLL", "kernel": "k-CMLL", "related": "CMLL", "other": "CMLL"}
)


@dataclass(frozen=True)
class Published:
    """A cell of the paper's tables."""

    family: Family
    metric: str
    dataset: str
    method: str
    mean: float
    std: float


def _read() -> dict[tuple[str, str, str], Published]:
    folder = resources.files("compactlearn_bench.report.tables")
    text = folder.joinpath("published.csv").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {
        (row["dataset"], row["method"], row["metric"]): Published(
            "kernel" if row["table"] == "kernel" else "linear",
            row["metric"],
            row["dataset"],
            row["method"],
            float(row["mean"]),
            float(row["std"]),
        )
        for row in csv.DictReader(lines)
    }


#: From (dataset, method, metric), in the paper's order.
PUBLISHED: Mapping[tuple[str, str, str], Published] = MappingProxyType(_read())
_DATASETS = tuple(dict.fromkeys(dataset for dataset, _, _ in PUBLISHED))
#: Rows that the paper had; of bibtex and some others these are a part.
_ROWS = {
    "plant": 978,
    "msra": 1868,
    "enron": 1702,
    "llog": 1460,
    **dict.fromkeys(("bibtex", "eurlex-sm", "bookmarks", "corel5k", "eurlex-dc", "espgame"), 5000),
    "delicious": 16105,
    "mediamill": 43907,
}


def published(dataset: str, method: str, metric: str) -> Published | None:
    """The paper's score, or None if it has none.

    >>> published("enron", "CMLL", "average_precision").mean
    0.6965
    """
    return PUBLISHED.get((dataset.casefold(), method, metric))


def published_first(dataset: str, family: Family, metric: str, *, greater: bool) -> list[str]:
    """The methods that the paper has first on a data set; empty where it has no scores.

    >>> published_first("enron", "linear", "average_precision", greater=True)
    ['CMLL']
    """
    means = {
        cell.method: cell.mean
        for cell in PUBLISHED.values()
        if (cell.dataset, cell.family, cell.metric) == (dataset.casefold(), family, metric)
    }
    best = (max if greater else min)(means.values(), default=None)
    return [method for method, mean in means.items() if mean == best]


def has_its_rows(dataset: str, rows: int | None) -> bool:
    """Whether a run on so many rows (None: all) may be compared with the paper's scores.

    >>> has_its_rows("enron", None), has_its_rows("enron", 200), has_its_rows("bibtex", 5000)
    (True, False, True)
    """
    return rows is None or rows == _ROWS.get(dataset.casefold())


def family_of(method: str) -> Family:
    """Return the table to which a method belongs.

    The paper's methods have its two tables, its related work the third. The library's other
    methods, and variants of any, named by a comma or slash, have the fourth. Methods of other
    packages are listed with the paper's.

    >>> family_of("C2AE"), family_of("RRR")
    ('kernel', 'other')
    >>> family_of("CMLL, one penalty"), family_of("k-CMLL/random")
    ('other', 'other')
    >>> family_of("k-NN"), family_of("ridge")
    ('kernel', 'linear')
    """
    if method in ROWS:
        return ROWS[method].family
    stems = {method, method.partition(",")[0], method.partition("/")[0]}
    if stems & ROWS.keys():
        return "other"
    return "kernel" if method.startswith("k-") else "linear"


def dataset_order(name: str) -> tuple[int, str]:
    """A key for sorting: as the paper does, others after them by name."""
    known = name.casefold()
    return (_DATASETS.index(known) if known in _DATASETS else len(_DATASETS), name)


def method_order(name: str) -> tuple[int, str]:
    """A key for sorting: as the paper does, unknown ones before the reference, which is last."""
    methods = [known for known, row in ROWS.items() if row.family != "other"]
    if name in REFERENCES.values():
        return (len(methods) + 1, name)
    return (methods.index(name) if name in methods else len(methods), name)

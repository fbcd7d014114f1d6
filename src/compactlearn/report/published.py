"""The figures that the paper prints, and the order in which it prints them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Literal

__all__ = [
    "PUBLISHED",
    "REFERENCES",
    "Family",
    "Published",
    "dataset_order",
    "family_of",
    "method_order",
    "published",
]

#: The paper has two tables, each with its own reference.
Family = Literal["linear", "kernel"]
REFERENCES: Mapping[Family, str] = MappingProxyType({"linear": "CMLL", "kernel": "k-CMLL"})


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
    text = resources.files("compactlearn.report").joinpath("data/published.csv").read_text("utf-8")
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
_FAMILIES = {cell.method: cell.family for cell in PUBLISHED.values()}


def published(dataset: str, method: str, metric: str) -> Published | None:
    """The paper's figure, or None if it has none.

    >>> published("enron", "CMLL", "average_precision").mean
    0.6965
    """
    return PUBLISHED.get((dataset.casefold(), method, metric))


def family_of(method: str) -> Family:
    """In which of the two tables a method stands; one that the paper lacks is put by its name.

    >>> family_of("C2AE"), family_of("k-NN"), family_of("ridge")
    ('kernel', 'kernel', 'linear')
    """
    return _FAMILIES.get(method, "kernel" if method.startswith("k-") else "linear")


def dataset_order(name: str) -> tuple[int, str]:
    """A key for sorting: as the paper does, others after them by name."""
    known = name.casefold()
    return (_DATASETS.index(known) if known in _DATASETS else len(_DATASETS), name)


def method_order(name: str) -> tuple[int, str]:
    """A key for sorting: as the paper does, unknown ones before the reference, which is last."""
    methods = list(_FAMILIES)
    if name in REFERENCES.values():
        return (len(methods) + 1, name)
    return (methods.index(name) if name in methods else len(methods), name)

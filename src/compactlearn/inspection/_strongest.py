"""The strongest terms of a score, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn.inspection._explanation import Term
from compactlearn.inspection._label_names import LabelNames
from compactlearn.inspection._terms import Parts, Terms


@dataclass(frozen=True)
class TermNames:
    """What terms are called that every model speaks of."""

    labels: LabelNames
    features: Sequence[str] | None

    def of(self, group: Terms, column: int) -> str:
        if group.names is not None:
            return group.names[column]
        if group.kind != "feature":  # they speak of labels
            return self.labels.names[column]
        return f"x{column}" if self.features is None else self.features[column]


def strongest(
    parts: Parts, pair: int, X: Any, names: TermNames, k: int | None
) -> tuple[tuple[Term, ...], int]:
    """The k terms of largest size, and how many others there are."""
    owners, columns, sizes = [], [], []
    for number, group in enumerate(parts.groups):
        entries = slice(*group.contributions.indptr[pair : pair + 2])
        there = np.flatnonzero(group.contributions.data[entries])
        columns.append(group.contributions.indices[entries][there])
        sizes.append(group.contributions.data[entries][there])
        owners.append(np.full(there.size, number))
    if not sizes:
        return (), 0
    size, column, owner = (np.concatenate(part) for part in (sizes, columns, owners))
    order = np.lexsort([column, owner, -np.abs(size)])
    terms = []
    for one in order if k is None else order[:k]:
        group, j = parts.groups[owner[one]], int(column[one])
        values = X if group.kind == "feature" and group.values is None else group.values
        value = np.nan if values is None else float(values[pair, j])
        value = None if np.isnan(value) else value
        terms.append(Term(names.of(group, j), float(size[one]), value, group.kind))
    return tuple(terms), order.size - len(terms)


def add_by_label(
    sums: dict[int, dict[str, float]], group: Terms, labels: Any, names: TermNames
) -> None:
    """Add the contributions of a group's terms to the sums of their labels, by name."""
    kept, place = np.unique(labels, return_inverse=True)
    shape = (kept.size, labels.size)
    which = scipy.sparse.csr_array((np.ones(labels.size), (place, np.arange(labels.size))), shape)
    total = scipy.sparse.csr_array(which @ group.contributions)
    for k, label in enumerate(kept):
        own = sums.setdefault(int(label), {})
        entries = slice(*total.indptr[k : k + 2])
        for j, value in zip(total.indices[entries], total.data[entries], strict=True):
            name = names.of(group, int(j))
            own[name] = own.get(name, 0.0) + float(value)

"""Scores of ``AutoCompactClassifier`` as sums: the terms of its members as log-odds, weighted."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from compactlearn.auto._blend import Blend
from compactlearn.auto._classifier import AutoCompactClassifier
from compactlearn.inspection._decomposition import (
    NotExplained,
    Places,
    checked_rows,
    label_vectors_of,
    neighbours_of,
    parts_of,
    with_base,
)
from compactlearn.inspection._explanation import Neighbour
from compactlearn.inspection._terms import Parts


@parts_of.register
def _(model: AutoCompactClassifier, X: Any, labels: Places) -> Parts:
    parts = parts_of(model.blend_, X, labels).plus(-model.boundary_)
    return with_base(parts, X, labels, model)


@parts_of.register
def _(blend: Blend, X: Any, labels: Places) -> Parts:
    """Terms of the same feature are one; those of a single member have its name before them."""
    found = []
    for member in blend.members:
        parts = parts_of(member.model, checked_rows(member.model, X), labels)
        parts = parts.through(member.reading).times(member.weight)
        found.append(parts if len(blend.members) == 1 else parts.named(member.name))
    return reduce(add, found).plus(blend.intercept)


@neighbours_of.register
def _(model: AutoCompactClassifier, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
    return neighbours_of(model.blend_, X, labels, k)


@neighbours_of.register
def _(blend: Blend, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
    """The neighbours of the first member that has any."""
    for member in blend.members:
        found = neighbours_of(member.model, checked_rows(member.model, X), labels, k)
        if any(found):
            return found
    return [()] * labels.size


@label_vectors_of.register
def _(model: AutoCompactClassifier) -> Any:
    """The vectors of the member of largest weight that has any."""
    reason = None
    for member in sorted(model.blend_.members, key=lambda member: -member.weight):
        try:
            return label_vectors_of(member.model)
        except NotExplained as error:
            reason = error
    assert reason is not None  # a blend has a member
    raise reason

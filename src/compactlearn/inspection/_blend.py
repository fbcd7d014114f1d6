"""Scores of ``AutoCompactClassifier`` as sums: the terms of its members as log-odds, weighted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.auto._blend import Blend, Member
from compactlearn.auto._classifier import AutoCompactClassifier
from compactlearn.inspection._decomposition import (
    NotExplained,
    Places,
    ScoreDecomposition,
    decomposition_of,
    with_base,
)
from compactlearn.inspection._explanation import Neighbour
from compactlearn.inspection._terms import Parts


@dataclass(frozen=True)
class BlendDecomposition(ScoreDecomposition):
    """One member or several."""

    blend: Blend
    boundary: float = 0.0
    base: NDArray[np.float64] | None = None  # the scores of rows of zeros

    def width(self, X: Any) -> int:
        """Return that of the widest member."""
        return max(decomposition_of(member.model).width(X) for member in self.blend.members)

    def parts(self, X: Any, labels: Places) -> Parts:
        """Terms of the same feature are one; those of a single member have its name before them."""
        parts = [self._of_member(member, X, labels) for member in self.blend.members]
        total = reduce(add, parts).plus(self.blend.intercept - self.boundary)
        return with_base(total, X, labels, self.base, self.boundary)

    def _of_member(self, member: Member, X: Any, labels: Places) -> Parts:
        inner = decomposition_of(member.model)
        parts = inner.parts(inner.checked(X), labels).through(member.reading)
        parts = parts.times(member.weight)
        return parts if len(self.blend.members) == 1 else parts.named(member.name)

    def neighbours(self, X: Any, labels: Places, k: int) -> list[tuple[Neighbour, ...]]:
        """Return the neighbours of the first member that has any."""
        for member in self.blend.members:
            inner = decomposition_of(member.model)
            found = inner.neighbours(inner.checked(X), labels, k)
            if any(found):
                return found
        return super().neighbours(X, labels, k)

    def label_vectors(self) -> Any:
        """Return those of the member of largest weight that has any."""
        for member in sorted(self.blend.members, key=lambda member: -member.weight):
            try:
                return decomposition_of(member.model).label_vectors()
            except NotExplained:
                continue
        return super().label_vectors()


@decomposition_of.register
def _(model: AutoCompactClassifier) -> ScoreDecomposition:
    return BlendDecomposition(model, model.blend_, model.boundary_, model.base_scores_)

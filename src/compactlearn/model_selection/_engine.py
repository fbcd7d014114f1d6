"""Scores of validation rows for many settings, from as few decompositions as possible.

One eigenproblem serves all numbers of label components (codes are nested); one range of Xc'V all
numbers of feature components, with nested completions; one decomposition of the learner's Gram
matrix, or the Schur complement of :mod:`compactlearn.linalg._nested`, all penalties; the decoder's
ridge divides scores and costs nothing.

A learner without an intercept needs none of this anew: its scores are those of the one with a free
intercept, less the intercept's share of them times what its own ridge leaves over of the constant 1
(:func:`compactlearn.linalg._learning.constant_left_over`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from compactlearn.compact._penalty import resolved_penalty
from compactlearn.embeddings._base import Embedded, Embedding, Head
from compactlearn.embeddings._components import component_count, default_label_size
from compactlearn.linalg._learning import constant_left_over, learn_path
from compactlearn.linalg._nested import NestedRows, RowsOnPath, projected_target
from compactlearn.model_selection._candidates import Group, Wanted
from compactlearn.model_selection._folds import Fold

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SplitScores:
    """Scores of rows, and the settings they belong to.

    Parameters
    ----------
    indices : list of int
        Places among the candidates: these settings have the same scores.
    scores : ndarray of shape (n_rows, n_labels)
    threshold : float or ndarray of shape (n_labels,)
        A label is predicted where its score is strictly above.
    n_features : int or None
        Number of columns that the learner is fitted to; None is all the features.
    n_codes : int or None
        Number of codes that it predicts; None is the labels themselves.
    """

    indices: list[int]
    scores: Array
    threshold: Any
    n_features: int | None
    n_codes: int | None


def scores_of(group: Group, fold: Fold, skip: Container[int] = ()) -> Iterator[SplitScores]:
    """Yield the scores of every setting, those of large penalties first; equal ones once.

    ``skip`` may grow on the way: settings in it are left out from then on.
    """
    wanted = [replace(w, alpha=resolved_penalty(w.alpha, fold.pair)) for w in group.wanted]
    solved = _Solved(group, fold, wanted, skip)
    for label_size, some in _grouped(wanted, solved.components):
        yield from solved.for_label_size(label_size, some)


class _Solved:
    """One method on one fold."""

    def __init__(
        self, group: Group, fold: Fold, wanted: list[Wanted], skip: Container[int]
    ) -> None:
        self.free, self.threshold = group.model.bias == "free", group.model.threshold
        self.fold, self.pair, self.skip = fold if self.free else fold.with_origin, fold.pair, skip
        self.embedding = _with(group.embedding, label_ridge=0.0)
        found = (self.components(w) for w in wanted)
        sizes = [size for size in found if size is not None]
        self.largest: Embedded | None = None
        if sizes:
            whole = _with(self.embedding, n_label_components=max(sizes))
            self.largest = whole.unprojected(self.pair)
        self.kept_codes: dict[float, Array] = {}

    def components(self, wanted: Wanted) -> int | None:
        """Return the number of label components; None if labels are kept."""
        size, name = wanted.label_size, "n_label_components"
        return component_count(size, self.pair.n_right, name, "labels", default_label_size)

    def for_label_size(self, count: int | None, wanted: list[Wanted]) -> Iterator[SplitScores]:
        embedding, result = _with(self.embedding, n_label_components=count), None
        if count is not None:
            assert self.largest is not None
            whole = _with(self.embedding, n_feature_components=None)
            result = whole.leading(self.pair, self.largest, count)
        nested = result is not None
        if result is None:
            result = embedding.unprojected(self.pair)
        projected: list[tuple[Any, list[Wanted]]] = []
        for feature_size, group in _grouped(wanted, lambda w: w.feature_size):
            if feature_size is None and result.projection is not None:  # always projects
                yield from self._on_path(result.projection, result, group)
            elif feature_size is None:
                yield from self._on_all_features(result, nested, group)
            else:
                projected.append((feature_size, group))
        sizes = [feature_size for feature_size, _ in projected]
        heads = embedding.heads(self.pair, result, count, sizes) if sizes else []
        together: dict[int, list[tuple[Head, list[Wanted]]]] = {}
        for (feature_size, group), head in zip(projected, heads, strict=True):
            if head is None:
                yield from self._alone(count, feature_size, group)
            elif head.columns is None:
                yield from self._on_all_features(result, nested, group)
            else:
                together.setdefault(head.columns.shape[1], []).append((head, group))
        for members in together.values():
            yield from self._projected(result, members)

    def _by_penalty(self, wanted: list[Wanted]) -> Iterator[tuple[float, list[Wanted]]]:
        """Yield settings with the same penalty, from the largest on, without skipped ones."""
        for alpha in sorted({w.alpha for w in wanted}, reverse=True):
            group = [w for w in wanted if w.alpha == alpha and w.index not in self.skip]
            if group:
                yield alpha, group

    def _on_all_features(
        self, result: Embedded, nested: bool, wanted: list[Wanted]
    ) -> Iterator[SplitScores]:
        """Yield the scores of a learner on all features.

        All codes of the fold share its decomposition, and nested codes share its solution.
        """
        source = self.largest.codes if nested and self.largest is not None else result.codes
        path = None
        for alpha, group in self._by_penalty(wanted):
            codes = self.kept_codes.get(alpha) if nested else None
            if codes is None:
                path = path or self.fold.on_path(learn_path(self.pair, None, source))
                codes = path.codes(alpha)
                if nested:
                    self.kept_codes[alpha] = codes
            W = result.decoder
            codes = codes[:, : result.codes.size]
            left_over = None if self.free else self.fold.constant_left_over(alpha)
            scores = codes if W is None else codes @ W
            yield from self._finished(scores, None, result, group, left_over)

    def _projected(
        self, result: Embedded, members: list[tuple[Head, list[Wanted]]]
    ) -> Iterator[SplitScores]:
        """Yield the scores of projections that begin with the same columns."""
        P = members[0][0].columns
        assert P is not None
        extra = max(head.extra for head, _ in members)
        if not extra:
            wanted = [w for _, group in members for w in group]
            yield from self._on_path(P, result, wanted)
            return
        if self.pair.left.graded:  # principal directions are uncorrelated but for rounding
            whole = np.hstack([P, self.pair.left.principal_directions(extra, P)[0]])
            for head, group in members:
                own = whole[:, : P.shape[1] + head.extra]
                yield from self._on_path(own, result, group)
            return
        target = projected_target(self.pair, P, result.codes, result.decoder)
        rows = NestedRows.of(self.pair, P, extra, self.fold.rows)
        by_extra: dict[int, list[Wanted]] = {}
        for head, group in members:
            count = min(head.extra, rows.variances.size)
            by_extra.setdefault(count, []).extend(group)
        extras = sorted(by_extra)
        for alpha, _ in self._by_penalty([w for group in by_extra.values() for w in group]):
            left_over = repeat(None) if self.free else rows.constant_left_over(alpha, extras)
            found = zip(extras, rows.scores(target, alpha, extras), left_over, strict=False)
            for count, scores, left in found:
                group = [w for w in by_extra[count] if w.alpha == alpha]
                yield from self._finished(scores, P.shape[1] + count, result, group, left)

    def _on_path(self, P: Array, result: Embedded, wanted: list[Wanted]) -> Iterator[SplitScores]:
        learned = learn_path(self.pair, P, result.codes)
        rows = RowsOnPath.of(learned, self.fold.rows @ self.pair.left.expressed(P))
        if result.decoder is not None:
            rows = rows.with_inside(learned.inside @ result.decoder)
        for alpha, group in self._by_penalty(wanted):
            left_over = None
            if not self.free:
                left_over = constant_left_over(self.pair, P, alpha, self.fold.rows)
            yield from self._finished(rows.codes(alpha), P.shape[1], result, group, left_over)

    def _alone(
        self, label_size: int | None, feature_size: Any, wanted: list[Wanted]
    ) -> Iterator[SplitScores]:
        """A size whose problem has to be solved by itself."""
        # Cloned, so that a generator given as the seed begins anew, as in a fit of its own.
        own = _with(
            clone(self.embedding), n_feature_components=feature_size, n_label_components=label_size
        )
        result = own.solve(self.pair)
        assert result.projection is not None
        yield from self._on_path(result.projection, result, wanted)

    def _finished(
        self,
        deviations: Array,
        n_features: int | None,
        result: Embedded,
        wanted: list[Wanted],
        left_over: Array | None,
    ) -> Iterator[SplitScores]:
        """Add the constant part of the scores, for each ridge of the decoder."""
        mean = result.codes.total / self.pair.count
        W = result.decoder
        mean = mean if W is None else mean @ W
        constant = mean + result.offset
        if left_over is not None:  # the last row is the origin, where a free learner says b
            intercept = deviations[-1] + mean
            deviations = deviations[:-1] - left_over[:-1] * intercept
        for label_ridge, group in _grouped(wanted, lambda w: w.label_ridge):
            shrunk = 1.0 if W is None else 1.0 / (1.0 + label_ridge)
            added = constant if self.embedding.traits.keeps_offset else constant * shrunk
            indices = [w.index for w in group]
            n_codes = None if W is None else W.shape[0]
            scores = deviations * shrunk + added
            yield SplitScores(indices, scores, self.threshold, n_features, n_codes)


def _with(embedding: Embedding, **values: Any) -> Embedding:
    """A copy with other values of those parameters that it has; a clone would cost more."""
    other = copy(embedding)
    for name, value in values.items():
        if hasattr(other, name):
            setattr(other, name, value)
    return other


def _grouped(items: Iterable[Any], key: Any) -> list[tuple[Any, list[Any]]]:
    """Items with the same key, in the order in which keys appear (keys need not compare)."""
    groups: dict[Any, list[Any]] = {}
    for item in items:
        value = key(item)  # 1 is a count and 1.0 a ratio, yet they are equal
        groups.setdefault((type(value), value), []).append(item)
    return [(key(group[0]), group) for group in groups.values()]

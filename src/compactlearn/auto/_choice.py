"""Selection of the best trial, or of a blend of the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.auto._blend import Blend, join
from compactlearn.auto._budgets import SizeBudget
from compactlearn.auto._problem import Problem, Rows
from compactlearn.auto._trials import Trial
from compactlearn.core._weight import bytes_in
from compactlearn.shortlist._classifier import ShortlistClassifier

Array = NDArray[np.float64]

MOST_MEMBERS = 5
SHORTLISTS = 10  # all models together are at most so many times as large as a shortlist
SMALLEST_SHARE = 0.05  # members with a smaller share of the weights are dropped


def best_choice(
    problem: Problem,
    tried: Sequence[Trial],
    most_numbers: float = np.inf,
    stopgaps: Sequence[Trial] = (),
) -> Trial:
    """Return the best model, or a blend of the best where it is better on held-out rows.

    The weights of a blend are learnt without the fold that scores it. Two kinds are compared:
    weights of maximum likelihood, and the plain mean of the two or three best. ``stopgaps`` are
    never blended.
    """
    if not tried:
        return max(stopgaps, key=lambda one: one.score)
    order = sorted(tried, key=lambda one: -one.score)[:MOST_MEMBERS]
    choices = [order[0], *stopgaps]
    sets = [order[:count] for count in sorted({2, 3, len(order)}) if 2 <= count <= len(order)]
    for members in sets:
        small_enough = sum(one.numbers for one in members) <= most_numbers
        if small_enough and _shared_rows(members).size:
            choices.append(_blended(problem, members, equal=False))
            if len(members) <= 3:
                choices.append(_blended(problem, members, equal=True))
    return max(choices, key=lambda one: one.score)  # of equals the first: the simplest


def too_large(one: Trial, tried: Sequence[Trial], size: SizeBudget | None) -> str | None:
    """Return why a fitted model may not be selected, or None.

    Without a size budget, a shortlist and the models after it have at most ten times its bytes.
    """
    if size is not None:
        above = f"{one.numbers:,} parameters, above size_budget"
        return None if size.accepts(one.model, one.numbers) else above
    if not tried or not isinstance(tried[0].model, ShortlistClassifier):
        return None
    own, *others = (bytes_in(each.model) for each in (*tried, one))
    if own + sum(others) <= SHORTLISTS * own:
        return None
    return (
        f"{others[-1] / 1e6:,.0f} MB, above {SHORTLISTS} times the {own / 1e6:,.1f} MB of the "
        "shortlist; pass a size_budget to allow it"
    )


def _blended(problem: Problem, members: Sequence[Trial], *, equal: bool) -> Trial:
    rows = _shared_rows(members)
    parts = [one.log_odds[np.searchsorted(one.rows, rows)] for one in members]
    weights, added = _weights(problem, rows, parts, equal)
    if not equal and (weights < SMALLEST_SHARE * weights.sum()).any():
        kept = [k for k in range(len(members)) if weights[k] >= SMALLEST_SHARE * weights.sum()]
        return _blended(problem, [members[k] for k in kept], equal=False)
    if len(members) == 1:
        return members[0]
    by_fold = np.full(len(problem.splits), np.nan)
    for k in range(len(problem.splits)):
        inside = problem.fold[rows] == k
        if not inside.any():
            continue
        others = ~inside if not inside.all() else inside
        own, more = _weights(problem, rows[others], [part[others] for part in parts], equal)
        by_fold[k] = problem.score_fold(rows, _sum(parts, own, more), k)
    blend = Blend(
        tuple(
            replace(one.blend.members[0], weight=float(weight))
            for one, weight in zip(members, weights, strict=True)
        ),
        added,
    )
    name = "blend of " + "; ".join(one.name for one in members)
    numbers = sum(one.numbers for one in members)
    return Trial(name, blend, by_fold, rows, _sum(parts, weights, added), numbers)


def _shared_rows(members: Sequence[Trial]) -> Rows:
    """Return the rows that have out-of-fold scores of all members."""
    return reduce(np.intersect1d, [one.rows for one in members])


def _weights(
    problem: Problem, rows: Rows, parts: Sequence[NDArray[Any]], equal: bool
) -> tuple[Array, float]:
    weights = None if problem.weights is None else problem.weights[rows]
    unknown = problem.unknown_of(rows)
    if not equal:
        return join(parts, problem.Y[rows], weights, problem.seed, unknown)
    mean = sum(parts[1:], parts[0]) / np.float32(len(parts))
    slope, added = join([mean], problem.Y[rows], weights, problem.seed, unknown)
    return np.full(len(parts), slope[0] / len(parts)), added


def _sum(parts: Sequence[NDArray[Any]], weights: Array, added: float) -> NDArray[Any]:
    total = np.float32(weights[0]) * parts[0] + np.float32(added)
    for weight, part in zip(weights[1:], parts[1:], strict=True):
        total += np.float32(weight) * part
    return total

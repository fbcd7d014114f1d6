"""Ranks of the methods over all data sets, and stricter tests of the marks in the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compactlearn_bench.records.ranks import (
    Friedman,
    WinTieLoss,
    average_ranks,
    critical_difference,
    friedman,
    post_hoc,
    wilcoxon,
    win_tie_loss,
)
from compactlearn_bench.records.significance import (
    LEVEL,
    corrected_t_test,
    detectable_difference,
    holm,
)
from compactlearn_bench.report.tables.metric_tables import Entry, MetricTable, settled
from compactlearn_bench.report.tables.names import greater_is_better

__all__ = ["MarkCheck", "Standing", "check_marks", "standing"]


@dataclass(frozen=True)
class Standing:
    """Ranks of the methods of one table, over the data sets on which each has a score.

    `against` has, for each method but the reference, p by ranks and p by Wilcoxon, both adjusted by
    Holm's procedure and NaN on a single data set, and the reference's wins, ties and losses.
    """

    table: MetricTable
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out: tuple[str, ...]  # methods and data sets without a score
    ranks: tuple[float, ...]
    test: Friedman | None  # None where there are too few
    critical: float | None  # Nemenyi's critical difference at 5 %
    against: Mapping[str, tuple[float, float, WinTieLoss]]


@dataclass(frozen=True)
class MarkCheck:
    """Counts of significant comparisons, better and worse, under stricter tests."""

    n_comparisons: int
    plain: tuple[int, int]  # by the paper's test
    corrected: tuple[int, int]  # by the corrected resampled t-test
    adjusted: tuple[int, int]  # the same, with Holm's adjustment for all together
    detectable: float  # median of what the paper's test notices in four cases of five


def standing(table: MetricTable) -> Standing | None:
    """Ranks over the data sets on which all methods have a score; None if there are none."""
    methods = [
        method
        for method in table.methods
        if 2 * sum(_known(table, d, method) for d in table.datasets) >= len(table.datasets)
    ]
    datasets = [d for d in table.datasets if all(_known(table, d, m) for m in methods)]
    if len(methods) < 2 or not datasets:
        return None
    scores = np.array([[_mean(table.entries[d, m]) for m in methods] for d in datasets])
    better = greater_is_better(table.metric)
    ranks = average_ranks(scores, greater_is_better=better)
    enough = len(methods) > 2 and len(datasets) > 1
    left_out = [*(m for m in table.methods if m not in methods)]
    left_out += [d for d in table.datasets if d not in datasets]
    return Standing(
        table,
        tuple(methods),
        tuple(datasets),
        tuple(left_out),
        tuple(ranks.tolist()),
        friedman(scores) if enough else None,
        critical_difference(len(methods), len(datasets)) if enough else None,
        _against(methods, scores, ranks, table.reference, better),
    )


def check_marks(tables: Sequence[MetricTable]) -> MarkCheck:
    """Count the marks of all tables under three tests."""
    plain, corrected, detectable = [], [], []
    for table in tables:
        for entry in table.ordered():
            reference = table.entries.get((entry.dataset, table.reference or ""))
            if entry.comparison is None or entry.score is None or reference is None:
                continue
            if reference.score is None:
                continue
            n_folds = len(entry.score.values)
            plain.append(entry.comparison)
            corrected.append(
                corrected_t_test(
                    reference.score.values,
                    entry.score.values,
                    n_train=n_folds - 1,
                    n_test=1,
                    greater_is_better=greater_is_better(table.metric),
                )
            )
            detectable.append(detectable_difference(entry.comparison.deviation, n_folds))
    adjusted = holm([comparison.p_value for comparison in corrected])
    signs = [np.sign(comparison.gain) for comparison in corrected]
    kept = [sign for sign, p in zip(signs, adjusted, strict=True) if p <= LEVEL]
    return MarkCheck(
        len(plain),
        _count([comparison.mark for comparison in plain]),
        _count([comparison.mark for comparison in corrected]),
        (int(sum(sign > 0 for sign in kept)), int(sum(sign < 0 for sign in kept))),
        float(np.nanmedian(detectable)) if detectable else float("nan"),
    )


def _count(marks: Sequence[str]) -> tuple[int, int]:
    return marks.count("better"), marks.count("worse")


def _known(table: MetricTable, dataset: str, method: str) -> bool:
    return table.entries[dataset, method].score is not None


def _mean(entry: Entry) -> float:
    return settled(entry.score.mean) if entry.score else float("nan")


def _against(
    methods: Sequence[str],
    scores: NDArray[np.float64],
    ranks: NDArray[np.float64],
    reference: str | None,
    better: bool,
) -> dict[str, tuple[float, float, WinTieLoss]]:
    if reference not in methods:
        return {}
    control = methods.index(reference)
    others = [k for k in range(len(methods)) if k != control]
    by_rank = post_hoc(ranks, len(scores), control)
    by_sign = holm([wilcoxon(scores[:, control], scores[:, k]) for k in others])
    if len(scores) < 2:
        by_rank, by_sign = np.full(len(methods), np.nan), np.full(len(others), np.nan)
    return {
        methods[k]: (
            float(by_rank[k]),
            float(p),
            win_tie_loss(scores[:, control], scores[:, k], greater_is_better=better),
        )
        for k, p in zip(others, by_sign, strict=True)
    }

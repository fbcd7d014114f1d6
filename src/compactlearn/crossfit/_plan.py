"""Number of folds that decoder and threshold are learnt on, and its cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.decoding._logistic_at_size import cells_at_size

Array = NDArray[np.float64]

N_FOLDS = 5
N_HELD_OUT = 3  # folds that judge a decoder

# threshold="auto" is tuned on at least this number of rows, or on all there are. Two thousand rows
# of a few labels each determine one number; a larger set needs one refit instead of five.
ENOUGH_ROWS = 2_000

# Seconds of one logistic fit for each row, code and label, on two cores: corel5k takes 1.4 s for
# 5000 rows, 100 codes and 374 labels, and choosing the penalty three and a half times that.
LOGISTIC_SECONDS = 7.5e-9
CHOOSING = 3.5
AT_SIZE_SECONDS = 2.5e-9  # of the fit for large problems, for each row, code and label solved for

# Work that would take longer than this, for a threshold or a decoder, is done on fewer folds, and
# by the logistic decoder for large problems. Of the paper's sets only delicious takes as long.
LARGE = {"linear": 10.0, "logistic": 60.0}


@dataclass(frozen=True)
class FoldPlan:
    """Number of folds, and number of those that a decoder is judged on."""

    n_folds: int = N_FOLDS
    n_held_out: int = N_HELD_OUT
    at_size: bool = False
    halves: bool = False  # whether one half of a held-out fold scales what the other half judges


USUAL_FOLDS = FoldPlan()

# With tens of thousands of rows, a third of them determines one number: five models in place of
# fifteen; or half a third, and three.
FEW_FOLDS = FoldPlan(3, 1, at_size=True)


@dataclass(frozen=True)
class Work:
    """Steps and seconds of learning decoder and threshold."""

    what: str
    steps: int
    seconds: float

    @classmethod
    def of(
        cls,
        decoder: str,
        count: int,
        size: tuple[int, int, int],
        fit_seconds: float,
        plan: FoldPlan = USUAL_FOLDS,
        cells: float = 0.0,
    ) -> Work:
        """Estimate the work of a plan.

        ``count`` folds are scored; ``size`` is the number of rows, codes and labels, and ``cells``
        that of the pairs of a row and a label that a large problem is solved for.
        """
        if decoder == "linear":
            return cls("tuning the threshold", count, count * fit_seconds)
        # The prior needs out-of-fold scores of all rows, and of the others for each fold.
        models, tried = plan.n_folds, max(count, plan.n_held_out)
        if not plan.halves:
            models += tried * (plan.n_folds - 1) - tried * (tried - 1) // 2
        n_rows, n_codes, n_labels = size
        seconds = (1 + CHOOSING + count) * LOGISTIC_SECONDS * n_rows * n_labels
        if plan.at_size:
            seconds = (2 + count) * AT_SIZE_SECONDS * cells
        refits = models + tried + 1  # out-of-fold codes of all rows, and without each fold
        seconds = max(n_codes, 1) * seconds + refits * fit_seconds
        return cls("the logistic decoder", models + count + 2, seconds)


def planned_work(
    decoder: str,
    size: tuple[int, int, int],
    present: Array,
    fit_seconds: float,
    threshold: Any = None,
    *,
    partial: bool = False,
) -> tuple[FoldPlan, int, Work]:
    """Return the plan for decoder and threshold, the number of folds to score, and the work.

    ``size`` is the number of rows, codes and labels, ``present`` (M,) the number of rows that have
    each label, and ``fit_seconds`` the duration of one fit. A ``threshold`` of None needs no
    scores. Where labels are ``partial`` or corrected, each logistic regression has its own rows or
    targets, and the algorithm for large problems does not apply.
    """
    n_rows = size[0]
    cells = cells_at_size(present, n_rows)
    plan, count, work = USUAL_FOLDS, 0, Work("", 0, 0.0)
    few = replace(FEW_FOLDS, at_size=not partial)
    for plan in (USUAL_FOLDS, few):
        count = 0 if threshold is None else _folds_to_score(n_rows, plan, threshold)
        if plan.at_size and decoder == "logistic":
            enough = n_rows >= 2 * plan.n_folds * ENOUGH_ROWS
            plan = replace(plan, halves=enough and count <= plan.n_held_out)
        work = Work.of(decoder, count, size, fit_seconds, plan, cells)
        if work.seconds <= LARGE[decoder] or n_rows < FEW_FOLDS.n_folds * ENOUGH_ROWS:
            break
    return plan, count, work


def _folds_to_score(n_rows: int, plan: FoldPlan, threshold: str) -> int:
    """Return the number of folds to score: all, or as many as have enough rows for "auto" and
    for large problems.

    A threshold for each label needs all the rows that there are.
    """
    if threshold == "per-label" or (threshold != "auto" and not plan.at_size):
        return plan.n_folds
    return min(plan.n_folds, max(1, -(-plan.n_folds * ENOUGH_ROWS // n_rows)))

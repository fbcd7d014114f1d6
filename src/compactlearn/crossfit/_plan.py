"""How many folds decoder and threshold are learnt on, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compactlearn.decoding._logistic_at_size import cells_at_size

Array = NDArray[np.float64]

N_FOLDS = 5
N_HELD_OUT = 3  # folds that judge a decoder

# threshold="auto" is tuned on at least so many rows, or on all there are. Two thousand rows of a
# few labels each settle one number; a larger set pays for one refit instead of five.
ENOUGH_ROWS = 2_000

# Seconds of one logistic fit for each row, code and label, on two cores: corel5k takes 1.4 s for
# 5000 rows, 100 codes and 374 labels, and choosing the penalty three and a half times that.
LOGISTIC_SECONDS = 7.5e-9
CHOOSING = 3.5
AT_SIZE_SECONDS = 2.5e-9  # of the one for large problems, for each row and label that it solves for

# Work that would take longer than this, for a threshold or a decoder, is done on fewer folds, and
# by the logistic decoder for large problems. Of the paper's sets only delicious takes as long.
LARGE = {"linear": 10.0, "learned": 60.0, "logistic": 60.0}


@dataclass(frozen=True)
class FoldPlan:
    """How many folds the rows are divided into, and how many of them judge a decoder."""

    n_folds: int = N_FOLDS
    n_held_out: int = N_HELD_OUT
    at_size: bool = False
    halves: bool = False  # whether one half of a held-out fold scales what the other half judges


USUAL_FOLDS = FoldPlan()

# With tens of thousands of rows, a third of them settles one number: five models in place of
# fifteen; or half a third, and three.
FEW_FOLDS = FoldPlan(3, 1, at_size=True)


@dataclass(frozen=True)
class Work:
    """What learning decoder and threshold amounts to."""

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
        """``count`` folds are scored; ``size`` is that of rows, codes and labels.

        ``cells`` are the pairs of a row and a label that a large problem is solved for.
        """
        what = "tuning the threshold" if decoder == "linear" else f"the {decoder} decoder"
        if decoder == "linear":
            return cls(what, count, count * fit_seconds)
        n_folds, tried = plan.n_folds, max(count, plan.n_held_out)
        models, seconds = tried, 0.0
        if decoder == "logistic":
            # Its prior needs out-of-fold scores of all rows, and of the others for each fold.
            models = n_folds
            if not plan.halves:
                models += tried * (n_folds - 1) - tried * (tried - 1) // 2
            n_rows, n_codes, n_labels = size
            seconds = (1 + CHOOSING + count) * LOGISTIC_SECONDS * n_rows * n_labels
            if plan.at_size:
                seconds = (2 + count) * AT_SIZE_SECONDS * cells
            seconds *= max(n_codes, 1)
        refits = models + tried + 1  # out-of-fold codes of all rows, and without each fold
        return cls(what, models + count + 2, seconds + refits * fit_seconds)


def planned_work(
    decoder: str,
    size: tuple[int, int, int],
    present: Array,
    fit_seconds: float,
    threshold: Any = None,
    *,
    partial: bool = False,
) -> tuple[FoldPlan, int, Work]:
    """How decoder and threshold are learnt, how many folds are scored, and what that amounts to.

    ``size`` is that of rows, codes and labels, ``present`` (M,) says how many rows have each label,
    ``fit_seconds`` what one fit takes. A ``threshold`` that is None needs no scores. Where labels
    are ``partial`` or corrected, each logistic regression has rows or targets of its own, and none
    is for large problems.
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
    """All folds; for "auto", and where there are few, no more than score enough rows.

    A threshold for each label needs all the rows that there are.
    """
    if threshold == "per-label" or (threshold != "auto" and not plan.at_size):
        return plan.n_folds
    return min(plan.n_folds, max(1, -(-plan.n_folds * ENOUGH_ROWS // n_rows)))

"""Candidates tried one after the other, within a time budget.

A candidate is skipped if its estimate is larger than the time left, and stopped between its steps
if it takes longer. Estimates depend on the machine: the ratio of time and estimate of the last
candidate corrects the next estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from compactlearn.auto._budgets import TimeBudget
from compactlearn.auto._candidates import Candidate
from compactlearn.auto._trials import Trial
from compactlearn.core._deadline import TimeUp, limited
from compactlearn.core._progress import human_seconds
from compactlearn.core._warn import warn_user

# A model with an estimate above this share of the time left is preceded by a stopgap.
COMFORTABLE = 0.25


@dataclass
class SearchRun:
    """The models that were tried, and those that were not."""

    tried: list[Trial] = field(default_factory=list)
    stopgaps: list[Trial] = field(default_factory=list)
    references: list[Trial] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)  # name, seconds, reason
    interrupted: bool = False

    @property
    def every(self) -> list[Trial]:
        return self.tried + self.stopgaps

    def skip(self, candidate: Candidate, seconds: float, reason: str) -> None:
        if not candidate.reference:
            self.skipped.append({"name": candidate.name, "seconds": seconds, "reason": reason})


def run_candidates(
    candidates: Iterable[Candidate],
    budget: TimeBudget,
    *,
    too_large: Callable[[Trial, Sequence[Trial]], str | None] = lambda one, tried: None,
    say: Callable[[str], None] = lambda text: None,
    done: Callable[[], None] = lambda: None,
) -> SearchRun:
    """Try one candidate after the other within the budget; the first is always finished.

    ``too_large`` is called with a fitted model and those before it; it returns why the model may
    not be selected, or None. ``say`` is called with the name of the next model, its estimated
    seconds and the best score, ``done`` after each model.
    """
    search, estimated = SearchRun(), 0.0
    for candidate in candidates:
        if candidate.stopgap and not _stopgap_needed(candidate, budget, search):
            continue
        if candidate.reference and not search.tried:
            continue  # nothing to compare with
        reason = _reason_to_skip(candidate, budget, search, estimated)
        if reason is not None:
            search.skip(candidate, budget.needed(candidate.seconds), reason)
            continue
        best = f", best so far {max(one.score for one in search.every):.3f}" if search.every else ""
        say(f"{candidate.name}, {_about(budget.needed(candidate.seconds))}{best}")
        first = not search.every
        estimated += candidate.seconds
        start = budget.clock()
        try:
            with limited(None if first else budget.limit, budget.clock):
                one = candidate.run()
        except TimeUp:
            spent = budget.clock() - start
            search.skip(candidate, spent, f"stopped after {spent:.0f} s{_out_of_time(budget)}")
            continue
        except (MemoryError, ValueError, np.linalg.LinAlgError) as error:
            if first:
                raise
            warn_user(f"{candidate.name} was left out: {error}")
            search.skip(candidate, budget.clock() - start, f"failed: {error}")
            continue
        except KeyboardInterrupt:
            if not search.every:
                raise
            search.interrupted = True
            break
        seconds = budget.clock() - start
        one = replace(one, seconds=seconds)
        budget.note(candidate.seconds, seconds)
        budget.bound(candidate.bounds * seconds)
        if first and budget.overrun:
            warn_user(
                f"time_budget={budget.given:g} is less than the cheapest model takes, "
                f"{seconds:.1f} s on this machine. Pass a larger time_budget, or fewer rows."
            )
        if candidate.reference:
            search.references.append(one)
        else:
            reason = too_large(one, search.tried)
            if reason is None:
                (search.stopgaps if candidate.stopgap else search.tried).append(one)
            else:
                search.skip(candidate, seconds, reason)
        done()
    return search


def _stopgap_needed(candidate: Candidate, budget: TimeBudget, search: SearchRun) -> bool:
    """Return whether the model after a stopgap might not be finished."""
    if search.tried:
        return False
    if not search.stopgaps:
        return candidate.usual or budget.given is not None
    return budget.needed(candidate.next_seconds) > COMFORTABLE * budget.left


def _reason_to_skip(
    candidate: Candidate, budget: TimeBudget, search: SearchRun, estimated: float
) -> str | None:
    """Return why a candidate is skipped, or None if it is tried.

    Without a time budget, one model that is no stopgap is always tried, and ``worth`` is compared
    with estimates only: the same data have the same candidates on a busy machine.
    """
    if not search.every or (budget.given is None and not search.tried):
        return None
    estimate = f"estimated to take {_about(budget.needed(candidate.seconds))}"
    if budget.given is None and estimated + candidate.seconds > candidate.worth:
        left = _about(max(0.0, candidate.worth - estimated))
        return f"{estimate}, and {left} are left for all models; pass a time_budget to allow more"
    if not budget.fits(candidate.seconds):
        return f"{estimate}, with {max(0.0, budget.left):.0f} s left{_out_of_time(budget)}"
    return None


def _out_of_time(budget: TimeBudget) -> str:
    """Return which time has run out, and how to allow more."""
    if budget.given is not None:
        return f" of time_budget={budget.given:g}"
    return "; pass a larger time_budget to allow more time"


def _about(seconds: float) -> str:
    """Return an estimate as text."""
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 90 else f"about {human_seconds(seconds)}"

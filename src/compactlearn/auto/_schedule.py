"""Candidates tried one after the other, within a time budget.

A candidate whose estimate does not fit in what is left of the budget is not begun, and one that
takes longer is stopped between its steps. Estimates are for one machine: the time of the candidates
so far, divided by their estimates, corrects those to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from compactlearn.auto._budgets import TimeBudget
from compactlearn.auto._candidates import Candidate
from compactlearn.auto._trials import Trial
from compactlearn.core._deadline import Clock, TimeUp, limited
from compactlearn.core._progress import human_seconds
from compactlearn.core._warn import warn_user

# A model that takes so much of the time left, by its estimate, is preceded by its stopgap.
COMFORTABLE = 0.25


@dataclass(frozen=True)
class Skipped:
    """A model that was not tried, or not to its end."""

    name: str
    seconds: float  # an estimate
    reason: str


@dataclass
class Search:
    """The models that were tried, and those that were not."""

    tried: list[Trial] = field(default_factory=list)
    stopgaps: list[Trial] = field(default_factory=list)
    references: list[Trial] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    interrupted: bool = False

    @property
    def every(self) -> list[Trial]:
        return self.tried + self.stopgaps

    def skip(self, candidate: Candidate, seconds: float, reason: str) -> None:
        if not candidate.reference:
            self.skipped.append(Skipped(candidate.name, seconds, reason))


def run_candidates(
    candidates: Iterable[Candidate],
    budget: TimeBudget,
    *,
    accepts: Callable[[Trial], bool] = lambda one: True,
    say: Callable[[str], None] = lambda text: None,
    done: Callable[[], None] = lambda: None,
) -> Search:
    """Try one candidate after the other, as far as the budget allows; the first is always finished.

    ``accepts`` returns whether a fitted model may be selected, for example by its size; ``say`` is
    called with what is being tried, ``done`` after each model.
    """
    search = Search()
    for candidate in candidates:
        if candidate.stopgap and not _stopgap_needed(candidate, budget, search):
            continue
        if candidate.reference and not search.tried:
            continue  # nothing to compare with
        reason = _reason_to_skip(candidate, budget, search)
        if reason is not None:
            search.skip(candidate, budget.needed(candidate.seconds), reason)
            continue
        best = f", best so far {max(one.score for one in search.every):.3f}" if search.every else ""
        say(f"{candidate.name}{best}")
        first = not search.every
        start = budget.clock()
        try:
            with limited(_limit(candidate, budget, first=first), budget.clock):
                one = _run(candidate, budget.clock, first=first)
        except TimeUp:
            spent = budget.clock() - start
            stopped = f"stopped after {spent:.0f} s, at the end of the time allowed"
            search.skip(candidate, spent, stopped)
            continue
        except KeyboardInterrupt:
            if not search.every:
                raise
            search.interrupted = True
            break
        if one is not None:
            seconds = budget.clock() - start
            budget.note(candidate.seconds, seconds)
            if first and budget.overrun:
                warn_user(
                    f"time_budget={budget.given:g} is less than the cheapest model takes, "
                    f"{seconds:.1f} s on this machine. Pass a larger time_budget, or fewer rows."
                )
            if candidate.reference:
                search.references.append(one)
            elif accepts(one):
                (search.stopgaps if candidate.stopgap else search.tried).append(one)
        done()
    return search


def _stopgap_needed(candidate: Candidate, budget: TimeBudget, search: Search) -> bool:
    """Return whether the model that a stopgap precedes might not be finished."""
    if search.tried:
        return False
    if not search.stopgaps:
        return candidate.usual or budget.given is not None
    return budget.needed(candidate.stands_for) > COMFORTABLE * budget.left


def _reason_to_skip(candidate: Candidate, budget: TimeBudget, search: Search) -> str | None:
    """Return why a candidate is not begun, or None if it is."""
    if not search.every:
        return None
    about = _about(budget.needed(candidate.seconds))
    if budget.given is None and candidate.seconds > candidate.worth:
        return f"{about}, much longer than the models before it; pass time_budget to allow it"
    if not budget.fits(candidate.seconds):
        return f"{about}, and {max(0.0, budget.left):.0f} s of the time allowed were left"
    return None


def _about(seconds: float) -> str:
    """Return an estimate in words."""
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 90 else f"about {human_seconds(seconds)}"


def _limit(candidate: Candidate, budget: TimeBudget, *, first: bool) -> float | None:
    """Return the seconds after which a model is stopped; None: never."""
    if first:
        return None
    if budget.given is not None:
        return max(0.0, budget.left)
    return None if candidate.worth == np.inf else budget.pace * candidate.worth


def _run(candidate: Candidate, clock: Clock, *, first: bool) -> Any:
    """Return the trial of a candidate; None, with a warning, where one after the first fails."""
    start = clock()
    try:
        return replace(candidate.run(), seconds=clock() - start)
    except (MemoryError, ValueError, np.linalg.LinAlgError) as error:
        if first:
            raise
        warn_user(f"{candidate.name} was left out: {error}")
        return None

"""Models tried one after the other, within a time budget.

Every idea has an estimate of its seconds. A model whose estimate does not fit in what is left of
the budget is not begun, and one that takes longer is stopped between its steps. Estimates are for
one machine: what the models so far took, divided by their estimates, corrects those to come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from compactlearn.auto._candidates import Idea
from compactlearn.auto._trials import Tried
from compactlearn.core._deadline import Clock, TimeUp, limited
from compactlearn.core._progress import human_seconds
from compactlearn.core._warn import warn_user

# Without a time budget, models that would make the search take longer than this are skipped.
USUAL_SECONDS = 300.0
# A model that takes so much of the time left, by its estimate, is preceded by its stopgap.
COMFORTABLE = 0.25
FASTEST = 0.3  # pace that is believed: short models vary


@dataclass
class TimeBudget:
    """The seconds of a search, and the pace of this machine.

    >>> budget = TimeBudget(10.0, clock=lambda: 0.0)
    >>> budget.note(estimate=1.0, seconds=3.0)
    >>> budget.needed(2.0), budget.fits(2.0), budget.fits(4.0)
    (6.0, True, False)
    """

    given: float | None = None  # by the user
    clock: Clock = time.perf_counter
    pace: float = 1.0  # seconds for each estimated second
    start: float = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.clock()

    @property
    def left(self) -> float:
        total = USUAL_SECONDS if self.given is None else self.given
        return total - (self.clock() - self.start)

    @property
    def overrun(self) -> bool:
        """Return whether a given budget was exceeded by more than a fifth and a second."""
        return self.given is not None and self.left < -(0.2 * self.given + 1.0)

    def note(self, estimate: float, seconds: float) -> None:
        """Learn the pace of this machine from a model that was fitted."""
        self.pace = max(FASTEST, seconds / max(estimate, 1e-9))

    def needed(self, estimate: float) -> float:
        """Return the seconds that an estimate means on this machine."""
        return estimate if self.given is None else self.pace * estimate

    def fits(self, estimate: float) -> bool:
        return self.needed(estimate) <= self.left


@dataclass(frozen=True)
class Skipped:
    """A model that was not tried, or not to its end."""

    name: str
    seconds: float  # an estimate
    reason: str


@dataclass
class Search:
    """The models that were tried, and those that were not."""

    tried: list[Tried] = field(default_factory=list)
    stopgaps: list[Tried] = field(default_factory=list)
    references: list[Tried] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    interrupted: bool = False

    @property
    def every(self) -> list[Tried]:
        return self.tried + self.stopgaps


def run_ideas(
    ideas: Iterable[Idea],
    budget: TimeBudget,
    *,
    accepts: Callable[[Tried], bool] = lambda one: True,
    say: Callable[[str], None] = lambda text: None,
    done: Callable[[], None] = lambda: None,
) -> Search:
    """Try one idea after the other, as far as the budget allows; the first is always finished.

    Parameters
    ----------
    ideas : iterable of Idea
        In the order in which they are tried. Where a budget is given the first should be cheap.
    budget : TimeBudget
    accepts : callable
        Whether a fitted model may be selected, for example by its size.
    say, done : callable
        Called with what is being tried, and after each model.
    """
    search = Search()
    for idea in ideas:
        if idea.stopgap and not _stopgap_needed(idea, budget, search):
            continue
        if idea.reference and not search.tried:
            continue  # nothing to compare with
        reason = _reason_to_skip(idea, budget, search)
        if reason is not None:
            if not idea.reference:
                search.skipped.append(Skipped(idea.name, budget.needed(idea.seconds), reason))
            continue
        best = f", best so far {max(one.score for one in search.every):.3f}" if search.every else ""
        say(f"{idea.name}{best}")
        first = not search.every
        start = budget.clock()
        try:
            with limited(_limit(idea, budget, first=first), budget.clock):
                one = _run(idea, budget.clock, first=first)
        except TimeUp:
            spent = budget.clock() - start
            stopped = f"stopped after {spent:.0f} s, at the end of the time allowed"
            if not idea.reference:
                search.skipped.append(Skipped(idea.name, spent, stopped))
            continue
        except KeyboardInterrupt:
            if not search.every:
                raise
            search.interrupted = True
            break
        if one is not None:
            seconds = budget.clock() - start
            budget.note(idea.seconds, seconds)
            if first and budget.overrun:
                warn_user(
                    f"time_budget={budget.given:g} is less than the cheapest model takes, "
                    f"{seconds:.1f} s on this machine. Pass a larger time_budget, or fewer rows."
                )
            if idea.reference:
                search.references.append(one)
            elif accepts(one):
                (search.stopgaps if idea.stopgap else search.tried).append(one)
        done()
    return search


def _stopgap_needed(idea: Idea, budget: TimeBudget, search: Search) -> bool:
    """Return whether the model that a stopgap precedes might not be finished."""
    if search.tried:
        return False
    if not search.stopgaps:
        return idea.usual or budget.given is not None
    return budget.needed(idea.stands_for) > COMFORTABLE * budget.left


def _reason_to_skip(idea: Idea, budget: TimeBudget, search: Search) -> str | None:
    """Return why an idea is not begun, or None if it is."""
    if not search.every:
        return None
    about = _about(budget.needed(idea.seconds))
    if budget.given is None and idea.seconds > idea.worth:
        return f"{about}, much longer than the models before it; pass time_budget to allow it"
    if not budget.fits(idea.seconds):
        return f"{about}, and {max(0.0, budget.left):.0f} s of the time allowed were left"
    return None


def _about(seconds: float) -> str:
    """Return an estimate in words."""
    if seconds < 1:
        return "less than a second"
    return f"about {seconds:.0f} s" if seconds < 90 else f"about {human_seconds(seconds)}"


def _limit(idea: Idea, budget: TimeBudget, *, first: bool) -> float | None:
    """Return the seconds after which a model is stopped; None: never."""
    if first:
        return None
    if budget.given is not None:
        return max(0.0, budget.left)
    return None if idea.worth == np.inf else budget.pace * idea.worth


def _run(idea: Idea, clock: Clock, *, first: bool) -> Any:
    """Return the fitted model of an idea; None, with a warning, where one after the first fails."""
    start = clock()
    try:
        return replace(idea.run(), seconds=clock() - start)
    except (MemoryError, ValueError, np.linalg.LinAlgError) as error:
        if first:
            raise
        warn_user(f"{idea.name} was left out: {error}")
        return None

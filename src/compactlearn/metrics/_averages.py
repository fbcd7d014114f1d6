"""From the values of rows to one number: which rows count, and what is said when none does."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from compactlearn.core._warn import warn_user
from compactlearn.metrics._ranks import LabelRanks

__all__ = [
    "KNOWN",
    "PRESENT",
    "RANKABLE",
    "SUGGESTED",
    "Measure",
    "Rule",
    "Sums",
    "average",
    "warn_undefined",
]


@dataclass(frozen=True)
class Rule:
    """Which rows count.

    Parameters
    ----------
    wanted : str
        What such a row has, in words.
    pronoun : str
        The same thing in one word.
    holds : callable
        Numbers of present and of known labels of the rows in, booleans out.
    """

    wanted: str
    pronoun: str
    holds: Callable[[np.ndarray, np.ndarray], np.ndarray]


RANKABLE = Rule(
    "a present and an absent label",
    "both",
    lambda n_present, n_known: (n_present > 0) & (n_present < n_known),
)
PRESENT = Rule("a present label", "one", lambda n_present, n_known: n_present > 0)
# A row of which nothing is known says nothing, whatever the convention.
KNOWN = Rule("a known label", "one", lambda n_present, n_known: n_known > 0)
SUGGESTED = Rule("a suggested label that is known", "one", KNOWN.holds)


@dataclass(frozen=True)
class Measure:
    """A metric that is a quotient of two sums over rows; for a mean, the second counts them.

    Parameters
    ----------
    rule : Rule
        The rows that count.
    numerator : callable
        The value of each row of a block.
    denominator : callable, optional
        The weight of each row, 1 where it is not given.
    """

    rule: Rule
    numerator: Callable[[LabelRanks], np.ndarray]
    denominator: Callable[[LabelRanks], np.ndarray] | None = None


class Sums:
    """The two sums of several measures, gathered block by block."""

    def __init__(self, measures: Mapping[str, Measure]) -> None:
        self.measures = measures
        self.above = dict.fromkeys(measures, 0.0)
        self.below = dict.fromkeys(measures, 0.0)

    def add(self, block: LabelRanks) -> None:
        """Add the rows of a block."""
        counted = {
            rule: rule.holds(block.n_present, block.n_known)
            for rule in {measure.rule for measure in self.measures.values()}
        }
        for name, measure in self.measures.items():
            kept = counted[measure.rule]
            self.above[name] += float(measure.numerator(block)[kept].sum())
            weights = measure.denominator
            self.below[name] += float((kept if weights is None else weights(block)[kept]).sum())

    def quotients(self, n_rows: int) -> dict[str, float]:
        """The metrics; NaN, with one warning for each rule, where no row counts."""
        undefined: dict[Rule, list[str]] = {}
        for name, measure in self.measures.items():
            if not self.below[name]:
                undefined.setdefault(measure.rule, []).append(name)
        for rule, names in undefined.items():
            warn_undefined(" and ".join(names), rule, n_rows)
        return {
            name: self.above[name] / self.below[name] if self.below[name] else float("nan")
            for name in self.measures
        }


def average(name: str, measure: Measure, blocks: Iterable[LabelRanks], n_rows: int) -> float:
    """One metric over all blocks, for a public function that calls this directly."""
    sums = Sums({name: measure})
    for block in blocks:
        sums.add(block)
    return sums.quotients(n_rows)[name]


def warn_undefined(names: str, rule: Rule, n_rows: int) -> None:
    """Say that a metric has no row to stand on."""
    warn_user(
        f"{names} need a row with {rule.wanted}, but none of the {n_rows} rows has "
        f"{rule.pronoun}; the result is NaN. Evaluate on other rows.",
        UndefinedMetricWarning,
    )

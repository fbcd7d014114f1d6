"""The candidate models of the automatic search, one module for each kind.

A module has ``candidates(problem, findings)``, which yields what is tried of its kind with an
estimate of the seconds, and nothing where the kind has no use. A new kind is a new module and an
entry in a table below. The tables give the order: most promising for a second first.
"""

from __future__ import annotations

from collections.abc import Iterator

from compactlearn.auto._problem import Problem
from compactlearn.auto.candidates import (
    _kernel,
    _linear,
    _quick,
    _ridge,
    _shortlist,
    _small,
    _trees,
)
from compactlearn.auto.candidates._base import Candidate, Findings, at_size

__all__ = ["Candidate", "candidates", "small_candidates"]

USUAL = (
    _quick.candidates,  # compact models of a second or two, where the next takes much longer
    _linear.candidates,  # a linear or compact model with a logistic decoder
    _kernel.candidates,  # the same behind an RBF kernel
    _trees.candidates,  # of dense features
    _shortlist.candidates,  # of sparse rows
    _ridge.candidates,  # for comparison only
)
# Many sparse rows, features and labels: there a compact model with a logistic decoder takes ten to
# twenty times as long as a shortlist and is worse (docs/AUTO.md).
AT_SIZE = (_quick.candidates, _shortlist.candidates, _linear.candidates)


def candidates(problem: Problem) -> Iterator[Candidate]:
    """Yield what is tried, in order."""
    findings = Findings(problem)
    for kind in AT_SIZE if at_size(problem) else USUAL:
        yield from kind(problem, findings)


def small_candidates(
    problem: Problem, most_numbers: int, most_bytes: int | None = None
) -> Iterator[Candidate]:
    """Yield what is tried within a size budget, in order.

    Where a whole linear model is allowed, everything is tried, and what is too large is left out.
    """
    if _small.whole_model_fits(problem, most_numbers):
        return candidates(problem)
    return _small.candidates(problem, Findings(problem), most_numbers, most_bytes)

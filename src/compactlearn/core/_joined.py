"""Several labels of a row written as one string, "jazz;blues", where classes are expected.

Such a vector silently trains one class for every combination. The strings of ordinary classes may
contain the same separators: "Korea, South". The difference is that joined labels appear again,
alone or at another position of another combination, while the parts of a name keep their position.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

# A blank is no separator: too many ordinary names have one.
SEPARATORS = (";", "|", "\t", "\n", ",")

_FEWEST_ROWS = 0.1  # share of the rows that must be joined
_FEWEST_CLASSES = 3  # joined classes, where their parts are never alone
_REUSED = 0.5  # share of the parts that more than one class must have
_MOVING = 0.25  # share of those that must be at several places


@dataclass(frozen=True)
class Joined:
    """Class names that look like joined labels."""

    separator: str
    n_rows: int  # whose value is joined
    example: str


def find_joined(classes: Sequence[str], counts: Sequence[int]) -> Joined | None:
    """Return what the classes, of ``counts`` rows each, are joined by, if they look like it.

    >>> find_joined(["jazz", "blues", "blues;jazz"], [5, 4, 3]).separator
    ';'
    >>> find_joined(["Korea, North", "Korea, South", "Japan"], [5, 4, 3])
    """
    for separator in SEPARATORS:
        split = [_parts(name, separator) for name in classes]
        joined = [place for place, parts in enumerate(split) if len(parts) > 1]
        n_rows = sum(int(counts[place]) for place in joined)
        if joined and n_rows >= _FEWEST_ROWS * sum(counts) and _are_labels(split):
            return Joined(separator, n_rows, classes[joined[0]])
    return None


def _parts(name: str, separator: str) -> list[str]:
    return [part.strip() for part in name.split(separator) if part.strip()]


def _are_labels(split: Sequence[Sequence[str]]) -> bool:
    """Return whether parts behave as labels: once in a combination, and used again."""
    combinations = [parts for parts in split if len(parts) > 1]
    if any(len(set(parts)) < len(parts) for parts in combinations):
        return False
    alone = {parts[0] for parts in split if len(parts) == 1}
    if 2 * sum(alone.issuperset(parts) for parts in combinations) >= len(combinations):
        return True
    if len(combinations) < _FEWEST_CLASSES:
        return False
    places: dict[str, list[int]] = defaultdict(list)
    for parts in split:
        for place, part in enumerate(parts):
            places[part].append(place)
    combined = {part for parts in combinations for part in parts}
    reused = [part for part in combined if len(places[part]) > 1]
    moving = [part for part in reused if len(set(places[part])) > 1]
    return len(reused) >= _REUSED * len(combined) and len(moving) >= _MOVING * len(reused)

r"""Regular expressions that take linear time on every text.

The pattern of a vectoriser is part of a model file, and a text is searched with it whenever the
model predicts. Python's ``re`` tries all ways to match, of which a short pattern can have as many
as there are subsets of letters. So a file may hold only patterns of a small grammar:

* one or more branches, divided by ``|`` outside of groups;
* a branch is a sequence of characters and classes (``a``, ``\w``, ``[a-z]``, ``.``), each once,
  optional (``?``) or a fixed number of times (``{3}``), and of word boundaries (``\b``);
* the last character or class may be repeated (``+``, ``*``, ``{2,}``, ``{2,5}``);
* a repetition without a small bound may be followed by ``\b`` only if the branch begins with
  ``\b``;
* after it the same may be repeated with a joining character: ``\w+(?:-\w+)*``;
* groups that are not repeated change nothing; one of them may capture.

Why this is linear: without a ``\b`` at its end, a repetition that has its least length succeeds,
and the search goes on behind it. With one at each end, of two starts that go through the same run
of characters in vain, the later one is a boundary that the earlier would have ended at, unless it
is within the fixed length of the pattern: each character is passed a bounded number of times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

_LONGEST = 200  # characters of a pattern
_STEPS = 32  # characters of a text that a branch may look at in vain
_BRANCHES = 16  # with each optional character there and not there

_FLAGS = re.compile(r"(?:\(\?[aimsu]{1,5}\))?")
_UNIT = r"\\[wWdDsSnrtfv]|\\[^\w\s]|\[\^?\]?(?:\\.|[^\[\]\\])*\]|[^\\()\[\]{}|*+?^$]"
_TOKEN = re.compile(
    rf"(?P<boundary>\\b)|(?P<unit>{_UNIT})"
    r"|(?P<quantifier>[*+?]|\{\d{1,3}(?:,\d{0,3})?\})"
    r"|(?P<group>\((?:\?:)?|\))|(?P<bar>\|)",
    re.DOTALL,
)
_JOINED = re.compile(
    rf"\(\?:(?P<joint>[^\w\s\\\[\](){{}}|*+?^$.]|\\[^\w\s]|\[[^\\\]\[^-]+-?\])"
    rf"(?P<unit>{_UNIT})\+\)[*?]",
    re.DOTALL,
)


class _Item(NamedTuple):
    """A word boundary (``text`` is None) or a character class with the bounds of its number."""

    text: str | None
    least: float = 0
    most: float = 0


@dataclass(frozen=True)
class LinearPattern:
    r"""A regular expression of the grammar above.

    >>> rule = LinearPattern()
    >>> rule.accepts(r"(?u)\b\w\w+\b"), rule.accepts(r"\b\w+(?:-\w+)*\b")
    (True, True)
    >>> rule.accepts(r"(\w+\s?)+$"), rule.accepts(r"[a-z]+\b")
    (False, False)
    """

    def accepts(self, value: object) -> bool:
        """Return whether `value` is a pattern that provably takes linear time."""
        if not isinstance(value, str) or len(value) > _LONGEST:
            return False
        flags = _FLAGS.match(value)
        assert flags is not None  # it may be empty
        branches = _branches(value[flags.end() :], flags.group())
        if branches is None or not all(map(_is_linear, branches)):
            return False
        try:
            return re.compile(value).groups <= 1
        except re.error:
            return False

    def describe(self) -> str:
        """Describe the accepted patterns."""
        return (
            "a regular expression that takes linear time on every text, such as "
            r"'(?u)\\b\\w\\w+\\b' (docs/guide/storing.md has its grammar)"
        )


def _branches(pattern: str, flags: str) -> list[list[_Item]] | None:
    """Return the alternatives that a search tries, or None if this is another language."""
    found: list[list[_Item]] = []
    ways: list[list[_Item]] = [[]]  # of the branch that is being read
    depth = place = 0
    joins = False  # whether the branch has its joining characters
    while place < len(pattern):
        joined = _JOINED.match(pattern, place)
        last = ways[0][-1] if ways[0] else None
        if joined and last and last.most == inf and _joins(joined, last.text, flags) and not joins:
            place, joins = joined.end(), True
            continue
        token = _TOKEN.match(pattern, place)
        if token is None:
            return None
        place, kind, text = token.end(), token.lastgroup, token.group()
        if kind == "bar" and depth == 0:
            found, ways, joins = found + ways, [[]], False
        elif kind == "boundary":
            ways = [[*way, _Item(None)] for way in ways]
        elif kind == "group":
            depth += 1 if text != ")" else -1
        elif kind == "unit":
            least, most, place = _bounds(pattern, place)
            present = [[*way, _Item(text, least, most)] for way in ways]
            optional = (least, most) == (0, 1)
            ways = [[*way, _Item(text, 1, 1)] for way in ways] + ways if optional else present
        else:  # a quantifier of a group or of another quantifier, a bar within a group
            return None
        if depth < 0 or len(found) + len(ways) > _BRANCHES:
            return None
    return None if depth else found + ways


def _bounds(pattern: str, place: int) -> tuple[float, float, int]:
    """Return how often the character class before ``place`` may occur, and what follows."""
    token = _TOKEN.match(pattern, place)
    if token is None or token.lastgroup != "quantifier":
        return 1, 1, place
    text, end = token.group(), token.end()
    if text in "*+?":
        return int(text == "+"), 1 if text == "?" else inf, end
    least, comma, most = text[1:-1].partition(",")
    return int(least), float(most or inf) if comma else int(least), end


def _joins(joined: re.Match[str], unit: str | None, flags: str) -> bool:
    """Return whether the joining characters are none of those that they join."""
    joint = joined["joint"].strip("[]\\") or joined["joint"]
    if (
        unit is None
        or joined["unit"] != unit
        or any(letter.lower() != letter.upper() for letter in joint)
    ):
        return False
    return all(re.fullmatch(flags + unit, letter) is None for letter in joint)


def _is_linear(branch: list[_Item]) -> bool:
    units = [item for item in branch if item.text is not None]
    if any(item.least != item.most for item in units[:-1]):
        return False
    if sum(item.least for item in units) > _STEPS or any(i.least > i.most for i in units):
        return False
    if not units or units[-1].most <= _STEPS:
        return True
    ends = branch[-1].text is None
    return not ends or branch[0].text is None

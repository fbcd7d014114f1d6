r"""Regular expressions that take linear time on every text.

The pattern of a vectoriser is part of a model file, and a text is searched with it whenever the
model predicts. Python's ``re`` tries all ways to match, of which a short pattern can have as many
as there are subsets of letters. So a file may hold only patterns of a small grammar:

* one or more branches, divided by ``|``;
* a branch is a sequence of characters and classes (``a``, ``\w``, ``[a-z]``, ``.``), each once or a
  fixed number of times (``{3}``), of which the last may be repeated (``+``, ``*``, ``{2,}``);
* a branch may begin with ``\b``, and then end with it.

Why this is linear: without a ``\b`` at its end, a repetition that has its least length succeeds,
and the search continues behind it. With one at each end, of two starts that go through the same run
of characters in vain, the later one is a boundary that the earlier would have ended at, unless it
is within the fixed length of the pattern: each character is passed a bounded number of times.
"""

from __future__ import annotations

import re

_LONGEST = 100  # characters of a pattern: a branch looks at a few hundred of a text in vain
_UNIT = r"(?:\\[wWdDsSnrtfv]|\\[^\w\s]|\[\^?\]?(?:\\.|[^\[\]\\])*\]|[^\\()\[\]{}|*+?^$])"
_UNITS = rf"(?:{_UNIT}(?:\{{\d\}})?)*{_UNIT}(?:[*+]|\{{\d{{1,2}}(?:,\d{{0,2}})?\}})?"
_BRANCH = rf"(?:\\b{_UNITS}(?:\\b)?|{_UNITS})"
_LINEAR = re.compile(rf"(?:\(\?[aimsu]{{1,5}}\))?{_BRANCH}(?:\|{_BRANCH})*", re.DOTALL)


def is_linear(pattern: object) -> bool:
    r"""Return whether a value is a pattern that provably takes linear time.

    >>> is_linear(r"(?u)\b\w\w+\b"), is_linear(r"\w+|[^\w\s]")
    (True, True)
    >>> is_linear(r"(\w+\s?)+$"), is_linear(r"[a-z]+\b")
    (False, False)
    """
    if not isinstance(pattern, str) or len(pattern) > _LONGEST or not _LINEAR.fullmatch(pattern):
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True

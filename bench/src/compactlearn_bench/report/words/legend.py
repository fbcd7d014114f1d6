"""A line on each method, the paper's and the library's others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from compactlearn_bench.methods.table import ROWS
from compactlearn_bench.report.tables.published import family_of, method_order

__all__ = ["describe", "is_compact", "legend"]

#: Words behind a comma or slash that need more words.
_VARIANTS: Mapping[str, str] = {
    "CMLL's size": "at most as many parameters as CMLL by itself",
    "landmarks": "the kernel is approximated from some rows (Nystroem)",
}
#: CMLL, its variants and their kernel versions compress both sides together.
_COMPACT = re.compile(r"(k-)?CMLL(?![\w-])")


def describe(method: str) -> str | None:
    """A line in plain words; None of a method that neither the paper nor the library has.

    >>> describe("k-ORI")
    'As ORI, with a Gaussian kernel in place of the features (k-).'
    >>> describe("CMLL, one penalty")
    'A variant of CMLL: one penalty.'
    >>> describe("mine") is None
    True
    """
    if method in ROWS and ROWS[method].line:
        return ROWS[method].line
    stem = method.removeprefix("k-")
    if stem in ROWS:
        return f"As {stem}, with a Gaussian kernel in place of the features (k-)."
    for sign in ",/":
        base, _, rest = method.partition(sign)
        words = rest.strip()
        if words and family_of(method) == "other":
            return f"A variant of {base}: {_VARIANTS.get(words, words)}."
    return None


def legend(methods: Iterable[str]) -> list[tuple[str, str]]:
    """Names and lines of the methods that have one, in the order of the tables."""
    found = [(method, describe(method)) for method in sorted(set(methods), key=method_order)]
    return [(method, line) for method, line in found if line is not None]


def is_compact(method: str) -> bool:
    """Whether a method is compact learning of features and labels, in any variant.

    >>> [is_compact(name) for name in ("CMLL", "k-CMLL+logistic", "CMLL, 1", "CMLL_y", "ORI")]
    [True, True, True, False, False]
    """
    return _COMPACT.match(method) is not None

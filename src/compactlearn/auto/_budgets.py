"""A wish for a size, in numbers: how large a model may be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from compactlearn.compact._compression import compressed_parts
from compactlearn.core._params import Integer, Real
from compactlearn.core._weight import bytes_in
from compactlearn.decoding._linear import linear_numbers
from compactlearn.shortlist._classifier import ShortlistClassifier

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_BYTES = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]*)?|\.[0-9]+)\s*([KMG]i?B|B)\s*", re.IGNORECASE)
_BYTES_OF_A_NUMBER = 4  # models of so many bytes are stored in single precision


@dataclass(frozen=True)
class SizeWish:
    """How many numbers a model may have, and the type to store it in where bytes were asked for."""

    numbers: int
    dtype: str | None = None
    n_bytes: int | None = None

    @classmethod
    def of(cls, asked: Any, n_features: int, n_labels: int) -> SizeWish:
        """Read what was asked for: numbers, bytes with a unit, or a share of D x M.

        >>> SizeWish.of(0.1, 1000, 50).numbers, SizeWish.of("2 MB", 1000, 50).numbers
        (5000, 500000)
        """
        if Integer(1, 10**18).accepts(asked):
            return cls(int(asked))
        if Real(0, open_low=True).accepts(asked) and float(asked) <= 1.0:
            return cls(int(float(asked) * n_features * n_labels))
        found = _BYTES.fullmatch(asked) if isinstance(asked, str) else None
        if found is None:
            raise ValueError(
                f"size_budget must be a whole number (of numbers kept), a share of features times "
                f"labels in (0, 1], or bytes with a unit, such as '2 MB', of at most 18 digits; "
                f"got {asked!r:.60}. Pass one of these."
            )
        size = float(found[1]) * _UNITS[found[2].upper()]
        return cls(int(size / _BYTES_OF_A_NUMBER), "float32", int(size))

    def type_for(self, thing: Any) -> str:
        """Return the larger type in which a thing is within the bytes; or else float32."""
        for dtype in ("float32", "float16"):
            if self._fits(thing, dtype):
                return dtype
        return "float32"

    def accepts(self, model: Any, numbers: int) -> bool:
        """Return whether a model with so many numbers is small enough.

        Of a shortlist, which is stored as sparse matrices, the bytes in float16 decide.
        """
        if self.n_bytes is None or not isinstance(model, ShortlistClassifier):
            return numbers <= self.numbers
        return self._fits(model, "float16")

    def _fits(self, thing: Any, dtype: str) -> bool:
        return self.n_bytes is not None and bytes_in(compressed_parts(thing, dtype)) <= self.n_bytes


def most_codes(budget: int, n_features: int, n_labels: int) -> int:
    """How many codes a linear model may have whose learner sees all features; 0: not even one.

    >>> most_codes(5000, 1000, 50), most_codes(1000, 1000, 50)
    (4, 0)
    """
    codes = min((budget - n_labels) // (n_features + n_labels), n_features, n_labels)
    return max(0, codes)


def smallest(n_labels: int) -> int:
    """The numbers of the smallest model: which feature it sees, a weight and a constant a label."""
    return 1 + linear_numbers(1, n_labels, None, None)

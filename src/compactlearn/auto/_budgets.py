"""Size budget and time budget of a search."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field
from typing import Any

from compactlearn.compact._compression import compressed_parts
from compactlearn.core._deadline import Clock
from compactlearn.core._params import Integer, Real
from compactlearn.core._weight import bytes_in
from compactlearn.decoding._linear import linear_parameters
from compactlearn.shortlist._classifier import ShortlistClassifier

# Without a time budget, models that would make the search take longer than this are skipped.
USUAL_SECONDS = 300.0
FASTEST = 0.3  # smallest pace that is used: the times of short models vary
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_BYTES = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]*)?|\.[0-9]+)\s*([KMG]i?B|B)\s*", re.IGNORECASE)
_BYTES_OF_A_NUMBER = 4  # a budget in bytes means single precision


@dataclass(frozen=True)
class SizeBudget:
    """The largest number of parameters, and the bytes of a budget that is given in bytes."""

    numbers: int
    n_bytes: int | None = None

    @classmethod
    def of(cls, asked: Any, n_features: int, n_labels: int) -> SizeBudget:
        """Read a number of parameters, bytes with a unit, or a share of D x M.

        >>> SizeBudget.of(0.1, 1000, 50).numbers, SizeBudget.of("2 MB", 1000, 50).numbers
        (5000, 500000)
        """
        if Integer(1, 10**18).accepts(asked):
            return cls(int(asked))
        if Real(0, open_low=True).accepts(asked) and float(asked) <= 1.0:
            return cls(int(float(asked) * n_features * n_labels))
        found = _BYTES.fullmatch(asked) if isinstance(asked, str) else None
        if found is None:
            raise ValueError(
                f"size_budget must be a whole number (of parameters kept), a share of features "
                f"times labels in (0, 1], or bytes with a unit, such as '2 MB', of at most 18 "
                f"digits; got {asked!r:.60}. Pass one of these."
            )
        size = float(found[1]) * _UNITS[found[2].upper()]
        return cls(int(size / _BYTES_OF_A_NUMBER), int(size))

    def type_for(self, model: Any) -> str:
        """Return float16 if the model is within the bytes in that type only; otherwise float32."""
        only_half = not self._fits(model, "float32") and self._fits(model, "float16")
        return "float16" if only_half else "float32"

    def accepts(self, model: Any, numbers: int) -> bool:
        """Return whether a model with this number of parameters is small enough.

        A shortlist is stored as sparse matrices, so its bytes in float16 decide.
        """
        if self.n_bytes is None or not isinstance(model, ShortlistClassifier):
            return numbers <= self.numbers
        return self._fits(model, "float16")

    def _fits(self, model: Any, dtype: str) -> bool:
        return self.n_bytes is not None and bytes_in(compressed_parts(model, dtype)) <= self.n_bytes


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
    most: float = math.inf  # seconds of the whole search, by a model that was fitted
    start: float = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.clock()

    @property
    def left(self) -> float:
        total = min(USUAL_SECONDS, self.most) if self.given is None else self.given
        return total - (self.clock() - self.start)

    @property
    def limit(self) -> float | None:
        """Return the seconds after which a model is stopped, or None for no limit."""
        bounded = self.given is not None or self.most < math.inf
        return max(0.0, self.left) if bounded else None

    def bound(self, seconds: float) -> None:
        """Without a given budget, stop models after so many seconds of the search."""
        self.most = min(self.most, seconds)

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


def most_codes(budget: int, n_features: int, n_labels: int) -> int:
    """Return the largest number of codes of a linear model of all features, 0 if none fits.

    >>> most_codes(5000, 1000, 50), most_codes(1000, 1000, 50)
    (4, 0)
    """
    codes = min((budget - n_labels) // (n_features + n_labels), n_features, n_labels)
    return max(0, codes)


def smallest(n_labels: int) -> int:
    """Return the size of the smallest model: a feature's index, a weight and a constant a label."""
    return 1 + linear_parameters(1, n_labels, None, None)

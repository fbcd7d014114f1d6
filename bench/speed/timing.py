"""Two ways to do one thing, timed in turn so that a busy machine slows both alike."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Pairs:
    """Seconds of each of the interleaved runs."""

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    def summary(self) -> dict[str, object]:
        """Median seconds, median and quartiles of the ratio of each pair (ours over theirs)."""
        ratios = np.array(self.ours) / np.array(self.theirs)
        low, middle, high = np.percentile(ratios, [25, 50, 75])
        return {
            "pairs": len(ratios),
            "ours_s": _round(np.median(self.ours)),
            "theirs_s": _round(np.median(self.theirs)),
            "ratio": _round(middle),
            "ratio_quartiles": [_round(low), _round(high)],
        }


def interleaved(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    pairs: int = 7,
    budget_s: float = 120.0,
    warm_up: bool = True,
) -> Pairs:
    """Time `ours` and `theirs` alternately.

    Both are run once untimed first (`warm_up`). Where a pair is so slow that `pairs` of them
    would exceed `budget_s`, fewer are run, at least one; calls too short for the clock are
    repeated within each measurement.
    """
    repeats = (1, 1)
    if warm_up:
        first = _seconds(ours, 1), _seconds(theirs, 1)
        repeats = _repeats(first[0]), _repeats(first[1])
        slow = first[0] * repeats[0] + first[1] * repeats[1]
        pairs = max(1, min(pairs, int(budget_s / max(slow, 1e-9))))
    mine, other = [], []
    for _ in range(pairs):
        mine.append(_seconds(ours, repeats[0]))
        other.append(_seconds(theirs, repeats[1]))
    return Pairs(tuple(mine), tuple(other))


def _seconds(call: Callable[[], object], repeats: int) -> float:
    gc.collect()
    # NumPy and SciPy bring a BLAS each, whose threads spin for some 30 ms after their last call.
    # On two cores the call that is timed next would pay for them; it starts on idle ones instead.
    time.sleep(0.1)
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def _repeats(seconds: float, enough: float = 0.05) -> int:
    return max(1, min(100, round(enough / max(seconds, 1e-9))))


def _round(value: float) -> float:
    return float(f"{float(value):.4g}")

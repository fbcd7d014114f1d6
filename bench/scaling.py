"""What fits of up to a billion rows cost, by routes and workers: a model of measured constants.

    python bench/scaling.py

Nothing is fitted here. Seconds of a row come from ``results/blocks.json`` (one thread), what a task
of Dask costs from ``results/dask_workers.json``, eigenvectors on a GPU from ``results/gpu.json``.
What could not be measured on one machine is assumed, and named: the network. ``tables.py`` writes
the tables of docs/scaling.md from these functions.
"""

import heapq
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results"

MEASURED_COLUMNS = 400  # D + M of the dense rows that were timed
NETWORK = 1.25e9  # bytes a second, assumed: ten gigabits
EIGENPAIRS = 4.0e-11  # seconds times the cube of the order, a few pairs (linalg/regimes.py)
FAN_IN = 4  # sums that one task adds (estimators/on_dask/running.py)
CODES = 100
PASSES = 8
BLOCK_SECONDS = (2.0, 10.0)  # of a core, for a block


@dataclass(frozen=True)
class Constants:
    """Seconds, of one thread."""

    check: float  # a cell of dense rows
    moments: float  # a cell of the products of a dense row
    parse: float  # an entry of text
    product: float  # an entry, a column and a product: there and back
    task: float  # a block on Dask: all of its tasks

    @classmethod
    def measured(cls) -> "Constants":
        """From the records."""
        blocks = json.loads((RESULTS / "blocks.json").read_text())["stages"]
        workers = json.loads((RESULTS / "dask_workers.json").read_text())["rows"]
        row = {name: 1e-6 * value for name, value in blocks["microseconds_a_row"].items()}
        entries = blocks["text_entries_in_a_row"]
        (task,) = [r["seconds_of_one_block"] for r in workers if r["group"] == "tasks"]
        return cls(
            check=row["dense: check"] / MEASURED_COLUMNS,
            moments=row["dense: moments"] / MEASURED_COLUMNS**2,
            parse=row["text: parse"] / entries,
            product=row["text: products of 110 columns"] / (110 * entries),
            task=task,
        )


@dataclass(frozen=True)
class Data:
    """Rows with features and labels; ``entries`` of a sparse row are not zero."""

    rows: float
    features: int
    labels: int
    entries: float | None = None

    @property
    def columns(self) -> int:
        return self.features + self.labels


def moments_seconds(data: Data, c: Constants) -> tuple[float, float]:
    """One pass of dense rows: of all workers together, and of the one that solves."""
    a_row = c.check * data.columns + c.moments * data.columns**2
    return data.rows * a_row, EIGENPAIRS * data.columns**3


def moments_bytes(data: Data) -> float:
    """A sum; some eight of them are held while summing and solving."""
    return 8.0 * data.columns**2


def passes_seconds(data: Data, c: Constants, codes: int = CODES) -> tuple[float, float]:
    """Eight passes of sparse rows: of all workers together, and of the one that solves."""
    assert data.entries is not None
    a_row = PASSES * data.entries * (c.parse + 1.1 * codes * c.product)
    basis = 6 * 1.1 * codes  # columns of all products that codes are sought in
    return data.rows * a_row, 2e-11 * 4 * data.columns * basis**2


def passes_bytes(data: Data, codes: int = CODES) -> float:
    """What a pass of products adds up: as tall as there are columns."""
    return 8.0 * data.columns * 1.1 * codes


def simulated(
    summing: float, sum_bytes: float, n_blocks: int, n_workers: int, task: float, seed: int = 0
) -> float:
    """Seconds until the sum of all blocks is at the client.

    Workers ask for a block when they are free; the scheduler hands out one after the other and
    takes ``task`` for each. Blocks differ by a tenth (one standard deviation), and one worker in
    twenty is half as fast. Every worker adds up what it has; the sums of workers are then added by
    fours, those of a group sent one after the other to the first of it.
    """
    rng = np.random.default_rng(seed)
    speed = np.where(np.arange(n_workers) % 20 == 19, 0.5, 1.0)
    block = summing / n_blocks * np.maximum(0.2, 1 + 0.1 * rng.standard_normal(n_blocks))
    free = [(0.0, worker) for worker in range(n_workers)]
    scheduler = 0.0
    ends = np.zeros(n_workers)
    for seconds in block:
        at, worker = heapq.heappop(free)
        scheduler = max(scheduler, at) + task
        ends[worker] = scheduler + seconds / speed[worker]
        heapq.heappush(free, (ends[worker], worker))
    level = sorted(ends)
    while len(level) > 1:
        groups = [level[k : k + FAN_IN] for k in range(0, len(level), FAN_IN)]
        level = [max(g) + (len(g) - 1) * sum_bytes / NETWORK for g in groups]
    return level[0] + sum_bytes / NETWORK


DENSE = Data(1e9, 300, 100)
WIDE = Data(1e9, 3_000, 1_000)
TEXT = Data(1e9, 100_000, 10_000, entries=60)
EXTREME = Data(1e8, 1_000_000, 1_000_000, entries=60)
CASES = {"dense": DENSE, "wide": WIDE, "text": TEXT, "a million labels": EXTREME}


def route(data: Data, c: Constants) -> tuple[str, float, float, float, int]:
    """Which way is taken; seconds of one core, seconds of the client, bytes of a sum, passes."""
    if data.entries is None:
        return ("moments", *moments_seconds(data, c), moments_bytes(data), 1)
    return ("passes", *passes_seconds(data, c), passes_bytes(data), PASSES)


def with_workers(
    data: Data, n_workers: int, c: Constants, block_seconds: float
) -> tuple[float, float]:
    """Seconds with so many workers, and how many times as fast as one thread that does it all."""
    _, summing, solving, size, passes = route(data, c)
    n_blocks = max(n_workers, math.ceil(summing / passes / block_seconds))
    shown = min(n_blocks, 200_000)  # more are alike
    scale = n_blocks / shown
    each = simulated(summing / passes, size, shown, n_workers, c.task * scale)
    whole = passes * each + solving
    return whole, (summing + solving) / whole


def main() -> int:
    c = Constants.measured()
    print(c)
    for name, data in CASES.items():
        way, summing, solving, size, passes = route(data, c)
        print(f"{name}: {way}, {summing / 3600:.1f} core hours, {solving:.1f} s at the client, ")
        print(f"    {size / 2**20:,.0f} MiB a sum, {passes} passes")
        for n in (10, 100):
            for block in BLOCK_SECONDS:
                seconds, times = with_workers(data, n, c, block)
                print(
                    f"    {n} workers, blocks of {block:g} s: {seconds:,.0f} s, {times:.1f} times"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())

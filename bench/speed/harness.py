"""What the benchmark's harness adds to the work it measures.

    python bench/speed/harness.py [--cells 12] [--pause 0.5] [--runs 5] [--quick]

Each cell sleeps for a known time in place of a fit; whatever a cell takes beyond that, from the
end of the one before to its own end, is the harness's: rows cut, the cell claimed, the record
written and forced to the disk, the next cell sent. One worker process. Its start (Python and its
imports) is once for a whole run, however long, and is given apart. Target: under 5 % of cells of
0.5 s.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn_bench import Answer, parse_spec, run
from compactlearn_bench.records import Store

TARGET = 0.05


class Sleeper:
    """A method whose work takes a known time."""

    def settings(self, given):
        return {"pause": 0.5, **given}

    def answer(self, task):
        time.sleep(task.settings["pause"])
        values = np.zeros((1, len(task.metrics)))
        return Answer([{}], values, [0], task.settings["pause"], 0.0)


sleeper = Sleeper()


def measure(cells: int, pause: float) -> tuple[float, float]:
    """Seconds that a run adds to each cell, and seconds until the first cell begins."""
    spec = parse_spec(
        {
            "name": "harness",
            "folds": cells,
            "selections": ["paper"],
            "datasets": ["enron"],
            "methods": [{"name": "sleeper", "estimator": "harness:sleeper", "pause": pause}],
        }
    )
    first, last, asked = [], [], time.perf_counter()

    def note(event):
        (first if event.kind == "started" else last).append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        run(spec, Store(folder), workers=1, on_event=note)
    # From the end of the first cell, which has the data set loaded, to that of the last.
    added = (last[-1] - last[0]) / (cells - 1) - pause
    return added, first[0] - asked


def main() -> int:
    """Measure, show, record; status 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--pause", type=float, default=0.5)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="once, and write nothing")
    options = parser.parse_args()
    found = np.array(
        [measure(options.cells, options.pause) for _ in range(1 if options.quick else options.runs)]
    )
    added, start = np.median(found, axis=0)
    share = added / options.pause
    record = {
        "date": common.today(),
        "machine": common.machine(),
        "cells": options.cells,
        "cell_seconds": options.pause,
        "runs": len(found),
        "added_seconds_per_cell": round(float(added), 5),
        "added_range": [round(float(value), 5) for value in np.percentile(found[:, 0], [0, 100])],
        "share": round(float(share), 4),
        "start_seconds": round(float(start), 2),
        "target_share": TARGET,
    }
    common.show_table(
        "What the harness adds",
        ["cell", "added", "share", "start of the worker, once"],
        [[f"{options.pause} s", f"{added * 1e3:.1f} ms", f"{share:.2%}", f"{start:.1f} s"]],
    )
    if not options.quick:
        common.write_json(common.RESULTS / "harness.json", record)
    return int(share > TARGET)


if __name__ == "__main__":
    sys.exit(main())

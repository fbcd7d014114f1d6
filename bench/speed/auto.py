"""What AutoCompactClassifier() costs beside tuned one-vs-rest logistic regression.

    python bench/speed/auto.py [--data-home DIR] [--only NAME ...] [--out FILE]

One fold of each set of bench/auto/auto.toml, by the harness of the benchmark itself: the same
rows, the same six penalties and three inner folds for one-vs-rest. Both have one thread and take
turns. What counts is the time of the processor, choosing and the last fit and predicting included:
a machine that does other work as well makes every clock run long, and this one hardly.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.harness.execute import execute
from compactlearn_bench.harness.job import Job

SPEC = common.ROOT / "bench" / "auto" / "auto.toml"
OURS, THEIRS = "Auto", "One-vs-rest"


def measured(cell, data_home):
    """Seconds of the processor, from the moment the data are there, and the average precision."""
    begun = []
    with threadpool_limits(1):
        record = execute(Job(cell, data_home=data_home), lambda: begun.append(time.process_time()))
    seconds = time.process_time() - begun[0]
    if record.status != "done":
        raise SystemExit(f"{cell.dataset}, {cell.method}: {record.reason}")
    place = record.metrics.index("average_precision")
    return seconds, float(np.ravel(record.values[..., place])[0])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--only", nargs="+", help="some of the data sets")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "auto_cost.json")
    given = parser.parse_args()
    spec = read_spec(SPEC, Path(given.data_home) if given.data_home else None)
    chosen = {
        (cell.dataset, cell.method): cell
        for cell in cells_of(spec)
        if cell.fold == 0 and cell.method in (OURS, THEIRS)
    }
    rows = []
    for name in dict.fromkeys(dataset for dataset, _ in chosen):
        if given.only and name not in given.only:
            continue
        (ours, precision), (theirs, their_precision) = (
            measured(chosen[name, method], given.data_home) for method in (OURS, THEIRS)
        )
        row = {"data": name, "ours_s": ours, "theirs_s": theirs, "ratio": ours / theirs}
        rows.append(row | {"ours": precision, "theirs": their_precision})
        print(rows[-1], flush=True)
    ratios = np.array([row["ratio"] for row in rows])
    print(f"no dearer on {int((ratios <= 1).sum())} of {ratios.size} sets")
    record = {"date": common.today(), "machine": common.machine(), "measurements": rows}
    common.write_json(given.out, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Cost of AutoCompactClassifier() compared with tuned one-vs-rest logistic regression.

    python bench/speed/auto.py [--data-home DIR] [--only NAME ...] [--out FILE]

One fold of each set of bench/auto/auto.toml, by the harness of the benchmark itself: the same
rows, the same six penalties and three inner folds for one-vs-rest. Both have one thread and take
turns. What counts is processor time, choosing, the last fit and predicting included: other work on
the machine hardly changes it.
"""

import sys
import time

from threadpoolctl import threadpool_limits

from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.harness.execute import execute
from compactlearn_bench.harness.job import Job
from compactlearn_bench.measure import BENCH, parser, write

OURS, THEIRS = "Auto", "One-vs-rest"


def measured(cell, data_home):
    """Return processor seconds from the moment the data are loaded, and the average precision."""
    begun = []
    home = None if data_home is None else str(data_home)
    with threadpool_limits(1):
        record = execute(Job(cell, data_home=home), lambda: begun.append(time.process_time()))
    seconds = time.process_time() - begun[0]
    if record.status != "done":
        raise SystemExit(f"{cell.dataset}, {cell.method}: {record.reason}")
    return seconds, record.value("average_precision")


def main():
    command = parser(__doc__, "auto_cost.json")
    command.add_argument("--only", nargs="+", help="some of the data sets")
    given = command.parse_args()
    cells = cells_of(read_spec(BENCH / "auto" / "auto.toml", given.data_home))
    chosen = {(cell.dataset, cell.method): cell for cell in cells if cell.fold == 0}
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
        write(given.out, rows)
    cheaper = sum(row["ratio"] <= 1 for row in rows)
    print(f"at most as expensive on {cheaper} of {len(rows)} sets")
    return 0


if __name__ == "__main__":
    sys.exit(main())

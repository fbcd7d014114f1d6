"""The five best labels of one text: milliseconds of a call for a single row of wordnet.

    python bench/speed/one_row.py [--data-home DIR] [--rows N] [--out FILE]

one      seconds of ``predict_topk(x, 5)`` of ShortlistClassifier, a call for each test row: the
         median, the least, and the median of the processor's time
batch    seconds of a row where all of them are asked at once

Both answers must be the same. A quiet machine is needed. Target: 2 ms for a row by itself.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import ShortlistClassifier
from compactlearn.datasets import load

TARGET_S, K = 0.002, 5


def measured(model, X):
    """The rows of the record."""
    rows = [X[[i]] for i in range(X.shape[0])]
    for row in rows[:20]:
        model.predict_topk(row, K)
    seconds, processor, found = [], [], []
    for row in rows:
        begin = time.perf_counter(), time.process_time()
        found.append(model.predict_topk(row, K))
        seconds.append(time.perf_counter() - begin[0])
        processor.append(time.process_time() - begin[1])
    start = time.perf_counter()
    labels, scores = model.predict_topk(X, K)
    batch = (time.perf_counter() - start) / X.shape[0]
    same = np.array_equal(labels, np.vstack([one for one, _ in found]))
    same = same and np.array_equal(scores, np.vstack([one for _, one in found]))
    one = {"what": "one", "median_s": float(np.median(seconds)), "least_s": min(seconds)}
    one |= {"processor_s": float(np.median(processor)), "target_s": TARGET_S, "same": same}
    one["met"] = bool(same and one["median_s"] <= TARGET_S)
    return [one, {"what": "batch", "s_per_row": batch}]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--rows", type=int, default=1000, help="test rows that are asked")
    parser.add_argument("--data", default="wordnet", help="another set, for a smoke test")
    parser.add_argument("--out", type=Path, help="the record (default: results/one_row.json)")
    given = parser.parse_args()
    data = load(given.data, data_home=given.data_home)
    train, test = data.split() if data.n_train else (data, data)
    model = ShortlistClassifier(random_state=0).fit(train.X, train.Y)
    rows = measured(model, test.X[: given.rows])
    for row in rows:
        print(row, flush=True)
    out = given.out
    if out is None and given.data == "wordnet":
        out = common.RESULTS / "one_row.json"
    if out is not None:
        record = {"date": common.today(), "machine": common.machine(), "data": given.data}
        common.write_json(out, record | {"measurements": rows})
    return 0 if all(row.get("met", True) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

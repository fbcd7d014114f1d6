"""One row and many: processor time of a shortlist's predictions, with Numba and without it.

    python bench/speed/one_row.py [--rows N] [--data-home DIR] [--out FILE]

ShortlistClassifier is fitted to wordnet's training rows, and its file is loaded by processes of one
thread. Each measures, in milliseconds of processor time:

first    the first row after loading, which also loads the compiled code from the disk
topk     ``predict_topk`` of one row: the median, the mean and the 95th percentile of many
proba    ``predict_proba`` of one row: the median
hundred  ``predict_topk`` of a hundred rows at once, for each row
batch    ``predict_topk`` of all test rows at once, for each row

The processes take turns, several of each kind; of each number the median of these is written, and
the ratio of the medians without Numba and with it. The ranking is compared as well: the share of
rows with the same five best labels, and the largest difference of scores.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from compactlearn import ShortlistClassifier, load_model
from compactlearn.datasets import load
from compactlearn_bench.measure import BENCH, in_a_child, parser, rounded, timed, write

TRAINING_ROWS, PROCESSES, K = 65_041, 3, 5
TIMES = ("first", "topk", "topk_mean", "topk_95", "proba", "hundred", "batch")


def milliseconds(call):
    return 1e3 * timed(call, time.process_time)[1]


def test_rows(home):
    data = load("wordnet", data_home=home)
    return data.X[TRAINING_ROWS:]


def predict(path, home, n_rows, found):
    """Measure one process, print its numbers, and store the best labels of all rows."""
    X, model = test_rows(home), load_model(path)
    rows = [X[i : i + 1] for i in range(n_rows)]
    row = {"first": milliseconds(lambda: model.predict_topk(rows[0], K))}
    for one in rows[:50]:
        model.predict_topk(one, K)
    topk = [milliseconds(lambda one=one: model.predict_topk(one, K)) for one in rows]
    proba = [milliseconds(lambda one=one: model.predict_proba(one)) for one in rows]
    row |= {"topk": np.median(topk), "topk_mean": np.mean(topk), "topk_95": np.quantile(topk, 0.95)}
    row["proba"] = np.median(proba)
    row["hundred"] = np.median(
        [milliseconds(lambda i=i: model.predict_topk(X[i : i + 100], K)) / 100 for i in range(20)]
    )
    row["batch"] = milliseconds(lambda: model.predict_topk(X, K)) / X.shape[0]
    labels, scores = model.predict_topk(X, K)
    np.savez(found, labels=labels, scores=scores)
    print(json.dumps({name: float(value) for name, value in row.items()}))


def main():
    command = parser(__doc__, "one_row.json")
    command.add_argument("--rows", type=int, default=1000, help="rows that are predicted singly")
    command.add_argument("--child", nargs=3, help="used by the script itself")
    given = command.parse_args()
    home = given.data_home or BENCH.parents[1] / "shared" / "datasets"
    if given.child:
        path, found, numba = given.child
        if numba == "without":
            sys.modules["numba"] = None  # as if it were not installed
        predict(path, home, given.rows, found)
        return 0
    data = load("wordnet", data_home=home)
    model = ShortlistClassifier(random_state=0, n_jobs=1)
    seconds = timed(lambda: model.fit(data.X[:TRAINING_ROWS], data.Y[:TRAINING_ROWS]))[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        model.save(path)
        runs = {"with": [], "without": []}
        for _ in range(PROCESSES):
            for numba, rows in runs.items():
                asked = ("--rows", given.rows, "--data-home", home, "--child", path)
                asked += (Path(folder, f"{numba}.npz"), numba)
                rows.append(in_a_child(__file__, *asked, threads=1))
                print(numba, rows[-1], flush=True)
        compiled, plain = (np.load(Path(folder, f"{numba}.npz")) for numba in runs)
    medians = {
        numba: {name: float(np.median([row[name] for row in rows])) for name in TIMES}
        for numba, rows in runs.items()
    }
    measurements = [
        {"data": "wordnet", "numba": numba == "with", "processes": PROCESSES}
        | {f"{name}_ms": rounded(value) for name, value in row.items()}
        for numba, row in medians.items()
    ]
    same = (compiled["labels"] == plain["labels"]).all(axis=1).mean()
    ratios = {name: rounded(medians["without"][name] / medians["with"][name]) for name in TIMES}
    write(
        given.out,
        measurements,
        rows=given.rows,
        fit_s=rounded(seconds),
        model_bytes=int(model.nbytes_),
        without_over_with=ratios,
        same_five=float(same),
        largest_difference=float(np.abs(compiled["scores"] - plain["scores"]).max()),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

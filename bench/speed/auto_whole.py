"""How long AutoCompactClassifier() takes on whole data sets, and what it reaches there.

    python bench/speed/auto_whole.py [--data-home DIR] [--only NAME ...] [--out FILE]

Four fifths of the rows of each set are fitted with nothing set, and the rest judges. Clock and
processor are both told: the first is what a user waits, where nothing else runs, and the second
hardly depends on what does. Each set is a process of its own, whose peak of memory is told too.
With ``--only`` the other rows of the record stay as they are.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import common
from peak import memory_mark

from compactlearn import AutoCompactClassifier
from compactlearn.datasets import load
from compactlearn.metrics import average_precision

DATA = (
    "flags",
    "emotions",
    "cal500",
    "genbase",
    "medical",
    "plant",
    "llog",
    "enron",
    "scene",
    "yeast",
    "corel5k",
    "bibtex",
    "corel16k",
    "delicious",
    "tmc2007-500",
    "mediamill",
    "imdb",
)


def measured(name, data_home):
    """One row of the record."""
    data = load(name, data_home=data_home)
    X, Y = data.X, data.Y
    order = np.random.default_rng(0).permutation(X.shape[0])
    cut = X.shape[0] * 4 // 5
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    clock, processor = time.perf_counter(), time.process_time()
    model = AutoCompactClassifier().fit(X[train], Y[train])
    seconds = time.perf_counter() - clock, time.process_time() - processor
    return {
        "data": name,
        "rows": int(cut),
        "features": int(X.shape[1]),
        "labels": int(Y.shape[1]),
        "seconds": seconds[0],
        "processor_s": seconds[1],
        "memory_mib": memory_mark() / 2**20,
        "average_precision": average_precision(Y[test], model.decision_function(X[test])),
        "taken": model.leaderboard_[0]["name"],
    }


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--only", nargs="+", choices=DATA, metavar="NAME", default=DATA)
    parser.add_argument("--out", type=Path, default=common.RESULTS / "auto_whole.json")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        warnings.simplefilter("ignore")
        print(json.dumps(measured(given.child, given.data_home)))
        return 0
    known = json.loads(given.out.read_text())["measurements"] if given.out.exists() else []
    rows = {row["data"]: row for row in known}
    for name in given.only:
        call = [sys.executable, __file__, "--child", name]
        if given.data_home:
            call += ["--data-home", str(given.data_home)]
        done = subprocess.run(call, check=True, capture_output=True, text=True)
        rows[name] = json.loads(done.stdout.splitlines()[-1])
        print(rows[name], flush=True)
        record = {"date": common.today(), "machine": common.machine()}
        ordered = [rows[one] for one in DATA if one in rows]
        common.write_json(given.out, record | {"measurements": ordered})
    return 0


if __name__ == "__main__":
    sys.exit(main())

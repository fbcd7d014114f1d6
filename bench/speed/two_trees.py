"""The same work by two trees of the source in turn: did a change make it slower?

    git worktree add ../before REVISION
    python bench/speed/two_trees.py ../before [--runs 7] [--data-home DIR]

Each tree has a process of its own, with one thread, that does what it is asked; the two take turns,
and their processor time is compared, which a busy machine disturbs less than the clock. Target: the
least time of this tree within 5 % of the other's.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from sklearn.base import clone

from compactlearn import (
    CPLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    ShortlistClassifier,
    method,
)
from compactlearn.datasets import load
from compactlearn.model_selection import GridSearchMoments
from compactlearn_bench import parse_spec, run
from compactlearn_bench.records import Store

ROOT = Path(__file__).resolve().parents[2]
SETS = ("enron", "emotions")
TARGET = 1.05


GRID = {
    "beta": [0.1, 1.0],
    "n_label_components": [0.3, 0.6, 0.9],
    "n_feature_components": [0.3, 0.6, 0.9],
    "alpha": [0.1, 1.0, 10.0],
}


def cells(name):
    """Run a small specification through the harness of the tree."""
    few = {"alphas": [1.0, 10.0], "label_ratios": [0.5]}
    methods = [{"name": "PLST", **few}, {"name": "CPLST", **few}]
    spec = parse_spec({"name": "two-trees", "folds": 3, "datasets": [name], "methods": methods})
    with tempfile.TemporaryDirectory() as folder:
        return run(spec, Store(folder), workers=1)


def jobs(data, name):
    """Return the jobs on a data set, by name."""
    sparse, Y = data.X, data.Y
    dense = sparse.toarray() if hasattr(sparse, "toarray") else sparse
    some, Y_some = dense[:800], Y[:800]
    plain, completed = (
        CMLLClassifier(completion=completion, threshold=0.5) for completion in ("none", "krylov")
    )
    fitted = clone(plain).fit(dense, Y)
    shortlist = ShortlistClassifier(random_state=0).fit(sparse, Y)
    auto = AutoCompactClassifier(random_state=0).fit(sparse, Y)

    return {
        "fit, dense": lambda: plain.fit(dense, Y),
        "fit, sparse": lambda: plain.fit(sparse, Y),
        "fit, tuned threshold": lambda: CMLLClassifier().fit(sparse, Y),
        "predict, 20 times": lambda: [fitted.predict(dense) for _ in range(20)],
        "CPLST": lambda: CompactClassifier(CPLST(), threshold=0.5).fit(sparse, Y),
        "FaIE": lambda: CompactClassifier(FaIE(), threshold=0.5).fit(sparse, Y),
        "k-CMLL": lambda: method("k-CMLL").fit(some, Y_some),
        "logistic decoder": lambda: CMLLClassifier(decoder="logistic").fit(some, Y_some),
        "shortlist": lambda: ShortlistClassifier(random_state=0).fit(sparse, Y),
        "shortlist, predict": lambda: shortlist.predict(sparse),
        "automatic search": lambda: AutoCompactClassifier(random_state=0).fit(sparse, Y),
        "automatic search, predict": lambda: auto.predict(sparse),
        "harness": lambda: cells(name),
        "grid": lambda: GridSearchMoments(completed, GRID, refit=False).fit(some, Y_some),
    }


def serve(data_home, sets):
    """Do what is asked on standard input, and print the seconds of processor time."""
    warnings.simplefilter("ignore")
    work = {
        f"{what}: {name}": job
        for name in sets
        for what, job in jobs(load(name, data_home=data_home), name).items()
    }
    for job in work.values():
        job()
    print("\t".join(work), flush=True)
    for line in sys.stdin:
        start = seconds()
        work[line.strip()]()
        print(seconds() - start, flush=True)


def seconds():
    """Return the processor time of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def started(tree, arguments):
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    path = os.pathsep.join(str(Path(tree).resolve() / at) for at in ("src", "bench/src"))
    environment = os.environ | threads | {"PYTHONPATH": path}
    command = [sys.executable, "-P", __file__, "--serve", *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", nargs="?", help="the other tree")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return serve(given.data_home, given.sets)
    passed = ["--sets", *given.sets]
    if given.data_home:
        passed += ["--data-home", given.data_home]
    sides = {"before": started(given.before, passed), "now": started(ROOT, passed)}
    names, _ = (side.stdout.readline().strip().split("\t") for side in sides.values())
    slower = []
    for name in names:
        seconds = {side: [] for side in sides}
        for turn in range(given.runs):
            for side in sorted(sides, reverse=bool(turn % 2)):
                sides[side].stdin.write(name + "\n")
                sides[side].stdin.flush()
                seconds[side].append(float(sides[side].stdout.readline()))
        least = min(seconds["now"]) / min(seconds["before"])
        middle = statistics.median(seconds["now"]) / statistics.median(seconds["before"])
        slower += [name] if least > TARGET else []
        before, now = (1e3 * min(seconds[side]) for side in ("before", "now"))
        print(f"{name:32s} {before:8.1f} ms {now:8.1f} ms   {least:.3f} (medians {middle:.3f})")
    for side in sides.values():
        side.stdin.close()
        side.wait()
    print(f"slower than {TARGET}: {', '.join(slower) or 'nothing'}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

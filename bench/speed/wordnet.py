"""300 codes of wordnet (65,041 texts, 8,821 labels): alone, and beside a neighbour.

    git worktree add ../before REVISION
    python bench/speed/wordnet.py ../before [--data-home DIR] [--runs N] [--out FILE]

alone    a fit by this tree against the same fit by the other tree, in turn; precision among the
         first 1, 3 and 5 labels of the test rows by both
busy     a fit while another process keeps one core busy, against a fit alone
middle   the same, with a neighbour that begins in the middle
logistic the fit with the logistic decoder against the plain fit, and the precision of both

Each tree has a process of its own. Seconds are the clock's, with as many threads as the library
chooses, and the least of the runs counts: a quiet machine is needed. Targets: half the time of the
other tree and no less precision; at most twice the own time beside a neighbour; at most ten times
with the logistic decoder, and no less precision than the linear one has.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import precision_at_k

ROOT = Path(__file__).resolve().parents[2]
FASTER, BUSY, LOGISTIC = 0.5, 2.0, 10.0  # the targets
BUSY_LOOP = [sys.executable, "-c", "while True: pass"]


def serve(data_home, name, n_codes):
    """Fit whenever asked on standard input, "fit" or "logistic"; print seconds, or the precision
    of the last model."""
    warnings.simplefilter("ignore")
    train, test = load(name, data_home=data_home).split()
    models = {
        "fit": CMLLClassifier(n_label_components=n_codes, threshold=0.5),
        "logistic": CMLLClassifier(n_label_components=n_codes, threshold=0.5, decoder="logistic"),
    }
    model = models["fit"]
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "precision":
            scores = model.decision_function(test.X)
            found = [precision_at_k(test.Y, scores, k=k) for k in (1, 3, 5)]
            share = getattr(model.embedding_, "objective_share_", 1.0)
            print(*found, share, flush=True)
            continue
        model = models[line.strip()]
        start = time.perf_counter()
        model.fit(train.X, train.Y)
        print(time.perf_counter() - start, flush=True)


class Tree:
    """A process that fits by the source of one tree."""

    def __init__(self, tree, arguments):
        source = {"PYTHONPATH": str(Path(tree).resolve() / "src")}
        command = [sys.executable, "-P", __file__, "--serve", *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=os.environ | source, **pipes)
        self._answer()

    def ask(self, what="fit"):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self.process.stdout.readline().split()
        if not line:
            raise RuntimeError("the process of a tree has ended")
        return None if line == ["ready"] else [float(part) for part in line]

    def fit(self, what="fit"):
        return self.ask(what)[0]

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def beside_a_neighbour(tree, after):
    """Seconds of a fit with a process that keeps a core busy from ``after`` seconds on."""
    neighbours = []
    timer = threading.Timer(after, lambda: neighbours.append(subprocess.Popen(BUSY_LOOP)))
    timer.start()
    time.sleep(0.0 if after else 0.3)
    try:
        return tree.fit()
    finally:
        timer.cancel()
        timer.join()
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()


def measured(now, before, runs):
    """The rows of the record."""
    seconds = {"now": [], "before": [], "busy": [], "middle": [], "logistic": []}
    for _ in range(runs):
        seconds["before"].append(before.fit())
        seconds["now"].append(now.fit())
        seconds["busy"].append(beside_a_neighbour(now, 0.0))
        seconds["middle"].append(beside_a_neighbour(now, seconds["now"][-1] / 3))
    ours, theirs = now.ask("precision"), before.ask("precision")
    for _ in range(runs):
        seconds["logistic"].append(now.fit("logistic"))
    least = {what: min(times) for what, times in seconds.items()}
    alone = {"what": "alone", "ours_s": least["now"], "theirs_s": least["before"]}
    alone |= {"ratio": least["now"] / least["before"], "target": FASTER}
    alone |= {"precision": ours[:3], "their_precision": theirs[:3], "objective_share": ours[3]}
    no_worse = all(mine >= other - 5e-4 for mine, other in zip(ours[:3], theirs[:3], strict=True))
    alone["met"] = bool(alone["ratio"] <= FASTER and no_worse)
    rows = [alone]
    for what in ("busy", "middle"):
        ratio = least[what] / least["now"]
        row = {"what": what, "ours_s": least[what], "ratio": ratio, "target": BUSY}
        rows.append(row | {"met": bool(ratio <= BUSY)})
    learnt, ratio = now.ask("precision"), least["logistic"] / least["now"]
    row = {"what": "logistic", "ours_s": least["logistic"], "theirs_s": least["now"]}
    row |= {"ratio": ratio, "target": LOGISTIC}
    row |= {"precision": learnt[:3], "their_precision": ours[:3]}
    better = all(mine >= linear for mine, linear in zip(learnt[:3], ours[:3], strict=True))
    return [*rows, row | {"met": bool(ratio <= LOGISTIC and better)}]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", nargs="?", default=ROOT, help="the other tree")
    parser.add_argument("--data-home", default=None)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", default="wordnet", help="another set, for a smoke test")
    parser.add_argument("--codes", type=int, default=300)
    parser.add_argument("--out", type=Path, help="the record (default: results/wordnet.json)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        return serve(given.data_home, given.data, given.codes)
    passed = ["--data", given.data, "--codes", str(given.codes)]
    if given.data_home:
        passed += ["--data-home", given.data_home]
    now, before = Tree(ROOT, passed), Tree(given.before, passed)
    rows = measured(now, before, given.runs)
    now.end()
    before.end()
    for row in rows:
        print(row, flush=True)
    out = given.out
    if out is None and given.data == "wordnet":
        out = common.RESULTS / "wordnet.json"
    if out is not None:
        record = {"date": common.today(), "machine": common.machine(), "data": given.data}
        common.write_json(out, record | {"codes": given.codes, "measurements": rows})
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

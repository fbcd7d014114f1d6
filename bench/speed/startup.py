"""How long a program waits before it can begin: imports, and the help of the command line.

    python bench/speed/startup.py [--rounds N] [--out FILE]

Each of the following is a new process, and all of them take turns:

nothing        Python by itself
scikit-learn   ``import sklearn.linear_model``, the yardstick
package        ``import compactlearn``, whose names are loaded when they are first used
classifier     ``from compactlearn import CMLLClassifier``, which loads what a fit needs
auto           ``from compactlearn import AutoCompactClassifier``, which loads nearly everything
help           ``compactlearn --help``

The figures are medians in seconds, and of imports the median ratio to scikit-learn of the same
round. What dominates is asked of ``python -X importtime`` once: the milliseconds of the slowest
imports, each with all that it imports. Targets: the package and the classifier at most 1.3 times
scikit-learn, and 0.7 s for the help.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

YARDSTICK = "scikit-learn"
RATIO, HELP_S = 1.3, 0.7
RUNS = {
    "nothing": ["-c", "pass"],
    YARDSTICK: ["-c", "import sklearn.linear_model"],
    "package": ["-c", "import compactlearn"],
    "classifier": ["-c", "from compactlearn import CMLLClassifier"],
    "auto": ["-c", "from compactlearn import AutoCompactClassifier"],
    "help": ["-m", "compactlearn", "--help"],
}


def seconds(arguments):
    """The wall time of a new interpreter."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measured(rounds):
    """A row for each run; one untimed round comes first, which fills the file cache."""
    times = {name: [] for name in RUNS}
    for number in range(rounds + 1):
        for name, arguments in RUNS.items():
            spent = seconds(arguments)
            if number:
                times[name].append(spent)
    rows = []
    for name, own in times.items():
        row = {"what": name, "median_s": median(own), "least_s": min(own)}
        if name not in ("nothing", "help"):
            pairs = zip(own, times[YARDSTICK], strict=True)
            row["ratio"] = median(one / other for one, other in pairs)
        if name in ("package", "classifier"):
            row |= {"target_ratio": RATIO, "met": row["ratio"] <= RATIO}
        if name == "help":
            row |= {"target_s": HELP_S, "met": row["median_s"] <= HELP_S}
        rows.append(row)
    return rows


def dominant(arguments, count=8):
    """The packages whose import takes longest, in milliseconds with all that they import."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ).stderr
    found = {}
    for line in told.splitlines():
        parts = line.removeprefix("import time:").split("|")
        if len(parts) == 3 and parts[1].strip().isdigit():
            name = ".".join(parts[2].strip().split(".")[:2])
            found[name] = max(found.get(name, 0.0), int(parts[1]) / 1000)
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:count])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out", type=Path, default=common.RESULTS / "startup.json")
    given = parser.parse_args()
    rows = measured(given.rounds)
    for row in rows:
        print(row, flush=True)
    record = {"date": common.today(), "machine": common.machine(), "rounds": given.rounds}
    record["measurements"] = rows
    record["dominant_ms"] = {name: dominant(RUNS[name]) for name in ("classifier", "help")}
    common.write_json(given.out, record)
    return 0 if all(row.get("met", True) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

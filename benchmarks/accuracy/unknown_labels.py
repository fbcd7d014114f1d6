"""What unknown labels cost: hidden at random, completed by fit, or counted as absent.

    python benchmarks/accuracy/unknown_labels.py [--data-home DIR] [--hidden SHARE] [NAME ...]

Seeded 5-fold, in each of which a share of all cells of the training labels is hidden at random;
test rows have all their labels. "all" is fitted to all labels, "known" to the known ones with NaN
for the others, "zeros" with 0 for the others. A figure is the mean over the folds, and "share lost"
what "known" loses beside "all", as a share of what "zeros" loses.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLLClassifier, CompactClassifier, Original
from compactlearn.datasets import load
from compactlearn.metrics import average_precision, micro_f1

DEFAULT = ("enron", "yeast", "corel5k")
MODELS = {
    "CMLLClassifier()": CMLLClassifier,
    "CMLLClassifier(decoder='logistic')": lambda: CMLLClassifier(decoder="logistic"),
    "CompactClassifier(Original())": lambda: CompactClassifier(Original()),
}
WAYS = ("all", "known", "zeros")
SLOW = {("corel5k", "CMLLClassifier(decoder='logistic')")}  # minutes for each fit


def measure(name: str, models: list[str], options: Any) -> list[dict[str, Any]]:
    """Both metrics of each model on each fold of one data set."""
    data = load(name, data_home=options.data_home)
    X, Y = data.X, common.dense(data.Y)
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    splitter = KFold(n_splits=5, shuffle=True, random_state=options.seed)
    for fold, (train, test) in enumerate(splitter.split(Y)):
        if fold >= options.folds:
            break
        unknown = hidden(
            Y[train].shape, options.hidden, np.random.default_rng([options.seed, fold])
        )
        labels = {
            "all": Y[train],
            "known": np.where(unknown, np.nan, Y[train]),
            "zeros": np.where(unknown, 0.0, Y[train]),
        }
        for model in models:
            for way in WAYS:
                start = time.perf_counter()
                fitted = MODELS[model]().fit(X[train], labels[way])
                seconds = time.perf_counter() - start
                precision = average_precision(Y[test], fitted.decision_function(X[test]))
                f1 = micro_f1(Y[test], fitted.predict(X[test]))
                found.setdefault((model, way), []).append((precision, f1, seconds))
    return [summary(name, model, found) for model in models]


def hidden(shape: tuple[int, int], share: float, rng: np.random.Generator) -> np.ndarray:
    """Which cells are hidden; of every row at least one is not."""
    unknown = rng.random(shape) < share
    rows = np.flatnonzero(unknown.all(axis=1))
    unknown[rows, rng.integers(shape[1], size=rows.size)] = False
    return unknown


def summary(name: str, model: str, found: dict[tuple[str, str], Any]) -> dict[str, Any]:
    """The means over the folds, and the share that is lost."""
    figures = {way: np.array(found[model, way]) for way in WAYS}
    row: dict[str, Any] = {"data": name, "model": model, "folds": len(figures["all"])}
    for place, metric in enumerate(("average_precision", "micro_f1")):
        folds = {way: figures[way][:, place] for way in WAYS}
        means = {way: float(folds[way].mean()) for way in WAYS}
        lost = means["all"] - means["zeros"]
        row[metric] = {
            **{way: [round(float(value), 6) for value in folds[way]] for way in WAYS},
            **{f"{way}_mean": round(means[way], 6) for way in WAYS},
            "share_lost": round((means["all"] - means["known"]) / lost, 3) if lost > 0 else None,
        }
    row["seconds"] = {way: round(float(np.median(figures[way][:, 2])), 2) for way in WAYS}
    return row


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: three)")
    parser.add_argument("--data-home", type=Path, help="folder of the data sets")
    parser.add_argument("--hidden", type=float, default=0.3, help="share of cells (default: 0.3)")
    parser.add_argument("--folds", type=int, default=5, help="how many of the five (default: all)")
    parser.add_argument("--seed", type=int, default=0, help="of folds and of what is hidden")
    parser.add_argument("--only", nargs="*", metavar="MODEL", help="models (default: all)")
    parser.add_argument(
        "--out", type=Path, help="the record (default: results/unknown_labels.json)"
    )
    options = parser.parse_args(arguments)
    models = [name for name in MODELS if options.only is None or name in options.only]
    rows: list[dict[str, Any]] = []
    out = options.out
    if out is None and not options.names and options.only is None:
        out = common.RESULTS / "unknown_labels.json"
    record = {"date": common.today(), "machine": common.machine(), "seed": options.seed}
    for name in options.names or DEFAULT:
        here = [model for model in models if options.only or (name, model) not in SLOW]
        rows += measure(name, here, options)
        show(rows[-len(here) :])
        if out is not None:
            kept = [row for row in before(out) if row["data"] not in {r["data"] for r in rows}]
            found = kept + rows
            common.write_json(out, record | {"hidden": options.hidden, "measurements": found})
    return 0


def before(out: Path) -> list[dict[str, Any]]:
    """What a record has of other sets, where one is measured anew."""
    return json.loads(out.read_text(encoding="utf-8"))["measurements"] if out.exists() else []


def show(rows: list[dict[str, Any]]) -> None:
    """A table of the means."""
    header = ("data", "model", "metric", *WAYS, "share lost", "seconds")
    cells = [
        (
            row["data"],
            row["model"],
            metric,
            *(f"{row[metric][f'{way}_mean']:.4f}" for way in WAYS),
            "" if row[metric]["share_lost"] is None else f"{row[metric]['share_lost']:.2f}",
            f"{row['seconds']['all']:.1f} / {row['seconds']['known']:.1f}",
        )
        for row in rows
        for metric in ("average_precision", "micro_f1")
    ]
    common.show_table("unknown labels", header, cells)


if __name__ == "__main__":
    sys.exit(main())

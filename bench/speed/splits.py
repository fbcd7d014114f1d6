"""Balance and speed of multi-label stratified folds, beside two public packages.

    python bench/speed/splits.py [--data-home DIR] [--quick] [--out FILE]

balance  LD, the label distribution measure of Sechidis et al. (2011): the mean, over labels and
         folds, of the absolute difference of a label's odds in the fold and in all rows; and ED,
         the mean absolute difference of a fold's size from its share. Means over seeds.
pairs    the same with order=2, and LD of the pairs of labels that two rows or more have
speed    folds of random labels, sparse for ours, dense for the others (which is what they work on)

The rivals are iterative-stratification's MultilabelStratifiedKFold and scikit-multilearn-ng's
IterativeStratification, each if it is installed. A ratio is ours over theirs: below 1 is better or
faster. Five folds; seconds are medians of interleaved pairs, one thread.
"""

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
import numpy as np
import scipy.sparse
from timing import interleaved

from compactlearn.datasets import load
from compactlearn.model_selection import IterativeStratification

FOLDS, SEEDS, QUICK_SEEDS = 5, 20, 2
# Package, module and class of each rival.
RIVALS = {
    "iterative-stratification": ("iterstrat.ml_stratifiers", "MultilabelStratifiedKFold"),
    "scikit-multilearn-ng": ("skmultilearn.model_selection", "IterativeStratification"),
}
DATA = ("enron", "llog", "yeast", "medical", "corel5k", "plant")
PAIRS_DATA = ("enron", "yeast", "medical")
# Rows, labels, share of labels present.
RANDOM = {
    "random 1000 x 50": (1000, 50, 0.05),
    "random 5000 x 30": (5000, 30, 0.2),
    "random 2000 x 300": (2000, 300, 0.02),
}
LARGE, QUICK_LARGE = (100_000, 100, 0.03), (2_000, 20, 0.03)
SPEED_TARGETS = {"iterative-stratification": None, "scikit-multilearn-ng": 1 / 20}

Row = dict[str, Any]
Maker = Callable[[int, int], Any]  # seed and order to a splitter


def measurements(data_home: Path | None, quick: bool) -> Iterator[Row]:
    """One row for each comparison."""
    rivals = {name: rival for name in RIVALS if (rival := _rival(name)) is not None}
    seeds = range(QUICK_SEEDS if quick else SEEDS)
    for name, Y in _label_sets(data_home, quick):
        mine = _quality(Y, Y, 1, seeds, _ours)
        for rival, make in rivals.items():
            theirs = _quality(Y, _dense(Y), 1, seeds, make)
            yield _compared("balance", name, rival, mine, theirs, quick)
        if name in PAIRS_DATA and "scikit-multilearn-ng" in rivals:
            mine = _quality(Y, Y, 2, seeds, _ours)
            rival = "scikit-multilearn-ng"
            theirs = _quality(Y, _dense(Y), 2, seeds, rivals[rival])
            yield _compared("pairs", name, rival, mine, theirs, quick)
    rows, labels, share = QUICK_LARGE if quick else LARGE
    Y = _random_labels(rows, labels, share)
    dense = _dense(Y)
    for rival, make in rivals.items():
        times = interleaved(
            partial(_fold_of, _ours(0, 1), Y),
            partial(_fold_of, make(0, 1), dense),
            pairs=3 if quick else 5,
        )
        row = {"group": "speed", "data": f"random {rows} x {labels}", "against": rival}
        target = None if quick else SPEED_TARGETS[rival]
        summary = times.summary()
        met = None if target is None else bool(summary["ratio"] <= target)
        yield row | summary | {"target": target, "met": met}


def _label_sets(data_home: Path | None, quick: bool) -> Iterator[tuple[str, Any]]:
    for name in ("enron",) if quick else DATA:
        yield name, common.sparse(load(name, data_home=data_home).Y)
    for name, shape in RANDOM.items():
        if not quick:
            yield name, _random_labels(*shape)


def _random_labels(rows: int, labels: int, share: float) -> Any:
    rng = np.random.default_rng(0)
    Y = scipy.sparse.random_array((rows, labels), density=share, rng=rng, format="csr")
    Y.data[:] = 1
    return Y


def _dense(Y: Any) -> np.ndarray:
    return Y.toarray().astype(int)


def _ours(seed: int, order: int) -> Any:
    return IterativeStratification(FOLDS, order=order, random_state=seed)


def _rival(name: str) -> Maker | None:
    """A function from seed and order to the rival's splitter, or None and a sentence."""
    module, attribute = RIVALS[name]
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        print(
            f"Not compared with {name}, because {error.name} is not installed; "
            f"pip install {name} brings it.",
            file=sys.stderr,
        )
        return None
    if name == "scikit-multilearn-ng":
        return partial(_ShuffledOutside, found)
    return lambda seed, order: found(FOLDS, shuffle=True, random_state=seed)


class _ShuffledOutside:
    """scikit-multilearn-ng's splitter with the rows shuffled before and found again after it.

    Where it shuffles by itself (0.0.8: with shuffle=True or any random_state), the indices it gives
    are places in the shuffled order, and folds read as rows are not stratified at all.
    """

    def __init__(self, found: Any, seed: int, order: int) -> None:
        self.inner, self.seed, self.order = found, seed, order

    def split(self, X: Any, Y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        places = np.random.RandomState(self.seed).permutation(len(Y))
        np.random.seed(self.seed)  # noqa: NPY002 - without random_state it draws from this one
        for train, test in self.inner(FOLDS, order=self.order).split(X, Y[places]):
            yield places[train], places[test]


def _fold_of(splitter: Any, Y: Any) -> np.ndarray:
    """The fold in which each row is tested."""
    fold = np.empty(Y.shape[0], dtype=int)
    for number, (_, test) in enumerate(splitter.split(np.zeros((Y.shape[0], 1)), Y)):
        fold[test] = number
    return fold


def label_pairs(Y: Any) -> scipy.sparse.csr_array:
    """Which rows have both labels of a pair, for every pair that two rows or more have."""
    first, second = np.nonzero(np.triu((Y.T @ Y).toarray() > 1, k=1))
    return scipy.sparse.csr_array(Y[:, first].multiply(Y[:, second]))


def _quality(Y: Any, given: Any, order: int, seeds: range, make: Maker) -> dict[str, float]:
    pairs = label_pairs(Y.astype(np.int64))
    found = []
    for seed in seeds:
        start = time.perf_counter()
        fold = _fold_of(make(seed, order), given)
        seconds = time.perf_counter() - start
        found.append((label_distribution(Y, fold), label_distribution(pairs, fold),
                      examples_distribution(fold), seconds))  # fmt: skip
    names = ("ld", "ld_pairs", "ed", "s")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True))


def label_distribution(Y: Any, fold: np.ndarray) -> float:
    """LD of Sechidis et al. (2011), over the labels that some rows have and some have not."""
    n = len(fold)
    sums = scipy.sparse.csr_array((np.ones(n), (fold, np.arange(n))), shape=(FOLDS, n)) @ Y
    total = np.asarray(Y.sum(axis=0)).ravel()
    varies = (total > 0) & (total < n)
    counts, total = sums.toarray()[:, varies], total[varies]
    sizes = np.bincount(fold, minlength=FOLDS)[:, None]
    return float(np.abs(counts / (sizes - counts) - total / (n - total)).mean())


def examples_distribution(fold: np.ndarray) -> float:
    """ED of Sechidis et al. (2011)."""
    return float(np.abs(np.bincount(fold, minlength=FOLDS) - len(fold) / FOLDS).mean())


def _compared(
    group: str, data: str, rival: str, mine: dict[str, float], theirs: dict[str, float], quick: bool
) -> Row:
    row: Row = {"group": group, "data": data, "against": rival}
    for name in mine:
        row |= {f"ours_{name}": _round(mine[name]), f"theirs_{name}": _round(theirs[name])}
    judged = "ld" if group == "balance" else "ld_pairs"
    row["ratio"] = _round(mine[judged] / theirs[judged])
    # Equal means may differ in their last digit.
    good = mine[judged] <= theirs[judged] * (1 + 1e-9) and mine["ed"] <= theirs["ed"] + 1e-9
    return row | {"target": None if quick else 1.0, "met": None if quick else bool(good)}


def _round(value: float) -> float:
    return float(f"{value:.4g}")


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; 0 if every target is met, 1 if not."""
    options = _options(arguments)
    rows = []
    for row in measurements(options.data_home, options.quick):
        print("  ".join(_cells(row)), file=sys.stderr, flush=True)
        rows.append(row)
    common.show_table("ratio = ours / theirs", _HEADER, [_cells(row) for row in rows])
    if options.out is not None:
        record = {"date": common.today(), "machine": common.machine(), "quick": options.quick}
        record |= {"folds": FOLDS, "seeds": QUICK_SEEDS if options.quick else SEEDS}
        record |= {"rivals": {name: _version(name) for name in RIVALS}}
        common.write_json(options.out, record | {"measurements": rows})
    return 1 if any(row["met"] is False for row in rows) else 0


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test on small data")
    parser.add_argument("--out", type=Path, help="the record (default: results/splits.json)")
    options = parser.parse_args(arguments)
    if options.out is None and not options.quick:
        options.out = common.RESULTS / "splits.json"
    return options


_HEADER = ("group", "data", "against", "ours", "theirs", "ED", "seconds", "ratio", "target", "met")


def _cells(row: Row) -> tuple[str, ...]:
    target = "" if row["target"] is None else f"<= {row['target']:.3g}"
    met = {True: "yes", False: "NO", None: ""}[row["met"]]
    if row["group"] == "speed":
        mine, other, sizes = f"{row['ours_s']:.3g} s", f"{row['theirs_s']:.3g} s", ""
        seconds = ""
    else:
        judged = "ld" if row["group"] == "balance" else "ld_pairs"
        mine, other = (f"{1000 * row[f'{side}_{judged}']:.3f}e-3" for side in ("ours", "theirs"))
        sizes, seconds = (
            " / ".join(f"{row[f'{side}_{name}']:.3g}" for side in ("ours", "theirs"))
            for name in ("ed", "s")
        )
    return (
        row["group"], row["data"], row["against"], mine, other, sizes, seconds,
        f"{row['ratio']:.3g}", target, met,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

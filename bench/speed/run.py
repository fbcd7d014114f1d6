"""Speed and memory of CMLLClassifier as ratios, on real data.

    python bench/speed/run.py [--data-home DIR] [--quick] [--only dense,sparse,...]
                                   [--out FILE]

Five groups of measurements, all with half the labels as label components:

dense     fit on dense float64 X and Y, against scikit-learn's Ridge(alpha=1) on the same arrays
sparse    fit on CSR X and Y, against Ridge on the densified copies, and against Ridge on the CSR
          X with a dense Y (Ridge takes no sparse Y)
literal   fit against Algorithm 1 of the paper taken literally, at 4000 rows of bibtex, with all
          eigenvectors (LAPACK) and with the wanted ones only (ARPACK); same m, d and beta
predict   predict on dense X, against Ridge.predict
memory    what a fit adds at its peak over the loaded data, against 3 (X + Y) + model, plus
          4 (D + M)^2 doubles where the fit ran from moments

A ratio is ours over theirs: below 1 is faster. Each is the median of seven interleaved pairs
under two BLAS threads, after one untimed run of both; a pair of more than about 17 s is
repeated less often, and the record says how often.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "reference"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
import literal
from peak import increase_of_a_fit
from timing import interleaved

from compactlearn import CMLLClassifier
from compactlearn.datasets import is_available, load
from compactlearn.utils import human_bytes

THREADS = 2
# The most a ratio may be, by data set.
DENSE = {
    "enron": 1.0,
    "bibtex": 1.0,
    "mediamill": 1.0,
    "plant": 1.3,
    "corel5k": 2.5,
    "delicious": 2.5,
}
SPARSE = {"bibtex": 1.0, "delicious": 2.5}
SPARSE_RIDGE = 0.05
LITERAL = {"full": 1 / 100, "arpack": 1 / 20}
PREDICT = 1.2
QUICK = ("enron", "emotions")  # inside the package: no data folder is needed

Load = Callable[[str], Any]
Row = dict[str, Any]


def ours() -> CMLLClassifier:
    """The classifier under test: every default but half the labels as components."""
    return CMLLClassifier(n_label_components=0.5, threshold=0.5)  # Ridge tunes none either


def theirs() -> Ridge:
    """The yardstick."""
    return Ridge(alpha=1.0)


def judged(row: Row, target: float) -> Row:
    """The row with its target and whether it is met."""
    return row | {"target": target, "met": bool(row["ratio"] <= target)}


def dense_fits(fetch: Load, quick: bool) -> Iterator[Row]:
    """Fit on dense arrays."""
    for name, target in dict.fromkeys(QUICK, 1.0).items() if quick else DENSE.items():
        data = fetch(name)
        X, Y = common.dense(data.X), common.dense(data.Y)
        pairs = 3 if quick else 7
        times = interleaved(partial(_fit, ours, X, Y), partial(_fit, theirs, X, Y), pairs=pairs)
        row = {"group": "dense", "data": name, "against": "Ridge, dense X and Y"}
        yield judged(row | times.summary(), target)


def sparse_fits(fetch: Load, quick: bool) -> Iterator[Row]:
    """Fit on CSR arrays."""
    for name, target in {"enron": 1.0}.items() if quick else SPARSE.items():
        data = fetch(name)
        X, Y = common.sparse(data.X), common.sparse(data.Y)
        Xd, Yd = common.dense(X), common.dense(Y)
        pairs = 3 if quick else 7
        mine = partial(_fit, ours, X, Y)
        times = interleaved(mine, partial(_fit, theirs, Xd, Yd), pairs=pairs)
        row = {"group": "sparse", "data": name, "against": "Ridge, dense X and Y"}
        yield judged(row | times.summary(), target)
        times = interleaved(mine, partial(_fit, theirs, X, Yd), pairs=pairs)
        row = {"group": "sparse", "data": name, "against": "Ridge, sparse X and dense Y"}
        yield judged(row | times.summary(), SPARSE_RIDGE)


def literal_fits(fetch: Load, quick: bool) -> Iterator[Row]:
    """Fit against Algorithm 1 as printed, with its ridge learner."""
    name, n_rows = ("emotions", 300) if quick else ("bibtex", 4000)
    data = fetch(name)
    X, Y = common.dense(data.X)[:n_rows], common.dense(data.Y)[:n_rows]
    embedding = ours().fit(X, Y).embedding_
    m, d = embedding.n_label_components_, embedding.n_feature_components_
    for eigen, target in LITERAL.items():
        rounds: list[int] = []

        def algorithm(eigen: Any = eigen, rounds: list[int] = rounds) -> None:
            solution = literal.algorithm_1(X, Y, m, d, beta=embedding.beta_, eigen=eigen)
            literal.ridge(X @ solution.P, solution.V, 1.0)
            rounds.append(solution.n_iter)

        # No untimed run of the slow side: its first round alone outweighs any warm-up.
        ours().fit(X, Y)
        pairs = 3
        times = interleaved(partial(_fit, ours, X, Y), algorithm, pairs=pairs, warm_up=False)
        row = {
            "group": "literal",
            "data": f"{name}[:{n_rows}]",
            "against": f"Algorithm 1, {eigen} eigenvectors",
            "m": m,
            "d": d,
            "rounds": rounds[0],
        }
        yield judged(row | times.summary(), target)


def predictions(fetch: Load, quick: bool) -> Iterator[Row]:
    """Predict for the training rows."""
    for name in QUICK if quick else DENSE:
        data = fetch(name)
        X, Y = common.dense(data.X), common.dense(data.Y)
        mine, other = ours().fit(X, Y), theirs().fit(X, Y)
        times = interleaved(
            partial(mine.predict, X), partial(other.predict, X), pairs=3 if quick else 7
        )
        row = {"group": "predict", "data": name, "against": "Ridge.predict, dense X"}
        yield judged(row | times.summary(), PREDICT)


def memory(fetch: Load, quick: bool) -> Iterator[Row]:
    """Peak memory of a fit, dense everywhere and sparse where the data are."""
    layouts = [(name, common.dense) for name in (QUICK if quick else DENSE)]
    layouts += [(name, common.sparse) for name in (("enron",) if quick else SPARSE)]
    for name, layout in layouts:
        data = fetch(name)
        report = increase_of_a_fit(layout(data.X), layout(data.Y), threads=THREADS)
        row = {"group": "memory", "data": name, "against": f"the bound, {layout.__name__} X and Y"}
        ratio = round(report["increase_bytes"] / report["bound_bytes"], 4)
        yield judged(row | report | {"ratio": ratio}, 1.0)


GROUPS = {
    "dense": dense_fits,
    "sparse": sparse_fits,
    "literal": literal_fits,
    "predict": predictions,
    "memory": memory,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; 0 if every target is met, 1 if not, 2 if data are missing."""
    options = _options(arguments)
    missing = [
        name
        for name in (QUICK if options.quick else DENSE)
        if not is_available(name, data_home=options.data_home)
    ]
    if missing:
        print(f"No files for {', '.join(missing)}; name their folder by --data-home.")
        return 2
    fetch = partial(load, data_home=options.data_home)
    rows: list[Row] = []
    with threadpool_limits(limits=THREADS):
        for group in options.only:
            for row in GROUPS[group](fetch, options.quick):
                if options.quick:  # the targets are for the real data sizes
                    row |= {"target": None, "met": None}
                print(_progress(row), file=sys.stderr, flush=True)
                rows.append(row)
        setting = common.machine()
    common.show_table("ratio = ours / theirs", _HEADER, [_cells(row) for row in rows])
    if options.out is not None:
        record = {"date": common.today(), "machine": setting, "threads": THREADS}
        record |= {"quick": options.quick, "measurements": rows}
        common.write_json(options.out, record)
    return 1 if any(row["met"] is False for row in rows) else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test on small data")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, separated by commas")
    parser.add_argument("--out", type=Path, help="the record (default: results/speed.json)")
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    unknown = sorted(set(options.only) - set(GROUPS))
    if unknown:
        parser.error(f"unknown group {unknown[0]!r}; choose from {', '.join(GROUPS)}")
    complete = not options.quick and len(options.only) == len(GROUPS)
    if options.out is None and complete:  # a partial run must not replace the whole record
        options.out = common.RESULTS / "speed.json"
    return options


def _fit(make: Callable[[], Any], X: Any, Y: Any) -> object:
    return make().fit(X, Y)


_HEADER = ("group", "data", "against", "ours", "theirs", "ratio", "quartiles", "target", "met")


def _cells(row: Row) -> tuple[str, ...]:
    if row["group"] == "memory":
        mine, other = human_bytes(row["increase_bytes"]), human_bytes(row["bound_bytes"])
        quartiles = ""
    else:
        mine, other = (_seconds(row[side]) for side in ("ours_s", "theirs_s"))
        quartiles = "{:.3g} .. {:.3g}".format(*row["ratio_quartiles"])
    judgement = {True: "yes", False: "NO", None: ""}[row["met"]]
    target = "" if row["target"] is None else f"<= {row['target']:.3g}"
    ratio = f"{row['ratio']:.3g}"
    return (
        row["group"], row["data"], row["against"], mine, other, ratio, quartiles, target, judgement
    )  # fmt: skip


def _seconds(value: float) -> str:
    return f"{1000 * value:.1f} ms" if value < 1 else f"{value:.2f} s"


def _progress(row: Row) -> str:
    return "  ".join(_cells(row)[:6])


if __name__ == "__main__":
    sys.exit(main())

"""Speed of the metrics as ratios, on random scores of the shape of delicious's test set.

    python bench/speed/metrics.py [--quick] [--out FILE]

single    one metric, against the same of scikit-learn (which averages equal scores in ndcg_score)
evaluate  all metrics at once, against one stable np.argsort of the rows
ties      the same where most scores have equals in their row, so that every row is sorted twice

3221 rows, 983 labels, 2 % of them present; one thread. A ratio is ours over theirs: below 1 is
faster. Each is the median of interleaved pairs, after one untimed run of both.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
import numpy as np
from sklearn import metrics as theirs
from timing import interleaved

from compactlearn import metrics as ours

SHAPE, QUICK_SHAPE, SHARE = (3221, 983), (200, 100), 0.02

Row = dict[str, Any]
Call = Callable[[], object]


def measurements(quick: bool) -> Iterator[Row]:
    """One row for each ratio."""
    rng = np.random.default_rng(0)
    shape = QUICK_SHAPE if quick else SHAPE
    scores = rng.normal(size=shape)
    truth = (rng.random(shape) < SHARE).astype(int)
    for group, name, against, mine, other, target in _cases(truth, scores):
        times = interleaved(mine, other, pairs=3 if quick else 7)
        row = {"group": group, "metric": name, "against": against} | times.summary()
        met = None if quick or target is None else bool(row["ratio"] <= target)
        yield row | {"target": None if quick else target, "met": met}


def _cases(
    Y: np.ndarray, S: np.ndarray
) -> Iterator[tuple[str, str, str, Call, Call, float | None]]:
    for name, against, target, options in (
        ("average_precision", "label_ranking_average_precision_score", 1 / 10, {}),
        ("ranking_loss", "label_ranking_loss", 1 / 5, {}),
        ("coverage", "coverage_error", None, {}),
        ("ndcg_at_k", "ndcg_score", 1 / 10, {"k": 5}),
    ):
        mine, other = getattr(ours, name), getattr(theirs, against)
        for convention in ("zhang", "sklearn"):
            yield (
                "single",
                f"{name} ({convention})",
                against,
                partial(mine, Y, S, convention=convention, **options),
                partial(other, Y, S, **options),
                target,
            )
    labels = (S > 2).astype(int)
    yield (
        "single",
        "micro_f1",
        "f1_score(average='micro')",
        partial(ours.micro_f1, Y, labels),
        partial(theirs.f1_score, Y, labels, average="micro"),
        None,
    )
    for group, scores in (("evaluate", S), ("ties", S.round(1))):
        yield (
            group,
            "evaluate",
            "np.argsort",
            partial(ours.evaluate, Y, scores),
            partial(np.argsort, scores, axis=1, kind="stable"),
            4.0,
        )


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; 0 if every target is met, 1 if not."""
    options = _options(arguments)
    rows = []
    for row in measurements(options.quick):
        print("  ".join(_cells(row)), file=sys.stderr, flush=True)
        rows.append(row)
    common.show_table("ratio = ours / theirs", _HEADER, [_cells(row) for row in rows])
    if options.out is not None:
        record = {"date": common.today(), "machine": common.machine(), "quick": options.quick}
        shape = QUICK_SHAPE if options.quick else SHAPE
        record |= {"shape": list(shape), "share_present": SHARE}
        common.write_json(options.out, record | {"measurements": rows})
    return 1 if any(row["met"] is False for row in rows) else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a smoke test on small data")
    parser.add_argument("--out", type=Path, help="the record (default: results/metrics.json)")
    options = parser.parse_args(arguments)
    if options.out is None and not options.quick:
        options.out = common.RESULTS / "metrics.json"
    return options


_HEADER = ("group", "metric", "against", "ours", "theirs", "ratio", "quartiles", "target", "met")


def _cells(row: Row) -> tuple[str, ...]:
    mine, other = (f"{1000 * row[side]:.1f} ms" for side in ("ours_s", "theirs_s"))
    target = "" if row["target"] is None else f"<= {row['target']:.3g}"
    return (
        row["group"], row["metric"], row["against"], mine, other, f"{row['ratio']:.3g}",
        "{:.3g} .. {:.3g}".format(*row["ratio_quartiles"]), target,
        {True: "yes", False: "NO", None: ""}[row["met"]],
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

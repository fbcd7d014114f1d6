"""The tables of docs/results/paper.md: Auto compared with other methods, and the paper's benchmark.

Those of the protocol "as printed" are made in ``printed.py``.
"""

from statistics import geometric_mean, median

import numpy as np

from compactlearn.metrics import get_metric, greater_is_better
from compactlearn.utils import human_bytes
from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.records import ranks
from compactlearn_bench.records.significance import SIGNS, holm, paired_t_test
from compactlearn_bench.report import summary_markdown
from compactlearn_bench.report.tables.names import p_value
from compactlearn_bench.report.tables.published import dataset_order
from pages import printed
from pages.auto_records import YARDSTICK, compared, filled, model_bytes, training_seconds
from pages.shared import PAPER, Parts, Record, class_of, packed_records, paper_results, table

table(printed.printed_by_method)
table(printed.printed_by_set)
table(printed.printed_unexplained)


# ---- Auto and its baselines ---------------------------------------------------------------------


@table
def auto() -> Parts:
    """Average precision by set and entry; below it ranks, seconds and bytes."""
    found = compared("auto")
    entries, scores = found.entries, found.scores("average_precision")
    yield ["average precision", *entries]
    for dataset, row in zip(found.datasets, scores, strict=True):
        best = f"{np.nanmax(row):.3f}"
        shown = [
            found.without_score(dataset, entry) if np.isnan(value) else f"{value:.3f}"
            for entry, value in zip(entries, row, strict=True)
        ]
        yield [found.described(dataset), *(f"**{c}**" if c == best else c for c in shown)]
    places = ranks.average_ranks(filled(scores, "average_precision"))
    yield ["average rank", *(f"{place:.1f}" for place in places)]
    for name, read in (("seconds", training_seconds), ("bytes", model_bytes)):
        yield [f"{name}, {YARDSTICK.lower()} = 1", *(found.ratio(entry, read) for entry in entries)]
    known = [[size for size in found.means_of(entry, model_bytes) if size] for entry in entries]
    sizes = [human_bytes(round(median(own))) if own else "" for own in known]
    yield ["model, median of the sets", *sizes]
    yield (
        "Seconds are those of choosing the configuration and of the last fit, on one thread; bytes "
        "those of the pickled model; both are geometric means over the sets on which the entry and "
        f"{YARDSTICK.lower()} ended. An entry without a score went over the budget of "
        f"{found.spec.budget.seconds:g} seconds for a fold (time) or of memory, or its package "
        f"was absent; it has the last rank there.{found.waiting} {found.hosts}"
    )


@table
def auto_ranks() -> Parts:
    """Average ranks of every metric, with Nemenyi's critical distance."""
    found = compared("auto")
    yield ["average rank", *found.entries, "critical distance", "Friedman's p"]
    for metric in found.spec.metrics:
        scores = found.scores(metric)
        has = ~np.isnan(scores).all(axis=0)
        kept = scores[:, has]
        n_datasets, n_entries = kept.shape
        if n_datasets < 2 or n_entries < 3:
            continue
        kept = filled(kept, metric)
        places = ranks.average_ranks(kept, greater_is_better=greater_is_better(metric))
        distance = ranks.critical_difference(n_entries, n_datasets)
        bound = places.min() + distance
        shown = (f"**{place:.1f}**" if place <= bound else f"{place:.1f}" for place in places)
        cells = [next(shown) if there else "" for there in has]
        p = p_value(ranks.friedman(kept).f_p_value)
        yield [get_metric(metric).title, *cells, f"{distance:.1f}", p]
    yield (
        f"{len(found.datasets)} data sets; rank 1 is the best. **Bold**: the best, and what "
        "Nemenyi's test at 5 % does not separate from it: average ranks within the critical "
        "distance. Entries without probabilities are left out where these are needed."
    )


@table
def auto_pairs() -> Parts:
    """Auto compared with each baseline: sets won, and Wilcoxon's test with Holm's correction."""
    found = compared("auto")
    ours, *baselines = found.entries
    first, *others = filled(found.scores("average_precision"), "average_precision").T
    p_values = holm([ranks.wilcoxon(first, other) for other in others])
    yield ["baseline", "better", "worse", "mean difference", "largest loss", "p, Holm"]
    for baseline, other, p in zip(baselines, others, p_values, strict=True):
        gains = first - other
        record = ranks.win_tie_loss(first, other)
        differences = [f"{gains.mean():+.3f}", f"{max(0.0, float(-gains.min())):.3f}"]
        yield [baseline, str(record.wins), str(record.losses), *differences, p_value(float(p))]
    yield (
        f"Average precision of {ours} compared with one baseline at a time over "
        f"{len(found.datasets)} data sets: on how many it is better and worse, and "
        "Wilcoxon's signed-rank test, corrected by Holm for as many tests as there are baselines."
    )


@table
def auto_cost(record: Record) -> Parts:
    """Seconds of the processor, relative to tuned one-vs-rest."""
    yield ["one fold", "Auto", "one-vs-rest", "ratio"]
    rows = sorted(record["measurements"], key=lambda row: row["ratio"])
    for row in rows:
        times = [f"{row[key]:.1f} s" for key in ("ours_s", "theirs_s")]
        yield [row["data"], *times, f"{row['ratio']:.2f}"]
    ratios = [row["ratio"] for row in rows]
    yield (
        f"Auto costs no more than one-vs-rest on {sum(r <= 1 for r in ratios)} of {len(ratios)} "
        f"sets, {geometric_mean(ratios):.1f} times as much in the geometric mean. "
        f"{class_of(record)}"
    )


@table
def auto_whole(record: Record) -> Parts:
    """Cost and scores of Auto on whole sets."""
    yield ["rows fitted", "columns, labels", "clock", "processor", "memory", "average precision"]
    for row in record["measurements"]:
        yield [
            f"{row['data']}, {row['rows']:,}",
            f"{row['features']:,}, {row['labels']:,}",
            f"{row['seconds']:.0f} s",
            f"{row['processor_s']:.0f} s",
            f"{row['memory_mib']:.0f} MiB",
            f"{row['average_precision']:.3f}",
        ]
    longest = max(row["seconds"] for row in record["measurements"])
    yield f"The longest took {longest / 60:.1f} minutes by the clock. {class_of(record)}"


@table
def auto_sizes() -> Parts:
    """Return average precision and share of ridge's parameters under size budgets."""
    found = compared("sizes")
    entries = found.entries
    yield ["average precision (share of ridge's parameters)", *entries]
    for dataset in found.datasets:
        scores = [found.found.score(dataset, entry, "average_precision") for entry in entries]
        whole = scores[0]
        cells = []
        for entry, score in zip(entries, scores, strict=True):
            if score is None:
                cells.append(found.without_score(dataset, entry))
            elif whole is None or score is whole:
                cells.append(f"{score.mean:.3f}")
            else:
                # What is significantly better or worse than ridge has a sign.
                mark = paired_t_test(score.values, whole.values).mark
                sign = {"better": " +", "worse": " −"}.get(mark, "")
                share = np.mean(score.sizes) / np.mean(whole.sizes)
                cells.append(f"{score.mean:.3f}{sign} ({share:.1%})")
        yield [found.described(dataset), *cells]
    yield (
        "+ significantly better than ridge, − worse (paired t-test over the folds, 10 %). Empty: "
        "the smallest model, of one feature, is larger than that."
    )


# ---- The paper's benchmark ----------------------------------------------------------------------


@table
def equal_size() -> Parts:
    """Average precision of controls of the size of CMLL, under the fair protocol."""
    found = paper_results("nested")
    titles = {
        "CMLL": "CMLL",
        "RRR": "reduced-rank ridge",
        "MDDM+CMLL_y": "MDDM + CMLL\\_y",
        "PCA+ridge": "PCA + ridge",
        "Random P": "random P",
    }
    names = [*(f"{name}, CMLL's size" for name in titles), "ORI"]
    yield [
        "",
        "parameters, at most",
        "share of ridge's",
        *titles.values(),
        "ridge, all its parameters",
    ]
    for dataset in sorted(found.datasets, key=dataset_order):
        scores = [found.score(dataset, name, "average_precision") for name in names]
        if any(score is None for score in scores):
            continue
        first, *_, ridge = scores
        size = max(size for score in scores[:-1] for size in score.sizes)
        # Equal scores, CMLL's own among them, have no mark.
        signs = [SIGNS[paired_t_test(first.values, score.values).mark] for score in scores]
        cells = [f"{f.mean:.3f} {sign}".rstrip() for f, sign in zip(scores, signs, strict=True)]
        yield [dataset, f"{size:,}", f"{size / ridge.sizes[0]:.0%}", *cells]
    yield "● CMLL is significantly better, ○ worse (paired t-test, 10 %)."


@table
def results() -> str:
    """Return the tables of the paper's benchmark, without the title of the summary."""
    records = list(packed_records(PAPER))
    asked = {
        cell.name for path in PAPER.parent.glob("*.toml") for cell in cells_of(read_spec(path))
    }
    strangers = [record.cell.name for record in records if record.cell.name not in asked]
    if strangers:
        raise SystemExit(f"{len(strangers)} records belong to no spec, {strangers[0]} for one")
    return summary_markdown(records).partition("\n")[2].strip()

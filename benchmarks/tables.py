"""Write the tables of the README and the docs from the records beside this file.

    python benchmarks/tables.py            # rewrites the documents between their markers
    python benchmarks/tables.py --check    # status 1 where a document and the records differ

A figure in them is thus always one that a committed script has measured.
"""

import argparse
import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from compactlearn.bench import cells_of, read_spec
from compactlearn.records import Results, aggregate, open_records
from compactlearn.records.significance import SIGNS, paired_t_test
from compactlearn.report import summary_markdown
from compactlearn.report.tables.published import dataset_order, method_order, published
from compactlearn.report.words.summary import CLOSE

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAPER = ROOT / "benchmarks" / "paper" / "records.jsonl.xz"

Record = dict[str, Any]


def demo(record: Record) -> str:
    """Three methods under two protocols."""
    rows = {(row["protocol"], row["method"]): row for row in record["rows"]}
    methods = ("ORI", "CMLL_y", "CMLL")
    lines = [["average precision on enron, mean ± deviation of 5 folds", *methods]]
    for protocol, title in (
        ("paper", "paper protocol: its ridge grid, best setting on the test folds"),
        ("fair", "fair protocol: penalty chosen by inner folds of the training rows"),
    ):
        figures = [_figure(rows[protocol, method]) for method in methods]
        lines.append([title, *(_spread(figure) for figure in figures)])
        if protocol == "paper":
            published = [_spread(figure["published"]) for figure in figures]
            lines.append(["the same, as published", *published])
    sizes = [rows["fair", method] for method in methods]
    lines.append(["features the learner sees", *(f"{row['n_features']}" for row in sizes)])
    lines.append(["targets it predicts", *(f"{row['n_targets']}" for row in sizes)])
    return _markdown(lines)


def _figure(row: Record) -> Record:
    return next(f for f in row["figures"] if f["metric"] == "average precision")


def _spread(figure: Record) -> str:
    return f"{figure['mean']:.3f} ± {figure['std']:.3f}"


def defaults(record: Record) -> str:
    """No arguments against no arguments."""
    lines = [["data", "`CMLLClassifier()`", "`Ridge(alpha=1)`", "difference"]]
    for row in record["measurements"]:
        means = [f"{row['ours_mean']:.3f}", f"{row['theirs_mean']:.3f}"]
        lines.append([row["data"], *means, f"{row['difference']:+.3f}"])
    return _markdown(lines)


def thresholds(record: Record) -> str:
    """What each threshold decides, set by set."""
    keys = ("micro_f1", "macro_f1", "exact", "empty", "never")
    titles = ("micro-F1", "macro-F1", "rows exactly right", "rows empty", "labels never predicted")
    lines = [["data", "threshold", *titles, "cost"]]
    for row in record["measurements"]:
        first = row["threshold"] == record["measurements"][0]["threshold"]
        figures = [f"{row[key]:.3f}" for key in keys]
        lines.append(
            [row["data"] if first else "", f"{row['threshold']}", *figures, f"{row['cost']:.1f}"]
        )
    return _markdown(lines)


def speed(record: Record) -> str:
    """Fits and predictions as ratios."""
    names = {
        ("dense", "Ridge, dense X and Y"): "fit, dense X and Y",
        ("sparse", "Ridge, dense X and Y"): "fit, sparse X and Y, against Ridge on dense copies",
        ("sparse", "Ridge, sparse X and dense Y"): "fit, sparse X and Y, against Ridge on sparse X",
        ("literal", "Algorithm 1, full eigenvectors"): "fit, against Algorithm 1 with `eigh`",
        ("literal", "Algorithm 1, arpack eigenvectors"): "fit, against Algorithm 1 with `eigsh`",
        ("predict", "Ridge.predict, dense X"): "predict, dense X",
    }
    lines = [["what", "data", "ours", "theirs", "ours / theirs"]]
    for row in record["measurements"]:
        name = names.get((row["group"], row["against"]))
        if name is not None:
            times = [_seconds(row["ours_s"]), _seconds(row["theirs_s"])]
            lines.append([name, row["data"], *times, f"{row['ratio']:.2g}"])
    machine = record["machine"]
    versions = machine["versions"]
    caption = (
        f"{machine['cores']} cores ({machine['cpu']}), {record['threads']} threads, "
        f"scikit-learn {versions['scikit-learn']}, NumPy {versions['numpy']}; {record['date']}."
    )
    return _markdown(lines) + "\n\n" + caption


@cache
def _paper_protocol() -> Results:
    return aggregate(open_records(PAPER), "paper")


LINEAR = ("ORI", "PLST", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM", "POP", "CMLL")


def methods() -> str:
    """Every linear method beside the published figure, from the records of the benchmark."""
    data = ("enron", "plant", "llog", "bibtex", "corel5k")
    found = _paper_protocol()
    body = [[method, *(_beside(*_both(found, name, method)) for name in data)] for method in LINEAR]
    return _markdown([["method", *data], *body])


def _both(found: Results, dataset: str, method: str) -> tuple[float, float]:
    """Our mean average precision under the paper's protocol, and the paper's."""
    ours = found.figure(dataset, method, "average_precision")
    theirs = published(dataset, method, "average_precision")
    if ours is None or theirs is None:
        raise SystemExit(f"There is no figure of {method} on {dataset} to stand beside another")
    return ours.mean, theirs.mean


def _beside(ours: float, theirs: float) -> str:
    mark = " *" if abs(ours - theirs) > 0.03 else ""
    return f"{ours:.3f} ({theirs:.3f}){mark}"


def c2ae(record: Record) -> str:
    """Both protocols beside the published column."""
    lines = [["data", "metric", "paper protocol", "defaults", "published"]]
    rows = {(row["data"], row["metric"], row["protocol"]): row for row in record["measurements"]}
    for data, metric in dict.fromkeys((data, metric) for data, metric, _ in rows):
        cells = [rows[data, metric, protocol] for protocol in ("paper", "recommended")]
        published = cells[0]["paper_mean"], cells[0]["paper_std"]
        figures = [
            _spread(row) + (" *" if abs(row["mean"] - published[0]) > 0.05 else "") for row in cells
        ]
        figures[0] += f", K = {cells[0]['latent']}"
        lines.append([data, metric, *figures, f"{published[0]:.3f} ± {published[1]:.3f}"])
    machine = record["machine"]
    caption = f"Trained on one {machine['device']}, PyTorch {machine['torch']}; {record['date']}."
    return f"{_markdown(lines)}\n\n{caption}"


def c2ae_differences(record: Record) -> str:
    """What looking at the test rows is worth."""
    lines = [
        [
            "data",
            "settings",
            "AP, last epoch",
            "AP, best epoch",
            "AP, each fold's best epoch",
            "F1 at 0.5, last epoch",
            "F1 at 0.5, best epoch",
            "F1, best threshold and epoch",
        ]
    ]
    for row in record["measurements"]:
        precision, f1, best = (
            row[name] for name in ("average_precision", "micro_f1", "micro_f1_best_threshold")
        )
        figures = [
            precision["last_epoch"],
            precision["best_common_epoch"],
            precision["best_epoch_of_each_fold"],
            f1["last_epoch"],
            f1["best_common_epoch"],
            best["best_common_epoch"],
        ]
        lines.append([row["data"], row["settings"], *(f"{figure:.3f}" for figure in figures)])
    return _markdown(lines)


def c2ae_speed(record: Record) -> str:
    """Seconds of an epoch, CPU and CUDA device in one run."""
    machine = record["machine"]
    lines = [["settings", "X", "CPU, 2 threads", f"CPU, {machine['cores']} threads", "CUDA"]]
    seconds = {
        (row["settings"], row["X"], row["device"], row["threads"]): row["epoch_s"]
        for row in record["measurements"]
    }
    for settings, form in dict.fromkeys(key[:2] for key in seconds):
        cuda = seconds[settings, form, "cuda", 1]
        times = [seconds[settings, form, "cpu", n] for n in (2, machine["cores"])]
        lines.append(
            [
                settings,
                form,
                *(f"{_seconds(time)} ({time / cuda:.0f} times)" for time in times),
                _seconds(cuda),
            ]
        )
    caption = (
        f"{machine['cores']} cores ({machine['cpu']}), one {machine['device']}, "
        f"PyTorch {machine['torch']}; {record['date']}."
    )
    return f"{_markdown(lines)}\n\n{caption}"


def differences(record: Record) -> str:
    """The same under other conventions."""
    found = _paper_protocol()
    lines = [["data", "method", "what is changed", "changed", "table above", "published"]]
    for row in record["measurements"]:
        figures = (row["mean"], *_both(found, row["data"], row["method"]))
        cells = [row["data"], row["method"], row["change"], *(f"{value:.3f}" for value in figures)]
        lines.append(cells)
    return _markdown(lines)


def decoders() -> str:
    """Decoders under the fair protocol, beside ridge and one-vs-rest logistic regression."""
    found = aggregate(open_records(PAPER), "nested")
    titles = {
        "ORI": "ridge",
        "BR-logistic": "one-vs-rest",
        "CMLL+f1": "CMLL, linear",
        "CMLL+logistic": "CMLL, logistic",
        "k-CMLL+logistic": "k-CMLL, logistic",
    }
    shown = {
        "average_precision": "average precision",
        "ranking_loss": "ranking loss",
        "one_error": "one error",
        "micro_f1": "micro-F1",
    }
    lines = [["", *titles.values()]]
    for dataset in sorted(found.datasets, key=dataset_order):
        for metric, title in shown.items():
            figures = {name: found.figure(dataset, name, metric) for name in titles}
            first = metric == "average_precision"
            marks = {name: _marks(name, figures) if first else "" for name in titles}
            cells = [f"{figure.mean:.3f}{marks[name]}" for name, figure in figures.items()]
            lines.append([f"**{dataset}**, {title}" if first else title, *cells])
    return _markdown(lines)


def _marks(name: str, figures: dict[str, Any]) -> str:
    """Where a method is significantly better or worse than ridge (o) and one-vs-rest (v)."""
    marks = ""
    for rival, letter in (("ORI", "o"), ("BR-logistic", "v")):
        outcome = paired_t_test(figures[name].values, figures[rival].values).mark
        marks += {"better": f" +{letter}", "worse": f" -{letter}"}.get(outcome, "")
    return marks


def reliability(record: Record) -> str:
    """Figures of calibration, and below them what was observed in each bin of CMLL."""
    rows = {(row["data"], row["method"]): row for row in record["measurements"]}
    data, methods = (list(dict.fromkeys(key[k] for key in rows)) for k in (0, 1))
    lines = [["", *methods]]
    for name in data:
        for key, title, form in (
            ("mean_p_over_mean_y", f"**{name}**, mean p / mean y", ".2f"),
            ("calibration_error", "expected calibration error", ".4f"),
            ("log_loss", "log-loss of a row", ".2f"),
        ):
            lines.append([title, *(f"{rows[name, m][key]:{form}}" for m in methods)])
    first = methods[0]
    edges = [f"p from {k / 10:.1f} to {(k + 1) / 10:.1f}" for k in range(10)]
    bins = [
        [f"{first}: observed at mean p (cells)", *data],
        *(
            [edge, *(_bin(rows[name, first]["bins"][k]) for name in data)]
            for k, edge in enumerate(edges)
        ),
    ]
    return _markdown(lines) + "\n\n" + _markdown(bins)


def _bin(row: Record) -> str:
    if not row["cells"]:
        return "none"
    return f"{row['observed']:.3f} at {row['mean_p']:.3f} ({row['cells']})"


def logistic(record: Record) -> str:
    """One penalty beside one-vs-rest, and the selection beside one penalty."""
    one, selection = record["measurements"]
    lines = [
        ["what", "seconds", "beside", "seconds", "ratio", "target"],
        [
            f"one penalty, every gradient below {one['fell']:.1g} of its start",
            f"{one['ours_s']:.1f}",
            f"one-vs-rest on the same codes (below {one['theirs_fell']:.1g})",
            f"{one['theirs_s']:.1f}",
            f"{one['ratio']:.2g}",
            f"{one['target']:.0f} s",
        ],
        [
            f"choosing the penalty ({selection['fits'] - 1} rough fits)",
            f"{selection['ours_s']:.1f}",
            "one penalty",
            f"{selection['theirs_s']:.1f}",
            f"{selection['ratio']:.2g}",
            f"{selection['target']:.0f} times",
        ],
    ]
    machine = record["machine"]
    caption = (
        f"{record['data']}: {one['rows']} rows, {one['labels']} labels, {one['codes']} codes; "
        f"{machine['cores']} cores ({machine['cpu']}), {record['threads']} threads, medians of "
        f"{one['pairs']} and {selection['pairs']} interleaved pairs; {record['date']}."
    )
    return _markdown(lines) + "\n\n" + caption


def kernel(record: Record) -> str:
    """Kernel versions and paths."""
    lines = [["what", "data", "ours", "theirs", "ours / theirs"]]
    for row in record["measurements"]:
        if "ratio" in row:
            times = [_seconds(row["ours_s"]), _seconds(row["theirs_s"]), f"{row['ratio']:.2g}"]
        else:
            peak = row["peak_bytes"] / 2**30
            times = [f"{row['fit_s']:.0f} s to fit, {peak:.1f} GiB at most", "", ""]
        lines.append([row["what"], row["data"], *times])
    machine = record["machine"]
    caption = f"{machine['cores']} cores ({machine['cpu']}); {record['date']}."
    return _markdown(lines) + "\n\n" + caption


def grid(record: Record) -> str:
    """The paper's grid by one search."""
    lines = [["data", "settings × folds", "in all", "each", "one fit, predict and score", "ratio"]]
    for row in record["measurements"]:
        each = f"{row['milliseconds_per_setting']:.2g} ms"
        alone = f"{row['milliseconds_alone']:.0f} ms"
        work = f"{row['settings']} × {row['folds']}"
        figures = [work, f"{row['seconds']:.0f} s", each, alone, f"{row['ratio']:.0f}"]
        lines.append([row["data"], *figures])
    return _markdown(lines) + "\n\n" + _class_of(record)


def selection(record: Record) -> str:
    """What a search without arguments finds, and what it takes."""
    names = ["data", "`CMLLClassifierCV()`", "tuned ridge", "larger grid", "loss", "single fits"]
    lines = [names]
    for row in record["measurements"]:
        scores = [f"{row[key]:.3f}" for key in ("ours", "ridge", "larger_grid")]
        lines.append([row["data"], *scores, f"{row['loss']:+.3f}", f"{row['fits']:.0f}"])
    return _markdown(lines) + "\n\n" + _class_of(record)


def sweeps(record: Record) -> str:
    """One sweep along each axis beside all pairs."""
    lines = [["data", "penalties", "chosen", "best of 100 pairs", "loss", "pairs tried"]]
    for row in record["sweeps"]:
        for key, title in (("one_penalty", "one"), ("five_penalties", "best of five")):
            part = row[key]
            scores = [f"{part[name]:.4f}" for name in ("chosen", "best", "loss")]
            lines.append([row["data"], title, *scores, f"{part['pairs']}"])
    return _markdown(lines)


def balances(record: Record) -> str:
    """The balance that the curves suggest."""
    lines = [["data", "suggested", '"auto"', "best of 25", "dep' at the best"]]
    for row in record["balances"]:
        scores = [f"{row[key]:.4f}" for key in ("suggested", "auto", "best")]
        lines.append([row["data"], *scores, f"{row['dependence_at_best']:.2f}"])
    return _markdown(lines)


def splits(record: Record) -> str:
    """Stratified folds beside those of others."""
    lines = [["data", "against", "deviation of labels, ours / theirs", "of sizes, ours / theirs"]]
    for row in record["measurements"]:
        if row["group"] == "balance":
            labels = f"{1e3 * row['ours_ld']:.2f} / {1e3 * row['theirs_ld']:.2f}"
            sizes = f"{row['ours_ed']:.2g} / {row['theirs_ed']:.2g}"
            lines.append([row["data"], row["against"], labels, sizes])
    return _markdown(lines) + "\n\n" + _class_of(record)


def text(record: Record) -> str:
    """Every program on every set of texts; below, why some have no figures."""
    head = ["P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5", "macro R@5", "fit", "predict", "model"]
    parts = []
    for data in record["datasets"]:
        rows = [row for row in record["measurements"] if row["data"] == data["data"]]
        title = (
            f"**{data['data']}**: {data['train_rows']:,} training and {data['test_rows']:,} test "
            f"rows, {data['features']:,} features, {data['labels']:,} labels, "
            f"{data['cardinality']:.1f} of them in a row."
        )
        cores = record["machine"]["cores"]
        lines = [["", *head]]
        lines += [[row["entry"], *_text_figures(row, cores)] for row in rows if _done(row)]
        reasons = [
            f"Without figures: {row['entry']}. {row['reason']}" for row in rows if not _done(row)
        ]
        parts += [title, _markdown(lines), *reasons]
    busy = [row for row in record["measurements"] if row["free_cores"] < record["machine"]["cores"]]
    told = " Times with * are of a machine that was busy with other work as well." if busy else ""
    return "\n\n".join([*parts, _class_of(record) + told])


def _done(row: Record) -> bool:
    return row["status"] == "done"


def _text_figures(row: Record, cores: int) -> list[str]:
    keys = [f"{name}_at_{k}" for name in ("precision", "psp") for k in (1, 3, 5)]
    values = [*(row[key] for key in keys), row["recall_at_5_of_labels"]["all"]]
    mark = " *" if row["free_cores"] < cores else ""
    times = [_seconds(row[key]) + mark for key in ("fit_s", "predict_s")]
    return [*(f"{value:.3f}" for value in values), *times, f"{row['model_bytes'] / 2**20:,.1f} MiB"]


def text_frequency(record: Record) -> str:
    """Recall of rare and of frequent labels, on the largest set."""
    data = max(record["datasets"], key=lambda row: row["train_rows"])
    groups = {name: count for name, count in data["judged_labels"].items() if name != "all"}
    lines = [[data["data"], *(f"{name} rows ({n:,} labels)" for name, n in groups.items())]]
    for row in record["measurements"]:
        if row["data"] == data["data"] and _done(row):
            recalls = [row["recall_at_5_of_labels"][name] for name in groups]
            cells = ["none" if value is None else f"{value:.3f}" for value in recalls]
            lines.append([row["entry"], *cells])
    return _markdown(lines)


def _class_of(record: Record) -> str:
    machine = record["machine"]
    return f"{machine['cores']} cores ({machine['cpu']}); {record['date']}."


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.1f} ms"


def _markdown(lines: list[list[str]]) -> str:
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(lines[0]) + "|", *body])


def conventions(record: Record) -> str:
    """Ridge under other conventions; bold is what lies within two published deviations."""
    rows = record["measurements"]
    names = list(dict.fromkeys(row["convention"] for row in rows))
    lines = [["data", "metric", *names, "published"]]
    for where in dict.fromkeys((row["data"], row["metric"]) for row in rows):
        own = {row["convention"]: row for row in rows if (row["data"], row["metric"]) == where}
        cells = []
        for name in names:
            row = own[name]
            near = abs(row["mean"] - row["paper_mean"]) <= 2 * row["paper_std"]
            cells.append(f"**{row['mean']:.4f}**" if near else f"{row['mean']:.4f}")
        printed = own[names[0]]
        beside = f"{printed['paper_mean']:.4f} ± {printed['paper_std']:.4f}"
        lines.append([where[0], where[1].replace("_", " "), *cells, beside])
    within = {name: sum("**" in line[2 + k] for line in lines[1:]) for k, name in enumerate(names)}
    lines.append(["", f"within, of {len(lines) - 1}", *(str(within[n]) for n in names), ""])
    return _markdown(lines)


def choices() -> str:
    """How many published cells come back if every metric has its own best configuration, as the
    tables have it, and if the best in average precision is taken for all metrics."""
    found = _paper_protocol()
    counts: dict[str, list[int]] = {}
    for (dataset, method), grid in found.grids.items():
        means = grid.values.mean(axis=0)
        place = int(means[:, grid.metrics.index("average_precision")].argmax())
        for k, metric in enumerate(grid.metrics):
            printed = published(dataset, method, metric)
            figure = found.figure(dataset, method, metric)
            if printed is not None and figure is not None:
                near = [
                    abs(value - printed.mean) <= CLOSE * printed.std
                    for value in (figure.mean, means[place, k])
                ]
                row = counts.setdefault(method, [0, 0, 0])
                counts[method] = [a + int(b) for a, b in zip(row, [True, *near], strict=True)]
    lines = [["", "published cells", "each metric's best", "the best in average precision"]]
    names = sorted(counts, key=method_order)
    lines += [[name.replace("_", "\\_"), *map(str, counts[name])] for name in names]
    totals = [sum(row[k] for row in counts.values()) for k in range(3)]
    return _markdown([*lines, ["all", *map(str, totals)]])


def equal_size() -> str:
    """Average precision of controls that keep as many numbers as CMLL, under the fair protocol."""
    found = aggregate(open_records(PAPER), "nested")
    titles = {
        "CMLL": "CMLL",
        "RRR": "reduced-rank ridge",
        "MDDM+CMLL_y": "MDDM + CMLL\\_y",
        "PCA+ridge": "PCA + ridge",
        "Random P": "random P",
    }
    lines = [["", "numbers, at most", "of ridge's", *titles.values(), "ridge, all its numbers"]]
    for dataset in sorted(found.datasets, key=dataset_order):
        names = [*(f"{name}, CMLL's size" for name in titles), "ORI"]
        cells = [found.figure(dataset, name, "average_precision") for name in names]
        figures = [figure for figure in cells if figure is not None]
        if len(figures) < len(names):
            continue
        first, *_, ridge = figures
        size = max(size for figure in figures[:-1] for size in figure.sizes)
        line = [dataset, f"{size:,}", f"{size / ridge.sizes[0]:.0%}"]
        for figure in figures:
            # Equal scores, CMLL's own among them, have no mark.
            sign = SIGNS[paired_t_test(first.values, figure.values).mark]
            line.append(f"{figure.mean:.3f} {sign}".rstrip())
        lines.append(line)
    told = "● CMLL is significantly better, ○ worse (paired t-test, 10 %)."
    return f"{_markdown(lines)}\n\n{told}"


def results() -> str:
    """What the records of the benchmark say; headings one level down, under the page's own."""
    records = list(open_records(PAPER))
    asked = {
        cell.name for path in PAPER.parent.glob("*.toml") for cell in cells_of(read_spec(path))
    }
    strangers = [record.cell.name for record in records if record.cell.name not in asked]
    if strangers:
        raise SystemExit(f"{len(strangers)} records belong to no spec, {strangers[0]} for one")
    text = summary_markdown(records)
    return re.sub(r"^#", "##", text.partition("\n")[2].strip(), flags=re.MULTILINE)


DOCUMENTS: dict[Path, tuple[Any, ...]] = {
    ROOT / "docs" / "results.md": (conventions, choices, equal_size, results),
    ROOT / "README.md": (demo, defaults, speed, grid),
    ROOT / "docs" / "METHODS.md": (
        methods,
        differences,
        kernel,
        c2ae,
        c2ae_differences,
        c2ae_speed,
    ),
    ROOT / "docs" / "DECODERS.md": (decoders, reliability, logistic, thresholds),
    ROOT / "docs" / "SELECTION.md": (selection, sweeps, balances, splits),
    ROOT / "docs" / "TEXT.md": (text, text_frequency),
}


RECORDS = {
    "sweeps": "selection",
    "balances": "selection",
    "text_frequency": "text",
}  # where a table's record has another name


def rendered(document: Path) -> str:
    """A document with every marked table made anew."""
    text = document.read_text(encoding="utf-8")
    for maker in DOCUMENTS[document]:
        name = maker.__name__
        if maker in (methods, decoders, choices, equal_size, results):
            table = maker()
        else:
            source = RESULTS / f"{RECORDS.get(name, name)}.json"
            table = maker(json.loads(source.read_text(encoding="utf-8")))
        pattern = rf"(<!-- table: {name} -->\n).*?(<!-- end -->)"
        text, count = re.subn(
            pattern, lambda m, table=table: f"{m[1]}{table}\n{m[2]}", text, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(
                f"{document.name} must mark the table {name!r} once, and does {count} times"
            )
    return text


def main(arguments: list[str] | None = None) -> int:
    """Write, or only compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if stale")
    options = parser.parse_args(arguments)
    stale = {
        document: text
        for document in DOCUMENTS
        if (text := rendered(document)) != document.read_text(encoding="utf-8")
    }
    if not options.check:
        for document, text in stale.items():
            document.write_text(text, encoding="utf-8")
        return 0
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())

"""Write the tables of the docs from the records beside this file.

    python benchmarks/tables.py            # rewrites the documents between their markers
    python benchmarks/tables.py --check    # status 1 where a document and the records differ

A figure in them is thus always one that a committed script has measured.
"""

import argparse
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scaling
from printed import (
    printed_by_method,
    printed_by_set,
    printed_conventions,
    printed_unexplained,
)
from related_tables import related_cost, related_nested, related_paper, related_rare

from compactlearn.bench import Spec, cells_of, read_spec
from compactlearn.core.memory import human_bytes
from compactlearn.datasets import describe
from compactlearn.metrics.table import get_metric, greater_is_better
from compactlearn.records import Record as CellRecord
from compactlearn.records import Results, aggregate, open_records
from compactlearn.records.ranks import (
    average_ranks,
    critical_difference,
    friedman,
    wilcoxon,
    win_tie_loss,
)
from compactlearn.records.significance import SIGNS, holm, paired_t_test
from compactlearn.report import summary_markdown
from compactlearn.report.tables.names import p_value
from compactlearn.report.tables.published import dataset_order, method_order, published
from compactlearn.report.words.summary import CLOSE

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAPER = ROOT / "benchmarks" / "paper" / "records.jsonl.xz"
AUTO = ROOT / "benchmarks" / "auto"  # two specs, and one file of records

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


def onnx(record: Record) -> str:
    """A model and its exported graph, for one row and for many."""
    head = ["data", "model", "rows", "this package, sparse rows", "dense rows", "onnxruntime"]
    lines = [[*head, "bytes of the file"]]
    measured = {
        (row["data"], row["model"], row["rows"], row["form"]): row for row in record["measurements"]
    }
    for (data, model, count, form), row in measured.items():
        if form == "dense":
            sparse = measured[data, model, count, "sparse"]
            times = [sparse["ours_s"], row["ours_s"], row["theirs_s"]]
            size = human_bytes(row["bytes"])
            lines.append([data, model, f"{count}", *map(_moment, times), size])
    machine, load = record["machine"], record["load"]
    caption = (
        f"The five best labels; one thread ({machine['cpu']}), onnxruntime "
        f"{machine['versions']['onnxruntime']}, NumPy {machine['versions']['numpy']}; "
        f"{record['date']}."
    )
    if load > machine["cores"]:
        caption += (
            f" The machine was busy ({load:.0f} processes for {machine['cores']} cores): compare "
            "columns, which were timed in turn, and take no time for that of a quiet machine."
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


def model_files(record: Record) -> str:
    """Loading times, and what one row and ten processes need."""
    rows = record["measurements"]
    lines = [["model", "file", "`load_model`", "nothing in the cache", "`verify=True`", "joblib"]]
    for row in rows:
        if row["what"] == "load":
            times = [row[f"{name}_ms"] for name in ("least", "cold", "verified", "joblib")]
            cells = [_seconds(value / 1000) for value in times]
            lines.append([row["kind"], f"{row['file_mb']:.0f} MB", *cells])
    (one,) = (row for row in rows if row["what"] == "one row")
    (ten,) = (row for row in rows if row["what"] == "share")
    told = (
        f"The first row of 40 features that the dense model of {one['file_mb']:.0f} MB scores "
        f"takes {_seconds(one['first_ms'] / 1000)} and {one['in_memory_mb']:.0f} MB of the file "
        f"(after `joblib.load` {_seconds(one['after_pickle_ms'] / 1000)}). Ten processes that have "
        f"loaded it and scored a row take {ten['ten_mb']:.0f} MB together, one of them "
        f"{ten['one_mb']:.0f} MB, and ten that have loaded a pickle {ten['ten_pickles_mb']:,.0f} "
        "MB. Times of loading are the least of several."
    )
    return f"{_markdown(lines)}\n\n{told} {_class_of(record)}"


def blocks(record: Record) -> str:
    """Rows that come in blocks: rates, and memory that does not grow."""
    lines = [["rows", "passes", "time", "rows a second and pass", "peak of memory"]]
    groups = {
        "dense": "300 features, 100 labels",
        "wordnet": "text of wordnet",
        "defaults": "text of wordnet, 500 codes",
    }
    for group, what in groups.items():
        for run in record.get(group, {"runs": ()})["runs"]:
            rate = run["rows"] * run["passes"] / run["seconds"]
            cells = [f"{run['passes']}", f"{run['seconds']:.0f} s", f"{rate:,.0f}"]
            lines.append([f"{run['rows']:,}, {what}", *cells, human_bytes(run["peak_bytes"])])
    turns = record["dense"]["beside_plain_products"]
    told = (
        f"The dense rows are summed, checked and set aside at {turns['share']:.0%} of the rate of "
        "a plain `A.T @ A` of all 400 columns (median of the pairs). wordnet has "
        f"{record['wordnet']['runs'][0]['label_components']} codes here, of a share of "
        f"{record['wordnet']['runs'][0]['objective_share']:.6f} of the objective, or the 500 that "
        "are the default (a run on a busy machine, for its memory), and is parsed from text in "
        "every pass. All runs tune their threshold."
    )
    return f"{_markdown(lines)}\n\n{told} {_class_of(record)}"


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
    names = ["data", "the search", "tuned ridge", "larger grid", "loss", "single fits"]
    lines = [names]
    for row in record["measurements"]:
        scores = [f"{row[key]:.3f}" for key in ("ours", "ridge", "larger_grid")]
        lines.append([row["data"], *scores, f"{row['loss']:+.3f}", f"{row['fits']:.0f}"])
    return _markdown(lines) + "\n\n" + _class_of(record)


def decoder_choice(record: Record) -> str:
    """What a search gains by trying the logistic decoder, and by trying it more often."""
    keys = ("linear", "logistic", "one_first", "one_all", "two_first", "three_all")
    titles = (
        *("linear", "logistic", "the better on the first fold", "the better on all"),
        *("of two settings, on the first", "of three, on all"),
    )
    lines = [["data", *titles]]
    rows = record["measurements"]
    lines += [[row["data"], *(f"{row[key]:.3f}" for key in keys)] for row in rows]
    means = [sum(row[key] for row in rows) / len(rows) for key in keys]
    return _markdown([*lines, ["mean", *(f"{mean:.4f}" for mean in means)]])


def unknown_labels(record: Record) -> str:
    """What unknown labels cost, completed and counted as absent."""
    head = ["data", "model", "AP: all", "known", "absent", "lost"]
    lines = [[*head, "micro-F1: all", "known", "absent", "lost"]]
    for row in record["measurements"]:
        line = [row["data"], f"`{row['model']}`"]
        for metric in ("average_precision", "micro_f1"):
            found = row[metric]
            line += [f"{found[f'{way}_mean']:.3f}" for way in ("all", "known", "zeros")]
            lost = found["share_lost"]
            line.append("" if lost is None else f"{lost:.0%}")
        lines.append(line)
    folds = {row["data"]: row["folds"] for row in record["measurements"]}
    words = ", ".join(f"{count} of {data}" for data, count in folds.items())
    return _markdown(lines) + f"\n\nMeans over folds: {words}."


def noisy_labels(record: Record) -> str:
    """What flipped labels and missing positives cost, and what correcting gives back."""
    titles = {
        "all": "true labels",
        "seen": "not corrected",
        "given": "corrected by the true rates",
        "auto": '`label_noise="auto"`',
        "estimated": "`positive_unlabelled=True`",
    }
    lines = [["data", "fit to", "average precision", "micro-F1", "PSP@1", "PSP@3", "PSP@5"]]
    for row in record["measurements"]:
        what = f"{row['data']}, positives missing"
        if row["kind"] == "flipped":
            what = f"{row['data']}, {row['rates'][0]:.0%} flipped, {row['decoder']} decoder"
        places = [f"{row[f'psp_at_{k}']:.3f}" if "psp_at_1" in row else "" for k in (1, 3, 5)]
        figures = [f"{row[name]:.3f}" for name in ("average_precision", "micro_f1")]
        lines.append([what, titles[row["way"]], *figures, *places])
    return _markdown(lines) + f"\n\nMeans over {record['measurements'][0]['folds']} folds."


def small_models(record: Record) -> str:
    """Directions to keep where few numbers may be kept."""
    keys = ("reduced_rank", "kept", "krylov", "projected")
    titles = ("CPLST", "CMLL, features kept", 'CMLL, "krylov"', "CMLL, projected")
    lines = [["data", "numbers, of a ridge's", "codes", *titles, "ridge, all its numbers"]]
    for row in record["measurements"]:
        for size in row["sizes"]:
            scores = [f"{size[key]:.3f}" for key in keys]
            numbers = f"{size['numbers']:,} ({size['share']:.0%})"
            lines.append([row["data"], numbers, f"{size['rank']}", *scores, f"{row['ridge']:.3f}"])
    return _markdown(lines)


PRUNED = {
    "codes": "codes",
    "features_0.1": "of 10 % of the features",
    "features_0.2": "of 20 %",
    "features_0.4": "of 40 %",
    "features_0.7": "of 70 %",
    "pruned": "weights",
    "refitted": "learnt anew",
    "refitted_less": "a third of the penalty",
    "full_pruned": "logistic decoder's",
    "both": "codes and weights",
    "l1": "L1",
}


def pruned_models(record: Record) -> str:
    """What to leave out where few numbers may be kept."""
    lines = [["data", "numbers, of a ridge's", *PRUNED.values()]]
    for row in record["measurements"]:
        for size in row["sizes"]:
            known = [value for key, value in size.items() if key != "share"]
            figures = []
            for key in PRUNED:
                text = f"{size[key]:.3f}" if key in size else ""
                figures.append(f"**{text}**" if size.get(key) == max(known) else text)
            lines.append([row["data"], f"{size['share']:.0%}", *figures])
        lines.append([row["data"], f"all: ridge {row['ridge']:.3f}", *[""] * len(PRUNED)])
    return _markdown(lines)


def learners(record: Record) -> str:
    """Extra trees on labels, and on codes under two rules."""
    places = [f"{kind}_{rule}" for kind in ("projected", "kept") for rule in ("alike", "weighted")]
    titles = [
        f"{kind}, {rule}"
        for kind in ("projected features, codes", "all features, codes")
        for rule in ("alike", "weighted")
    ]
    lines = [["data", "codes, of labels", "on the labels", *titles]]
    for row in record["measurements"]:
        scores = [f"{row[key]:.3f}" for key in ("labels", *places)]
        lines.append([row["data"], f"{row['codes']} of {row['labels_there']}", *scores])
    return _markdown(lines)


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


def text_whole(record: Record) -> str:
    """What text_classifier() comes to on all of WordNet."""
    head = ["texts", "words", "labels", "P@1", "P@3", "P@5", "fit", "predict"]
    lines = [[*head[:-2], "fit, processors", "predict, processors"]]
    for row in record["measurements"]:
        sizes = [f"{row[key]:,}" for key in ("rows", "features", "labels")]
        figures = [f"{value:.3f}" for value in row["precision"]]
        times = [_seconds(row[f"{what}_processor_s"]) for what in head[-2:]]
        lines.append([*sizes, *figures, *times])
    told = "Seconds are those of both processors together."
    return f"{_markdown(lines)}\n\n{_class_of(record)} {told}"


def vectorizer(record: Record) -> str:
    """P@1 and P@5 of each setting of the words, beside the first, by the number of texts."""
    rows = record["measurements"]
    sizes = sorted({row["rows"] for row in rows})
    lines = [["setting", *(f"{size:,} texts: P@1, P@5, words" for size in sizes)]]
    by_setting: dict[str, list[Record]] = {}
    for row in rows:
        by_setting.setdefault(row["setting"], []).append(row)
    for name, own in by_setting.items():
        told = _precisions if own[0] is rows[0] else _differences
        ordered = sorted(own, key=lambda row: row["rows"])
        lines.append([name, *(f"{told(row)}, {row['features']:,.0f}" for row in ordered)])
    return f"{_markdown(lines)}\n\n{_class_of(record)}"


def _precisions(row: Record) -> str:
    return ", ".join(f"{row['precision'][k]:.3f}" for k in (0, 2))


def _differences(row: Record) -> str:
    return ", ".join(f"{row['difference'][k]:+.3f} ({row['error'][k]:.3f})" for k in (0, 2))


def _class_of(record: Record) -> str:
    machine = record["machine"]
    return f"{machine['cores']} cores ({machine['cpu']}); {record['date']}."


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.1f} ms"


def _moment(value: float) -> str:
    return f"{1e6 * value:.0f} µs" if value < 1e-3 else _seconds(value)


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


# ---- Auto beside its rivals ---------------------------------------------------------------------

YARDSTICK = "One-vs-rest"  # whose seconds and bytes are one
NOT_YET = "*These records are not there yet: `benchmarks/README.md` has the command.*"
WORDS = {"timeout": "time", "memory": "memory", "absent": "absent", "failed": "failed"}


@dataclass(frozen=True, eq=False)
class Compared:
    """A spec of the folder `auto` and what its cells came to."""

    spec: Spec
    found: Results
    records: Mapping[tuple[str, str], list[CellRecord]]  # of a data set and an entry

    @property
    def entries(self) -> list[str]:
        """Those that were run on every set of which something is recorded, however they ended."""
        return [name for name in self._asked if self._run_on_all(name)]

    @property
    def waiting(self) -> str:
        """A sentence on the others."""
        names = [name for name in self._asked if not self._run_on_all(name)]
        return f" Not run on all of these sets yet, and left out: {', '.join(names)}." * bool(names)

    @property
    def _asked(self) -> list[str]:
        return [method.shown for method in self.spec.methods]

    def _run_on_all(self, entry: str) -> bool:
        asked = Counter((cell.dataset, cell.method) for cell in cells_of(self.spec))
        return all(
            len(self.records.get((dataset, entry), [])) == asked[dataset, entry]
            for dataset in self.datasets
        )

    @property
    def datasets(self) -> list[str]:
        """Those of which something is recorded, in the order of the spec."""
        return [data.name for data in self.spec.datasets if data.name in self.found.datasets]

    def scores(self, metric: str, entries: list[str]) -> np.ndarray:
        """(data sets, entries); NaN where there is no figure."""
        figures = [[self.found.figure(d, e, metric) for e in entries] for d in self.datasets]
        return np.array([[np.nan if f is None else f.mean for f in row] for row in figures])

    def mean_of(self, dataset: str, entry: str, read: Callable[[CellRecord], Any]) -> float | None:
        """The mean over the folds of what is read off the records; None unless all ended."""
        if self.found.figure(dataset, entry, "average_precision") is None:
            return None
        return float(np.mean([read(record) for record in self.records[dataset, entry]]))

    def ratio(self, entry: str, read: Callable[[CellRecord], Any]) -> str:
        """Beside the yardstick: the geometric mean over the sets on which both ended."""
        pairs = [[self.mean_of(d, e, read) for e in (entry, YARDSTICK)] for d in self.datasets]
        ratios = [own / other for own, other in pairs if own and other]
        if not ratios:
            return ""
        mean = geometric_mean(ratios)
        return f"{mean:.2g}" if mean < 10 else f"{mean:,.0f}"

    def without_figure(self, dataset: str, entry: str) -> str:
        """Why, in a word."""
        ends = [record.status for record in self.records.get((dataset, entry), [])]
        return next((WORDS[status] for status in ends if status in WORDS), "")


def _compared(name: str) -> Compared | None:
    """The records of a spec; None before it is run."""
    pack = AUTO / "records.jsonl.xz"
    if not pack.exists():
        return None
    spec = read_spec(AUTO / f"{name}.toml")
    asked = {cell.name for cell in cells_of(spec)}
    records = [record for record in open_records(pack) if record.cell.name in asked]
    by_place: dict[tuple[str, str], list[CellRecord]] = {}
    for record in records:
        by_place.setdefault((record.cell.dataset, record.cell.method), []).append(record)
    return Compared(spec, aggregate(records, "nested"), by_place)


def scaling_routes() -> str:
    """What fits of large data ask for, by the cost model of scaling.py."""
    c = scaling.Constants.measured()
    header = ["rows", "features", "labels", "way", "passes", "one thread", "client", "a sum"]
    lines = [header]
    for data in scaling.CASES.values():
        way, summing, solving, size, passes = scaling.route(data, c)
        sparse = "" if data.entries is None else f", {data.entries:g} in a row"
        lines.append(
            [
                f"{data.rows:,.0f}",
                f"{data.features:,}{sparse}",
                f"{data.labels:,}",
                way,
                str(passes),
                f"{summing / 3600:,.1f} h",
                f"{solving:,.1f} s",
                human_bytes(round(size)),
            ]
        )
    return _markdown(lines)


def scaling_workers() -> str:
    """The same on many workers, simulated."""
    c = scaling.Constants.measured()
    header = ["rows, features, labels"]
    header += [f"{n} workers, blocks of {b:g} s" for n in (10, 100) for b in scaling.BLOCK_SECONDS]
    lines = [header]
    for data in scaling.CASES.values():
        cells = [f"{data.rows:,.0f}, {data.features:,}, {data.labels:,}"]
        for n in (10, 100):
            for block in scaling.BLOCK_SECONDS:
                seconds, times = scaling.with_workers(data, n, c, block)
                cells.append(f"{seconds / 60:,.0f} min ({times:.0f} times)")
        lines.append(cells)
    return _markdown(lines)


def _told_of(compared: Compared, dataset: str) -> str:
    """The name of a set, and how much of it was used."""
    drawn, folds = compared.found.rows[dataset], compared.found.n_folds[dataset]
    there = describe(dataset).expected.samples
    rows = f"{drawn:,} of {there:,} rows" if drawn else f"{there:,} rows"
    return f"{dataset} ({rows}, {folds} folds)"


def _training_seconds(record: CellRecord) -> float:
    """Choosing the configuration, and the last fit."""
    seconds = record.circumstances["seconds"]
    return seconds["search"] + seconds["fit"]


def _model_bytes(record: CellRecord) -> float:
    return record.circumstances["model_bytes"]


def _filled(scores: np.ndarray, metric: str) -> np.ndarray:
    """An entry that has no figure on a set is the last there."""
    worst = np.nanmin(scores) - 1.0 if greater_is_better(metric) else np.nanmax(scores) + 1.0
    return np.where(np.isnan(scores), worst, scores)


def auto() -> str:
    """Average precision by set and entry; below it ranks, seconds and bytes."""
    compared = _compared("auto")
    if compared is None:
        return NOT_YET
    entries = compared.entries
    scores = compared.scores("average_precision", entries)
    lines = [["average precision", *entries]]
    for dataset, row in zip(compared.datasets, scores, strict=True):
        best = f"{np.nanmax(row):.3f}"
        cells = [
            compared.without_figure(dataset, entry)
            if np.isnan(value)
            else f"**{value:.3f}**"
            if f"{value:.3f}" == best
            else f"{value:.3f}"
            for entry, value in zip(entries, row, strict=True)
        ]
        lines.append([_told_of(compared, dataset), *cells])
    ranks = average_ranks(_filled(scores, "average_precision"))
    lines.append(["average rank", *(f"{rank:.1f}" for rank in ranks)])
    for name, read in (("seconds", _training_seconds), ("bytes", _model_bytes)):
        ratios = [compared.ratio(entry, read) for entry in entries]
        lines.append([f"{name}, {YARDSTICK.lower()} = 1", *ratios])
    sizes = []
    for entry in entries:
        found = [compared.mean_of(dataset, entry, _model_bytes) for dataset in compared.datasets]
        known = [size for size in found if size is not None]
        sizes.append(human_bytes(round(median(known))) if known else "")
    lines.append(["model, median of the sets", *sizes])
    told = (
        "Seconds are those of choosing the configuration and of the last fit, on one thread; bytes "
        "those of the pickled model; both are geometric means over the sets on which the entry and "
        f"{YARDSTICK.lower()} ended. An entry without a figure went over the budget of "
        f"{compared.spec.budget.seconds:g} seconds for a fold (time) or of memory, or its package "
        "was absent; it has the last rank there."
    )
    return f"{_markdown(lines)}\n\n{told}{compared.waiting} {_host(compared)}"


def auto_cost(record: Record) -> str:
    """Seconds of the processor, beside tuned one-vs-rest."""
    rows = sorted(record["measurements"], key=lambda row: row["ratio"])
    lines = [["one fold", "Auto", "one-vs-rest", "ratio"]]
    for row in rows:
        times = [f"{row[key]:.1f} s" for key in ("ours_s", "theirs_s")]
        lines.append([row["data"], *times, f"{row['ratio']:.2f}"])
    ratios = [row["ratio"] for row in rows]
    told = (
        f"Auto costs no more than one-vs-rest on {sum(r <= 1 for r in ratios)} of {len(ratios)} "
        f"sets, {np.exp(np.mean(np.log(ratios))):.1f} times as much in the geometric mean."
    )
    return f"{_markdown(lines)}\n\n{told} {_class_of(record)}"


def auto_whole(record: Record) -> str:
    """What Auto takes on whole sets, and reaches."""
    lines = [
        ["rows fitted", "columns, labels", "clock", "processor", "memory", "average precision"],
        *(
            [
                f"{row['data']}, {row['rows']:,}",
                f"{row['features']:,}, {row['labels']:,}",
                f"{row['seconds']:.0f} s",
                f"{row['processor_s']:.0f} s",
                f"{row['memory_mib']:.0f} MiB",
                f"{row['average_precision']:.3f}",
            ]
            for row in record["measurements"]
        ),
    ]
    longest = max(row["seconds"] for row in record["measurements"])
    told = f"The longest took {longest / 60:.1f} minutes by the clock."
    return f"{_markdown(lines)}\n\n{told} {_class_of(record)}"


def _host(compared: Compared) -> str:
    hosts = {
        f"{host['cores']} cores ({host['cpu']})"
        for records in compared.records.values()
        for host in (record.circumstances["host"] for record in records)
    }
    return f"{' and '.join(sorted(hosts))}."


def auto_ranks() -> str:
    """Average ranks of every metric, with Nemenyi's critical distance."""
    compared = _compared("auto")
    if compared is None:
        return NOT_YET
    lines = [["average rank", *compared.entries, "critical distance", "Friedman's p"]]
    for metric in compared.spec.metrics:
        scores = compared.scores(metric, compared.entries)
        has = ~np.isnan(scores).all(axis=0)
        kept = scores[:, has]
        n_datasets, n_entries = kept.shape
        if n_datasets < 2 or n_entries < 3:
            continue
        kept = _filled(kept, metric)
        own = average_ranks(kept, greater_is_better=greater_is_better(metric))
        distance = critical_difference(n_entries, n_datasets)
        ranks = iter(own)
        cells = []
        for there in has:
            rank = next(ranks) if there else None
            near = rank is not None and rank <= own.min() + distance
            cells.append("" if rank is None else f"**{rank:.1f}**" if near else f"{rank:.1f}")
        chance = p_value(friedman(kept).f_p_value)
        lines.append([get_metric(metric).title, *cells, f"{distance:.1f}", chance])
    told = (
        f"{len(compared.datasets)} data sets; rank 1 is the best. **Bold**: the best, and what "
        "Nemenyi's test at 5 % cannot tell from it, average ranks that are no further from it than "
        "the critical distance. What has no probabilities is left out where they are needed."
    )
    return f"{_markdown(lines)}\n\n{told}"


def auto_pairs() -> str:
    """Auto beside each rival alone: sets won, and Wilcoxon's test with Holm's correction."""
    compared = _compared("auto")
    if compared is None:
        return NOT_YET
    ours, *rivals = compared.entries
    scores = _filled(compared.scores("average_precision", compared.entries), "average_precision")
    first = scores[:, 0]
    chances = holm([wilcoxon(first, scores[:, 1 + k]) for k in range(len(rivals))])
    lines = [["rival", "better", "worse", "mean difference", "largest loss", "p, Holm"]]
    for k, rival in enumerate(rivals):
        gains = first - scores[:, 1 + k]
        record = win_tie_loss(first, scores[:, 1 + k])
        loss = max(0.0, float(-gains.min()))
        lines.append(
            [
                rival,
                str(record.wins),
                str(record.losses),
                f"{gains.mean():+.3f}",
                f"{loss:.3f}",
                p_value(float(chances[k])),
            ]
        )
    told = (
        f"Average precision of {ours} beside one rival at a time over {len(compared.datasets)} "
        "data sets: on how many it is better and worse, and Wilcoxon's signed-rank test, corrected "
        "by Holm for as many tests as there are rivals."
    )
    return f"{_markdown(lines)}\n\n{told}"


def auto_sizes() -> str:
    """Average precision and share of ridge's numbers, under bounds on the size."""
    compared = _compared("sizes")
    if compared is None:
        return NOT_YET
    ridge, *bounded = compared.entries
    lines = [["average precision (numbers, of ridge's)", ridge, *bounded]]
    for dataset in compared.datasets:
        figures = {
            e: compared.found.figure(dataset, e, "average_precision") for e in (ridge, *bounded)
        }
        whole = figures[ridge]
        cells = []
        for entry, figure in figures.items():
            if figure is None:
                cells.append(compared.without_figure(dataset, entry))
            elif whole is None or entry == ridge:
                cells.append(f"{figure.mean:.3f}")
            else:
                # What is significantly better or worse than ridge has a sign.
                mark = paired_t_test(figure.values, whole.values).mark
                sign = {"better": " +", "worse": " −"}.get(mark, "")
                share = np.mean(figure.sizes) / np.mean(whole.sizes)
                cells.append(f"{figure.mean:.3f}{sign} ({share:.1%})")
        lines.append([_told_of(compared, dataset), *cells])
    told = (
        "+ significantly better than ridge, − worse (paired t-test over the folds, 10 %). Empty: "
        "the smallest model, of one feature, is larger than that."
    )
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
    ROOT / "docs" / "results.md": (
        auto,
        auto_ranks,
        auto_pairs,
        auto_cost,
        auto_whole,
        auto_sizes,
        conventions,
        choices,
        printed_by_method,
        printed_by_set,
        printed_unexplained,
        printed_conventions,
        equal_size,
        results,
    ),
    ROOT / "docs" / "PAPER.md": (demo, defaults),
    ROOT / "docs" / "RELATED.md": (related_nested, related_rare, related_cost, related_paper),
    ROOT / "docs" / "SPEED.md": (speed,),
    ROOT / "docs" / "scaling.md": (scaling_routes, scaling_workers),
    ROOT / "docs" / "guide" / "parameters.md": (grid,),
    ROOT / "docs" / "guide" / "large-data.md": (blocks,),
    ROOT / "docs" / "guide" / "serving.md": (onnx,),
    ROOT / "docs" / "guide" / "storing.md": (model_files,),
    ROOT / "docs" / "guide" / "unknown-labels.md": (unknown_labels, noisy_labels),
    ROOT / "docs" / "METHODS.md": (
        methods,
        differences,
        kernel,
        learners,
        c2ae,
        c2ae_differences,
        c2ae_speed,
    ),
    ROOT / "docs" / "DECODERS.md": (decoders, reliability, logistic, thresholds),
    ROOT / "docs" / "SELECTION.md": (
        selection,
        decoder_choice,
        small_models,
        pruned_models,
        sweeps,
        balances,
        splits,
    ),
    ROOT / "docs" / "TEXT.md": (text_whole, vectorizer, text, text_frequency),
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
        if not inspect.signature(maker).parameters:  # it finds its records by itself
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

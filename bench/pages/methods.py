"""The tables of docs/METHODS.md."""

from compactlearn_bench.report.tables.published import published
from pages.shared import (
    Page,
    Parts,
    Record,
    class_of,
    figures,
    paper_results,
    seconds,
    spread,
    times,
)

page = Page("docs/METHODS.md")

LINEAR = ("ORI", "PLST", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM", "POP", "CMLL")


@page.table
def methods() -> Parts:
    """Every linear method beside the published figure, from the records of the benchmark."""
    data = ("enron", "plant", "llog", "bibtex", "corel5k")
    yield ["method", *data]
    yield from ([method, *(_beside(*_both(name, method)) for name in data)] for method in LINEAR)


def _both(dataset: str, method: str) -> tuple[float, float]:
    """Our mean average precision under the paper's protocol, and the paper's."""
    ours = paper_results("paper").figure(dataset, method, "average_precision")
    theirs = published(dataset, method, "average_precision")
    if ours is None or theirs is None:
        raise SystemExit(f"There is no figure of {method} on {dataset} to stand beside another")
    return ours.mean, theirs.mean


def _beside(ours: float, theirs: float) -> str:
    mark = " *" if abs(ours - theirs) > 0.03 else ""
    return f"{ours:.3f} ({theirs:.3f}){mark}"


@page.table
def differences(record: Record) -> Parts:
    """The same under other conventions."""
    yield ["data", "method", "what is changed", "changed", "table above", "published"]
    for row in record["measurements"]:
        values = (row["mean"], *_both(row["data"], row["method"]))
        yield [row["data"], row["method"], row["change"], *(f"{value:.3f}" for value in values)]


@page.table
def kernel(record: Record) -> Parts:
    """Kernel versions and paths."""
    yield ["what", "data", "ours", "theirs", "ours / theirs"]
    for row in record["measurements"]:
        if "ratio" in row:
            cells = [*times(row, "ours_s", "theirs_s"), f"{row['ratio']:.2g}"]
        else:
            peak = row["peak_bytes"] / 2**30
            cells = [f"{row['fit_s']:.0f} s to fit, {peak:.1f} GiB at most", "", ""]
        yield [row["what"], row["data"], *cells]
    yield class_of(record)


@page.table
def learners(record: Record) -> Parts:
    """Extra trees on labels, and on codes under two rules."""
    titles = {
        "labels": "on the labels",
        "projected_alike": "projected features, codes, alike",
        "projected_weighted": "projected features, codes, weighted",
        "kept_alike": "all features, codes, alike",
        "kept_weighted": "all features, codes, weighted",
    }
    yield ["data", "codes, of labels", *titles.values()]
    for row in record["measurements"]:
        yield [row["data"], f"{row['codes']} of {row['labels_there']}", *figures(row, *titles)]


@page.table
def c2ae(record: Record) -> Parts:
    """Both protocols beside the published column."""
    yield ["data", "metric", "paper protocol", "defaults", "published"]
    rows = {(row["data"], row["metric"], row["protocol"]): row for row in record["measurements"]}
    for data, metric in dict.fromkeys((data, metric) for data, metric, _ in rows):
        both = [rows[data, metric, protocol] for protocol in ("paper", "recommended")]
        printed = {"mean": both[0]["paper_mean"], "std": both[0]["paper_std"]}
        cells = [
            spread(row) + (" *" if abs(row["mean"] - printed["mean"]) > 0.05 else "")
            for row in both
        ]
        cells[0] += f", K = {both[0]['latent']}"
        yield [data, metric, *cells, spread(printed)]
    machine = record["machine"]
    yield f"Trained on one {machine['device']}, PyTorch {machine['torch']}; {record['date']}."


@page.table
def c2ae_differences(record: Record) -> Parts:
    """What looking at the test rows is worth."""
    shown = {
        "AP, last epoch": ("average_precision", "last_epoch"),
        "AP, best epoch": ("average_precision", "best_common_epoch"),
        "AP, each fold's best epoch": ("average_precision", "best_epoch_of_each_fold"),
        "F1 at 0.5, last epoch": ("micro_f1", "last_epoch"),
        "F1 at 0.5, best epoch": ("micro_f1", "best_common_epoch"),
        "F1, best threshold and epoch": ("micro_f1_best_threshold", "best_common_epoch"),
    }
    yield ["data", "settings", *shown]
    for row in record["measurements"]:
        cells = [f"{row[metric][epoch]:.3f}" for metric, epoch in shown.values()]
        yield [row["data"], row["settings"], *cells]


@page.table
def c2ae_speed(record: Record) -> Parts:
    """Seconds of an epoch, CPU and CUDA device in one run."""
    machine = record["machine"]
    threads = (2, machine["cores"])
    yield ["settings", "X", *(f"CPU, {n} threads" for n in threads), "CUDA"]
    taken = {
        (row["settings"], row["X"], row["device"], row["threads"]): row["epoch_s"]
        for row in record["measurements"]
    }
    for settings, form in dict.fromkeys(key[:2] for key in taken):
        cuda = taken[settings, form, "cuda", 1]
        own = [taken[settings, form, "cpu", n] for n in threads]
        cells = [f"{seconds(time)} ({time / cuda:.0f} times)" for time in own]
        yield [settings, form, *cells, seconds(cuda)]
    yield class_of(record, f"one {machine['device']}", f"PyTorch {machine['torch']}")

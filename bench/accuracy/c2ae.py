"""C2AE beside its published figures: average precision and micro-F1 of five folds.

    python bench/accuracy/c2ae.py --published FILE [--data-home DIR] [--jobs N] [NAME ...]

Two protocols, never mixed:

paper
    The settings of the authors' program (``method("C2AE")``), the latent size that is best on the
    *test* folds, metric by metric. The paper tries ten ratios of the features and ten of the
    labels; here five of each (10, 30, 50, 80, 100 %). The program's 50 epochs are made 400 on the
    small sets and 150 on corel5k: 50 are some 2500 steps on the authors' data and 150 on enron.
recommended
    ``C2AEClassifier()`` as it is; the test rows are scored once.

A CUDA device is used where there is one.
"""

import csv
import os
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import C2AEClassifier, method
from compactlearn.metrics import average_precision, micro_f1
from compactlearn.utils import require

DATA = ("enron", "plant", "llog", "corel5k")
METRICS = {"Average Precision": "average_precision", "micro-F1": "micro_f1"}
RATIOS = (0.1, 0.3, 0.5, 0.8, 1.0)
EPOCHS = {"corel5k": 150}

Job = tuple[str, str, tuple[str, float] | None, int, Path | None]


def jobs(data: str, data_home: Path | None) -> Iterator[Job]:
    """Every fit of a data set."""
    sizes = [("features", ratio) for ratio in RATIOS] + [("labels", ratio) for ratio in RATIOS]
    for fold in range(5):
        yield data, "recommended", None, fold, data_home
        for size in sizes:
            yield data, "paper", size, fold, data_home


def fit_and_judge(job: Job) -> dict[str, Any]:
    """The metrics of one fit on its test rows."""
    data, _, size, fold, data_home = job
    warnings.simplefilter("ignore")
    require("torch", extra="deep", purpose="C2AE").set_num_threads(1)
    X, Y = common.rows_of(data, data_home, 0)
    train, test = list(KFold(5, shuffle=True, random_state=0).split(X))[fold]
    if size is None:
        model = C2AEClassifier(random_state=fold)
    else:
        kind, ratio = size
        width = (X if kind == "features" else Y).shape[1]
        latent = max(1, int(ratio * width + 0.5))
        epochs = EPOCHS.get(data, 400)
        model = method("C2AE", n_components=latent, max_epochs=epochs, random_state=fold)
    start = time.perf_counter()
    model.fit(X[train], Y[train])
    seconds = time.perf_counter() - start
    scores = model.decision_function(X[test])
    return {
        "average_precision": average_precision(Y[test], scores),
        "micro_f1": micro_f1(Y[test], scores > model.threshold_),
        "latent": model.n_components_,
        "epoch": model.best_epoch_,
        "seconds": seconds,
        "device": model.device_,
    }


def summary(data: str, protocol: str, found: dict[Any, list[dict[str, Any]]]) -> Iterator[dict]:
    """For each metric the latent size of the best mean."""
    for title, metric in METRICS.items():
        best = max(found, key=lambda size: np.mean([fold[metric] for fold in found[size]]))
        folds = found[best]
        yield {
            "data": data,
            "protocol": protocol,
            "metric": title,
            "mean": round(float(np.mean([fold[metric] for fold in folds])), 4),
            "std": round(float(np.std([fold[metric] for fold in folds], ddof=1)), 4),
            "latent": folds[0]["latent"],
            "ratio": None if best is None else f"{best[1]:.0%} of the {best[0]}",
            "epochs": [fold["epoch"] for fold in folds],
            "seconds_per_fit": round(float(np.mean([fold["seconds"] for fold in folds])), 1),
            "by_latent": {
                str(folds[0]["latent"]): round(float(np.mean([f[metric] for f in folds])), 4)
                for folds in found.values()
            },
        }


def published(path: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """(data, metric) -> mean and deviation of the paper's C2AE column."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (row["dataset"], row["metric"]): (float(row["mean"]), float(row["std"]))
            for row in csv.DictReader(file)
            if row["method"] == "C2AE"
        }


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write."""
    parser = common.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: four)")
    parser.add_argument("--published", type=Path, required=True, help="the paper's tables.csv")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits side by side")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "c2ae.json")
    options = parser.parse_args(arguments)
    paper = published(options.published)
    names = options.names or DATA
    work = [job for data in names for job in jobs(data, options.data_home)]
    found: dict[tuple[str, str], dict[Any, list[dict[str, Any]]]] = {}
    device = "cpu"
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for job, result in zip(work, pool.map(fit_and_judge, work), strict=True):
            data, protocol, size, _, _ = job
            found.setdefault((data, protocol), {}).setdefault(size, []).append(result)
            device = result["device"]
    rows = [row for key, sizes in found.items() for row in summary(*key, sizes)]
    for row in rows:
        row["paper_mean"], row["paper_std"] = paper[row["data"], row["metric"]]
    torch = require("torch", extra="deep", purpose="C2AE")
    hardware = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    record = {
        "date": common.today(),
        "machine": common.machine() | {"device": hardware, "torch": torch.__version__},
    }
    common.write_json(options.out, record | {"measurements": rows})
    cells = [
        (
            row["data"],
            row["protocol"],
            row["metric"],
            f"{row['mean']:.4f} ± {row['std']:.4f}",
            f"{row['paper_mean']:.4f} ± {row['paper_std']:.4f}",
            f"{row['mean'] - row['paper_mean']:+.4f}",
            str(row["latent"]),
        )
        for row in rows
    ]
    header = ("data", "protocol", "metric", "ours", "paper", "difference", "latent")
    common.show_table("C2AE, 5 folds", header, cells)
    return 0


if __name__ == "__main__":
    sys.exit(main())

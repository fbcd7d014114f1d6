"""Records as a benchmark would leave them, made up: close to the published figures, and quick."""

import numpy as np

from compactlearn_bench.records import Cell, Record, seed_for
from compactlearn_bench.report.tables.published import PUBLISHED

METRICS = ("average_precision", "one_error")


def synthetic_record(dataset, method, selection, fold, metrics):
    """A whole record near the published figures, with all that a report can show."""
    rng = np.random.default_rng(seed_for(dataset, method, selection, fold))
    of_fold = np.random.default_rng(seed_for(dataset, fold)).normal()
    bias = (seed_for(method) % 5 - 2) / 2
    ratios = (0.1, 0.5, 1.0) if selection == "paper" else (0.5,)
    values = np.empty((len(ratios), len(metrics)))
    for column, metric in enumerate(metrics):
        known = PUBLISHED.get((dataset, method, metric))
        mean, std = (known.mean, known.std) if known else (0.5, 0.01)
        values[:, column] = mean + std * (0.8 * of_fold + 0.35 * rng.normal() + 0.6 * bias)
        values[:, column] -= np.array([0.05 * abs(ratio - 0.5) for ratio in ratios])
    return Record(
        Cell(dataset, method, selection, fold, settings={"metrics": list(metrics)}),
        "done",
        None,
        metrics,
        [{"n_label_components": ratio, "beta": 1.0} for ratio in ratios],
        np.clip(values, 0, 1),
        [int(5000 * (1 + 10 * ratio)) for ratio in ratios],
        {"by_frequency": {"1-9": {"label_average_precision": 0.2, "n_labels": 3.0}}},
        {"numpy": "2.4.6", "compactlearn": "0.1.0"},
        {"seconds": {"fit": float(np.exp(rng.normal()))}},
    )


def synthetic_records(datasets, methods, selections=("paper", "nested"), metrics=METRICS):
    """A benchmark: every fold of everything."""
    return [
        synthetic_record(dataset, method, selection, fold, metrics)
        for selection in selections
        for dataset in datasets
        for method in methods
        for fold in range(5)
    ]

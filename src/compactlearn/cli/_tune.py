"""`compactlearn tune`: choose the parameters of a compact linear model for a data set."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from compactlearn.cli._mistakes import refusals_are_mistakes
from compactlearn.cli._options import AsJson, Force, TableOptions, grouped
from compactlearn.cli._rows import find
from compactlearn.cli._tables import console, fitted
from compactlearn.cli._targets import check_ending, check_target, files_read, save
from compactlearn.core._plain import call, plain, python_value
from compactlearn.core._spreadsheet import csv_line
from compactlearn.datasets import Dataset
from compactlearn.model_selection._cmll_cv import CMLLClassifierCV

__all__ = ["tune"]

#: Parameters that the search does not vary, with values other than the defaults.
FIXED: Mapping[str, Any] = {"threshold": "f1"}


@grouped
def tune(
    source: Annotated[
        str, typer.Argument(metavar="DATA", help="A file, or the name of a data set.")
    ],
    options: TableOptions,
    metric: Annotated[str, typer.Option(help="The metric to optimise.")] = "average_precision",
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the shuffled folds.")
    ] = 0,
    jobs: Annotated[int, typer.Option(min=-1, help="Number of threads; -1: one per core.")] = -1,
    top: Annotated[int, typer.Option(min=1, help="Number of best settings to show.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A CSV file for the results of all settings."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Try many settings of a compact linear model on DATA and show the best.

    The settings are compared by cross-validation.
    """
    if jobs == 0:
        raise typer.BadParameter("--jobs must be at least 1, or -1 for one thread per core; got 0")
    if output is not None:
        inputs = files_read(source, options.labels)
        check_target(output, "--output", force=force, inputs=inputs)
        check_ending(output, "--output", (".csv",), "CSV")
    data = find(source, options)
    model = CMLLClassifierCV(
        racing=False,
        scoring=metric,
        cv=folds,
        random_state=seed,
        n_jobs=jobs,
        refit=False,
        verbose=0 if as_json else 1,
        **FIXED,
    )
    with refusals_are_mistakes():
        model.fit(data.X, data.Y)
    record = _record(model, data, metric, top)
    if as_json:
        typer.echo(json.dumps(record, indent=2))
    else:
        _show(record, model, data)
    if output is not None:
        results = model.cv_results_
        columns = [name for name in results if name != "params"]
        rows = zip(*(results[name] for name in columns), strict=True)
        save(output, "".join(map(csv_line, [columns, *rows])).encode())


def _record(model: Any, data: Dataset, metric: str, top: int) -> dict[str, Any]:
    """Return the record of a search: ratios are floats, counts are integers."""
    results = model.cv_results_
    best = [
        {
            "rank": int(results["rank_test_score"][place]),
            "mean": abs(float(results["mean_test_score"][place])),
            "std": float(results["std_test_score"][place]),
            "params": plain(dict(results["params"][place])),
        }
        for place in np.argsort(results["rank_test_score"], kind="stable")[:top]
    ]
    return {
        "dataset": data.name,
        "metric": metric,
        "folds": model.n_splits_,
        "n_settings": len(results["params"]),
        "seconds": model.search_time_,
        "interrupted": bool(model.interrupted_),
        "best_params": plain({**FIXED, **model.best_params_}),
        "best_estimator": call("CMLLClassifier", {**FIXED, **model.best_params_}),
        "best": best,
    }


def _show(record: Mapping[str, Any], model: Any, data: Dataset) -> None:
    screen = console()
    screen.print(
        f"{data.name}: {data.n_samples} rows, {data.n_features} features, {data.n_labels} labels; "
        f"{record['n_settings']} settings ({model.n_distinct_} distinct) on {record['folds']} "
        f"folds in {record['seconds']:.1f} s"
    )
    headings = ["rank", record["metric"], *record["best"][0]["params"]]
    rows = [
        [str(one["rank"]), f"{one['mean']:.4f} ± {one['std']:.4f}"]
        + [python_value(value) for value in one["params"].values()]
        for one in record["best"]
    ]
    for table in fitted(headings, rows, screen.width):
        screen.print(table)
    if record["interrupted"]:
        screen.print("Interrupted: only the settings that were tried until then are shown.")
    screen.print("Best settings:")
    screen.print(record["best_estimator"], soft_wrap=True)

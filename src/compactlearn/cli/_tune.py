"""`compactlearn tune`: choose the parameters of compact learning for a data set."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from compactlearn.cli._datasets import Delimiter, Format, Home, Ignore, Labels, find
from compactlearn.cli._mistakes import refusals_are_mistakes
from compactlearn.cli._tables import console, fitted
from compactlearn.cli._targets import Force, check_ending, check_target, files_read, save
from compactlearn.core._plain import call, plain, python_value
from compactlearn.core._spreadsheet import csv_line
from compactlearn.datasets import Dataset
from compactlearn.model_selection._cmll_cv import CMLLClassifierCV

__all__ = ["tune"]

#: What the search does not vary, and `CMLLClassifier` would do in another way by itself.
FIXED: Mapping[str, Any] = {"threshold": "f1"}


def tune(
    source: Annotated[str, typer.Argument(metavar="DATA", help="A file, or the name of a set.")],
    metric: Annotated[str, typer.Option(help="What to optimise.")] = "average_precision",
    folds: Annotated[int, typer.Option(min=2, help="Folds.")] = 5,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed that shuffles the folds.")
    ] = 0,
    jobs: Annotated[int, typer.Option(min=-1, help="Threads; -1: one per core.")] = -1,
    top: Annotated[int, typer.Option(min=1, help="How many of the best to show.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            "--out",
            help="A CSV file for the whole table. (--out is an older name of it.)",
        ),
    ] = None,
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON record instead.")] = False,
    labels: Labels = None,
    ignore: Ignore = None,
    form: Format = None,
    delimiter: Delimiter = None,
    data_home: Home = None,
) -> None:
    """Cross-validate many settings of compact learning on DATA and show the best."""
    if jobs == 0:
        raise typer.BadParameter("--jobs must be a number of threads, or -1; got 0")
    if output is not None:
        check_target(output, "--output", force=force, inputs=files_read(source, labels))
        check_ending(output, "--output", (".csv",), "CSV")
    data = find(source, data_home, labels, ignore, form, delimiter)
    options: dict[str, Any] = {
        "scoring": metric,
        "cv": folds,
        "random_state": seed,
        "n_jobs": jobs,
        "refit": False,
        "verbose": 0 if as_json else 1,
    }
    model = CMLLClassifierCV(racing=False, **FIXED, **options)
    with refusals_are_mistakes():
        model.fit(data.X, data.Y)
    if as_json:
        typer.echo(json.dumps(record(model, data, metric, top), indent=2))
    else:
        _show(model, data, metric, top)
    if output is not None:
        with refusals_are_mistakes():
            write_table(model.cv_results_, output)


def _show(model: Any, data: Dataset, metric: str, top: int) -> None:
    screen = console()
    n_settings = len(model.cv_results_["params"])
    screen.print(
        f"{data.name}: {data.X.shape[0]} rows, {data.X.shape[1]} features, "
        f"{data.Y.shape[1]} labels; {n_settings} settings ({model.n_distinct_} distinct) on "
        f"{model.n_splits_} folds in {model.search_time_:.1f} s"
    )
    headings, rows = best_rows(model.cv_results_, metric, top)
    for table in fitted(headings, rows, screen.width):
        screen.print(table)
    if model.interrupted_:
        screen.print("Interrupted: only what had been tried by then is shown.")
    screen.print("The best of them:")
    screen.print(estimator_call(model.best_params_), soft_wrap=True)


def record(model: Any, data: Dataset, metric: str, top: int) -> dict[str, Any]:
    """The answer in plain values: a ratio is a number with a point, a count has none."""
    results = model.cv_results_
    best = [
        {
            "rank": int(results["rank_test_score"][place]),
            "mean": abs(float(results["mean_test_score"][place])),
            "std": float(results["std_test_score"][place]),
            "params": plain(dict(results["params"][place])),
        }
        for place in _order(results)[:top]
    ]
    return {
        "dataset": data.name,
        "metric": metric,
        "folds": model.n_splits_,
        "n_settings": len(results["params"]),
        "seconds": model.search_time_,
        "interrupted": bool(model.interrupted_),
        "best_params": plain({**FIXED, **model.best_params_}),
        "best_estimator": estimator_call(model.best_params_),
        "best": best,
    }


def estimator_call(params: Mapping[str, Any]) -> str:
    """The line of Python that makes the estimator of these parameters."""
    return call("CMLLClassifier", {**FIXED, **params})


def best_rows(
    results: Mapping[str, Any], metric: str, top: int
) -> tuple[list[str], list[list[str]]]:
    """Headings, and the best settings, best first; the parameters as Python writes them."""
    names = [name for name in results if name.startswith("param_")]
    rows = [
        [
            str(results["rank_test_score"][place]),
            f"{abs(results['mean_test_score'][place]):.4f} ± "
            f"{results['std_test_score'][place]:.4f}",
            *(python_value(results[name][place]) for name in names),
        ]
        for place in _order(results)[:top]
    ]
    return ["rank", metric, *(name.removeprefix("param_") for name in names)], rows


def _order(results: Mapping[str, Any]) -> np.ndarray:
    return np.argsort(results["rank_test_score"], kind="stable")


def write_table(results: dict[str, Any], path: Path) -> None:
    """The whole table as CSV, written whole or not at all."""
    columns = [name for name in results if name != "params"]
    rows = zip(*(results[name] for name in columns), strict=True)
    save(path, "".join(map(csv_line, [columns, *rows])).encode())

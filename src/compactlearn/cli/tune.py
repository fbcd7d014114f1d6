"""`compactlearn tune`: choose the parameters of compact learning for a data set."""

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from compactlearn.cli.datasets import Home, Labels, find
from compactlearn.cli.mistakes import Mistake, refusals_are_mistakes
from compactlearn.core.files import atomic
from compactlearn.estimators import CMLLClassifier
from compactlearn.model_selection import (
    PAPER_GRID,
    CMLLClassifierCV,
    GridSearchMoments,
    RatioSearchCV,
)

__all__ = ["tune"]

SEARCHES = ("default", "paper", "ratios")


def tune(
    source: Annotated[str, typer.Argument(metavar="DATA", help="A file, or the name of a set.")],
    search: Annotated[
        str,
        typer.Option(
            help="default: sizes and penalties; paper: its whole grid, 5500 settings; ratios: its "
            "search for the two compression ratios."
        ),
    ] = "default",
    metric: Annotated[str, typer.Option(help="What to optimise.")] = "average_precision",
    folds: Annotated[int, typer.Option(min=2, help="Folds.")] = 5,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed that shuffles the folds.")
    ] = 0,
    jobs: Annotated[int, typer.Option(min=-1, help="Threads; -1: one per core.")] = -1,
    top: Annotated[int, typer.Option(min=1, help="How many of the best to show.")] = 10,
    out: Annotated[Path | None, typer.Option(help="A CSV file for the whole table.")] = None,
    labels: Labels = None,
    data_home: Home = None,
) -> None:
    """Cross-validate many settings of compact learning on DATA and show the best."""
    if jobs == 0:
        raise typer.BadParameter("--jobs must be a number of threads, or -1; got 0")
    if search not in SEARCHES:
        raise typer.BadParameter(f"--search must be one of {', '.join(SEARCHES)}; got {search!r}")
    if out is not None and out.suffix.lower() != ".csv":
        raise Mistake(f"--out must name a file that ends in .csv, and is {out}; give such a name.")
    if out is not None and not out.parent.is_dir():
        raise Mistake(f"--out must lie in a folder, and {out.parent} does not exist; make it.")
    data = find(source, labels, data_home)
    options: dict[str, Any] = {
        "scoring": metric,
        "cv": folds,
        "random_state": seed,
        "n_jobs": jobs,
        "refit": False,
        "verbose": 1,
    }
    wide = CMLLClassifier(completion="variance", offset="none")
    model: Any = CMLLClassifierCV(racing=False, **options)
    if search == "paper":
        model = GridSearchMoments(wide, PAPER_GRID, **options)
    elif search == "ratios":
        model = RatioSearchCV(**options)
    with refusals_are_mistakes():
        model.fit(data.X, data.Y)
    console = Console(highlight=False)
    n_settings = len(model.cv_results_["params"])
    console.print(
        f"{data.name}: {data.X.shape[0]} rows, {data.X.shape[1]} features, {data.Y.shape[1]} "
        f"labels; {n_settings} settings ({model.n_distinct_} distinct) on {folds} folds in "
        f"{model.search_time_:.1f} s"
    )
    console.print(best_table(model.cv_results_, metric, top))
    if model.interrupted_:
        console.print("Interrupted: only what had been tried by then is shown.")
    if out is not None:
        with refusals_are_mistakes():
            write_table(model.cv_results_, out)


def best_table(results: dict[str, Any], metric: str, top: int) -> Table:
    """The best settings, best first."""
    names = [name for name in results if name.startswith("param_")]
    table = Table()
    table.add_column("rank", justify="right")
    table.add_column(metric, justify="right")
    for name in names:
        table.add_column(name.removeprefix("param_"), justify="right")
    order = np.argsort(results["rank_test_score"], kind="stable")[:top]
    for place in order:
        mean, std = results["mean_test_score"][place], results["std_test_score"][place]
        values = [_short(results[name][place]) for name in names]
        table.add_row(
            str(results["rank_test_score"][place]), f"{abs(mean):.4f} ± {std:.4f}", *values
        )
    return table


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write_table(results: dict[str, Any], path: Path) -> None:
    """The whole table as CSV, written whole or not at all."""
    columns = [name for name in results if name != "params"]
    with atomic(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        rows = csv.writer(text)
        rows.writerow(columns)
        rows.writerows(zip(*(results[name] for name in columns), strict=True))
        text.detach()

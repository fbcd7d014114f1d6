"""`compactlearn demo`: a comparison on one real data set, in a minute."""

import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from joblib import cpu_count
from rich.console import Console
from rich.table import Table

from compactlearn.cli.commands import Steps
from compactlearn.cli.commands import console as standard_output
from compactlearn.inspection.page_parts import arrow
from compactlearn_bench import Event
from compactlearn_bench.cli.bench import run_mistakes
from compactlearn_bench.demo import Demo, Mail, demonstrate, spec
from compactlearn_bench.records import Store
from compactlearn_bench.report.tables.names import title

__all__ = ["demo"]

_LINEAR = "ridge"
_BAR = 40  # characters for all parameters of a plain linear model
_NEXT = """\
Your own rows: X (N, D), an array, a sparse matrix or a data frame, and labels Y (N, M) of 0 and 1.

    from compactlearn import AutoCompactClassifier
    model = AutoCompactClassifier().fit(X, Y)   # size_budget=0.1: a tenth of the parameters
    labels, probabilities = model.predict(X_new), model.predict_proba(X_new)

Texts and tags: docs/tutorials/texts-to-tags.md. More comparisons: docs/results/index.md."""


def demo(
    folds: Annotated[int | None, typer.Option(min=2, max=100, help="Outer folds.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed that shuffles the folds.")
    ] = 0,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes; -1: one per core.")] = -1,
    quick: Annotated[
        bool, typer.Option("--quick", help="Coarse grids and fewer rows, for a glance.")
    ] = False,
    store: Annotated[
        Path | None, typer.Option(help="Keep the records there, for `compactlearn report`.")
    ] = None,
) -> None:
    """Tag e-mails with default settings, compare with tuned baselines, and trade size for accuracy.

    Enron's e-mails, on held-out folds.
    """
    if jobs == 0:
        raise typer.BadParameter("--jobs must be a number of processes, or -1; got 0")
    workers = cpu_count() if jobs == -1 else jobs
    tags = spec(folds, seed, quick=quick)
    place = tempfile.TemporaryDirectory() if store is None else nullcontext(store)
    with place as folder, run_mistakes(), Steps("enron", len(tags.methods) * tags.folds) as steps:

        def step(event: Event) -> None:
            if event.kind in ("found", "ended"):
                steps.done()

        result = demonstrate(tags, Store(folder), workers=workers, on_event=step)
    console = standard_output()
    _show(result, console)
    console.print(f"{result.seconds:.0f} s in all", style="dim")


def _show(result: Demo, console: Console) -> None:
    data, spec = result.data, result.spec
    console.print(
        f"{data.name}: {result.n_rows} e-mails, {data.n_features} words, {data.n_labels} labels; "
        f"{spec.folds} folds, seed {spec.seed}; mean ± standard deviation over the folds"
    )
    for part in (_scores(result), _bars(result), _mails(result.mails)):
        console.print()
        console.print(part)
    console.print()
    console.print(_summary(result))
    console.print()
    console.print(_NEXT)


def _scores(result: Demo) -> Table:
    """Return the scores of Auto and its baselines on held-out rows."""
    asked = {method: result.settings(method) for method in result.methods}
    table = Table(
        title="Auto with default settings, and tuned baselines",
        caption=(
            f"Auto is AutoCompactClassifier(){_bound(asked['Auto'])}. Ridge: the best of "
            f"{len(asked['ridge']['alphas'])} penalties; one-vs-rest logistic regression: of "
            f"{len(asked['one-vs-rest']['Cs'])}; by {result.spec.inner_folds} inner folds of the "
            "training rows. All three have a threshold tuned for micro-F1. Random forest: "
            f"{asked['random forest']['trees']} trees and its own rule, 0.5."
        ),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("", overflow="fold")
    for metric in result.spec.metrics:
        table.add_column(f"{title(metric)} {arrow(metric)}", justify="right", overflow="fold")
    for name in ("parameters", "seconds"):
        table.add_column(name, justify="right", overflow="fold")
    for method in result.methods:
        if "," in method:  # models with a size budget have a table of their own
            continue
        scores = [result.score(method, metric) for metric in result.spec.metrics]
        table.add_row(
            method,
            *(f"{score.mean:.3f} ± {score.std:.3f}" for score in scores),
            f"{result.n_parameters(method):,.0f}",
            f"{result.training_seconds[method]:.1f}",
        )
    return table


def _bound(asked: Mapping[str, Any]) -> str:
    seconds = asked.get("time_budget")
    return "" if seconds is None else f", with --quick the first model of {seconds:g} s"


def _bars(result: Demo) -> Table:
    """Return accuracy against size, with a bar as long as the model is large."""
    table = Table(
        title="Accuracy against size",
        caption=(
            "Auto, 10 %: AutoCompactClassifier(size_budget=0.1), which selects the best of several "
            "models with at most a tenth of features times labels. Without a budget Auto has "
            f"{result.n_parameters('Auto'):,.0f} parameters."
        ),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("", overflow="fold")
    table.add_column("parameters", overflow="fold")
    table.add_column("", justify="right", overflow="fold")
    table.add_column("average precision", justify="right", overflow="fold")
    whole = result.n_parameters(_LINEAR)
    for method in _by_size(result):
        share = result.n_parameters(method) / whole
        bar = "█" * max(1, round(_BAR * share))
        table.add_row(method, bar, f"{share:.0%}", f"{_precision(result, method):.3f}")
    return table


def _mails(found: tuple[Mail, ...]) -> Table:
    """Return predicted labels by name, with the words of the largest terms."""
    table = Table(
        title="The first e-mails of the first test fold",
        caption=(
            "By CMLLClassifier(decoder='logistic'), a linear model: for each label the words with "
            "the largest terms of its score. ✓ right, ✗ wrong."
        ),
        title_justify="left",
        caption_justify="left",
        show_lines=True,
    )
    table.add_column("e-mail", justify="right")
    table.add_column("predicted, and why", overflow="fold")
    table.add_column("missed", overflow="fold")
    for mail in found:
        lines = [
            f"{'✓' if guess.right else '✗'} {guess.label}: {', '.join(guess.words)}"
            for guess in mail.guesses
        ]
        table.add_row(str(mail.row), "\n".join(lines), "\n".join(mail.missed))
    return table


def _summary(result: Demo) -> str:
    """Return what the two tables show, in two sentences."""
    baselines = [name for name in result.methods if not name.startswith("Auto")]
    best = max(baselines, key=lambda name: _precision(result, name))
    small = min(result.methods, key=result.n_parameters)
    share = result.n_parameters(small) / result.n_parameters(_LINEAR)
    return (
        f"Average precision: Auto {_precision(result, 'Auto'):.3f}; {best}, the best of "
        f"{len(baselines)} baselines, {_precision(result, best):.3f}. With {share:.0%} of "
        f"{_LINEAR}'s parameters Auto has {_precision(result, small):.3f}, {_LINEAR} "
        f"{_precision(result, _LINEAR):.3f}."
    )


def _by_size(result: Demo) -> list[str]:
    names = [name for name in result.methods if name.startswith("Auto,") or name == _LINEAR]
    return sorted(names, key=result.n_parameters, reverse=True)


def _precision(result: Demo, method: str) -> float:
    return result.score(method, "average_precision").mean

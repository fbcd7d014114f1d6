"""`compactlearn demo`: the library's case on one real data set, in a minute."""

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

_YARDSTICK = "ridge"
_BAR = 40  # characters for all numbers of a plain linear model
_NEXT = """\
Your own rows: X (N, D), an array, a sparse matrix or a data frame, and labels Y (N, M) of 0 and 1.

    from compactlearn import AutoCompactClassifier
    model = AutoCompactClassifier().fit(X, Y)   # size_budget=0.1: a tenth of the numbers
    labels, probabilities = model.predict(X_new), model.predict_proba(X_new)

Texts and tags: docs/results/text.md. The paper's own tables: docs/results/paper.md."""


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

    Enron's e-mails, on folds that no model has met.
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
    """Auto beside its rivals, on rows that none of them has met."""
    asked = {method: result.settings(method) for method in result.methods}
    table = Table(
        title="Nothing to set, beside tuned rivals",
        caption=(
            f"Auto is AutoCompactClassifier(){_bound(asked['Auto'])}. Ridge: the best of "
            f"{len(asked['ridge']['alphas'])} penalties; one-vs-rest logistic regression: of "
            f"{len(asked['one-vs-rest']['Cs'])}; by {result.spec.inner_folds} inner folds of the "
            "training rows. All three have a threshold that is tuned for micro-F1. Random forest: "
            f"{asked['random forest']['trees']} trees and its own rule, 0.5."
        ),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("", overflow="fold")
    for metric in result.spec.metrics:
        table.add_column(f"{title(metric)} {arrow(metric)}", justify="right", overflow="fold")
    for name in ("numbers kept", "seconds"):
        table.add_column(name, justify="right", overflow="fold")
    for method in result.methods:
        if "," in method:  # those of a bounded size have a table of their own
            continue
        scores = [result.score(method, metric) for metric in result.spec.metrics]
        table.add_row(
            method,
            *(f"{score.mean:.3f} ± {score.std:.3f}" for score in scores),
            f"{result.numbers(method):,.0f}",
            f"{result.training_seconds[method]:.1f}",
        )
    return table


def _bound(asked: Mapping[str, Any]) -> str:
    seconds = asked.get("time_budget")
    return "" if seconds is None else f", of which --quick takes the first model, {seconds:g} s"


def _bars(result: Demo) -> Table:
    """Accuracy against size: a bar is as long as the model is large."""
    table = Table(
        title="Accuracy against size",
        caption=(
            "Auto, 10 %: size_budget=0.1, at most a tenth of the features times labels that ridge "
            "keeps; here the first model of that size, where with more time it tries several. "
            "Without a bound Auto takes what is best, here "
            f"{result.numbers('Auto'):,.0f} numbers."
        ),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("", overflow="fold")
    table.add_column("numbers kept", overflow="fold")
    table.add_column("", justify="right", overflow="fold")
    table.add_column("average precision", justify="right", overflow="fold")
    table.add_column(f"beside {_YARDSTICK}", justify="right", overflow="fold")
    whole = result.numbers(_YARDSTICK)
    at = _precision(result, _YARDSTICK)
    for method in _by_size(result):
        share = result.numbers(method) / whole
        own = _precision(result, method)
        beside = "" if method == _YARDSTICK else f"{own - at:+.3f}"
        bar = "█" * max(1, round(_BAR * share))
        table.add_row(method, bar, f"{share:.0%}", f"{own:.3f}", beside)
    return table


def _mails(found: tuple[Mail, ...]) -> Table:
    """Labels by name, and the words that speak for them."""
    table = Table(
        title="The first e-mails of the first test fold",
        caption=(
            "By CMLLClassifier(decoder='logistic'), a linear model: of each label the words with "
            "the largest part in its score. ✓ right, ✗ wrong."
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
    """The facts to take away, in words, whichever way they point."""
    rivals = [name for name in result.methods if not name.startswith("Auto")]
    best = max(rivals, key=lambda name: _precision(result, name))
    small = min(result.methods, key=result.numbers)
    lead = _precision(result, "Auto") - _precision(result, best)
    cost = _precision(result, small) - _precision(result, _YARDSTICK)
    share = result.numbers(small) / result.numbers(_YARDSTICK)
    return (
        f"In average precision Auto is {lead:+.3f} beside the best of the others, {best}; with "
        f"{share:.0%} of the numbers of {_YARDSTICK} it is {cost:+.3f} beside {_YARDSTICK}."
    )


def _by_size(result: Demo) -> list[str]:
    names = [name for name in result.methods if name.startswith("Auto,") or name == _YARDSTICK]
    return sorted(names, key=result.numbers, reverse=True)


def _precision(result: Demo, method: str) -> float:
    return result.score(method, "average_precision").mean

"""`compactlearn evaluate`: how well a model predicts the labels of a file."""

import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._mistakes import refusals_are_mistakes
from compactlearn.cli._rows import (
    Data,
    Delimiter,
    Encoding,
    Form,
    Header,
    Home,
    Ignore,
    Labels,
    Model,
    Separator,
    TagColumn,
    TextColumn,
    Wanted,
    known_labels,
    name_of,
    open_model,
    rows_for,
    tell_unknown,
)
from compactlearn.cli._tables import console, fitted
from compactlearn.cli._targets import (
    Force,
    TextOutput,
    check_text_target,
    files_read,
    say,
    says_json,
)
from compactlearn.compact._any_classifier import evaluate as measure
from compactlearn.metrics._table import greater_is_better

__all__ = ["evaluate"]


def evaluate(
    model_file: Model,
    source: Data,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON record instead.")] = False,
    output: TextOutput = None,
    force: Force = False,
    text: TextColumn = None,
    tags: TagColumn = None,
    sep: Separator = None,
    labels: Labels = None,
    ignore: Ignore = None,
    form: Form = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    data_home: Home = None,
) -> None:
    """Measure how well the model in MODEL predicts the labels of DATA.

    Rankings are judged by the scores, label sets by what the model predicts. Tags that the model
    does not know, which it cannot predict, are left out, and counted.
    """
    output = None if output == Path("-") else output  # standard output
    as_json = as_json or says_json(output)
    check_text_target(output, force=force, inputs=[model_file, *files_read(source, labels)])
    model = open_model(model_file)
    wanted = Wanted(
        source, text, tags, sep, labels, ignore, form, delimiter, data_home, header, encoding
    )
    rows = rows_for(model, wanted, with_labels=True)
    Y, unknown = known_labels(model, rows)
    with refusals_are_mistakes():
        found = _figures(measure(model, rows.X, Y))
    if not as_json:
        tell_unknown(unknown)
    if as_json:
        about = {"model": str(model_file), "classifier": name_of(model), "data": rows.name}
        about |= {"rows": rows.count, "unknown_tags": unknown.tags, "metrics": found}
        say(json.dumps(about, indent=2), output)
        return
    page = None if output is None else io.StringIO()
    screen = console(page)
    table = [
        [name, "undefined" if value is None else f"{value:.4f}", _better(name)]
        for name, value in found.items()
    ]
    screen.print(f"{name_of(model)} on {rows.name}: {rows.count} rows", soft_wrap=True)
    for part in fitted(["measure", "value", "better"], table, screen.width):
        screen.print(part)
    if page is not None:
        say(page.getvalue().rstrip("\n"), output)


def _figures(found: Mapping[str, float]) -> dict[str, float | None]:
    """JSON has no word for what is not defined on these rows."""
    return {name: float(v) if math.isfinite(v) else None for name, v in found.items()}


def _better(name: str) -> str:
    return "higher" if greater_is_better(name) else "lower"

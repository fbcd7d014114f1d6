"""`compactlearn explain`: which features speak for and against the labels of some rows."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
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
    TextColumn,
    Wanted,
    open_model,
    rows_for,
)
from compactlearn.cli._targets import (
    Force,
    TextOutput,
    check_text_target,
    files_read,
    say,
    says_json,
)
from compactlearn.core._targets import take_rows
from compactlearn.inspection._explain import explain as reasons_of

__all__ = ["explain"]

_SPAN = re.compile(r"(\d*):(\d*)")


def explain(
    model_file: Model,
    source: Data,
    rows: Annotated[
        str, typer.Option(help="Which rows, counted from 0: 0:5, or 3, or 0,4,7.")
    ] = "0:5",
    label: Annotated[
        list[str] | None,
        typer.Option(help="A label to explain, may be repeated; by default the predicted ones."),
    ] = None,
    topk: Annotated[int, typer.Option(min=1, help="How many terms of each score to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON record instead.")] = False,
    output: TextOutput = None,
    force: Force = False,
    text: TextColumn = None,
    labels: Labels = None,
    ignore: Ignore = None,
    form: Form = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    data_home: Home = None,
) -> None:
    """Say which features speak for and against the labels of some rows of DATA.

    The terms of a score, with its base and the rest, add up to it.
    """
    if not re.fullmatch(r"\d*:\d*|\d+(,\d+)*", rows):
        raise typer.BadParameter(f"--rows must be as 0:5, 3 or 0,4,7; got {rows!r}")
    output = None if output == Path("-") else output  # standard output
    as_json = as_json or says_json(output)
    check_text_target(output, force=force, inputs=[model_file, *files_read(source, labels)])
    model = open_model(model_file)
    wanted = Wanted(
        source,
        text=text,
        labels=labels,
        ignore=ignore,
        form=form,
        delimiter=delimiter,
        data_home=data_home,
        header=header,
        encoding=encoding,
    )
    found = rows_for(model, wanted, with_labels=False)
    places = _places(rows, found.count)
    with refusals_are_mistakes():
        told = reasons_of(
            model, take_rows(found.X, places), label or None, topk, feature_names=found.features
        )
    placed = [replace(reasons, row=places[reasons.row]) for reasons in told]
    if as_json:
        say(json.dumps([reasons.to_dict() for reasons in placed], indent=2), output)
    else:
        say("\n\n".join(map(repr, placed)), output)


def _places(rows: str, count: int) -> list[int]:
    """The numbers of the rows that are asked for, all of which must be there."""
    span = _SPAN.fullmatch(rows)
    if span is not None:
        start, stop = int(span[1] or 0), min(int(span[2] or count), count)
        places = list(range(start, stop))
    else:
        places = [int(number) for number in rows.split(",")]
    if not places or max(places) >= count:
        raise Mistake(
            f"--rows must name rows from 0 to {count - 1}, which DATA has, and is {rows}; give "
            "such numbers."
        )
    return places

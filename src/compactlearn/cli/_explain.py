"""`compactlearn explain`: which features speak for and against the labels of some rows."""

import json
import re
from dataclasses import replace
from typing import Annotated

import typer

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._options import AsJson, Data, Force, Model, RowOptions, grouped
from compactlearn.cli._rows import open_model, rows_for
from compactlearn.cli._targets import TextOutput, files_read, say, text_target
from compactlearn.core._targets import take_rows
from compactlearn.inspection._explain import explain as reasons_of

__all__ = ["explain"]


@grouped
def explain(
    model_file: Model,
    source: Data,
    options: RowOptions,
    rows: Annotated[
        str, typer.Option(help="Which rows, counted from 0: 0:5, or 3, or 0,4,7.")
    ] = "0:5",
    label: Annotated[
        list[str] | None,
        typer.Option(help="A label to explain, may be repeated; by default the predicted ones."),
    ] = None,
    topk: Annotated[int, typer.Option(min=1, help="How many terms of each score to show.")] = 10,
    as_json: AsJson = False,
    output: TextOutput = None,
    force: Force = False,
) -> None:
    """Say which features speak for and against the labels of some rows of DATA.

    The terms of a score, with its base and the rest, add up to it.
    """
    if not re.fullmatch(r"\d*:\d*|\d+(,\d+)*", rows):
        raise typer.BadParameter(f"--rows must be as 0:5, 3 or 0,4,7; got {rows!r}")
    inputs = [model_file, *files_read(source, options.labels)]
    output, as_json = text_target(output, as_json=as_json, force=force, inputs=inputs)
    model = open_model(model_file)
    found = rows_for(model, source, options, with_labels=False)
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
    """Return the numbers of the rows that are asked for, all of which must be there."""
    if ":" in rows:
        start, _, stop = rows.partition(":")
        places = list(range(int(start or 0), min(int(stop or count), count)))
    else:
        places = [int(number) for number in rows.split(",")]
    if not places or max(places) >= count:
        raise Mistake(
            f"--rows must name rows from 0 to {count - 1}, which DATA has, and is {rows}; give "
            "such numbers."
        )
    return places

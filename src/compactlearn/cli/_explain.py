"""`compactlearn explain`: which features raise and lower the label scores of rows."""

import json
import re
from dataclasses import replace
from typing import Annotated

import typer

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._options import AsJson, Data, Model, RowOptions, grouped
from compactlearn.cli._rows import open_model, rows_for
from compactlearn.core._targets import take_rows
from compactlearn.inspection._explain import explain as reasons_of

__all__ = ["explain"]


@grouped
def explain(
    model_file: Model,
    source: Data,
    options: RowOptions,
    rows: Annotated[
        str,
        typer.Option(help="Rows, counted from 0: a range (0:5), a number (3) or a list (0,4,7)."),
    ] = "0:5",
    label: Annotated[
        list[str] | None,
        typer.Option(help="A label to explain; may be repeated. By default the predicted labels."),
    ] = None,
    topk: Annotated[int, typer.Option(min=1, help="Number of terms of each score to show.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show which features raise and lower the label scores of some rows of DATA.

    The shown terms of a score, its base and the sum of the other terms add up to the score.
    """
    if not re.fullmatch(r"\d*:\d*|\d+(,\d+)*", rows):
        raise typer.BadParameter(f"--rows must be like 0:5, 3 or 0,4,7; got {rows!r}")
    model = open_model(model_file)
    found = rows_for(model, source, options, with_labels=False)
    places = _places(rows, found.count)
    with refusals_are_mistakes():
        explanations = reasons_of(
            model, take_rows(found.X, places), label or None, topk, feature_names=found.features
        )
    placed = [replace(reasons, row=places[reasons.row]) for reasons in explanations]
    if as_json:
        typer.echo(json.dumps([reasons.to_dict() for reasons in placed], indent=2))
    else:
        typer.echo("\n\n".join(map(repr, placed)))


def _places(rows: str, count: int) -> list[int]:
    """Return the indices of the rows in --rows; raise a `Mistake` for rows that DATA lacks."""
    if ":" in rows:
        start, _, stop = rows.partition(":")
        places = list(range(int(start or 0), min(int(stop or count), count)))
    else:
        places = [int(number) for number in rows.split(",")]
    if not places or max(places) >= count:
        raise Mistake(
            f"--rows must name rows from 0 to {count - 1}, the last row of DATA; got {rows}. Pass "
            "such row numbers."
        )
    return places

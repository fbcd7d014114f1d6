"""`compactlearn evaluate`: how well a model predicts the labels of a file."""

import json
import math

import typer

from compactlearn.cli._mistakes import refusals_are_mistakes
from compactlearn.cli._options import AsJson, Data, LabelledOptions, Model, grouped
from compactlearn.cli._rows import known_labels, name_of, open_model, rows_for
from compactlearn.cli._tables import console, fitted
from compactlearn.compact._any_classifier import evaluate as measure
from compactlearn.metrics._table import greater_is_better

__all__ = ["evaluate"]


@grouped
def evaluate(
    model_file: Model,
    source: Data,
    options: LabelledOptions,
    as_json: AsJson = False,
) -> None:
    """Measure how well the model in MODEL predicts the labels of DATA.

    Ranking metrics use the scores; label metrics use the predicted labels. Tags that the model does
    not know cannot be predicted: they are left out, and their number is reported.
    """
    model = open_model(model_file)
    rows = known_labels(model, rows_for(model, source, options, with_labels=True))
    with refusals_are_mistakes():
        found = measure(model, rows.X, rows.Y)
    if as_json:
        # JSON has no NaN: an undefined metric is null.
        metrics = {name: float(v) if math.isfinite(v) else None for name, v in found.items()}
        about = {"model": str(model_file), "classifier": name_of(model), "data": rows.name}
        about |= {"rows": rows.count, "unknown_tags": rows.unknown_tags, "metrics": metrics}
        typer.echo(json.dumps(about, indent=2))
        return
    screen = console()
    table = [
        [
            name,
            f"{value:.4f}" if math.isfinite(value) else "undefined",
            "higher" if greater_is_better(name) else "lower",
        ]
        for name, value in found.items()
    ]
    screen.print(f"{name_of(model)} on {rows.name}: {rows.count} rows", soft_wrap=True)
    for part in fitted(["metric", "value", "better"], table, screen.width):
        screen.print(part)

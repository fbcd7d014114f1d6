"""`compactlearn predict`: predict the labels of the rows of a file, with scores."""

import io
import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._options import Data, Force, Model, RowOptions, grouped, listed
from compactlearn.cli._rows import InputRows, name_of, open_model, rows_for
from compactlearn.cli._targets import check_ending, check_target, files_read, save
from compactlearn.compact._any_classifier import names_of, predict_labels
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.core._params import nearest
from compactlearn.core._shown import shown
from compactlearn.datasets import write_predictions
from compactlearn.datasets._formats.predictions import PREDICTION_FORMATS
from compactlearn.io._columns import last_step

__all__ = ["predict"]

_BY_ENDING = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".txt": "xmlrepo",
}  # fmt: skip
_SCORES = 1 << 20  # number of scores that are computed at a time


@grouped
def predict(
    model_file: Model,
    source: Data,
    options: RowOptions,
    topk: Annotated[
        int | None,
        typer.Option(
            min=1, help="Return the K best labels of each row, not those that the model predicts."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Return the labels with a score above this value, not by the model's own rule."
        ),
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", help="Fail if the scores of the model are not probabilities."
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; by default standard output."),
    ] = None,
    output_form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="csv, tsv, jsonl, parquet or xmlrepo (column:score); by default that of the "
            "ending of --output, otherwise csv.",
        ),
    ] = None,
    sep: Annotated[
        str, typer.Option("--sep", help="The separator of labels in csv and tsv.")
    ] = ";",
    keep: Annotated[
        str | None,
        typer.Option(
            help="Columns of DATA to copy to the output, separated by commas, such as id,title."
        ),
    ] = None,
    digits: Annotated[
        int, typer.Option(min=1, max=17, help="Significant digits of the scores; 17 is exact.")
    ] = 6,
    raw_cells: Annotated[
        bool,
        typer.Option(
            "--raw-cells",
            help="Write texts in csv and tsv unchanged. By default an apostrophe is put before "
            "texts that a spreadsheet would run as formulas (those that begin with =, +, - or @).",
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Predict the labels of the rows of DATA with the model in MODEL.

    DATA needs no labels, and a table with column names may have its columns in any order. Scores
    are probabilities if the model has them.
    """
    target = None if output is None or str(output) == "-" else output
    if target is not None:
        read = [model_file, *files_read(source, options.labels)]
        check_target(target, "--output", force=force, inputs=read)
    chosen = _format(output_form, target)
    if target is None and chosen == "parquet" and sys.stdout.isatty():
        raise Mistake("--format parquet cannot be printed to a terminal; name a file by --output.")
    model = open_model(model_file)
    _check_threshold(model, threshold)
    if probabilities and not hasattr(model, "predict_proba"):
        raise Mistake(
            f"--probabilities needs a model with probabilities; got a {name_of(model)} with other "
            f"scores in {model_file}. Fit a model by --method auto or shortlist."
        )
    rows = rows_for(model, source, options, with_labels=False, keep=listed(keep))
    names = names_of(last_step(model))
    topk = None if topk is None else min(topk, len(names))
    with refusals_are_mistakes():
        content = io.BytesIO()
        write_predictions(
            content,
            _found(model, rows, topk, threshold),
            format=chosen,
            label_names=names,
            sep=sep,
            k=topk,
            kept=rows.kept,
            digits=digits,
            raw_cells=raw_cells,
        )
    if target is None:
        _print(content.getvalue())
    else:
        save(target, content.getvalue())


def _print(content: bytes) -> None:
    """Write bytes to standard output; on a terminal, control characters are escaped."""
    if sys.stdout.isatty():
        content = shown(content.decode(), keep="\n\t").encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _check_threshold(model: Any, threshold: float | None) -> None:
    """Raise an error for a threshold outside the range of the model's scores."""
    if threshold is None:
        return
    bounded = hasattr(model, "predict_proba") or isinstance(last_step(model), CompactClassifier)
    if not math.isfinite(threshold) or (bounded and not 0 <= threshold <= 1):
        scores = "a number between 0 and 1" if bounded else "a finite number"
        raise typer.BadParameter(
            f"--threshold must be {scores}, as the scores of a {name_of(model)} are; got "
            f"{threshold:g}"
        )


def _format(form: str | None, target: Path | None) -> str:
    if form is None:
        if target is None or not target.suffix:
            return "csv"
        check_ending(target, "--output", _BY_ENDING, "predictions without --format")
        return _BY_ENDING[target.suffix.lower()]
    if form not in PREDICTION_FORMATS:
        raise typer.BadParameter(
            f"--format must be one of {', '.join(PREDICTION_FORMATS)}; got {form!r}."
            f"{nearest(form, PREDICTION_FORMATS)}"
        )
    return form


def _found(
    model: Any, rows: InputRows, topk: int | None, threshold: float | None
) -> list[list[tuple[str, float]]]:
    if threshold is None:
        return predict_labels(model, rows.X, topk)
    n_labels = len(names_of(last_step(model)))
    step = max(1, _SCORES // n_labels)
    found = []
    for start in range(0, rows.count, step):
        ranked = predict_labels(model, rows.X[start : start + step], topk or n_labels)
        found += [[pair for pair in row if pair[1] > threshold] for row in ranked]
    return found

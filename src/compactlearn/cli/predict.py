"""`compactlearn predict`: the labels of the rows of a file, with names and scores."""

import io
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from compactlearn.cli.mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli.rows import (
    Data,
    Delimiter,
    Form,
    Home,
    Ignore,
    Labels,
    Model,
    Rows,
    TextColumn,
    Wanted,
    check_target,
    name_of,
    open_model,
    rows_for,
)
from compactlearn.core.atomic import atomic
from compactlearn.core.params import nearest
from compactlearn.datasets import write_predictions
from compactlearn.datasets.formats.predictions import PREDICTION_FORMATS
from compactlearn.estimators import predict_labels
from compactlearn.estimators.any_classifier import names_of
from compactlearn.estimators.from_files import last_step

__all__ = ["predict"]

_BY_ENDING = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
    ".txt": "xmlrepo",
}  # fmt: skip
_SCORES = 1 << 20  # of how many labels and rows all scores are looked at together


def predict(
    model_file: Model,
    source: Data,
    topk: Annotated[
        int | None,
        typer.Option(
            min=1, help="The K best labels of each row, in place of those that the model predicts."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="The labels with a score above T, in place of the model's own rule."),
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="Refuse a model whose scores are no probabilities."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write; by default standard output."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="csv, tsv, jsonl, parquet or xmlrepo (column:score); by default what the name of "
            "--output says, and csv.",
        ),
    ] = None,
    sep: Annotated[
        str, typer.Option("--sep", help="What stands between labels in csv and tsv.")
    ] = ";",
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file of --output if it is there.")
    ] = False,
    text: TextColumn = None,
    labels: Labels = None,
    ignore: Ignore = None,
    input_form: Form = None,
    delimiter: Delimiter = None,
    data_home: Home = None,
) -> None:
    """Predict the labels of the rows of DATA by the model in MODEL.

    DATA needs no labels; a table with names may have its columns in any order. Scores are
    probabilities where the model has them.
    """
    target = None if output is None or str(output) == "-" else output
    chosen = _format(form, target)
    if target is not None:
        check_target(target, "--output", force=force)
    model = open_model(model_file)
    if probabilities and not hasattr(model, "predict_proba"):
        raise Mistake(
            f"--probabilities asks for a model that has them, and {model_file} holds a "
            f"{name_of(model)} with other scores; fit one by --method auto or shortlist."
        )
    wanted = Wanted(
        source,
        text=text,
        labels=labels,
        ignore=ignore,
        form=input_form,
        delimiter=delimiter,
        data_home=data_home,
    )
    rows = rows_for(model, wanted, with_labels=False)
    with refusals_are_mistakes():
        found = _found(model, rows, topk, threshold)
        content = io.BytesIO()
        names = names_of(last_step(model))
        write_predictions(content, found, format=chosen, label_names=names, sep=sep, k=topk)
        if target is None:
            sys.stdout.flush()
            sys.stdout.buffer.write(content.getvalue())
            sys.stdout.buffer.flush()
        else:
            with atomic(target) as stream:
                stream.write(content.getvalue())


def _format(form: str | None, target: Path | None) -> str:
    if form is None:
        return "csv" if target is None else _BY_ENDING.get(target.suffix.lower(), "csv")
    if form not in PREDICTION_FORMATS:
        raise typer.BadParameter(
            f"--format must be one of {', '.join(PREDICTION_FORMATS)}; got {form!r}."
            f"{nearest(form, PREDICTION_FORMATS)}"
        )
    return form


def _found(
    model: Any, rows: Rows, topk: int | None, threshold: float | None
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

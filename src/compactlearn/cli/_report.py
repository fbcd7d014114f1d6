"""`compactlearn report`: a page on a model and held-out rows, or a report of benchmark records."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._app import workshop_command
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes, refuse_options
from compactlearn.cli._options import Force, LabelledOptions, grouped
from compactlearn.cli._rows import known_labels, name_of, open_model, rows_for
from compactlearn.cli._targets import check_ending, check_target, files_read, save
from compactlearn.core._shown import shown
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.inspection import model_report
from compactlearn.io._model_file import about

__all__ = ["report"]

MODEL_FILE = "model-report.html"
_XZ = b"\xfd7zXZ\x00"  # what a packed file of records begins with
_TAKES = (
    "A report is made of records (folders or packed files that 'compactlearn bench' wrote), or of "
    "a model file and DATA, rows with labels that the model has not met"
)


@grouped
def report(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="STORE... | MODEL DATA",
            help="Folders of records (cells/*.json) or packed *.jsonl.xz files; or a model file "
            "and a file of rows, the name of a data set, or - for standard input.",
            show_default=False,
        ),
    ],
    options: LabelledOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write; for svg and png a folder. By default report.*, and "
            f"{MODEL_FILE} on a model.",
        ),
    ] = None,
    force: Force = False,
    output_form: Annotated[
        str,
        typer.Option(
            "--format", help="html, latex, csv, svg, png or markdown; html alone on a model."
        ),
    ] = "html",
    selection: Annotated[
        str | None,
        typer.Option(help="Of records: paper or nested; by default both, each by itself."),
    ] = None,
    no_times: Annotated[
        bool,
        typer.Option(
            "--no-times", help="Of records: leave out seconds, for the same bytes in every run."
        ),
    ] = False,
) -> None:
    """Make one report of the records in STORE, or of the model in MODEL on the rows of DATA.

    Of records, it has what a benchmark has measured, in tables and figures; it reads them and runs
    nothing. It takes --format, --selection and --no-times, and needs compactlearn-bench.

    Of a model, it is one page that needs no network: how good the model is on the rows of DATA,
    which it should not have met, its labels with the words that speak for them, and its surest
    mistakes. It takes --text to --data-home, which say how DATA is read, as in evaluate.
    """
    if _is_on_model(given):
        of_records = {
            "--selection": selection,
            "--no-times": no_times,
            "--format": output_form != "html",
        }
        refuse_options(
            [option for option, value in of_records.items() if value],
            "can only be said of records, and the report on a model is one page of html",
        )
        target = Path(MODEL_FILE) if output is None else output
        read = [given[0], *files_read(given[1], options.labels)]
        check_target(target, "--output", force=force, inputs=read)
        check_ending(target, "--output", (".html", ".htm"), "html")
        save(target, _page(Path(given[0]), given[1], options).encode(errors="replace"))
        typer.echo(shown(target))
        return
    refuse_options(
        options.given(),
        "can only say how the DATA of a model is read, and the report is on records",
    )
    workshop_command("report", " of records")(
        [Path(name) for name in given],
        output=output,
        force=force,
        form=output_form,
        selection=selection,
        times=not no_times,
    )


def _is_on_model(given: Sequence[str]) -> bool:
    """Return whether a model and DATA were given, and not records; refuse all else."""
    reasons = [_why_no_model(Path(name)) for name in given]
    if reasons[0] is None and len(given) == 2 and reasons[1] is not None:
        return True
    if None in reasons:
        raise Mistake(
            f"{_TAKES}; of what was given, {given[reasons.index(None)]} is a model. Write report "
            "MODEL DATA, and call report for each model and for records by itself."
        )
    wrong = next(((name, why) for name, why in zip(given, reasons, strict=True) if why), None)
    if wrong is not None:
        raise Mistake(f"{_TAKES}, and {wrong[0]} is neither: {wrong[1]}")
    return False


def _why_no_model(path: Path) -> str | None:
    """Return None for a model file, nothing for records, and for all else why it is neither."""
    if not path.is_file():
        return "" if path.exists() else "there is no such file or folder."
    with refusals_are_mistakes():
        with path.open("rb") as stream:
            if stream.read(len(_XZ)) == _XZ:
                return ""
        try:
            about(path)
        except ModelFileError as error:
            return str(error)
    return None


def _page(model_file: Path, source: str, options: LabelledOptions) -> str:
    """Return the page on the model in a file, looked at by the rows of DATA."""
    model = open_model(model_file)
    rows = rows_for(model, source, options, with_labels=True)
    Y, unknown = known_labels(model, rows)
    heading = f"{name_of(model)} on {rows.name}"
    with refusals_are_mistakes():
        page = model_report(model, rows.X, Y, feature_names=rows.features, heading=heading)
    unknown.tell()
    return page

"""`compactlearn report`: a page on a model and held-out rows, or on benchmark records."""

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
_XZ = b"\xfd7zXZ\x00"  # first bytes of a packed file of records
_NEEDS = (
    "A report needs records (folders or packed files written by 'compactlearn bench'), or a model "
    "file and DATA, held-out rows with labels"
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
            help="The file to write; for svg and png a folder. By default report.*; for a model "
            f"{MODEL_FILE}.",
        ),
    ] = None,
    force: Force = False,
    output_form: Annotated[
        str,
        typer.Option(
            "--format", help="html, latex, csv, svg, png or markdown; for a model only html."
        ),
    ] = "html",
    selection: Annotated[
        str | None,
        typer.Option(help="For records: paper or nested; by default both, separately."),
    ] = None,
    no_times: Annotated[
        bool,
        typer.Option(
            "--no-times", help="For records: leave out run times, so that the file is reproducible."
        ),
    ] = False,
) -> None:
    """Write a report on the records in STORE, or on the model in MODEL and the rows of DATA.

    For records, the report has the results of a benchmark in tables and figures; nothing is run.
    The options --format, --selection and --no-times apply, and compactlearn-bench is needed.

    For a model, the report is one page that needs no network: the metrics on the rows of DATA,
    which should be held-out rows, the labels with their strongest features, and the errors with
    the highest scores. The options for reading DATA apply (--text to --data-home), as in evaluate.
    """
    if _is_on_model(given):
        of_records = {
            "--selection": selection,
            "--no-times": no_times,
            "--format": output_form != "html",
        }
        refuse_options(
            [option for option, value in of_records.items() if value],
            "can only be used with records, and the report on a model is one html page",
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
        "can only be used with the DATA of a model, and the report is on records",
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
    """Return True for a model and DATA, False for records; raise a `Mistake` otherwise."""
    reasons = [_why_no_model(Path(name)) for name in given]
    if reasons[0] is None and len(given) == 2 and reasons[1] is not None:
        return True
    if None in reasons:
        raise Mistake(
            f"{_NEEDS}; got the model {given[reasons.index(None)]} with other arguments. Write "
            "report MODEL DATA, with one call for each model and one for records."
        )
    wrong = next(((name, why) for name, why in zip(given, reasons, strict=True) if why), None)
    if wrong is not None:
        raise Mistake(f"{_NEEDS}; got {wrong[0]}: {wrong[1]}")
    return False


def _why_no_model(path: Path) -> str | None:
    """Return None for a model file, "" for records, and otherwise the reason why it is neither."""
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
    """Return the page on the model in a file and the rows of DATA."""
    model = open_model(model_file)
    rows = rows_for(model, source, options, with_labels=True)
    Y, unknown = known_labels(model, rows)
    heading = f"{name_of(model)} on {rows.name}"
    with refusals_are_mistakes():
        page = model_report(model, rows.X, Y, feature_names=rows.features, heading=heading)
    unknown.report()
    return page

"""`compactlearn report`: a page on a model and held-out rows, or on benchmark records."""

from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._app import workshop_command
from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes, refuse_options
from compactlearn.cli._options import Force, LabelledOptions, grouped
from compactlearn.cli._rows import known_labels, name_of, open_model, rows_for
from compactlearn.cli._targets import check_ending, check_target, files_read, save
from compactlearn.core._shown import shown
from compactlearn.inspection import model_report

__all__ = ["report"]

MODEL_FILE = "model-report.html"
_XZ = b"\xfd7zXZ\x00"  # first bytes of a packed file of records


@grouped
def report(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL DATA | STORE...",
            help="A model file, and a file of rows with labels, the name of a data set, or - for "
            "standard input; or folders (cells/*.json) and packed files (*.jsonl.xz) of records "
            "of compactlearn bench.",
            show_default=False,
        ),
    ],
    options: LabelledOptions,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=f"The file to write; by default {MODEL_FILE} for a model and report.* for "
            "records. For svg and png a folder.",
        ),
    ] = None,
    force: Force = False,
    output_form: Annotated[
        str,
        typer.Option("--format", help="For records: html, latex, csv, svg, png or markdown."),
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
    """Write a page about the model in MODEL and its errors on DATA, or about benchmark records.

    The page about a model is one HTML file that needs no network: metrics, the strongest features
    of each label, and the most confident errors. The rows of DATA should not have been used to fit
    the model.

    A report of records has the results of a benchmark in tables and figures, and needs
    compactlearn-bench. Only --output, --force, --format, --selection and --no-times apply.
    """
    records = [_has_records(Path(name)) for name in given]
    if not all(records):
        if len(given) != 2 or records[0]:
            absent = [name for name in given if not Path(name).exists()]
            raise Mistake(
                "A report needs a model file and DATA, rows with labels, or else folders or packed "
                f"files of records; got {', '.join(given)}"
                f"{f' (there is no file or folder {absent[0]})' if absent else ''}. Write report "
                "MODEL DATA, or report STORE."
            )
        of_records = {
            "--selection": selection,
            "--no-times": no_times,
            "--format": output_form != "html",
        }
        refuse_options(
            [option for option, value in of_records.items() if value],
            "can only be used with records, and the report on a model is one HTML page",
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


def _has_records(path: Path) -> bool:
    """Return whether a path is a folder, or a packed file of records."""
    if not path.is_file():
        return path.is_dir()
    with refusals_are_mistakes(), path.open("rb") as stream:
        return stream.read(len(_XZ)) == _XZ


def _page(model_file: Path, source: str, options: LabelledOptions) -> str:
    """Return the page on the model in a file and the rows of DATA."""
    model = open_model(model_file)
    rows = known_labels(model, rows_for(model, source, options, with_labels=True))
    heading = f"{name_of(model)} on {rows.name}"
    with refusals_are_mistakes():
        return model_report(model, rows.X, rows.Y, feature_names=rows.features, heading=heading)

"""`compactlearn report`: a page on a model and held-out rows, or a report of benchmark records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._rows import (
    Delimiter,
    Encoding,
    Form,
    Header,
    Home,
    Ignore,
    Labels,
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
from compactlearn.cli._targets import Force, check_ending, check_target, files_read, save
from compactlearn.cli._workshop import workshop_command
from compactlearn.core._shown import shown
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.inspection import model_report
from compactlearn.io._model_file import about

__all__ = ["report"]

MODEL_FILE = "model-report.html"
_XZ = b"\xfd7zXZ\x00"  # what a packed file of records begins with


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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            "--out",
            help="The file to write; for svg and png a folder. By default report.*, and "
            f"{MODEL_FILE} on a model. (--out is an older name of it.)",
        ),
    ] = None,
    force: Force = False,
    form: Annotated[
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
    text: TextColumn = None,
    tags: TagColumn = None,
    sep: Separator = None,
    labels: Labels = None,
    ignore: Ignore = None,
    input_format: Form = None,
    delimiter: Delimiter = None,
    header: Header = None,
    encoding: Encoding = None,
    data_home: Home = None,
) -> None:
    """Make one report of the records in STORE, or of the model in MODEL on the rows of DATA.

    Of records, it has what a benchmark has measured, in tables and figures; it reads them and runs
    nothing. It takes --format, --selection and --no-times, and needs compactlearn-bench.

    Of a model, it is one page that needs no network: how good the model is on the rows of DATA,
    which it should not have met, its labels with the words that speak for them, and its surest
    mistakes. It takes --text to --data-home, which say how DATA is read, as in evaluate.
    """
    on_model = _model_and_data(given)
    wanted = Wanted(
        on_model[1] if on_model else "",
        text, tags, sep, labels, ignore, input_format, delimiter, data_home,
        header, encoding,
    )  # fmt: skip
    if on_model is None:
        _check_no_rows(wanted)
        _check_records(given)
        of_records = workshop_command("report", " of records")
        of_records(
            [Path(name) for name in given],
            output=output,
            force=force,
            form=form,
            selection=selection,
            times=not no_times,
        )
        return
    _check_page(form, selection, no_times=no_times)
    target = Path(MODEL_FILE) if output is None else output
    read = [given[0], *files_read(given[1], labels)]
    check_target(target, "--output", force=force, inputs=read)
    check_ending(target, "--output", (".html", ".htm"), form)
    page = _page_on(on_model[0], wanted).encode(errors="replace")
    try:
        save(target, page)
    except OSError as error:
        raise Mistake(
            f"The report cannot be written to {target} ({error.strerror or error}); choose another "
            "place by --output, or make room there."
        ) from error
    typer.echo(shown(target))


def _check_page(form: str, selection: str | None, *, no_times: bool) -> None:
    """Check that a page on a model is asked for HTML, and for no selections and no seconds."""
    given = {"--selection": selection is not None, "--no-times": no_times}
    stray = [option for option, is_there in given.items() if is_there]
    if stray:
        raise Mistake(
            f"{' and '.join(stray)} can only be said of records, and the report is on a model; "
            f"leave {'it' if len(stray) == 1 else 'them'} out."
        )
    if form != "html":
        raise Mistake(
            f"A report on a model is one page of html, and --format is {form}; leave --format out, "
            "or use 'compactlearn evaluate --json' for the figures alone."
        )


def _model_and_data(given: Sequence[str]) -> tuple[Path, str] | None:
    """MODEL and DATA among the arguments of report; None where there is no model."""
    models = [place for place, name in enumerate(given) if _why_no_model(Path(name)) is None]
    if not models:
        return None
    if len(models) > 1:
        raise Mistake(
            f"A report is on one model, and {len(models)} of the arguments are models "
            f"({', '.join(given[place] for place in models)}); call report for each by itself."
        )
    if models != [0]:
        raise Mistake(
            f"A model comes first, and the rows after it, and {given[models[0]]} is a model that "
            f"comes after {given[0]}; write MODEL DATA, and report records by themselves."
        )
    if len(given) != 2:
        told = ", ".join(given[1:]) or "none"
        raise Mistake(
            f"A report on a model needs one DATA, rows with labels that the model has not met, and "
            f"was given {told}; write report {given[0]} DATA."
        )
    return Path(given[0]), given[1]


def _check_records(given: Sequence[str]) -> None:
    """Refuse what cannot be records, by a sentence that knows of models as well."""
    for path in map(Path, given):
        if not path.exists():
            raise Mistake(
                f"There are no records at {path}, and no model; name a folder or a packed file "
                "that 'compactlearn bench' wrote, or a model file and DATA."
            )
        why = _why_no_model(path)
        if why:
            raise Mistake(
                f"A report is made of records (a folder or a packed file that 'compactlearn bench' "
                f"wrote), or of a model and DATA, and {path} is neither: {why}"
            )


def _check_no_rows(wanted: Wanted) -> None:
    """Refuse options on how DATA is read where there is none."""
    told = {
        "--text": wanted.text,
        "--tags": wanted.tags,
        "--sep": wanted.sep,
        "--labels": wanted.labels,
        "--ignore": wanted.ignore,
        "--input-format": wanted.form,
        "--delimiter": wanted.delimiter,
        "--data-home": wanted.data_home,
        "--no-header": wanted.header,
        "--encoding": wanted.encoding,
    }
    stray = [option for option, value in told.items() if value is not None]
    if stray:
        raise Mistake(
            f"{' and '.join(stray)} can only say how the DATA of a model is read, and the report "
            f"is on records; leave {'it' if len(stray) == 1 else 'them'} out, or name a model "
            "first."
        )


def _page_on(model_file: Path, wanted: Wanted) -> str:
    """The page on the model in a file, looked at by the rows of DATA."""
    model = open_model(model_file)
    rows = rows_for(model, wanted, with_labels=True)
    Y, unknown = known_labels(model, rows)
    with refusals_are_mistakes():
        page = model_report(
            model,
            rows.X,
            Y,
            feature_names=rows.features,
            heading=f"{name_of(model)} on {rows.name}",
        )
    tell_unknown(unknown)
    return page


def _why_no_model(path: Path) -> str | None:
    """None for a model file; for another file why it is none; nothing to say of records."""
    if not path.is_file():
        return ""
    with refusals_are_mistakes():
        with path.open("rb") as stream:
            if stream.read(len(_XZ)) == _XZ:
                return ""
        try:
            about(path)
        except ModelFileError as error:
            return str(error)
    return None

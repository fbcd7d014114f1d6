"""`compactlearn report`: of the records of a benchmark, or on a model and held-out rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.cli._model_page import check_no_rows, check_records, model_and_data, page_on
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
)
from compactlearn.cli._targets import Force, check_ending, check_target, files_read, save
from compactlearn.core._params import nearest
from compactlearn.core._shown import shown
from compactlearn_bench.records import SELECTIONS, Record, Selection, open_records
from compactlearn_bench.report import (
    render_html,
    summary_markdown,
    to_csv,
    to_latex,
    to_png,
    to_svg,
)
from compactlearn_bench.report.tables.names import counted

__all__ = ["report"]

#: Format to the name that a report has if none is given; figures go to a folder.
FILES: Mapping[str, str] = {
    "html": "report.html",
    "latex": "report.tex",
    "csv": "report.csv",
    "markdown": "report.md",
    "svg": "report-figures",
    "png": "report-figures",
}
MODEL_FILE = "model-report.html"
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "html": (".html", ".htm"),
    "latex": (".tex",),
    "csv": (".csv",),
    "markdown": (".md", ".markdown", ".txt"),
}


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
    nothing. It takes --format, --selection and --no-times.

    Of a model, it is one page that needs no network: how good the model is on the rows of DATA,
    which it should not have met, its labels with the words that speak for them, and its surest
    mistakes. It takes --text to --data-home, which say how DATA is read, as in evaluate.
    """
    if form not in FILES:
        raise typer.BadParameter(
            f"--format must be one of {', '.join(FILES)}; got {form!r}.{nearest(form, FILES)}"
        )
    selections = _selections(selection)
    on_model = model_and_data(given)
    wanted = Wanted(
        on_model[1] if on_model else "",
        text, tags, sep, labels, ignore, input_format, delimiter, data_home,
        header, encoding,
    )  # fmt: skip
    if on_model is None:
        check_no_rows(wanted)
        check_records(given)
    else:
        _check_page(form, selection, no_times=no_times)
    target = Path(MODEL_FILE if on_model else FILES[form]) if output is None else output
    _check_kind(target, form)
    if form in _ENDINGS:
        read = [given[0], *files_read(given[1], labels)] if on_model else _records_in(given)
        check_target(target, "--output", force=force, inputs=read)
        check_ending(target, "--output", _ENDINGS[form], form)
    else:
        _check_folder(target, form, force=force)
    if on_model is not None:
        _save(target, page_on(on_model[0], wanted).encode(errors="replace"))
        typer.echo(shown(target))
        return
    stores = [Path(name) for name in given]
    with refusals_are_mistakes():
        records = [record for store in stores for record in _read(store)]
        known = {record.cell.selection for record in records}
        if selections is not None and not known & set(selections):
            places = ", ".join(map(str, stores))
            raise Mistake(
                f"The records in {places} hold no {selections[0]!r} selection, only "
                f"{' and '.join(repr(name) for name in sorted(known))}; leave --selection out."
            )
        typer.echo(shown(_write(records, target, form, selections, times=not no_times)))


def _records_in(given: Sequence[str]) -> list[Path]:
    """The files and folders that hold records."""
    return [path / "cells" if path.is_dir() else path for path in map(Path, given)]


def _selections(name: str | None) -> tuple[Selection, ...] | None:
    if name is None:
        return None
    if name == "paper" or name == "nested":
        return (name,)
    raise typer.BadParameter(
        f"--selection must be {' or '.join(SELECTIONS)}; got {name!r}.{nearest(name, SELECTIONS)}"
    )


def _check_page(form: str, selection: str | None, *, no_times: bool) -> None:
    """A page on a model is HTML, and has no selections and no seconds."""
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


def _check_kind(target: Path, form: str) -> None:
    """A folder must not be asked to be a file, nor a file to be a folder."""
    wants_folder = form in ("svg", "png")
    if target.is_dir() and not wants_folder:
        raise Mistake(
            f"--output must name a file for {form}, and {target} is a folder; add a name."
        )
    if target.exists() and not target.is_dir() and wants_folder:
        raise Mistake(
            f"--output must name a folder for {form}, and {target} is a file; choose another."
        )


def _check_folder(target: Path, form: str, *, force: bool) -> None:
    """Refuse a folder that has figures already, or cannot be made."""
    if not target.parent.is_dir():
        raise Mistake(
            f"--output must lie in a folder, and {target.parent} does not exist; make it."
        )
    if not force and any(target.glob(f"*.{form}")):
        raise Mistake(
            f"--output names {target}, which has figures already; choose another folder, or "
            "replace them by --force."
        )
    inside = target if target.is_dir() else target.parent
    check_target(inside / f"{target.name}.{form}", "--output", force=True)


def _read(store: Path) -> list[Record]:
    """All records that can be read; those that cannot are named on the error stream."""
    records = list(open_records(store, _say))
    if not records:
        raise Mistake(
            f"A report needs at least one record, and {store} holds none that can be read; give "
            "the folder or file that a benchmark wrote."
        )
    return records


def _say(sentence: str) -> None:
    typer.echo(f"compactlearn: {shown(sentence)}", err=True)


def _write(
    records: list[Record],
    target: Path,
    form: str,
    selections: tuple[Selection, ...] | None,
    *,
    times: bool,
) -> str:
    """Write the report and say what was written."""
    texts: dict[str, Callable[[], str]] = {
        "html": lambda: render_html(records, selections=selections, times=times),
        "latex": lambda: to_latex(records, selections=selections),
        "csv": lambda: to_csv(records, selections=selections, times=times),
        "markdown": lambda: summary_markdown(records, selections=selections),
    }
    if form in texts:
        # A name may hold half a surrogate pair, which JSON can say and UTF-8 cannot.
        _save(target, texts[form]().encode(errors="replace"))
        return str(target)
    drawn: dict[str, bytes] = (
        {n: svg.encode() for n, svg in to_svg(records, selections=selections, times=times).items()}
        if form == "svg"
        else to_png(records, selections=selections, times=times)
    )
    with _writing(target):
        target.mkdir(exist_ok=True)
    for name, content in drawn.items():
        _save(target / f"{name}.{form}", content)
    return f"{target}: {counted(len(drawn), 'figure')}"


def _save(path: Path, content: bytes) -> None:
    with _writing(path):
        save(path, content)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Inside, what the system refuses to write is a sentence."""
    try:
        yield
    except OSError as error:
        raise Mistake(
            f"The report cannot be written to {path} ({error.strerror or error}); choose another "
            "place by --output, or make room there."
        ) from error

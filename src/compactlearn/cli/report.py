"""`compactlearn report`: tables and figures from the records of a benchmark."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli.mistakes import Mistake, refusals_are_mistakes
from compactlearn.core.atomic import atomic
from compactlearn.core.params import nearest
from compactlearn.records import SELECTIONS, Record, Selection, open_records
from compactlearn.report import (
    render_html,
    summary_markdown,
    to_csv,
    to_latex,
    to_png,
    to_svg,
)
from compactlearn.report.tables.names import counted

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


def report(
    stores: Annotated[
        list[Path],
        typer.Argument(
            metavar="STORE...",
            help="Folders of records (cells/*.json), or packed *.jsonl.xz files.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write; for svg and png a folder. By default report.*."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="html, latex, csv, svg, png or markdown.")
    ] = "html",
    selection: Annotated[
        str | None,
        typer.Option(help="paper or nested; by default both, each by itself."),
    ] = None,
    no_times: Annotated[
        bool, typer.Option("--no-times", help="Leave out seconds: the same bytes for every run.")
    ] = False,
) -> None:
    """Make one report of all records in STORE. It reads them and runs nothing."""
    if form not in FILES:
        raise typer.BadParameter(
            f"--format must be one of {', '.join(FILES)}; got {form!r}.{nearest(form, FILES)}"
        )
    selections = _selections(selection)
    target = Path(FILES[form]) if out is None else out
    if not target.parent.is_dir():
        raise Mistake(f"--out must lie in a folder, and {target.parent} does not exist; make it.")
    _check_kind(target, form)
    with refusals_are_mistakes():
        records = [record for store in stores for record in _read(store)]
        known = {record.cell.selection for record in records}
        if selections is not None and not known & set(selections):
            places = ", ".join(map(str, stores))
            raise Mistake(
                f"The records in {places} hold no {selections[0]!r} selection, only "
                f"{' and '.join(repr(name) for name in sorted(known))}; leave --selection out."
            )
        typer.echo(_write(records, target, form, selections, times=not no_times))


def _selections(name: str | None) -> tuple[Selection, ...] | None:
    if name is None:
        return None
    if name == "paper" or name == "nested":
        return (name,)
    raise typer.BadParameter(
        f"--selection must be {' or '.join(SELECTIONS)}; got {name!r}.{nearest(name, SELECTIONS)}"
    )


def _check_kind(target: Path, form: str) -> None:
    """A folder must not be asked to be a file, nor a file to be a folder."""
    wants_folder = form in ("svg", "png")
    if target.is_dir() and not wants_folder:
        raise Mistake(f"--out must name a file for {form}, and {target} is a folder; add a name.")
    if target.is_file() and wants_folder:
        raise Mistake(
            f"--out must name a folder for {form}, and {target} is a file; choose another."
        )


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
    typer.echo(f"compactlearn: {sentence}", err=True)


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
    with _writing(path), atomic(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Inside, what the system refuses to write is a sentence."""
    try:
        yield
    except OSError as error:
        raise Mistake(
            f"The report cannot be written to {path} ({error.strerror or error}); choose another "
            "place by --out, or make room there."
        ) from error

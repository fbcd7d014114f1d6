"""`compactlearn report STORE`: the report of the records of a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import typer

from compactlearn.cli.commands import (
    Mistake,
    check_ending,
    check_target,
    refusals_are_mistakes,
    save,
    shown,
)
from compactlearn.inspection.page_parts import counted
from compactlearn.utils import nearest
from compactlearn_bench.records import SELECTIONS, Record, Selection, open_records
from compactlearn_bench.report import (
    render_html,
    summary_markdown,
    to_csv,
    to_latex,
    to_png,
    to_svg,
)

__all__ = ["report_records"]

#: Format to the name that a report has if none is given; figures go to a folder.
FILES: Mapping[str, str] = {
    "html": "report.html",
    "latex": "report.tex",
    "csv": "report.csv",
    "markdown": "report.md",
    "svg": "report-figures",
    "png": "report-figures",
}
_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "html": (".html", ".htm"),
    "latex": (".tex",),
    "csv": (".csv",),
    "markdown": (".md", ".markdown", ".txt"),
}


def report_records(
    stores: Sequence[Path],
    *,
    output: Path | None,
    force: bool,
    form: str,
    selection: str | None,
    times: bool,
) -> None:
    """Write the report of the records in some stores; parameters are options of the command."""
    if form not in FILES:
        raise typer.BadParameter(
            f"--format must be one of {', '.join(FILES)}; got {form!r}.{nearest(form, FILES)}"
        )
    selections = _selections(selection)
    target = Path(FILES[form]) if output is None else output
    _check_kind(target, form)
    if form in _ENDINGS:
        read = [path / "cells" if path.is_dir() else path for path in stores]
        check_target(target, "--output", force=force, inputs=read)
        check_ending(target, "--output", _ENDINGS[form], form)
    else:
        _check_folder(target, form, force=force)
    with refusals_are_mistakes():
        records = [record for store in stores for record in _read(store)]
        known = {record.cell.selection for record in records}
        if selections is not None and not known & set(selections):
            places = ", ".join(map(str, stores))
            raise Mistake(
                f"The records in {places} hold no {selections[0]!r} selection, only "
                f"{' and '.join(repr(name) for name in sorted(known))}; leave --selection out."
            )
        typer.echo(shown(_write(records, target, form, selections, times=times)))


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
        save(target, texts[form]().encode(errors="replace"))
        return str(target)
    drawn: dict[str, bytes] = (
        {n: svg.encode() for n, svg in to_svg(records, selections=selections, times=times).items()}
        if form == "svg"
        else to_png(records, selections=selections, times=times)
    )
    with refusals_are_mistakes():
        target.mkdir(exist_ok=True)
    for name, content in drawn.items():
        save(target / f"{name}.{form}", content)
    return f"{target}: {counted(len(drawn), 'figure')}"

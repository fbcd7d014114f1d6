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
from compactlearn.utils import nearest
from compactlearn_bench.records import SELECTIONS, Record, Selection, open_records
from compactlearn_bench.report import render_html, summary_markdown, to_csv

__all__ = ["report_records"]

#: The endings that the file of a format may have; the first is that of a report without a name.
ENDINGS: Mapping[str, tuple[str, ...]] = {
    "html": (".html", ".htm"),
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
    if form not in ENDINGS:
        raise typer.BadParameter(
            f"--format must be one of {', '.join(ENDINGS)}; got {form!r}.{nearest(form, ENDINGS)}"
        )
    selections = _selections(selection)
    target = Path(f"report{ENDINGS[form][0]}") if output is None else output
    if target.is_dir():
        raise Mistake(
            f"--output must name a file for {form}, and {target} is a folder; add a name."
        )
    read = [path / "cells" if path.is_dir() else path for path in stores]
    check_target(target, "--output", force=force, inputs=read)
    check_ending(target, "--output", ENDINGS[form], form)
    with refusals_are_mistakes():
        records = [record for store in stores for record in _read(store)]
        known = {record.cell.selection for record in records}
        if selections is not None and not known & set(selections):
            places = ", ".join(map(str, stores))
            raise Mistake(
                f"The records in {places} hold no {selections[0]!r} selection, only "
                f"{' and '.join(repr(name) for name in sorted(known))}; leave --selection out."
            )
        texts: dict[str, Callable[[], str]] = {
            "html": lambda: render_html(records, selections=selections, times=times),
            "csv": lambda: to_csv(records, selections=selections, times=times),
            "markdown": lambda: summary_markdown(records, selections=selections),
        }
        _save(target, texts[form]())
        typer.echo(shown(str(target)))


def _selections(name: str | None) -> tuple[Selection, ...] | None:
    if name is None:
        return None
    if name == "paper" or name == "nested":
        return (name,)
    raise typer.BadParameter(
        f"--selection must be {' or '.join(SELECTIONS)}; got {name!r}.{nearest(name, SELECTIONS)}"
    )


def _read(store: Path) -> list[Record]:
    """Return all records that can be read; those that cannot are named on the error stream."""
    records = list(open_records(store, _say))
    if not records:
        raise Mistake(
            f"A report needs at least one record, and {store} holds none that can be read; give "
            "the folder or file that a benchmark wrote."
        )
    return records


def _say(sentence: str) -> None:
    typer.echo(f"compactlearn: {shown(sentence)}", err=True)


def _save(path: Path, text: str) -> None:
    try:
        # A name may hold half a surrogate pair, which JSON can say and UTF-8 cannot.
        save(path, text.encode(errors="replace"))
    except OSError as error:
        raise Mistake(
            f"The report cannot be written to {path} ({error.strerror or error}); choose another "
            "place by --output, or make room there."
        ) from error

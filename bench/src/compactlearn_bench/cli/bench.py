"""`compactlearn bench`: run the benchmark that a file describes, or what is left of it."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from compactlearn.cli.commands import INTERRUPTED, Home, Mistake, fitted, shown
from compactlearn.cli.commands import console as standard_output
from compactlearn_bench import (
    Event,
    RunError,
    Spec,
    SpecError,
    Summary,
    cells_of,
    read_spec,
    run,
)
from compactlearn_bench.records import Cell, RecordError, Store, StoreError, open_records

__all__ = ["bench", "run_mistakes"]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def _say(sentence: str) -> None:
    typer.echo(f"compactlearn: {shown(sentence)}", err=True)


@contextmanager
def run_mistakes() -> Iterator[None]:
    """Turn errors of the library into mistakes of the user, except for a full disk."""
    try:
        yield
    except StoreError as error:
        if error.errno not in _NO_ROOM:
            raise Mistake(str(error)) from error
        _say(str(error))
        raise typer.Exit(1) from error
    except RunError as error:
        _say(" ".join(str(error).split()))
        raise typer.Exit(1) from error
    except (SpecError, RecordError, ImportError) as error:
        raise Mistake(str(error)) from error


class _Lines:
    """Print a line for each cell that ends, and count the cells that have a record."""

    def __init__(self, n_cells: int, console: Console) -> None:
        self.n_cells, self.console, self.n_ended = n_cells, console, 0

    def __call__(self, event: Event) -> None:
        self.n_ended += event.status is not None
        if event.kind == "ended":
            cell = event.cell
            reason = f" ({event.reason})" if event.reason else ""
            self.console.print(
                f"[{self.n_ended}/{self.n_cells}] {cell.dataset} {cell.method} "
                f"{cell.selection} fold {cell.fold}: {event.status} in {event.seconds:.2f} s"
                f"{reason}",
                soft_wrap=True,
                markup=False,
            )


def bench(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC", help="A TOML file; docs/reference/benchmark.md has its keys."
        ),
    ],
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", help="The folder of the records; by default benchmark-records/<name>."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; by default what SPEC says.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Compute again what did not end well.")
    ] = False,
    data_home: Home = None,
    device: Annotated[
        str | None,
        typer.Option(help="Where PyTorch solves the grids of selection 'paper', e.g. cuda."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what there is to do.")
    ] = False,
    pack: Annotated[
        Path | None,
        typer.Option(
            help="One compressed file of all records: what it holds counts as done, and it is "
            "written anew at the end."
        ),
    ] = None,
) -> None:
    """Run the benchmark that SPEC describes; a stopped run is resumed by the same command."""
    console = standard_output()
    with run_mistakes():
        spec = read_spec(source, data_home)
        cells = cells_of(spec)
        folder = store if store is not None else Path("benchmark-records") / spec.name
        place = Store(folder, _say)
    if dry_run:
        with run_mistakes():
            _show_plan(spec, cells, place, pack, console)
        return
    if pack is not None:
        _take_in(pack, place, console)
    lines = _Lines(len(cells), console)
    console.print(f"{spec.name}: {len(cells)} cells, records in {place.folder}", soft_wrap=True)
    try:
        with run_mistakes():
            summary = run(
                spec,
                place,
                workers=workers,
                retry_failed=retry_failed,
                on_event=lines,
                data_home=data_home,
                device=device,
            )
    except KeyboardInterrupt:
        _say(
            f"Stopped; {lines.n_ended} of {len(cells)} cells have a record. The same command "
            "resumes it."
        )
        raise typer.Exit(INTERRUPTED) from None
    if pack is not None:
        with run_mistakes():
            console.print(f"{place.pack(pack)} records in {pack}", soft_wrap=True)
    _conclude(summary, place, console)


def _conclude(summary: Summary, place: Store, console: Console) -> None:
    ended = ", ".join(f"{count} {status}" for status, count in summary.statuses.items())
    console.print(f"{summary.computed} cells computed, {summary.found} found; in all {ended}.")
    if summary.statuses.get("failed"):
        _say(
            f"Some cells failed; their records in {place.cells} say why. Once that is put right, "
            "--retry-failed computes them again."
        )
        raise typer.Exit(1)


def _show_plan(
    spec: Spec, cells: list[Cell], place: Store, pack: Path | None, console: Console
) -> None:
    packed: dict[str, str] = {}
    if pack is not None and pack.exists():
        packed = {record.cell.name: record.status for record in open_records(pack, _say)}
    statuses = Counter()
    total: Counter[tuple[str, str]] = Counter()
    done: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        status, other = place.status(cell), packed.get(cell.name)
        if other == "done" or status is None:  # as in `Store.unpack`
            status = other
        statuses[status or "to do"] += 1
        total[cell.dataset, cell.method] += 1
        done[cell.dataset, cell.method] += status == "done"
    methods = list(dict.fromkeys(method for _, method in total))
    rows = [
        [data, *(f"{done[data, m]}/{total[data, m]}" if total[data, m] else "" for m in methods)]
        for data in dict.fromkeys(data for data, _ in total)
    ]
    for table in fitted(["data set", *methods], rows, console.width):
        console.print(table)
    counts = ", ".join(f"{count} {status}" for status, count in statuses.items())
    console.print(
        f"{spec.name}: {len(cells)} cells ({counts}), records in {place.folder}", soft_wrap=True
    )


def _take_in(pack: Path, place: Store, console: Console) -> None:
    with run_mistakes():
        if not pack.parent.is_dir():
            raise Mistake(
                f"The file of --pack must lie in a folder, and {pack.parent} does not exist; "
                "make it."
            )
        if pack.exists():
            console.print(f"{place.unpack(pack)} records taken from {pack}", soft_wrap=True)

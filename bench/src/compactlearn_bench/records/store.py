"""A folder of records: one file for each finished cell, shared by as many processes as like.

::

    cells/<name of the cell>.json   a record; there whole or not at all
    claims/<name of the cell>.lock  somebody works on that cell
    quarantine/                     files that were no records, kept for whoever wants to know why
"""

from __future__ import annotations

import errno
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path

from compactlearn.utils import atomic, warn_user
from compactlearn_bench.records.claims import claim, sweep
from compactlearn_bench.records.packed import Growth, read_packed, write_packed
from compactlearn_bench.records.record import Cell, Record, RecordError

__all__ = ["Store", "StoreError", "open_records"]

_LEFT_OVER_S = 600.0  # a temporary file this old has no writer: a record takes no minute to write


class StoreError(OSError):
    """Nothing can be written where it should be; the text is a sentence with the remedy."""


class Store:
    """The records in a folder. Making one reads and writes nothing; the folder need not exist.

    Parameters
    ----------
    folder : path
    warn : callable, optional
        Receives a sentence about each file that is no record; by default it is a warning.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store, cell = Store(folder), Cell("enron", "ORI", "paper", 0)
    ...     before = store.read(cell)
    ...     store.write(Record(cell, "done"))
    ...     before, store.read(cell).status, store.status(cell), len(list(store.records()))
    (None, 'done', 'done', 1)
    """

    def __init__(
        self, folder: str | os.PathLike[str], warn: Callable[[str], None] = warn_user
    ) -> None:
        self.folder = Path(folder)
        self._warn = warn
        self.cells = self.folder / "cells"
        self.claims = self.folder / "claims"
        self.quarantine = self.folder / "quarantine"

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def prepare(self) -> None:
        """Make the folder ready for writing, and clear away what killed processes left.

        Raises
        ------
        StoreError
            If nothing can be written there.
        """
        try:
            self.cells.mkdir(parents=True, exist_ok=True)
            self.claims.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=self.cells) as probe:
                now = os.fstat(probe.fileno()).st_mtime
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        self._clear(now)
        sweep(self.claims)

    def path(self, cell: Cell) -> Path:
        """Where the record of a cell lies, or would.

        Parameters
        ----------
        cell : Cell
            The question that the record answers.
        """
        return self.cells / f"{cell.name}.json"

    def read(self, cell: Cell, *, claimed: bool = False) -> Record | None:
        """The record of a cell; None if there is none, or only one that cannot be read.

        Parameters
        ----------
        cell : Cell
            The question that the record answers.
        claimed : bool
            Whether the caller holds the claim on the cell.
        """
        return self._read(self.path(cell), claimed)

    def status(self, cell: Cell) -> str | None:
        """Return the status of a cell; None if it has no record that can be read. Changes nothing.

        Parameters
        ----------
        cell : Cell
            The question that the record answers.
        """
        record = _peeked(self.path(cell), self._warn)
        return None if record is None else record.status

    def records(self) -> Iterator[Record]:
        """Every record, in the order of their cells' names."""
        for path in sorted(self.cells.glob("*.json")):
            record = self._read(path)
            if record is not None:
                yield record

    def write(self, record: Record) -> None:
        """Keep a record; it replaces an earlier one of the same cell.

        Parameters
        ----------
        record : Record
            The answer to its cell.

        Raises
        ------
        StoreError
            If it cannot be written (a full disk, for instance). Whatever was there before is
            still there then, and nothing of the new one.
        """
        text = record.to_json() + "\n"
        path = self.path(record.cell)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic(path) as stream:
                stream.write(text.encode())
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    @contextmanager
    def claim(self, cell: Cell) -> Iterator[bool]:
        """Inside, whether the cell is ours to compute; False: another process is at it.

        Parameters
        ----------
        cell : Cell
            The question that the record answers.
        """
        with ExitStack() as claims:
            try:
                self.claims.mkdir(parents=True, exist_ok=True)
                mine = claims.enter_context(claim(self._lock(cell.name)))
            except OSError as error:
                raise _unwritable(self.folder, error) from error
            yield mine

    def _lock(self, name: str) -> Path:
        return self.claims / f"{name}.lock"

    def pack(self, path: str | os.PathLike[str]) -> int:
        """Write every record to one compressed file, whole or not at all; returns how many.

        The same records give the same bytes.

        Parameters
        ----------
        path : str or path
            The packed file.
        """
        try:
            return write_packed(self.records(), Path(path))
        except OSError as error:
            raise _unwritable(Path(path), error) from error

    def unpack(self, path: str | os.PathLike[str]) -> int:
        """Take in the records of a packed file that are not here yet; returns how many.

        A record that is here already stays, unless its cell did not end well and the file knows
        better.

        Parameters
        ----------
        path : str or path
            The packed file.
        """
        written = 0
        # All are read before one is kept: damage may show only at the end of the file.
        for record in list(read_packed(Path(path))):
            known = self.read(record.cell)
            if known is None or (known.status != "done" and record.status == "done"):
                self.write(record)
                written += 1
        return written

    def _read(self, path: Path, claimed: bool = False) -> Record | None:
        try:
            return _parsed(path)
        except RecordError as error:
            return self._doubted(path, claimed, error)

    def _doubted(self, path: Path, claimed: bool, reason: RecordError) -> Record | None:
        """Move a file away that is no record, unless somebody has just put that right."""
        try:
            self.claims.mkdir(parents=True, exist_ok=True)
            # Under the claim: between a reading and a move the record might be written anew.
            with nullcontext(True) if claimed else claim(self._lock(path.stem)) as mine:
                try:
                    return _parsed(path)
                except RecordError as error:
                    where = self._set_aside(path) if mine else None
                    self._warn(_refusal(path, error, where))
        except OSError:  # records on a medium that cannot be written are still read
            self._warn(_refusal(path, reason, None))
        return None

    def _set_aside(self, path: Path) -> Path | None:
        self.quarantine.mkdir(exist_ok=True)
        for number in itertools.count(1):
            place = self.quarantine / f"{path.stem}.{number}.json"
            with suppress(FileExistsError):
                os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                os.replace(path, place)
                return place
        return None

    def _clear(self, now: float) -> None:
        """Remove temporary files of writers that were killed; they are harmless but in the way.

        `now` is by the clock of whoever keeps the folder, which need not be this machine's. A file
        from the future has no writer either: that clock has been set back since.
        """
        for part in self.cells.glob(".*.part"):
            with suppress(OSError):
                name = part.name[1:].partition(".json.")[0]
                if abs(now - part.stat().st_mtime) > _LEFT_OVER_S:
                    with claim(self._lock(name)) as mine:
                        if mine:
                            part.unlink()


def open_records(
    path: str | os.PathLike[str],
    warn: Callable[[str], None] = warn_user,
    *,
    limits: Growth | None = None,
) -> Iterator[Record]:
    """Every record of a store's folder or of a packed file.

    Parameters
    ----------
    path : str or path
        The folder or the file.
    warn : callable, optional
        Receives a sentence about each file of a folder that is no record; by default a warning.
    limits : Growth, optional
        How far a packed file may expand.

    Raises
    ------
    FileNotFoundError
        If there is neither.
    RecordError
        If a packed file is damaged, or expands beyond the limits. In a folder single files may be
        damaged, which is a warning; they are left where they are, since reading changes nothing.
    """
    path = Path(path)
    if path.is_dir():
        if not (path / "cells").is_dir():
            raise FileNotFoundError(
                f"The folder {path} holds no records: it has no folder 'cells' in it; name the "
                "folder that 'compactlearn bench --store' was given, or a packed file."
            )
        return _readable(path / "cells", warn)
    if not path.exists():
        raise FileNotFoundError(
            f"There are no records at {path}; name a folder that 'compactlearn bench' wrote, or a "
            "packed file."
        )
    return read_packed(path, limits)


def _readable(cells: Path, warn: Callable[[str], None]) -> Iterator[Record]:
    for path in sorted(cells.glob("*.json")):
        record = _peeked(path, warn)
        if record is not None:
            yield record


def _peeked(path: Path, warn: Callable[[str], None]) -> Record | None:
    """Return the record, or None with a warning if the file is no record; it stays in place."""
    try:
        return _parsed(path)
    except RecordError as error:
        warn(_refusal(path, error, None))
        return None


def _unwritable(place: Path, error: OSError) -> StoreError:
    remedy = "check the name and who may write there"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "make room there and run the same command again; what is recorded stays"
    reason = error.strerror or error
    refused = StoreError(f"Nothing can be written to {place} ({reason}); {remedy}.")
    refused.errno = error.errno
    return refused


def _parsed(path: Path) -> Record | None:
    try:
        record = Record.from_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        refused = StoreError(
            f"The record {path} cannot be read ({error.strerror or error}); check what it is and "
            "who may read it."
        )
        refused.errno = error.errno
        raise refused from error
    if record.cell.name != path.stem:
        raise RecordError(f"it answers another question, {record.cell.name}")
    return record


def _refusal(path: Path, error: Exception, where: Path | None) -> str:
    fate = f"it was moved to {where}" if where is not None else "it was left where it is"
    return (
        f"The file {path} is not a record that can be used: {error}; {fate}, and its cell counts "
        "as not done."
    )

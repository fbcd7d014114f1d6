"""A folder of records: one file for each finished cell, written by one run at a time.

::

    cells/<name of the cell>.json   a record; there whole or not at all
    lock                            locked by the run that writes here
    quarantine/                     files that were no records, kept for whoever wants to know why
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compactlearn.utils import atomic, warn_user
from compactlearn_bench.records.packed import read_packed, write_packed
from compactlearn_bench.records.record import Cell, Record, RecordError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["Store", "StoreError", "open_records"]


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
    >>> import tempfile
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
        self.quarantine = self.folder / "quarantine"

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, the folder can be written to and is this run's alone.

        The kernel drops the lock when its holder ends, however it ends. What killed runs left is
        cleared away first.

        Raises
        ------
        StoreError
            If nothing can be written there, or another run is at it.
        """
        try:
            self.cells.mkdir(parents=True, exist_ok=True)
            handle = (self.folder / "lock").open("ab")
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        with handle:
            try:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise StoreError(
                    "Only one run at a time may write to a folder of records, and another one is "
                    f"at {self.folder}; wait until it has ended, or name another folder."
                ) from error
            for part in self.cells.glob(".*.part"):  # of a writer that was killed
                with suppress(OSError):
                    part.unlink()
            yield

    def path(self, cell: Cell) -> Path:
        """Where the record of a cell lies, or would.

        Parameters
        ----------
        cell : Cell
            The question that the record answers.
        """
        return self.cells / f"{cell.name}.json"

    def read(self, cell: Cell) -> Record | None:
        """The record of a cell; None if there is none, or only one that cannot be read.

        Parameters
        ----------
        cell : Cell
            The question that the record answers.
        """
        return self._read(self.path(cell))

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

    def _read(self, path: Path) -> Record | None:
        """Return a record; a file that is none is moved away."""
        try:
            return _parsed(path)
        except RecordError as error:
            where = None
            with suppress(OSError):  # records on a medium that cannot be written are still read
                where = self._set_aside(path)
            self._warn(_refusal(path, error, where))
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


def open_records(
    path: str | os.PathLike[str],
    warn: Callable[[str], None] = warn_user,
) -> Iterator[Record]:
    """Every record of a store's folder or of a packed file.

    Parameters
    ----------
    path : str or path
        The folder or the file.
    warn : callable, optional
        Receives a sentence about each file of a folder that is no record; by default a warning.

    Raises
    ------
    FileNotFoundError
        If there is neither.
    RecordError
        If a packed file is damaged. In a folder single files may be
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
    return read_packed(path)


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

"""Files that commands write: checked before any computation, and written completely."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from compactlearn.cli._mistakes import Mistake
from compactlearn.core._atomic import atomic
from compactlearn.datasets._parsing.assemble import stem

__all__ = [
    "check_ending",
    "check_target",
    "files_read",
    "save",
    "xml_file_of",
]


def check_target(
    target: Path, option: str, *, force: bool, inputs: Iterable[str | Path] = ()
) -> None:
    """Raise a `Mistake` if a file cannot be written, or must not be replaced.

    Called before anything is computed. Files that the command reads (``inputs``, files and
    folders), devices and pipes are never replaced; any other file only with ``force``.
    ``option`` is named in messages.
    """
    fault = _fault(target, force=force, inputs=inputs)
    if fault is None:
        final = Path(os.path.realpath(target))
        name = {"prefix": f".{final.name}.", "suffix": ".part"}  # as long as that of `atomic`
        try:
            with tempfile.NamedTemporaryFile(dir=final.parent, **name):
                return
        except OSError as error:
            fault = f"cannot be written ({error.strerror or error}); choose another folder"
    raise Mistake(f"{option} must name a file to write, and {target} {fault}.")


def _fault(target: Path, *, force: bool, inputs: Iterable[str | Path]) -> str | None:
    """Return what is wrong with a target and what to do, or None."""
    try:
        if target.is_dir():
            return "is a folder; add a name"
        if any(_is_part(target, Path(given)) for given in inputs):
            return "is read by the command; choose another name"
        if target.exists() and not target.is_file():
            return "is a device or a pipe; choose another name"
        if os.path.lexists(target) and not force:
            return "exists already; choose another name, or replace it by --force"
        if not target.parent.is_dir():
            return f"cannot be written, since the folder {target.parent} does not exist; make it"
    except OSError as error:
        return f"cannot be written ({error.strerror or error}); choose another folder"
    return None


def files_read(source: str, labels: str | None = None) -> list[Path]:
    """Return the files that may be read: DATA, its XML file, and that of --labels."""
    data = Path(source)
    return [data, xml_file_of(data), data if labels is None else Path(labels)]


def xml_file_of(path: Path) -> Path:
    """Return the XML file with the names of an ARFF file's labels."""
    return path.parent / f"{stem(path)}.xml"


def save(target: Path, content: bytes) -> None:
    """Write a file completely or not at all; a link stays a link."""
    try:
        with atomic(os.path.realpath(target)) as stream:
            stream.write(content)
    except OSError as error:
        raise Mistake(
            f"The output cannot be written to {target} ({error.strerror or error}); choose another "
            "folder, or free space there."
        ) from error


def _is_part(target: Path, given: Path) -> bool:
    """Return whether an existing file is a given file, or is in a given folder."""
    try:
        if given.is_dir():
            return target.resolve(strict=True).is_relative_to(given.resolve())
        return given.samefile(target)
    except OSError:  # one of them does not exist
        return False


def check_ending(target: Path, option: str, endings: Iterable[str], form: str) -> None:
    """Raise a `Mistake` if the ending of a name is that of another format."""
    ending = target.suffix.lower()
    if ending and ending not in endings:
        raise Mistake(
            f"{option} must name a file that ends in {' or '.join(endings)} for {form}; got "
            f"{target}. Choose such a name."
        )

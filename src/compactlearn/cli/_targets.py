"""Files that commands write: checked before anything is computed, and written whole."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._mistakes import Mistake
from compactlearn.core._atomic import atomic
from compactlearn.datasets._parsing.assemble import stem

__all__ = [
    "TextOutput",
    "check_ending",
    "check_target",
    "files_read",
    "save",
    "say",
    "text_target",
    "xml_file_of",
]

TextOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file to write instead of standard output; a name that ends in .json asks for "
        "--json.",
    ),
]


def check_target(
    target: Path, option: str, *, force: bool, inputs: Iterable[str | Path] = ()
) -> None:
    """Refuse a file to write that cannot be written, or that must stay as it is.

    Called before anything is computed. A file that the command reads (``inputs``, files and
    folders) is never replaced, and neither are devices and pipes; any other file only with
    ``force``. ``option`` is named in messages.
    """
    fault = _fault(target, force=force, inputs=inputs)
    if fault is None:
        final = Path(os.path.realpath(target))
        name = {"prefix": f".{final.name}.", "suffix": ".part"}  # as long as that of `atomic`
        try:
            with tempfile.NamedTemporaryFile(dir=final.parent, **name):
                return
        except OSError as error:
            fault = f"cannot be written ({error.strerror or error}); choose another place"
    raise Mistake(f"{option} must name a file to write, and {target} {fault}.")


def _fault(target: Path, *, force: bool, inputs: Iterable[str | Path]) -> str | None:
    """Return what is wrong with a target, and what to do; None if nothing is."""
    try:
        if target.is_dir():
            return "is a folder; add a name"
        if any(_is_part(target, Path(given)) for given in inputs):
            return "is read by the command; choose another name"
        if target.exists() and not target.is_file():
            return "is a device or a pipe; choose another name"
        if os.path.lexists(target) and not force:
            return "is there already; choose another name, or replace it by --force"
        if not target.parent.is_dir():
            return f"cannot be written, since the folder {target.parent} does not exist; make it"
    except OSError as error:
        return f"cannot be written ({error.strerror or error}); choose another place"
    return None


def files_read(source: str, labels: str | None = None) -> list[Path]:
    """Return what is read where it is a file: DATA, its XML file, and that of --labels."""
    data = Path(source)
    return [data, xml_file_of(data), data if labels is None else Path(labels)]


def xml_file_of(path: Path) -> Path:
    """Return the XML file with the names of an ARFF file's labels."""
    return path.parent / f"{stem(path)}.xml"


def save(target: Path, content: bytes) -> None:
    """Write a file, whole or not at all; a link stays one."""
    try:
        with atomic(os.path.realpath(target)) as stream:
            stream.write(content)
    except OSError as error:
        raise Mistake(
            f"The output cannot be written to {target} ({error.strerror or error}); choose another "
            "place, or make room there."
        ) from error


def _is_part(target: Path, given: Path) -> bool:
    """Return whether a file that exists is one that was given, or lies in a folder that was."""
    try:
        if given.is_dir():
            return target.resolve(strict=True).is_relative_to(given.resolve())
        return given.samefile(target)
    except OSError:  # one of them does not exist
        return False


def check_ending(target: Path, option: str, endings: Iterable[str], form: str) -> None:
    """Refuse a name whose ending promises another format than the one that is written."""
    ending = target.suffix.lower()
    if ending and ending not in endings:
        raise Mistake(
            f"{option} must name a file that ends in {' or '.join(endings)} for {form}, and is "
            f"{target}; give such a name."
        )


def text_target(
    output: Path | None, *, as_json: bool, force: bool, inputs: Iterable[str | Path]
) -> tuple[Path | None, bool]:
    """Check the file of `TextOutput`; return it, None for standard output, and whether to JSON."""
    if output is None or output == Path("-"):
        return None, as_json
    check_target(output, "--output", force=force, inputs=inputs)
    check_ending(output, "--output", (".txt", ".json"), "text or JSON")
    return output, as_json or output.suffix.lower() == ".json"


def say(text: str, output: Path | None = None) -> None:
    """Write a text with its line end to a file, or to standard output."""
    if output is None:
        typer.echo(text)
    else:
        save(output, f"{text}\n".encode())

"""Files that commands write: checked before anything is computed, and written whole."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from compactlearn.cli._mistakes import Mistake, refusals_are_mistakes
from compactlearn.core._atomic import atomic
from compactlearn.datasets._parsing.assemble import stem

__all__ = [
    "Force",
    "TextOutput",
    "beside",
    "check_ending",
    "check_target",
    "check_text_target",
    "files_read",
    "save",
    "say",
    "says_json",
]

Force = Annotated[
    bool, typer.Option("--force", help="Replace the file of --output if it is there.")
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

    Called before anything is computed. A file that the command reads is never replaced, and
    neither are devices and pipes; any other file that exists only with ``force``.

    Parameters
    ----------
    target : path
        The file to write.
    option : str
        The name of the option or argument, for messages.
    force : bool
        Whether an existing file may be replaced.
    inputs : iterable of paths
        Files and folders that the command reads; those that do not exist are passed over.
    """
    try:
        _check_kind(target, option, force=force, inputs=inputs)
        final = Path(os.path.realpath(target))
        name = {"prefix": f".{final.name}.", "suffix": ".part"}  # as long as that of `atomic`
        with tempfile.NamedTemporaryFile(dir=final.parent, **name):
            pass
    except OSError as error:
        raise Mistake(
            f"{option} must name a file that can be written, and {target} cannot "
            f"({error.strerror or error}); choose another place, or check who may write there."
        ) from error


def _check_kind(target: Path, option: str, *, force: bool, inputs: Iterable[str | Path]) -> None:
    if target.is_dir():
        raise Mistake(f"{option} must name a file, and {target} is a folder; add a name.")
    if any(_is_part(target, Path(given)) for given in inputs):
        raise Mistake(
            f"{option} must not name a file that the command reads, and {target} is one; choose "
            "another name."
        )
    if target.exists() and not target.is_file():
        raise Mistake(
            f"{option} must name a file, and {target} is a device or a pipe; choose another name."
        )
    if os.path.lexists(target) and not force:
        raise Mistake(
            f"{option} names {target}, which is there already; choose another name, or replace it "
            "by --force."
        )
    if not target.parent.is_dir():
        raise Mistake(
            f"{option} must lie in a folder, and {target.parent} does not exist; make it."
        )


def files_read(source: str, labels: str | None = None) -> list[Path]:
    """Return what is read where it is a file: DATA, its XML file, and that of --labels."""
    data = Path(source)
    return [data, beside(data), data if labels is None else Path(labels)]


def beside(path: Path) -> Path:
    """Return the XML file with the names of an ARFF file's labels."""
    return path.parent / f"{stem(path)}.xml"


def save(target: Path, content: bytes) -> None:
    """Write a file, whole or not at all; a link stays one."""
    with atomic(os.path.realpath(target)) as stream:
        stream.write(content)


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


def check_text_target(output: Path | None, *, force: bool, inputs: Iterable[str | Path]) -> None:
    """Check the file of `TextOutput`, if there is one."""
    if output is not None:
        check_target(output, "--output", force=force, inputs=inputs)
        check_ending(output, "--output", (".txt", ".json"), "text or JSON")


def says_json(output: Path | None) -> bool:
    """Return whether the name of `TextOutput` asks for JSON."""
    return output is not None and output.suffix.lower() == ".json"


def say(text: str, output: Path | None = None) -> None:
    """Write a text with its line end to a file, or to standard output."""
    if output is None:
        typer.echo(text)
        return
    with refusals_are_mistakes():
        save(output, f"{text}\n".encode())

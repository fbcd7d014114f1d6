"""A model in a file: its description as JSON, and its arrays beside that."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from compactlearn.core import _tensor_file as tensor_file
from compactlearn.core._atomic import atomic
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.io._values import Describer, Rebuilder, as_json

_DESCRIPTION = "description"

__all__ = ["about", "dump", "restore", "write"]


def dump(thing: Any, path: str | os.PathLike[str], name: str, library_version: str) -> list[str]:
    """Write a thing, called ``name`` in messages; return where values were left out.

    The new file is read back as `restore` would read it before it replaces the old one: whatever is
    written can be loaded. Of a file above 64 MiB this maps the large arrays and does not read them,
    so that it takes as long as loading the file, and little memory.
    """
    final = os.path.realpath(path)  # a link stays one

    def check(part: Path) -> None:
        try:
            _rebuilt(tensor_file.read(part, verify="auto", memory_map="auto"))
        except ModelFileError as error:
            raise ModelFileError(
                f"{name} was not saved, since the new file could not be loaded again ({error}); "
                f"{str(path)!r} is as it was before. Keep the model with skops or joblib."
            ) from error

    with atomic(final, check=check) as stream:
        # What was copied to be written is not kept until the check.
        return write(stream, thing, name, library_version)


def write(stream: BinaryIO, thing: Any, name: str, library_version: str) -> list[str]:
    """Write a thing to a stream, without a check; return where values were left out."""
    describer = Describer()
    try:
        root = describer.value(thing, name)
    except RecursionError as error:
        raise ModelFileError(
            f"A model file cannot hold {name}: one of its lists or dictionaries is nested too "
            "deeply, or holds itself; shorten it, or leave it out."
        ) from error
    text = as_json({"things": describer.things, "root": root})
    arrays = {_DESCRIPTION: np.frombuffer(text, np.uint8), **describer.arrays}
    tensor_file.write(stream, arrays, {"library_version": library_version})
    return describer.forgotten


def restore(
    path: str | os.PathLike[str], *, verify: bool | str = "auto", memory_map: bool | str = "auto"
) -> Any:
    """Return the thing that a file holds; whatever is wrong with it is a `ModelFileError`."""
    file = tensor_file.read(path, verify=verify, memory_map=memory_map)
    written_by = file.about.get("library_version", "unknown")
    try:
        return _rebuilt(file)
    except ModelFileError as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} cannot be loaded: {error}. It was written by compactlearn "
            f"{ascii(written_by)[1:-1]:.20}; get it again from where it was made, or save the "
            "model again."
        ) from error


def _rebuilt(file: tensor_file.TensorFile) -> Any:
    try:
        rebuilder = Rebuilder(file.arrays)
        description = json.loads(file.arrays[_DESCRIPTION].tobytes())
        for part in description["things"]:
            rebuilder.add(part)
        return rebuilder.value(description["root"])
    except ModelFileError:
        raise
    except Exception as error:  # whatever a wrong description leads to, it is one
        raise ModelFileError(f"{error!r:.160}") from error


def about(path: str | os.PathLike[str]) -> dict[str, str]:
    """The versions of the file format and of the library that a file was written by."""
    told = tensor_file.read(path, verify="auto", memory_map="auto").about
    return {name: told[name] for name in ("format_version", "library_version") if name in told}

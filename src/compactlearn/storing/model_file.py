"""A model in a file: its description as JSON, and its arrays beside that."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

import compactlearn.storing.sparse  # noqa: F401, its kinds are in the table
from compactlearn.storing import tensor_file
from compactlearn.storing.errors import ModelFileError
from compactlearn.storing.values import Describer, Rebuilder

_DESCRIPTION = "description"

__all__ = ["dump", "restore"]


def dump(thing: Any, path: str | os.PathLike[str], name: str, library_version: str) -> list[str]:
    """Write a thing, called ``name`` in messages; return where generators were left out."""
    describer = Describer()
    root = describer.value(thing, name)
    text = json.dumps({"things": describer.things, "root": root}, separators=(",", ":"))
    arrays = {_DESCRIPTION: np.frombuffer(text.encode(), np.uint8), **describer.arrays}
    tensor_file.write(path, arrays, {"library_version": library_version})
    return describer.forgotten


def restore(
    path: str | os.PathLike[str], *, verify: bool | str = "auto", memory_map: bool | str = "auto"
) -> Any:
    """The thing that a file holds; whatever is wrong with the file is a `ModelFileError`."""
    file = tensor_file.read(path, verify=verify, memory_map=memory_map)
    written_by = file.about.get("library_version", "unknown")
    try:
        rebuilder = Rebuilder(file.arrays)
        description = json.loads(file.arrays[_DESCRIPTION].tobytes())
        for part in description["things"]:
            rebuilder.add(part)
        return rebuilder.value(description["root"])
    except Exception as error:  # whatever a wrong description leads to, it is one
        why = str(error) if isinstance(error, ModelFileError) else f"{error!r:.160}"
        raise ModelFileError(
            f"{os.fspath(path)!r} cannot be loaded: {why}. It was written by compactlearn "
            f"{written_by:.20}; get it again from where it was made, or save the model again."
        ) from error

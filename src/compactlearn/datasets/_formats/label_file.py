"""The label names of a Mulan XML file, and the writing of one."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from compactlearn.core._atomic import atomic
from compactlearn.datasets._errors import DataFileError
from compactlearn.datasets._parsing.unpacking import read_bytes

__all__ = ["read_label_names", "write_label_names"]

_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ADVICE = "Give another file, a list of label names, or a count of label columns."


def read_label_names(path: str | os.PathLike[str]) -> list[str]:
    """The names in a Mulan label file, nested labels included, in the order of the file.

    Raises
    ------
    DataFileError
        If the file is not well-formed XML, declares a document type, or names no label.
    """
    names: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        # With a separator given, expat writes namespace, separator and tag into one string.
        if tag.rpartition(" ")[2] == "label" and "name" in attributes:
            names.append(attributes["name"])

    def refuse_document_type(*_: object) -> None:
        # Entities can be declared in a document type only. Without one nothing can expand
        # (no "billion laughs") and nothing outside this file can be referred to.
        raise DataFileError(
            path,
            "a label file is plain XML without a document type, but this one declares one. Remove "
            "the <!DOCTYPE ...> part if you trust the file.",
            line=parser.CurrentLineNumber,
        )

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse_document_type
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        raise DataFileError(
            path,
            f"label names are read from a Mulan XML file, but this is not well-formed XML "
            f"({expat.ErrorString(error.code)}). {_ADVICE}",
            line=error.lineno,
        ) from error
    except (LookupError, ValueError) as error:  # an encoding that Python does not know
        if isinstance(error, DataFileError):
            raise
        raise DataFileError(path, f"its XML declares an unknown encoding. {_ADVICE}") from error
    if not names:
        raise DataFileError(
            path,
            f'a Mulan label file must hold <label name="..."> elements, but has none. {_ADVICE}',
        )
    return names


def write_label_names(names: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Write a Mulan label file.

    Raises
    ------
    ValueError
        If a name holds a character that XML cannot.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    lines.append('<labels xmlns="http://mulan.sourceforge.net/labels">')
    lines += [f"<label name={quoteattr(writable(name))}></label>" for name in names]
    lines.append("</labels>")
    with atomic(Path(path)) as stream:
        stream.write("\n".join(lines).encode() + b"\n")


def writable(name: str) -> str:
    """The name, if a text file can hold it.

    Raises
    ------
    ValueError
        If it has control characters or halves of a surrogate pair.
    """
    found = _UNWRITABLE.search(name)
    if found is not None:
        raise ValueError(
            f"A name in a file must be made of characters that XML knows, but {name!r} holds "
            f"{found[0]!r}; rename that column first."
        )
    return name

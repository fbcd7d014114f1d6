"""Bytes of a file, decompressed where needed, and the label names of a Mulan XML file."""

import bz2
import gzip
import lzma
import os
from pathlib import Path
from xml.parsers import expat

__all__ = ["read_bytes", "read_label_names"]

# The first bytes decide, not the name: a renamed file is still read.
_COMPRESSED = ((b"\xfd7zXZ\x00", lzma.decompress), (b"BZh", bz2.decompress))
_GZIP = b"\x1f\x8b"


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a file; xz, bz2 and gzip are undone.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a compressed file is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"A file to read was asked for by the path {path}, but no file is there; check the "
            f"path (the current folder is {Path.cwd()})."
        )
    content = path.read_bytes()
    try:
        for magic, undo in _COMPRESSED:
            if content.startswith(magic):
                return undo(content)
        return gzip.decompress(content) if content.startswith(_GZIP) else content
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise ValueError(
            f"The compressed file {path} must be whole to be read, but unpacking it failed "
            f"({error}); fetch or copy it again."
        ) from error


def read_label_names(path: str | os.PathLike[str]) -> list[str]:
    """The names in a Mulan label file, nested labels included, in the order of the file.

    Raises
    ------
    ValueError
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
        raise ValueError(
            f"A label file is plain XML without a document type, but {path} declares one; remove "
            "the <!DOCTYPE ...> part if you trust the file."
        )

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse_document_type
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        raise ValueError(
            f"Label names are read from a Mulan XML file, but {path} is not well-formed XML "
            f"({error}); give another file, a list of label names, or a count of label columns."
        ) from error
    if not names:
        raise ValueError(
            f'A Mulan label file must hold <label name="..."> elements, but {path} has none; give '
            "another file, a list of label names, or a count of label columns."
        )
    return names

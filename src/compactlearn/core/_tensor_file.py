"""Named arrays in one file, in the safetensors format, with a digest of every byte.

The file is eight bytes with the length of a header, the header (JSON: type, shape and place of each
array, and a few texts), and the arrays one after the other. This reader asks for more than the
format does: digests, and no byte beyond the last array. No claim of the header is believed before
it is compared with the length of the file, so that none can make this process ask for memory.
Arrays of at least 64 KiB begin at a multiple of 64 bytes, and can be mapped.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

FORMAT = "compactlearn model"
VERSION = 5

ALWAYS_WHOLE = 64 * 2**20  # a file of up to so many bytes is read, and all of it checked
SMALL = 64 * 2**10  # arrays below are copied when they are read, and checked in any file
ALIGNMENT = 64
LARGEST_HEADER = 100_000_000  # bytes: the bound of the safetensors package

_CODES = ["F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"]
_TYPES = ["<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "i1", "<u8", "<u4", "<u2", "u1", "?"]
TYPES: dict[str, np.dtype[Any]] = dict(zip(_CODES, map(np.dtype, _TYPES), strict=True))
NAMES = {dtype: name for name, dtype in TYPES.items()}

_FILLER = "filler."  # arrays that bring the next one to its place
_BLANK = "0" * 64  # stands for the header's own digest while that is computed
_DAMAGED = "the file is damaged, or was changed; get it again from where it was made"


class ModelFileError(ValueError):
    """A model that cannot be stored, or a file that is no whole and known model file."""


def digest(array: NDArray[Any]) -> str:
    """Return SHA-256 of the bytes of an array in C order."""
    return hashlib.sha256(array.reshape(-1).view(np.uint8).data).hexdigest()


# ---- writing ----------------------------------------------------------------------------------


def write(
    stream: BinaryIO,
    arrays: Mapping[str, NDArray[Any]],
    about: Mapping[str, str],
    *,
    form: str = FORMAT,
) -> None:
    """Write arrays in C order and of the types of `TYPES`, and some texts."""
    laid = dict(_with_fillers(arrays))
    digests = {name: digest(array) for name, array in laid.items()}
    header: dict[str, Any] = {
        "__metadata__": {
            "format": form,
            "format_version": str(VERSION),
            **about,
            "digests": json.dumps(digests, separators=(",", ":")),
            "header_digest": _BLANK,
        }
    }
    end = 0
    for name, array in laid.items():
        begin, end = end, end + array.nbytes
        header[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    text = text.replace(_BLANK.encode(), hashlib.sha256(text).hexdigest().encode(), 1)
    stream.write(len(text).to_bytes(8, "little"))
    stream.write(text)
    for array in laid.values():
        stream.write(array.reshape(-1).view(np.uint8).data)


def _with_fillers(arrays: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays in their order, and before a large one what brings it to its place."""
    end = 0
    for name, array in arrays.items():
        missing = -end % ALIGNMENT if array.nbytes >= SMALL else 0
        if missing:
            yield f"{_FILLER}{name}", np.zeros(missing, dtype=np.uint8)
        yield name, array
        end += missing + array.nbytes


# ---- reading ----------------------------------------------------------------------------------


Entry = tuple[np.dtype[Any], tuple[int, ...], int]  # type, shape and place after the header


@dataclass(frozen=True)
class TensorFile:
    """Contents of a file: arrays by their names, which cannot be written to, and texts."""

    arrays: Mapping[str, NDArray[Any]]
    about: Mapping[str, str]


def read(
    path: str | os.PathLike[str],
    *,
    verify: bool | str,
    memory_map: bool | str,
    form: str = FORMAT,
) -> TensorFile:
    """Open a file; every doubt about it is a `ModelFileError`.

    ``verify="auto"`` checks the digests of all arrays of a file of up to 64 MiB, and in a larger
    one those of texts and of arrays below 64 KiB; True of all. ``memory_map="auto"`` maps the
    larger ones.
    """
    path = Path(path)
    with _opened(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        header, about, start = _header(stream, size, path, form)
        entries = _entries(header, size - start, path)
        digests = _digests(about, entries, path)
        large = size > ALWAYS_WHOLE
        mapped = large if memory_map == "auto" else bool(memory_map)
        buffer: Any
        if mapped:
            buffer = mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ)
        else:
            stream.seek(0)
            buffer = stream.read(size)
        if len(buffer) != size:
            raise _damaged(path, "its length changed while it was read")
    every = not large if verify == "auto" else bool(verify)
    arrays: dict[str, NDArray[Any]] = {}
    for name, (dtype, shape, begin) in entries.items():
        count = math.prod(shape)
        flat = np.frombuffer(buffer, dtype, count, start + begin) if count else np.empty(0, dtype)
        array = flat.reshape(shape)
        small = array.nbytes < SMALL
        checked = every or small or dtype == np.uint8  # descriptions and texts are bytes
        if checked and digest(array) != digests[name]:
            raise _damaged(path, f"the digest of its part {name!r} is another")
        if name.startswith(_FILLER):
            continue
        if small:
            array = array.copy()
            array.setflags(write=False)
        arrays[name] = array
    return TensorFile(arrays, about)


def _opened(path: Path) -> BinaryIO:
    """Open a regular file; a pipe or a device, which might never answer, is not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ModelFileError(
            f"load_model reads regular files, and {str(path)!r} is a folder, device or pipe; pass "
            "the path of a file that save has written."
        )
    return os.fdopen(descriptor, "rb")


def _damaged(path: Path, why: str) -> ModelFileError:
    return ModelFileError(f"{str(path)!r} cannot be loaded: {why}; {_DAMAGED}.")


def _header(
    stream: BinaryIO, size: int, path: Path, form: str
) -> tuple[dict[str, Any], dict[str, str], int]:
    """Return the header, its texts, and where the arrays begin."""
    first = stream.read(8)
    length = int.from_bytes(first, "little")
    if not 2 <= length <= min(size - 8, LARGEST_HEADER):
        raise _no_model_file(path, first)
    text = stream.read(length)
    if text[:1] != b"{":
        raise _no_model_file(path, first)
    try:
        header = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        about = header.pop("__metadata__")
    except (ValueError, KeyError, RecursionError, TypeError, AttributeError) as error:
        raise _damaged(path, f"its header cannot be read ({error!r:.80})") from error
    if not isinstance(about, dict) or not all(isinstance(value, str) for value in about.values()):
        raise _damaged(path, "its header has no texts that say what it is")
    if about.get("format") != form:
        raise ModelFileError(
            f"{str(path)!r} is a safetensors file, and none that holds a {form}; load_model reads "
            "what save has written."
        )
    version = about.get("format_version", "")
    if version != str(VERSION):
        raise ModelFileError(
            f"{str(path)!r} has version {version!r:.20} of the file format, written by "
            f"compactlearn {about.get('library_version', 'unknown')!r:.20}, and this compactlearn "
            f"reads version {VERSION} only; load it with the compactlearn that wrote it, or fit "
            "and save the model again with this one."
        )
    own = about.get("header_digest", "")
    written = re.fullmatch("[0-9a-f]{64}", own) is not None
    blank = text.replace(own.encode(), _BLANK.encode(), 1) if written else b""
    if hashlib.sha256(blank).hexdigest() != own:
        raise _damaged(path, "the digest of its header is another")
    return header, about, 8 + length


def _no_model_file(path: Path, first: bytes) -> ModelFileError:
    pickled = first[:1] == b"\x80" and first[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    what = "a pickle, which would have to be executed to be loaded" if pickled else "none of them"
    return ModelFileError(
        f"load_model reads whole files that save has written, and {str(path)!r} is {what}, or the "
        "beginning of one; pass another path, or get the file again from where it was made."
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name appears twice")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _entries(header: dict[str, Any], length: int, path: Path) -> dict[str, Entry]:
    """Return the arrays; each begins where the one before ends, the last ends with the file."""
    entries, end = {}, 0
    for name, claim in header.items():
        entry = _entry(claim)
        if entry is None or entry[2] != end:
            raise _damaged(path, f"the place of its part {name!r:.40} makes no sense")
        entries[name], end = entry, claim["data_offsets"][1]
    if end != length:
        raise _damaged(path, f"its arrays take {end} bytes, and it has {length} for them")
    return entries


def _entry(claim: Any) -> Entry | None:
    if not isinstance(claim, dict) or set(claim) != {"dtype", "shape", "data_offsets"}:
        return None
    shape, offsets = claim["shape"], claim["data_offsets"]
    numbers = isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2
    if not numbers or not all(type(n) is int and 0 <= n < 2**63 for n in [*shape, *offsets]):
        return None
    dtype = TYPES.get(claim["dtype"]) if isinstance(claim["dtype"], str) else None
    begin, end = offsets
    # Integers of Python have no bound: a product of claims cannot wrap around to a small one.
    if dtype is None or len(shape) > 8 or math.prod(shape) * dtype.itemsize != end - begin:
        return None
    if math.prod(n for n in shape if n) * dtype.itemsize >= 2**62:  # 0 times too much
        return None
    return dtype, tuple(shape), begin


def _digests(about: Mapping[str, str], entries: Mapping[str, Entry], path: Path) -> dict[str, str]:
    try:
        digests = json.loads(about["digests"])
    except (KeyError, ValueError, RecursionError) as error:
        raise _damaged(path, "its table of digests cannot be read") from error
    if not isinstance(digests, dict) or set(digests) != set(entries):
        raise _damaged(path, "its table of digests is not that of its arrays")
    return digests

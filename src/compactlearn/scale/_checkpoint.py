"""Checkpoints of passes over blocks, from which a fit that was killed resumes.

A checkpoint is a folder with one safetensors file for each pass: the sum so far, how many blocks
are in it, and a digest of each. Files are written whole or not at all, checked when they are read,
and nothing in them is executed. All steps between the passes are repeated exactly, so a resumed fit
has the same bits.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core import _tensor_file as tensor_file
from compactlearn.core._atomic import atomic, clear_leftovers
from compactlearn.crossfit._held_out_rows import Apart
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._passes import ColumnSums
from compactlearn.linalg._row_source import Rows

EVERY = 60.0  # seconds between two writings during a pass

_FORMAT = "compactlearn checkpoint"
_TYPES = {type_.__name__: type_ for type_ in (Moments, Apart, Rows, ColumnSums)}


@dataclass
class PassState:
    """Progress of a pass: the sum so far, and the blocks in it."""

    value: Any = None
    n_blocks: int = 0
    n_rows: int = 0
    digests: tuple[int, ...] = ()
    done: bool = False


class Checkpoint:
    """Folder in which the passes of a fit are stored.

    ``job`` describes the fit; it must equal the description in the files of the folder.
    """

    def __init__(self, path: str | os.PathLike[str], job: dict[str, str]) -> None:
        self.path, self.job = Path(path), job
        self._written = time.monotonic()
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(
                f"checkpoint must be the path of a folder, and {str(self.path)!r} is a file; pass "
                "another path."
            )
        self.path.mkdir(parents=True, exist_ok=True)

    def _file(self, number: int) -> Path:
        return self.path / f"pass-{number:03}.safetensors"

    def read(self, number: int) -> PassState | None:
        """Return the stored state of a pass; None if it had not begun."""
        file = self._file(number)
        clear_leftovers(file)
        if not file.exists():
            return None
        try:
            kept = tensor_file.read(file, verify=True, memory_map=False, form=_FORMAT)
            tree = json.loads(kept.about["tree"])
            state = PassState(
                _decoded(tree["value"], kept.arrays),
                int(tree["n_blocks"]),
                int(tree["n_rows"]),
                tuple(kept.arrays["digests"].tolist()),
                bool(tree["done"]),
            )
            job = dict(tree["job"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"The checkpoint {str(file)!r} cannot be read ({str(error)[:200]}); remove the "
                f"folder {str(self.path)!r} to begin again, or pass another one."
            ) from error
        for name in sorted({*job, *self.job}):
            before, now = job.get(name, "nothing"), self.job.get(name, "nothing")
            if before != now:
                raise ValueError(
                    f"The checkpoint {str(self.path)!r} is that of another fit: its {name} is "
                    f"{before:.80}, and that of this one {now:.80}; remove the folder to begin "
                    "again, or pass another one."
                )
        return state

    def write(self, number: int, state: PassState, *, now: bool = False) -> None:
        """Store the state of a pass, if the last writing is old enough or ``now`` is set."""
        if not now and time.monotonic() - self._written < EVERY:
            return
        arrays = {"digests": np.array(state.digests, dtype=np.int64)}
        tree = {
            "job": self.job,
            "value": _encoded(state.value, arrays),
            "n_blocks": state.n_blocks,
            "n_rows": state.n_rows,
            "done": state.done,
        }
        with atomic(self._file(number)) as stream:
            tensor_file.write(stream, arrays, {"tree": json.dumps(tree)}, form=_FORMAT)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Delete all files of the checkpoint, after a fit that has ended."""
        for file in self.path.glob("pass-*.safetensors"):
            file.unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()


def _encoded(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return a sum as JSON; its arrays are added to ``arrays``."""
    if isinstance(value, np.ndarray):
        name = str(len(arrays))
        arrays[name] = np.ascontiguousarray(value)
        return {"array": name}
    if scipy.sparse.issparse(value):
        parts = (value.data, value.indices, value.indptr)
        return {"csr": [_encoded(part, arrays) for part in parts], "shape": list(value.shape)}
    if isinstance(value, tuple):
        return [_encoded(part, arrays) for part in value]
    if is_dataclass(value):
        own = {field.name: _encoded(getattr(value, field.name), arrays) for field in fields(value)}
        return {"type": type(value).__name__, "parts": own}
    return value.item() if isinstance(value, np.generic) else value


def _decoded(tree: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if isinstance(tree, list):
        return tuple(_decoded(part, arrays) for part in tree)
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "csr" in tree:
        parts = tuple(_decoded(part, arrays) for part in tree["csr"])
        return scipy.sparse.csr_array(parts, shape=tuple(tree["shape"]))
    parts = {name: _decoded(part, arrays) for name, part in tree["parts"].items()}
    return _TYPES[tree["type"]](**parts)

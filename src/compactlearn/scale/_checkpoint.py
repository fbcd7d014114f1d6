"""What is kept of a pass over blocks so that one that was killed goes on.

A checkpoint is a folder with one file for each pass: the sum so far, how many blocks are in it, and
a digest of each of these. The files are those of :mod:`compactlearn.io`: written whole or not
at all, checked when they are read, and nothing in them is executed. A fit that is begun again with
the same folder takes the sums of passes that had ended from it, and goes on with the one that had
not; as every step between the passes is the same again, so is the result, to the bit.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from compactlearn.core._atomic import clear_leftovers
from compactlearn.io import _model_file as model_file
from compactlearn.io._errors import ModelFileError
from compactlearn.linalg._held_out_rows import Apart, Rows
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._passes import ColumnSums

EVERY = 60.0  # seconds between two writings of a pass that goes on

_TYPES = {type_.__name__: type_ for type_ in (Moments, Apart, Rows, ColumnSums)}


@dataclass
class PassState:
    """Where a pass stands."""

    value: Any = None
    n_blocks: int = 0
    n_rows: int = 0
    digests: tuple[int, ...] = ()
    done: bool = False


class Checkpoint:
    """A folder that a fit's passes are kept in.

    ``job`` says what is fitted: names and texts, all of which must be those of the fit that the
    folder is of.
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
        self._files: list[Path] = []

    def _file(self, number: int) -> Path:
        return self.path / f"pass-{number:03}.safetensors"

    def read(self, number: int) -> PassState | None:
        """Where the pass of that number stood; None where it had not begun."""
        file = self._file(number)
        clear_leftovers(file)
        if not file.exists():
            return None
        try:
            kept = model_file.restore(file, verify=True, memory_map=False)
            job, digests = dict(kept["job"]), np.asarray(kept["digests"], dtype=np.int64)
            state = PassState(
                _rebuilt(kept["value"]),
                int(kept["n_blocks"]),
                int(kept["n_rows"]),
                tuple(digests.tolist()),
                bool(kept["done"]),
            )
        except (ModelFileError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"The checkpoint {str(file)!r} cannot be read ({str(error)[:200]}); remove the "
                f"folder {str(self.path)!r} to begin again, or pass another one."
            ) from error
        self._refuse_other(job)
        return state

    def _refuse_other(self, job: dict[str, str]) -> None:
        for name in sorted({*job, *self.job}):
            before, now = job.get(name, "nothing"), self.job.get(name, "nothing")
            if before != now:
                raise ValueError(
                    f"The checkpoint {str(self.path)!r} is that of another fit: its {name} is "
                    f"{before:.80}, and that of this one {now:.80}; remove the folder to begin "
                    "again, or pass another one."
                )

    def write(self, number: int, state: PassState, *, now: bool = False) -> None:
        """Keep where a pass stands, if it is time to, or ``now``."""
        if not now and time.monotonic() - self._written < EVERY:
            return
        tree = {
            "job": self.job,
            "value": _plain(state.value),
            "n_blocks": state.n_blocks,
            "n_rows": state.n_rows,
            "digests": np.array(state.digests, dtype=np.int64),
            "done": state.done,
        }
        model_file.dump(tree, self._file(number), "the checkpoint", "")
        self._written = time.monotonic()

    def remove(self) -> None:
        """Forget everything: the fit has ended well."""
        for file in self.path.glob("pass-*.safetensors"):
            file.unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()


def _plain(value: Any) -> Any:
    """Sums as values that a file can hold."""
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
        return {"sum of type": type(value).__name__, "parts": own}
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    return np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value


def _rebuilt(tree: Any) -> Any:
    if isinstance(tree, dict):
        parts = {name: _rebuilt(part) for name, part in tree["parts"].items()}
        return _TYPES[tree["sum of type"]](**parts)
    return tuple(_rebuilt(part) for part in tree) if isinstance(tree, tuple) else tree

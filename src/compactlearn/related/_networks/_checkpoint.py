"""How far training has come, in a file that a kill cannot spoil and that executes nothing.

The file is an uncompressed .npz of numeric arrays and one JSON text. It appears whole or not at
all (`compactlearn.core._atomic.atomic`), is read without pickle, and whatever it claims is held
against what the training expects before a byte of its arrays is read.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core._atomic import atomic, clear_leftovers
from compactlearn.related._networks._training import STATE

_FORMAT = "compactlearn C2AE checkpoint 1"
_HEADER = 1 << 12  # more than the header of an array ever takes
_TEXT = 1 << 26  # more than the history of a million epochs


@dataclass(frozen=True, eq=False)
class Progress:
    """What the next epoch depends on, and what has come out so far.

    Parameters
    ----------
    seed : int
    state : mapping
        The trainer's arrays.
    losses, scores : tuples of float
        One entry an epoch; scores are those of the validation rows, more is better.
    best : ndarray or None
        The parameters of the best epoch, where there are validation rows.
    """

    seed: int
    state: Mapping[str, NDArray[Any]]
    losses: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    best: NDArray[Any] | None = field(default=None)

    @property
    def n_epochs(self) -> int:
        """Epochs done."""
        return len(self.losses)

    @property
    def best_epoch(self) -> int:
        """The epoch, from 0, of the best score, the first of equals; the last without scores."""
        if not self.scores or np.isnan(self.scores).all():
            return self.n_epochs - 1
        return int(np.nanargmax(self.scores))

    def after(self, loss: float, score: float | None) -> Progress:
        """The progress one epoch later, its arrays still those of before."""
        scores = self.scores if score is None else (*self.scores, score)
        return replace(self, losses=(*self.losses, loss), scores=scores)

    @property
    def at_its_best(self) -> bool:
        """Whether validation rows say that the last epoch is the best."""
        return bool(self.scores) and self.best_epoch == self.n_epochs - 1

    @property
    def parameters(self) -> NDArray[Any]:
        """The networks to keep: the best, or the last where nothing was compared."""
        return self.state["parameters"] if self.best is None else self.best


def save(path: str | os.PathLike[str], progress: Progress, training: Mapping[str, Any]) -> None:
    """Write the progress of a training, which ``training`` tells from all others."""
    text = json.dumps(
        {
            "format": _FORMAT,
            "training": dict(training),
            "seed": progress.seed,
            "losses": progress.losses,
            "scores": [None if np.isnan(score) else score for score in progress.scores],
        }
    )
    arrays: dict[str, Any] = {**progress.state, "about": np.frombuffer(text.encode(), np.uint8)}
    if progress.best is not None:
        arrays["best"] = progress.best
    try:
        with atomic(os.path.realpath(path)) as stream:  # a link stays one
            np.savez(stream, **arrays)
    except OSError as error:
        raise _unwritable(path, error) from error


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, before anything is trained, and clear away what
    killed trainings left beside it."""
    try:
        place = Path(os.path.realpath(path))
        clear_leftovers(place)
        if place.exists() and not place.is_file():
            raise OSError(errno.EEXIST, "there is something else than a file")
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name}."):
            pass
    except (OSError, ValueError, TypeError) as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Any, error: Exception) -> OSError:
    return OSError(
        getattr(error, "errno", None) or errno.EINVAL,
        f"The checkpoint {str(path)!r} cannot be written ({error}); see who may write there "
        "and whether there is room, or give another path",
    )


def load(path: str | os.PathLike[str], training: Mapping[str, Any]) -> Progress | None:
    """The progress of this training; None where there is no file yet.

    A file of another training, or one that is no checkpoint, is refused and left alone.
    """
    path = Path(path)
    if not path.exists():
        return None
    try:
        about, arrays = _read(path, training["n_parameters"], training["dtype"])
        theirs, seed, losses, scores = _checked(about)
    except Exception as error:  # zip, its packings, .npy and JSON each have errors of their own
        raise ValueError(
            f"The checkpoint {str(path)!r} cannot be read ({error}); remove it to begin anew, or "
            "give another path."
        ) from error
    for name, value in training.items():
        if theirs.get(name) != value:
            raise ValueError(
                f"The checkpoint {str(path)!r} belongs to another training: there {name} is "
                f"{theirs.get(name)!r}, here {value!r}; remove it to begin anew, or give another "
                "path."
            )
    _check_numbers(path, arrays)
    best = arrays.pop("best", None)
    return Progress(seed, arrays, losses, scores, best)


def seed_of(path: str | os.PathLike[str], default: int) -> int:
    """Return the seed of a checkpoint; ``default`` where no file can be read, which `load` says."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open("about.npy") as stream:
            np.lib.format.read_magic(stream)
            np.lib.format.read_array_header_1_0(stream)
            return _checked(json.loads(stream.read(_TEXT)))[1]
    except Exception:
        return default


def _checked(about: dict[str, Any]) -> tuple[dict[str, Any], int, Any, Any]:
    theirs, seed = about["training"], about["seed"]
    losses, scores = about["losses"], about["scores"]
    if not isinstance(theirs, dict) or type(seed) is not int or not 0 <= seed < 2**31:
        raise ValueError("its description of the training is damaged")
    if not isinstance(losses, list) or not isinstance(scores, list):
        raise ValueError("its history is damaged")
    found = tuple(_number(loss) for loss in losses)
    scored = tuple(np.nan if score is None else _number(score) for score in scores)
    n_scores = len(found) if theirs.get("validated") else 0
    if not found or len(scored) != n_scores:
        raise ValueError("its history is damaged")
    return theirs, seed, found, scored


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"its history holds {value!r:.20}")
    return float(value)


def _check_numbers(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError(
            f"The checkpoint {str(path)!r} cannot be read (it holds NaN or infinity); remove it "
            "to begin anew, or give another path."
        )


def _read(path: Path, size: int, dtype: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    names = {f"{name}.npy" for name in (*STATE, "best", "about")}
    most = size * np.dtype(dtype).itemsize + _HEADER
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            bound = _TEXT if member.filename == "about.npy" else most
            if member.filename not in names or member.file_size > bound:
                raise ValueError(
                    f"its part {member.filename!r} of {member.file_size} bytes does not belong to "
                    "this training"
                )
            # The header of the array is another claim, and NumPy would make room for it.
            with archive.open(member) as stream:
                version = np.lib.format.read_magic(stream)
                read = np.lib.format.read_array_header_1_0
                if version != (1, 0):
                    raise ValueError("its arrays are of an unknown version")
                shape, _, kind = read(stream)
            if kind.hasobject or math.prod(shape) * kind.itemsize > bound or len(shape) != 1:
                raise ValueError(f"its part {member.filename!r} claims the shape {shape}")
    with np.load(path, allow_pickle=False) as file:
        about = json.loads(file["about"].tobytes())
        if not isinstance(about, dict) or about.get("format") != _FORMAT:
            raise ValueError("it is not a checkpoint of this version")
        arrays = {name: file[name] for name in (*STATE, "best") if name in file.files}
    for name in (*STATE, *(["best"] if about["scores"] else [])):
        if name not in arrays or arrays[name].shape != (size,) or arrays[name].dtype != dtype:
            raise ValueError(f"its part {name!r} is missing or of another shape or type")
    return about, arrays


def digest(*matrices: Any) -> str:
    """A short name of the content of some matrices, dense or sparse or None."""
    found = hashlib.sha256()
    for matrix in matrices:
        if matrix is None:
            found.update(b"none")
        elif scipy.sparse.issparse(matrix):
            found.update(repr(matrix.shape).encode())
            for array in (matrix.indptr, matrix.indices, matrix.data):
                found.update(np.ascontiguousarray(array).view(np.uint8).data)
        else:
            found.update(repr(matrix.shape).encode())
            found.update(np.ascontiguousarray(matrix).view(np.uint8).data)
    return found.hexdigest()[:32]

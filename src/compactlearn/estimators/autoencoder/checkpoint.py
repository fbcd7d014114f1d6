"""How far training has come, in a file that a kill cannot spoil and that executes nothing.

The file is an uncompressed .npz of numeric arrays and one JSON text. It appears whole or not at
all (`compactlearn.core.files.atomic`), is read without pickle, and whatever it claims is held
against what the training expects before a byte of its arrays is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from compactlearn.core.files import atomic
from compactlearn.estimators.autoencoder.training import STATE

_FORMAT = "compactlearn C2AE checkpoint 1"
_HEADER = 1 << 12  # more than the header of an array ever takes
_TEXT = 1 << 24  # more than the history of a million epochs


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
    with atomic(path) as stream:
        np.savez(stream, **arrays)


def load(path: str | os.PathLike[str], training: Mapping[str, Any]) -> Progress | None:
    """The progress of this training; None where there is no file yet.

    A file of another training, or one that is no checkpoint, is refused and left alone.
    """
    path = Path(path)
    if not path.exists():
        return None
    try:
        about, arrays = _read(path, training["n_parameters"], training["dtype"])
        theirs = about["training"]
        seed, losses = int(about["seed"]), tuple(float(loss) for loss in about["losses"])
        scores = tuple(np.nan if score is None else float(score) for score in about["scores"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
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
    best = arrays.pop("best", None)
    return Progress(seed, arrays, losses, scores, best)


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

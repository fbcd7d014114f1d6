"""Epoch after epoch: where training begins or resumes, what is kept, and when it ends.

A checkpoint is an .npz file of numeric arrays and one JSON text. It appears whole or not at all and
is read without pickle. A file of another training is refused and left alone.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from compactlearn.core._atomic import atomic
from compactlearn.core._progress import track
from compactlearn.core._warn import warn_user
from compactlearn.related._networks._training import STATE, Trainer


@dataclass(frozen=True)
class Course:
    """How long to train, and where to note how far it has come.

    ``training`` tells this training from others: all that its epochs depend on but the seed.
    """

    name: str
    max_epochs: int
    patience: int | None
    training: Mapping[str, Any]
    checkpoint: str | os.PathLike[str] | None = None
    verbose: int = 0


@dataclass(frozen=True, eq=False)
class Progress:
    """What the next epoch depends on, and what has come out so far."""

    seed: int
    state: Mapping[str, NDArray[Any]]  # the trainer's arrays
    losses: tuple[float, ...] = ()  # one an epoch
    scores: tuple[float, ...] = ()  # of the validation rows, more is better
    best: NDArray[Any] | None = None  # parameters of the best epoch, where there are scores

    @property
    def n_epochs(self) -> int:
        return len(self.losses)

    @property
    def best_epoch(self) -> int:
        """The epoch, from 0, of the best score, the first of equals; the last without scores."""
        if not self.scores or np.isnan(self.scores).all():
            return self.n_epochs - 1
        return int(np.nanargmax(self.scores))

    @property
    def parameters(self) -> NDArray[Any]:
        """The networks to keep: the best, or the last where nothing was compared."""
        return self.state["parameters"] if self.best is None else self.best


def begun(course: Course, seed: int, first: NDArray[Any], *, seed_was_given: bool) -> Progress:
    """Return where the checkpoint left off, or the very beginning, with parameters ``first``."""
    found = None if course.checkpoint is None else _resumed(course, first)
    if found is None:
        nothing = np.zeros_like(first)
        return Progress(seed, {"parameters": first, "squares": nothing, "velocity": nothing})
    if found.n_epochs > course.max_epochs:
        raise ValueError(
            f"The checkpoint {str(course.checkpoint)!r} has {found.n_epochs} epochs, more than "
            f"max_epochs={course.max_epochs}; ask for as many, or give another path."
        )
    if seed_was_given and found.seed != seed:
        raise ValueError(
            f"The checkpoint {str(course.checkpoint)!r} belongs to a training with another seed; "
            "remove it to begin anew, or give another path."
        )
    return found


def advanced(
    trainer: Trainer,
    progress: Progress,
    learnt: NDArray[np.intp],
    course: Course,
    score: Callable[[], float | None] | None = None,
) -> Progress:
    """Train on rows ``learnt`` to the last epoch, or until patience or numbers end.

    ``score`` says how good the networks are now, more is better, and None where they answer no
    numbers; those of the best epoch are kept. Without it those of the last are.
    """
    for epoch in track(
        range(progress.n_epochs, course.max_epochs),
        description=course.name,
        disable=not course.verbose,
    ):
        if course.patience is not None and epoch - 1 - progress.best_epoch >= course.patience:
            break
        shuffled = np.random.default_rng([progress.seed, 1, epoch]).permutation(learnt)
        loss = trainer.epoch(epoch, shuffled)
        found = None
        if math.isfinite(loss) and score is not None:
            found = score()
            if found is None:
                loss = math.nan
                trainer.back()
        if not math.isfinite(loss):
            _complain(course.name, epoch)
            break
        scores = progress.scores if found is None else (*progress.scores, found)
        progress = replace(progress, losses=(*progress.losses, loss), scores=scores)
        if scores and progress.best_epoch == epoch:
            progress = replace(progress, best=trainer.state()["parameters"])
        if course.checkpoint is not None:
            progress = replace(progress, state=trainer.state())
            _save(course.checkpoint, progress, course.training)
    return replace(progress, state=trainer.state())


def _complain(name: str, epoch: int) -> None:
    scaler = "scale=True" if name == "C2AE" else "a StandardScaler"
    advice = f"lower learning_rate, or bring the features to order one, as {scaler} does."
    if epoch == 0:
        raise ValueError(
            f"The training of {name} diverged in its first epoch: the objective is not finite; "
            f"{advice}"
        )
    warn_user(
        f"The training of {name} diverged in epoch {epoch + 1}: the objective is not finite. The "
        f"best epoch before it is kept; {advice}",
        ConvergenceWarning,
    )


# ---- checkpoints ------------------------------------------------------------------------------


def _save(path: str | os.PathLike[str], progress: Progress, training: Mapping[str, Any]) -> None:
    about = {
        "training": dict(training),
        "seed": progress.seed,
        "losses": progress.losses,
        "scores": progress.scores,
    }
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    arrays: dict[str, Any] = {**progress.state, "about": text}
    if progress.best is not None:
        arrays["best"] = progress.best
    with atomic(os.path.realpath(path)) as stream:  # a link stays one
        np.savez(stream, **arrays)


def _resumed(course: Course, first: NDArray[Any]) -> Progress | None:
    """Return the progress in the checkpoint, or None where there is no file yet."""
    assert course.checkpoint is not None
    path = Path(course.checkpoint)
    if not path.parent.is_dir():
        raise ValueError(
            f"checkpoint={str(path)!r} lies in a folder that does not exist; make "
            f"{str(path.parent)!r} first, or give another path."
        )
    if not path.exists():
        return None
    try:
        about, arrays = _read(path)
        theirs = dict(about["training"])
        progress = Progress(
            int(about["seed"]),
            {name: arrays[name] for name in STATE},
            tuple(map(float, about["losses"])),
            tuple(map(float, about["scores"])),
            arrays.get("best"),
        )
    except Exception as error:  # zip, .npy and JSON each have errors of their own
        raise ValueError(
            f"The checkpoint {str(path)!r} cannot be read ({error}); remove it to begin anew, or "
            "give another path."
        ) from error
    for name, value in course.training.items():
        if theirs.get(name) != value:
            raise ValueError(
                f"The checkpoint {str(path)!r} belongs to another training: there {name} is "
                f"{theirs.get(name)!r}, here {value!r}; remove it to begin anew, or give another "
                "path."
            )
    for array in arrays.values():
        if array.shape != first.shape or array.dtype != first.dtype or not np.isfinite(array).all():
            raise ValueError(
                f"The checkpoint {str(path)!r} cannot be read (its arrays are damaged); remove it "
                "to begin anew, or give another path."
            )
    return progress


def seed_of(path: str | os.PathLike[str], default: int) -> int:
    """Return the seed of a checkpoint; ``default`` where no file can be read."""
    try:
        return int(_read(Path(path))[0]["seed"])
    except Exception:
        return default


def _read(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("about").tobytes()), arrays

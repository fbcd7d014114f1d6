"""Epoch after epoch: where training begins or goes on, what is kept, and when it ends."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from compactlearn.core._progress import track
from compactlearn.core._warn import warn_user
from compactlearn.related._networks import _checkpoint as checkpoints
from compactlearn.related._networks._checkpoint import Progress
from compactlearn.related._networks._training import Trainer


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


def begun(course: Course, seed: int, first: NDArray[Any], *, seed_was_given: bool) -> Progress:
    """Where the checkpoint left off, or the very beginning, with the parameters ``first``."""
    found = None
    if course.checkpoint is not None:
        folder = Path(course.checkpoint).parent
        if not folder.is_dir():
            raise ValueError(
                f"checkpoint={str(course.checkpoint)!r} lies in a folder that does not exist; "
                f"make {str(folder)!r} first, or give another path."
            )
        checkpoints.check_place(course.checkpoint)
        found = checkpoints.load(course.checkpoint, course.training)
        if found is not None and found.n_epochs > course.max_epochs:
            raise ValueError(
                f"The checkpoint {str(course.checkpoint)!r} has {found.n_epochs} epochs, more "
                f"than max_epochs={course.max_epochs}; ask for as many, or give another path."
            )
    if found is not None:
        if seed_was_given and found.seed != seed:
            raise ValueError(
                f"The checkpoint {str(course.checkpoint)!r} belongs to a training with another "
                "seed; remove it to begin anew, or give another path."
            )
        return found
    nothing = np.zeros_like(first)
    return Progress(seed, {"parameters": first, "squares": nothing, "velocity": nothing})


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
        progress = progress.after(loss, found)
        if progress.at_its_best:
            progress = replace(progress, best=trainer.state()["parameters"])
        if course.checkpoint is not None:
            progress = replace(progress, state=trainer.state())
            checkpoints.save(course.checkpoint, progress, course.training)
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

"""Models in files that execute nothing when they are loaded: ``save``, `save_model`, `load_model`.

Which types a file may hold is a table, :mod:`compactlearn.io._types`.
"""

from __future__ import annotations

import errno
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from compactlearn.core._devices import on_host
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.core._warn import warn_user
from compactlearn.io import _model_file as model_file
from compactlearn.io._types import name_of


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, from which :func:`load_model` makes it again.

    The file holds arrays and plain values, in the safetensors format, and a digest of each of its
    bytes. It is read back before it takes its name: whatever is saved can be loaded. It appears
    whole or not at all: whatever happens meanwhile, there is the old file or the new one. Equal
    models give equal files.

    Parameters
    ----------
    model : fitted estimator
        A classifier, search or embedding of this package, or a scikit-learn ``Pipeline`` of parts
        that docs/guide/storing.md lists. Classifiers and searches have the same as a method:
        ``model.save(path)``.
    path : path
        The file; it is replaced if there is one, and keeps its permissions.

    Raises
    ------
    ModelFileError
        A ValueError, if the model has a part that is no plain value (a function, a part of
        another package), or a parameter with a value that no file may hold. It names the part,
        and the old file stays as it was.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from compactlearn import CMLLClassifier, load_model, save_model
    >>> from compactlearn.datasets import load
    >>> data = load("emotions")
    >>> model = make_pipeline(StandardScaler(), CMLLClassifier()).fit(data.X, data.Y)
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/emotions.model")
    ...     same = load_model(f"{folder}/emotions.model")
    >>> bool((same.decision_function(data.X) == model.decision_function(data.X)).all())
    True
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(
            f"save_model needs a fitted estimator as its first argument, and was given "
            f"{type(model).__name__}; pass the model, and then the path."
        )
    place = _place(path, "save_model")
    check_is_fitted(model)
    if name_of(model) is None and hasattr(model, "best_estimator_"):
        raise ModelFileError(
            f"A model file holds models of compactlearn and pipelines that end in one, and this is "
            f"a {type(model).__name__}; save its best_estimator_, which predicts the same."
        )
    if not place.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT,
            f"The model cannot be saved: the folder {str(place.parent)!r} does not exist; make it "
            "first, or give another path",
        )
    forgotten = model_file.dump(on_host(model), place, type(model).__name__, _version())
    if forgotten:
        warn_user(
            "Generators of random numbers and paths of caches and checkpoints are not stored: "
            f"{', '.join(forgotten)} will be None in the model that is loaded, which changes no "
            "prediction; pass an integer as random_state to have it kept."
        )


def load_model(
    path: str | os.PathLike[str], *, verify: bool | str = "auto", memory_map: bool | str = "auto"
) -> Any:
    """Make a model again from a file that ``save`` or :func:`save_model` has written.

    Nothing in the file is executed, and no parameter in it makes the model open or write a file,
    whoever made it. Its predictions are those of the model that was saved, to the bit.

    Parameters
    ----------
    path : path
    verify : bool or "auto", default="auto"
        Whose digests are compared. "auto": of a file of up to 64 MiB everything; of a larger one
        the header, the description, all texts and all arrays below 64 KiB, since to read everything
        would take longer than to load it. True: everything. False: as "auto" of a large file. The
        structure (lengths, shapes, the indices of sparse matrices, trees) is checked in any case.
    memory_map : bool or "auto", default="auto"
        Whether arrays stay in the file, are read when they are used, and shared by all processes
        that use it. "auto": in files above 64 MiB. Such a file must not be written to while it is
        used; ``save`` never does that, it puts a new file in place of the old one.

    Returns
    -------
    model
        Fitted. Its arrays cannot be written to; it can be fitted again as any other.

    Raises
    ------
    ModelFileError
        A ValueError, if the file is damaged, or no model file, or of a newer version.
    """
    for name, value in (("verify", verify), ("memory_map", memory_map)):
        if type(value) is not bool and value != "auto":
            raise ValueError(
                f"{name} must be True, False or 'auto', and is {value!r}; pass one of these."
            )
    place = _place(path, "load_model")
    if place.is_dir():
        raise ModelFileError(
            f"load_model reads one file, and {str(place)!r} is a folder; pass the file's path."
        )
    if not place.exists():
        raise FileNotFoundError(
            errno.ENOENT,
            f"load_model reads a file that save has written, and there is none at {str(place)!r}; "
            "see whether the path is right",
        )
    model = model_file.restore(place, verify=verify, memory_map=memory_map)
    try:
        check_is_fitted(model)
    except (TypeError, NotFittedError) as error:
        raise ModelFileError(f"{str(place)!r} holds no fitted model; save it again.") from error
    return model


def _place(path: Any, asked: str) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"{asked} needs the path of a file, and was given {type(path).__name__}; pass a str or "
            "a pathlib.Path."
        )
    return Path(path)


def _version() -> str:
    try:
        return version("compactlearn")
    except PackageNotFoundError:
        return "unknown"

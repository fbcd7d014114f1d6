"""Models in files that execute nothing when they are loaded: a description as JSON, and arrays.

Which types a file may hold is a table, :mod:`compactlearn.io._types`.
"""

from __future__ import annotations

import errno
import json
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from compactlearn.core import _tensor_file as tensor_file
from compactlearn.core._atomic import atomic
from compactlearn.core._devices import on_host
from compactlearn.core._tensor_file import ModelFileError
from compactlearn.core._warn import warn_user
from compactlearn.io._types import name_of
from compactlearn.io._values import Describer, Rebuilder, as_json

_DESCRIPTION = "description"


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to one file, which :func:`load_model` reads.

    The file holds arrays and plain values in the safetensors format, with digests. It is read back
    before it takes its name, so that whatever is saved can be loaded, and it is written completely
    or not at all: after a crash there is the old file or the new one. Equal models give equal
    files.

    Parameters
    ----------
    model : fitted estimator
        A classifier, search or embedding of this package, or a scikit-learn ``Pipeline`` of parts
        that docs/how-to/save.md lists. Classifiers and searches have the same as a method:
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
    place = _checked_path(path, "save_model")
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
    forgotten = dump(on_host(model), place, type(model).__name__)
    if forgotten:
        warn_user(
            "Generators of random numbers and paths of caches and checkpoints are not stored: "
            f"{', '.join(forgotten)} will be None in the model that is loaded, which changes no "
            "prediction; pass an integer as random_state to have it kept."
        )


def load_model(
    path: str | os.PathLike[str], *, verify: bool | str = "auto", memory_map: bool | str = "auto"
) -> Any:
    """Load a model from a file that ``save`` or :func:`save_model` has written.

    Nothing in the file is executed, and no parameter in it makes the model open or write a file, so
    it may come from an untrusted source. The predictions are bit-identical to those of the model
    that was saved.

    Parameters
    ----------
    path : path
    verify : bool or "auto", default="auto"
        Which bytes are compared with their digests. True: all. "auto": all of a file of up to
        64 MiB; of a larger one the header, the description, all texts and all arrays below 64 KiB,
        since reading everything would take longer than loading. False: as "auto" for a large file.
        The structure (lengths, shapes, indices of sparse matrices, trees) is always checked.
    memory_map : bool or "auto", default="auto"
        Whether arrays stay in the file, are read when they are used, and are shared by all
        processes that use it. "auto": for files above 64 MiB. Such a file must not be overwritten
        while it is used; ``save`` never does that, it replaces the old file by a new one.

    Returns
    -------
    model
        A fitted model with read-only arrays, which can be fitted again as any other.

    Raises
    ------
    ModelFileError
        A ValueError, if the file is damaged, not a model file, or of another format version.
    """
    for name, value in (("verify", verify), ("memory_map", memory_map)):
        if type(value) is not bool and value != "auto":
            raise ValueError(
                f"{name} must be True, False or 'auto', and is {value!r}; pass one of these."
            )
    place = _checked_path(path, "load_model")
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
    model = restore(place, verify=verify, memory_map=memory_map)
    try:
        check_is_fitted(model)
    except Exception as error:  # whatever a forged estimator raises
        raise ModelFileError(f"{str(place)!r} holds no fitted model; save it again.") from error
    return model


def _checked_path(path: Any, asked: str) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"{asked} needs the path of a file, and was given {type(path).__name__}; pass a str or "
            "a pathlib.Path."
        )
    return Path(path)


def dump(thing: Any, path: str | os.PathLike[str], name: str) -> list[str]:
    """Write a thing, called ``name`` in messages; return where values were left out.

    The new file is read back as `restore` would read it before it replaces the old one. Of a file
    above 64 MiB this maps the large arrays and does not read them, so that it takes as long as
    loading the file, and little memory.
    """

    def check(part: Path) -> None:
        try:
            _rebuilt(tensor_file.read(part, verify="auto", memory_map="auto"))
        except ModelFileError as error:
            raise ModelFileError(
                f"{name} was not saved, since the new file could not be loaded again ({error}); "
                f"{str(path)!r} is as it was before. Keep the model with skops or joblib."
            ) from error

    with atomic(os.path.realpath(path), check=check) as stream:  # a link stays one
        # What was copied to be written is not kept until the check.
        return write(stream, thing, name)


def write(stream: BinaryIO, thing: Any, name: str) -> list[str]:
    """Write a thing to a stream, without a check; return where values were left out."""
    describer = Describer()
    try:
        root = describer.value(thing, name)
    except RecursionError as error:
        raise ModelFileError(
            f"A model file cannot hold {name}: one of its lists or dictionaries is nested too "
            "deeply, or holds itself; shorten it, or leave it out."
        ) from error
    text = as_json({"things": describer.things, "root": root})
    arrays = {_DESCRIPTION: np.frombuffer(text, np.uint8), **describer.arrays}
    tensor_file.write(stream, arrays, {"library_version": library_version()})
    return describer.forgotten


def restore(
    path: str | os.PathLike[str], *, verify: bool | str = "auto", memory_map: bool | str = "auto"
) -> Any:
    """Return the thing that a file holds; whatever is wrong with it is a `ModelFileError`."""
    file = tensor_file.read(path, verify=verify, memory_map=memory_map)
    written_by = file.about.get("library_version", "unknown")
    try:
        return _rebuilt(file)
    except ModelFileError as error:
        raise ModelFileError(
            f"{os.fspath(path)!r} cannot be loaded: {error}. It was written by compactlearn "
            f"{ascii(written_by)[1:-1]:.20}; get it again from where it was made, or save the "
            "model again."
        ) from error


def _rebuilt(file: tensor_file.TensorFile) -> Any:
    try:
        rebuilder = Rebuilder(file.arrays)
        description = json.loads(file.arrays[_DESCRIPTION].tobytes())
        for part in description["things"]:
            rebuilder.add(part)
        return rebuilder.value(description["root"])
    except ModelFileError:
        raise
    except Exception as error:  # whatever a wrong description leads to, it is one
        raise ModelFileError(f"{error!r:.160}") from error


def about(path: str | os.PathLike[str]) -> dict[str, str]:
    """Return the versions of the file format and of the library that a file was written by."""
    found = tensor_file.read(path, verify="auto", memory_map="auto").about
    return {name: found[name] for name in ("format_version", "library_version") if name in found}


def library_version() -> str:
    """Return the version of this package, as it is installed."""
    try:
        return version("compactlearn")
    except PackageNotFoundError:
        return "unknown"

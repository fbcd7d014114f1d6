"""Rows for a model that is there already: its columns, in its order, with labels or without."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Dataset, Matrix
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._formats.columns import AnyLabels, KnownColumns, Labels
from compactlearn.datasets._formats.reading import WITH_COLUMNS, format_of, read
from compactlearn.datasets._parsing.unpacking import Limits

__all__ = ["ModelColumns", "TextColumns", "arranged", "read_for_model"]


@dataclass(frozen=True)
class TextColumns:
    """The columns of texts and tags that a model was fitted to.

    Parameters
    ----------
    text : str or None
        None where texts are plain lines.
    tags : str or None
    sep : str
        What stands between the tags of a cell.
    header : bool
        Whether the columns have names; without them they are called "0", "1" and so on.
    """

    text: str | None
    tags: str | None = None
    sep: str = ";"
    header: bool = True


@dataclass(frozen=True)
class ModelColumns:
    """What a model was fitted to.

    Parameters
    ----------
    n_features, n_labels : int
    features, labels : tuple of str or None
        Their names, where they have any.
    header : bool
        Whether tables of text have a line of names.
    """

    n_features: int
    n_labels: int
    features: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    header: bool = True


def read_for_model(
    path: str | os.PathLike[str],
    columns: ModelColumns,
    labels: Labels = None,
    *,
    with_labels: bool,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> tuple[Matrix, Matrix | None]:
    """Read the rows of a file as a model needs them.

    A table with names may have its columns in any order, and columns that the model does not know;
    it needs no labels unless `with_labels` asks for them.

    Parameters
    ----------
    path : str or path
        A file of any format of `read`.
    columns : ModelColumns
        What the model was fitted to.
    labels : path, str, list of str, int or None
        Which columns are labels, as in `read`. None: those with the names of the model's labels.
    with_labels : bool
        Whether labels are needed too.
    format, limits, **options
        As in `read`.

    Returns
    -------
    X : ndarray or csr_array of shape (n_samples, n_features)
    Y : ndarray or csr_array of shape (n_samples, n_labels), or None
        None unless `with_labels`.

    Raises
    ------
    DataFileError
        A ValueError that names the file and the reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> films = ModelColumns(2, 2, ("minutes", "year"), ("funny", "sad"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "new.csv")
    ...     _ = path.write_text("title,year,minutes\\nUp,2009,96\\nHeat,1995,170\\n")
    ...     read_for_model(path, films, with_labels=False)
    (array([[ 96., 2009.], [ 170., 1995.]]), None)
    """
    chosen = format or format_of(path, limits)
    said: AnyLabels = labels
    if labels is None and chosen in WITH_COLUMNS:
        said = KnownColumns(columns.features, columns.labels or ())
    elif chosen in ("xmlrepo", "libsvm"):
        options = {"n_features": columns.n_features, **options}
        if chosen == "libsvm" and columns.labels is not None:
            options = {"label_names": columns.labels, **options}
        else:
            options = {"n_labels": columns.n_labels, **options}
    found = read(path, said, format=chosen, limits=limits, **options)
    return arranged(found, columns, with_labels=with_labels)


def arranged(
    found: Dataset, columns: ModelColumns, *, with_labels: bool
) -> tuple[Matrix, Matrix | None]:
    """The columns that a model knows, in its order, from a data set that may have others.

    Parameters
    ----------
    found : Dataset
        Its `source` is what messages name.
    columns : ModelColumns
    with_labels : bool
        Whether labels are needed too.

    Raises
    ------
    DataFileError
        If a column is missing.
    """
    X = _taken(found.X, found.feature_names, columns.features, found.source, "feature")
    if X.shape[1] != columns.n_features:
        raise DataFileError(
            found.source,
            f"the model was fitted to {columns.n_features} features, but the file has "
            f"{X.shape[1]}. Give it rows with the columns that it was fitted to, in their order.",
        )
    if not with_labels:
        return X, None
    Y = _taken(found.Y, found.label_names, columns.labels, found.source, "label")
    if Y.shape[1] != columns.n_labels:
        raise DataFileError(
            found.source,
            f"the model knows {columns.n_labels} labels, but the file has {Y.shape[1]}. Give it "
            "rows with the labels that it was fitted to, in their order; where the file does not "
            "say which columns these are, pass labels (--labels on the command line).",
        )
    return X, Y


def _taken(
    matrix: Matrix,
    names: Sequence[str] | None,
    wanted: Sequence[str] | None,
    source: str,
    what: str,
) -> Matrix:
    """The columns by their names; as they are, where one side has none."""
    if names is None or wanted is None or tuple(names) == tuple(wanted):
        return matrix
    place = {name: column for column, name in enumerate(names)}
    repeated = len(place) < len(names) or len(set(wanted)) < len(wanted)
    # Of a column with several values, those that do not occur in this file are columns of zeros.
    several = {name.rpartition("=")[0] for name in names if "=" in name}
    missing = [
        name for name in wanted if name not in place and name.rpartition("=")[0] not in several
    ]
    if missing:
        raise DataFileError(
            source,
            f"the model needs a column for each {what} that it was fitted to, but the file has "
            f"none called {short(', '.join(map(repr, missing)))}. Give it a table with that name.",
        )
    if repeated:
        raise DataFileError(
            source,
            f"columns are found by their names, but several {what}s have the same one. Give the "
            "model a table with its columns in the order that it was fitted to.",
        )
    columns = np.array([place.get(name, len(names)) for name in wanted], dtype=np.intp)
    if (columns == len(names)).any():
        nothing = sparse.csr_array((matrix.shape[0], 1), dtype=matrix.dtype)
        matrix = sparse.csr_array(sparse.hstack([sparse.csr_array(matrix), nothing], format="csr"))
    return matrix[:, columns]

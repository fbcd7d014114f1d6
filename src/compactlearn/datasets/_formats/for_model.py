"""Rows for a fitted model: its columns, in its order, with labels or without."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compactlearn.datasets._dataset import DataFileError, Dataset, Matrix, short
from compactlearn.datasets._formats.columns import AnyLabels, KnownColumns, Labels
from compactlearn.datasets._formats.reading import WITH_COLUMNS, format_of, read
from compactlearn.datasets._parsing.lines import Limits


@dataclass(frozen=True)
class TextColumns:
    """The columns of texts and tags that a model was fitted to.

    Parameters
    ----------
    text : str, tuple of str, or None
        A tuple where texts have several fields, None where they are plain lines.
    tags : str or None
    sep : str
        Separator between the tags of a cell.
    header : bool
        Whether the columns have names; without them they are called "0", "1" and so on.
    """

    text: str | tuple[str, ...] | None
    tags: str | None = None
    sep: str = ";"
    header: bool = True


@dataclass(frozen=True)
class ModelColumns:
    """The columns of features and labels that a model was fitted to.

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
        Columns that the model was fitted to.
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
    label_columns: AnyLabels = labels
    if chosen not in WITH_COLUMNS:
        options = {"n_features": columns.n_features, "n_labels": columns.n_labels, **options}
    elif labels is None:
        label_columns = KnownColumns(columns.features, columns.labels or ())
    found = read(path, label_columns, format=chosen, limits=limits, **options)
    return arranged(found, columns, with_labels=with_labels)


def arranged(
    found: Dataset, columns: ModelColumns, *, with_labels: bool
) -> tuple[Matrix, Matrix | None]:
    """Return the columns that a model knows, in its order, from a data set that may have others.

    Parameters
    ----------
    found : Dataset
        Messages name its `source`.
    columns : ModelColumns
    with_labels : bool
        Whether labels are needed too.

    Raises
    ------
    DataFileError
        If a column is missing.
    """
    names, wanted = found.feature_names, columns.features
    X = _ordered(found.X, names, wanted, columns.n_features, found.source, "feature")
    if not with_labels:
        return X, None
    names, wanted = found.label_names, columns.labels
    return X, _ordered(found.Y, names, wanted, columns.n_labels, found.source, "label")


def _ordered(
    matrix: Matrix,
    names: Sequence[str] | None,
    wanted: Sequence[str] | None,
    count: int,
    source: str,
    what: str,
) -> Matrix:
    """Return the columns by their names; as they are, where one side has none."""
    if names is None or wanted is None or tuple(names) == tuple(wanted):
        if matrix.shape[1] == count:
            return matrix
        raise DataFileError(
            source,
            f"the model was fitted to {count} {what}s, but the file has {matrix.shape[1]}. Give it "
            f"rows with the {what}s that it was fitted to, in their order; where the file does not "
            "say which columns are labels, pass labels (--labels on the command line).",
        )
    place = {name: column for column, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise DataFileError(
            source,
            f"the model needs a column for each {what} that it was fitted to, but the file has "
            f"none called {short(', '.join(map(repr, missing)))}. Give it a table with that name.",
        )
    if len(place) < len(names) or len(set(wanted)) < len(wanted):
        raise DataFileError(
            source,
            f"columns are found by their names, but several {what}s have the same one. Give the "
            "model a table with its columns in the order that it was fitted to.",
        )
    return matrix[:, [place[name] for name in wanted]]

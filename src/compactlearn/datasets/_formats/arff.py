"""Attribute-Relation File Format, as Weka, Mulan and MEKA have it, and Mulan's XML beside it."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._atomic import atomic
from compactlearn.datasets._dataset import Dataset, Matrix
from compactlearn.datasets._errors import DataFileError, short
from compactlearn.datasets._formats.arff_text import (
    MOST_FILLED,
    Attribute,
    Header,
    line_of,
    parse_header,
    quote,
    read_rows,
    unescape,
)
from compactlearn.datasets._formats.columns import (
    AnyLabels,
    split_columns,
    writable,
    write_label_names,
)
from compactlearn.datasets._formats.index_value import number, row_of
from compactlearn.datasets._parsing.assemble import (
    LabelledPart,
    LabelledRows,
    parts_of,
    stem,
    whole,
)
from compactlearn.datasets._parsing.unpacking import Limits, Lines

__all__ = ["arff_parts", "read_arff", "write_arff"]

_PLAIN = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # rows, columns, values
_LONGER = 64
_MEKA_COUNT = re.compile(r"-C\s+(-?\d{1,9})(?!\d)")


def read_arff(
    path: str | os.PathLike[str],
    labels: AnyLabels = None,
    *,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
) -> Dataset:
    """Read a multi-label ARFF file, plain or compressed (xz, bz2, gzip), dense or sparse.

    Numbers are taken as they are. A nominal attribute becomes

    * its values, if all of them are numbers ({0,1} is 0 and 1);
    * 0 and 1, if it has two values: "yes", "true", "y", "t" and "on" are 1 against their
      opposites, otherwise the value declared second is 1;
    * one 0/1 column per value, named "attribute=value", if it has more.

    Attributes of type string, date and relational cannot become numbers; name them in `ignore`.
    A value left out of a sparse row is 0, and for a nominal attribute the value declared first, as
    in Weka. A question mark becomes NaN in X and is refused in Y. In names the backslashes of ARFF
    escapes are removed.

    Parameters
    ----------
    path : str or path
        The ARFF file.
    labels : path, str, list of str, int or None
        Which attributes are labels: the path of a Mulan XML file (as a string it ends in .xml),
        the prefix of their names, their names, or their number n: the first n attributes if
        n > 0, the last -n if n < 0. None trusts MEKA's "-C n" in the relation's name, otherwise
        the XML file of the same name beside the file. Labels keep the order of their columns.
    ignore : list of str
        Names of attributes to leave out, identifiers of the rows for instance.
    limits : Limits, optional
        How far a compressed file may expand.

    Returns
    -------
    Dataset
        X is a csr_array if fewer than a quarter of its values are non-zero, otherwise an ndarray;
        Y is a csr_array.

    Raises
    ------
    DataFileError
        A ValueError that names the file, and the line where a line is at fault.
    FileNotFoundError, TypeError

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "films.arff")
    >>> _ = path.write_text('''@relation 'films: -C 2'
    ... @attribute funny {0,1}
    ... @attribute sad {0,1}
    ... @attribute minutes numeric
    ... @attribute colour {no,yes}
    ... @data
    ... 1,0,96,yes
    ... {1 1,2 121}
    ... ''')
    >>> films = read_arff(path)
    >>> films.feature_names, films.X
    (('minutes', 'colour'), array([[ 96., 1.], [121., 0.]]))
    >>> films.label_names, films.Y.toarray()
    (('funny', 'sad'), array([[1, 0], [0, 1]]))
    >>> folder.cleanup()
    """
    return whole(path, arff_parts(path, None, labels, ignore=ignore, limits=limits))


def arff_parts(
    path: str | os.PathLike[str],
    size: int | None,
    labels: AnyLabels = None,
    *,
    ignore: Sequence[str] = (),
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """Yield ``size`` rows at a time or somewhat more, or all of them (None)."""
    with Lines(path, limits) as lines:
        header = parse_header(lines)
        if labels is None:
            labels = _labels_beside(header)
        feature_columns, label_columns = split_columns(
            header.path, header.names, labels, ignore, unescape=unescape
        )
        _check_kinds(header, [*feature_columns, *label_columns])
        ignored = np.ones(len(header.attributes), dtype=bool)
        ignored[feature_columns] = ignored[label_columns] = False
        attributes = [header.attributes[column] for column in feature_columns]
        expand = any(attribute.is_one_hot for attribute in attributes)
        table = LabelledRows(
            header.path,
            header.names,
            feature_columns,
            label_columns,
            expand=_OneHot(header, attributes) if expand else None,
            feature_names=_names(header, attributes),
        )
        rows = read_rows(header, lines, ignored)
        blocks = ((values, partial(line_of, block)) for values, block in rows)
        yield from parts_of(table, blocks, size)


def _check_kinds(header: Header, columns: Iterable[int]) -> None:
    for column in columns:
        attribute = header.attributes[column]
        if attribute.kind not in ("numeric", "nominal"):
            raise DataFileError(
                header.path,
                "an attribute must be numeric or nominal to become a number, but "
                f"{attribute.name!r} is of type {short(attribute.kind)!r}; leave it out with "
                f"ignore=[{attribute.name!r}] (--ignore {shlex.quote(attribute.name)} on the "
                "command line).",
            )


def _labels_beside(header: Header) -> int | Path:
    """What the file says of its labels: in the relation's name, or in an XML file beside it."""
    found = _MEKA_COUNT.search(header.relation)
    # Weka appends what it did to the relation's name. Columns were moved or removed then, and
    # the count in front no longer tells where the labels are.
    filtered = found is not None and "weka.filters" in header.relation[found.end() :]
    if found is not None and not filtered:
        return int(found[1])
    beside = header.path.with_name(stem(header.path) + ".xml")
    if beside.is_file():
        return beside
    advice = "pass labels (--labels): a Mulan XML file, a list of names, or a count"
    if found is not None:
        raise DataFileError(
            header.path,
            f"the relation's name says {found[0]!r}, but also that the columns were filtered "
            f"since, so it cannot be trusted to tell the labels; {advice}.",
        )
    raise DataFileError(
        header.path,
        "without labels=..., the relation's name must say by MEKA's '-C n' which columns are "
        f"labels, but it is {short(header.relation)!r}; {advice}.",
    )


def _names(header: Header, attributes: Sequence[Attribute]) -> list[str]:
    """One per column of X. The name of a one-hot attribute is repeated for each of its values."""
    declared = sum(len(a.name) + sum(map(len, a.values)) for a in attributes)
    repeated = sum(len(a.name) * len(a.values) for a in attributes if a.is_one_hot)
    if repeated > MOST_FILLED + _LONGER * declared:
        longest = max(attributes, key=lambda a: len(a.name) * len(a.values))
        raise DataFileError(
            header.path,
            f"the names of its columns may be {_LONGER} times as long as its declarations, but "
            f"{short(longest.name)!r}, a name of {len(longest.name)} characters, would be repeated "
            f"for each of its {len(longest.values)} values; shorten it.",
        )
    return [
        name
        for a in attributes
        for name in ([f"{a.name}={value}" for value in a.values] if a.is_one_hot else [a.name])
    ]


class _OneHot:
    """Positions of values become ones in columns of their own; only the ones are stored."""

    def __init__(self, header: Header, attributes: Sequence[Attribute]) -> None:
        self._path = header.path
        self._hot = np.array([attribute.is_one_hot for attribute in attributes])
        self._width = np.array([len(a.values) if a.is_one_hot else 1 for a in attributes])
        self._first = np.cumsum(self._width) - self._width

    def __call__(self, X: Matrix) -> sparse.csr_array:
        entries = sparse.coo_array(X)
        row, column, value = entries.row, entries.col, entries.data
        hot = self._hot[column]
        missing = hot & np.isnan(value)
        there = ~missing
        column_of = self._first[column] + np.where(hot & there, value, 0).astype(np.int64)
        self._check(X.shape[0], int(np.count_nonzero(hot)), self._width[column[missing]])
        parts = [
            (row[there], column_of[there], np.where(hot, 1.0, value)[there]),
            self._declared_first(X.shape[0], row[hot], column[hot]),
            self._missing(row[missing], column[missing]),
        ]
        rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        shape = (X.shape[0], int(self._width.sum()))
        return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=shape))

    def _check(self, n_rows: int, n_told: int, missing: np.ndarray) -> None:
        """Refuse a block that says without words far more than its text does."""
        n_missing = int(missing.sum())
        n_first = n_rows * int(np.count_nonzero(self._hot)) - n_told
        if n_first + n_missing > MOST_FILLED:
            raise DataFileError(
                self._path,
                f"values of attributes with more than two values may fill {MOST_FILLED} places for "
                f"each block of rows, but here {n_missing} are filled by missing values, which "
                f"fill a place for each value declared, and {n_first} by values declared first; "
                "leave such attributes out with ignore (--ignore on the command line).",
            )

    def _declared_first(self, n_rows: int, row: np.ndarray, column: np.ndarray) -> _Entries:
        """The value in position 0 is a zero, which nothing stores: a one where nothing is told."""
        place = np.cumsum(self._hot) - 1
        told = np.zeros((n_rows, np.count_nonzero(self._hot)), dtype=bool)
        told[row, place[column]] = True
        rows, places = np.nonzero(~told)
        return rows, self._first[self._hot][places], np.ones(len(rows))

    def _missing(self, row: np.ndarray, column: np.ndarray) -> _Entries:
        """NaN in every column of the attribute."""
        width = self._width[column]
        start = np.cumsum(width) - width
        within = np.arange(width.sum()) - np.repeat(start, width)
        columns = np.repeat(self._first[column], width) + within
        return np.repeat(row, width), columns, np.full(len(columns), np.nan)


def write_arff(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write an ARFF file and its Mulan XML file, each whole or not at all.

    Features come first, as numeric attributes, labels last, as {0,1}. The relation's name says so
    in MEKA's way ("-C -n"), and the names of the labels stand in "<path without .arff>.xml". Rows
    are sparse where X is. Columns without names are called x0, x1, ... and y0, y1, ... A NaN is
    written as a question mark; numbers are written so that they are read back bit by bit.

    Parameters
    ----------
    dataset : Dataset
        What is to be written.
    path : str or path
        The file; one of that name is replaced.

    Raises
    ------
    ValueError
        If a name holds control characters, or X an infinite value.
    """
    path = Path(path)
    features = dataset.feature_names or tuple(f"x{j}" for j in range(dataset.n_features))
    labels = dataset.label_names or tuple(f"y{j}" for j in range(dataset.n_labels))
    data = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
    if np.isinf(data).any():
        raise ValueError(
            f"ARFF has no word for infinity, but X of {dataset.name!r} holds it; replace it first."
        )
    # A name that looks like the option would be taken for it.
    name = writable(dataset.name).replace("-C", "-c")
    relation = quote(f"{name}: -C -{dataset.n_labels}")
    head = [f"@relation {relation}", ""]
    head += [f"@attribute {_quoted(name)} numeric" for name in features]
    head += [f"@attribute {_quoted(name)} {{0,1}}" for name in labels]
    head += ["", "@data", ""]
    write_label_names(labels, path.with_name(stem(path) + ".xml"))
    with atomic(path) as stream:
        stream.write("\n".join(head).encode())
        for row in _sparse_rows(dataset) if sparse.issparse(dataset.X) else _dense_rows(dataset):
            stream.write(row.encode() + b"\n")


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quote(writable(name))


def _dense_rows(dataset: Dataset) -> Iterator[str]:
    for row in range(dataset.n_samples):
        labels = dataset.Y[[row]]
        labels = labels.toarray() if sparse.issparse(labels) else labels
        values = [*dataset.X[row].tolist(), *labels.ravel().tolist()]
        yield ",".join(_cell(value) for value in values)


def _sparse_rows(dataset: Dataset) -> Iterator[str]:
    X, Y = sparse.csr_array(dataset.X), sparse.csr_array(dataset.Y)
    n_features = X.shape[1]
    for row in range(X.shape[0]):
        labels = [(n_features + column, value) for column, value in row_of(Y, row)]
        cells = sorted([*row_of(X, row), *labels])
        yield "{" + ",".join(f"{column} {_cell(value)}" for column, value in cells if value) + "}"


def _cell(value: float) -> str:
    return "?" if value != value else number(value)

"""Attribute-Relation File Format, as Weka, Mulan and MEKA write it, into (X, Y)."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core.params import nearest
from compactlearn.datasets.arff_header import Attribute, Header, parse_header, short, unescape
from compactlearn.datasets.arff_rows import read_rows
from compactlearn.datasets.dataset import Dataset, Matrix
from compactlearn.datasets.files import read_bytes, read_label_names

__all__ = ["read_arff"]

# Below this share of non-zero values the features are kept sparse.
_SPARSE_BELOW = 0.25
_MEKA_COUNT = re.compile(r"-C\s+(-?\d+)")


def read_arff(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | int | Sequence[str] | None = None,
    *,
    ignore: Sequence[str] = (),
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
    path : path of the ARFF file
    labels : path, list of str, int or None
        Which attributes are labels: the path of a Mulan XML file, their names, or their number n:
        the first n attributes if n > 0, the last -n if n < 0. None trusts MEKA's "-C n" in the
        relation's name. Labels keep the order of their columns in the file.
    ignore : list of str
        Names of attributes to leave out, identifiers of the rows for instance.

    Returns
    -------
    Dataset
        X is a csr_array if fewer than a quarter of its values are non-zero, otherwise an ndarray;
        Y is a csr_array.

    Raises
    ------
    FileNotFoundError, ValueError, TypeError
        In a sentence that names the file, and the line where a line is at fault.

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
    path = Path(path)
    lines = _text(path).split("\n")
    header = parse_header(path, lines)
    is_label = np.zeros(len(header.attributes), dtype=bool)
    is_label[_label_columns(header, labels)] = True
    ignored = np.zeros_like(is_label)
    ignored[_columns_of(header, ignore, "ignore")] = True
    feature_columns = np.flatnonzero(~is_label & ~ignored)
    label_columns = np.flatnonzero(is_label & ~ignored)
    _check_kinds(header, [*feature_columns, *label_columns])

    values = read_rows(header, lines[header.first_line - 1 :], ignored)
    X, feature_names = _features(header, values, feature_columns)
    return Dataset(
        X=X,
        Y=_labels(header, values, label_columns),
        feature_names=tuple(feature_names),
        label_names=tuple(header.attributes[j].name for j in label_columns),
        name=path.name.partition(".arff")[0],
        source=str(path),
    )


def _text(path: Path) -> str:
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _check_kinds(header: Header, columns: Iterable[int]) -> None:
    for column in columns:
        attribute = header.attributes[column]
        if attribute.kind not in ("numeric", "nominal"):
            raise ValueError(
                f"{header.path}: an attribute must be numeric or nominal to become a number, but "
                f"{attribute.name!r} is of type {attribute.kind!r}; leave it out with "
                f"ignore=[{attribute.name!r}]."
            )


def _label_columns(
    header: Header, labels: str | os.PathLike[str] | int | Sequence[str] | None
) -> list[int]:
    if labels is None:
        labels = _meka_count(header)
    if isinstance(labels, int | np.integer) and not isinstance(labels, bool):
        return _counted_columns(header, int(labels))
    if isinstance(labels, str | os.PathLike):
        names = [unescape(name) for name in read_label_names(labels)]
        return _columns_of(header, names, f"labels={os.fspath(labels)!r}")
    if isinstance(labels, Iterable) and not isinstance(labels, bytes):
        names = list(labels)
        if names and all(isinstance(name, str) for name in names):
            return _columns_of(header, names, "labels")
    raise TypeError(
        "labels must be the path of a Mulan XML file, a list of label names, a count (n > 0 the "
        f"first n columns, n < 0 the last), or None; got {labels!r}. Pass one of these."
    )


def _counted_columns(header: Header, count: int) -> list[int]:
    total = len(header.attributes)
    if not 0 < abs(count) < total:
        raise ValueError(
            f"{header.path}: as a count, labels must be between 1 and {total - 1} (from the "
            f"front) or between -{total - 1} and -1 (from the end), since the file has {total} "
            f"columns; got {count}. Pass the number of label columns."
        )
    return list(range(count) if count > 0 else range(total + count, total))


def _meka_count(header: Header) -> int:
    advice = "pass labels: a Mulan XML file, a list of names, or a count"
    found = _MEKA_COUNT.search(header.relation)
    if found is None:
        raise ValueError(
            f"{header.path}: without labels=..., the relation's name must say by MEKA's '-C n' "
            f"which columns are labels, but it is {short(header.relation)!r}; {advice}."
        )
    # Weka appends what it did to the relation's name. Columns were moved or removed then, and
    # the count in front no longer tells where the labels are.
    if "weka.filters" in header.relation[found.end() :]:
        raise ValueError(
            f"{header.path}: the relation's name says {found[0]!r}, but also that the columns "
            f"were filtered since, so it cannot be trusted to tell the labels; {advice}."
        )
    return int(found[1])


def _columns_of(header: Header, names: Sequence[str], asked_by: str) -> list[int]:
    if isinstance(names, str):
        raise TypeError(
            f"{asked_by} must be a list of attribute names, got the string {names!r}; pass "
            f"[{names!r}]."
        )
    columns = []
    for name in names:
        found = header.columns.get(name, [])
        if len(found) != 1:
            fault = f"{len(found)} attributes have" if found else "no attribute has"
            raise ValueError(
                f"{header.path}: each name in {asked_by} must be that of exactly one attribute, "
                f"but {fault} the name {name!r}; correct it, or go by position (a count)."
                f"{'' if found else nearest(name, header.columns)}"
            )
        columns += found
    return columns


def _features(header: Header, values: Matrix, columns: np.ndarray) -> tuple[Matrix, list[str]]:
    attributes = [header.attributes[column] for column in columns]
    X, names = _take(values, columns), [attribute.name for attribute in attributes]
    if any(attribute.is_one_hot for attribute in attributes):
        X, names = _one_hot(sparse.csc_array(X), attributes)
    n_values = max(1, X.shape[0] * X.shape[1])
    n_nonzero = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    if n_nonzero < _SPARSE_BELOW * n_values:
        return _clean_csr(X), names
    return X.toarray() if sparse.issparse(X) else X, names


def _one_hot(
    X: sparse.csc_array, attributes: list[Attribute]
) -> tuple[sparse.csr_array, list[str]]:
    blocks, names = [], []
    for column, attribute in enumerate(attributes):
        block = X[:, [column]]
        if attribute.is_one_hot:
            position = block.toarray()
            indicator = (position == np.arange(len(attribute.values))).astype(float)
            indicator[np.isnan(position[:, 0])] = np.nan
            block = sparse.csc_array(indicator)
            names += [f"{attribute.name}={value}" for value in attribute.values]
        else:
            names.append(attribute.name)
        blocks.append(block)
    return sparse.csr_array(sparse.hstack(blocks, format="csr")), names


def _labels(header: Header, values: Matrix, columns: np.ndarray) -> sparse.csr_array:
    Y = _clean_csr(_take(values, columns))
    wrong = np.flatnonzero(Y.data != 1)
    if wrong.size:
        value, column = Y.data[wrong[0]], columns[Y.indices[wrong[0]]]
        given = "a missing value" if np.isnan(value) else f"{value:g}"
        raise ValueError(
            f"{header.path}: a label must be 0 or 1 in every row, but "
            f"{header.attributes[column].name!r} holds {given}; check which columns are labels."
        )
    return Y.astype(np.int64)


def _take(values: Matrix, columns: np.ndarray) -> Matrix:
    if sparse.issparse(values):
        return sparse.csr_array(sparse.csc_array(values)[:, columns])
    return np.ascontiguousarray(values[:, columns])


def _clean_csr(matrix: Matrix) -> sparse.csr_array:
    clean = sparse.csr_array(matrix)
    clean.eliminate_zeros()
    clean.sort_indices()
    return clean

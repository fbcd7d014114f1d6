"""The second half of an ARFF file: its rows, as one matrix with a column per attribute.

There are two routes with one meaning. Where every value is a number, NumPy parses all rows at
once; if it stumbles over anything, the rows are read again one by one, which knows quotes,
comments, missing and nominal values, and which alone words the complaint about a broken line.
"""

import numpy as np
from scipy import sparse

from compactlearn.datasets.arff_header import Header, short, split_cells, strip_comment, unquote
from compactlearn.datasets.dataset import Matrix

__all__ = ["read_rows"]


def read_rows(header: Header, lines: list[str], ignored: np.ndarray) -> Matrix:
    """The rows as numbers; one-hot attributes still as the position of their value.

    Parameters
    ----------
    header : Header
    lines : list of str
        Those after @data.
    ignored : ndarray of bool, one per attribute
        Columns whose content is never looked at; in the result they mean nothing.

    Returns
    -------
    ndarray or csr_array of shape (n_rows, n_attributes)

    Raises
    ------
    ValueError
        Naming file, line, and what is wrong with it.
    """
    values = _all_at_once(header, lines, ignored)
    return _one_by_one(header, lines, ignored) if values is None else values


# ------------------------------------------------------------------------------ all at once


def _all_at_once(header: Header, lines: list[str], ignored: np.ndarray) -> Matrix | None:
    """What NumPy makes of the rows, or None where it cannot vouch for it."""
    attributes = header.attributes
    if not all(a.is_plain for a, skip in zip(attributes, ignored, strict=True) if not skip):
        return None
    rows = [text for line in lines if (text := line.strip()) and not text.startswith("%")]
    n_sparse = sum(row[0] == "{" for row in rows)
    try:
        if rows and n_sparse == len(rows):
            return _sparse_block(header, rows, ignored)
        if rows and n_sparse == 0:
            return _dense_block(header, rows, ignored)
    except ValueError:  # a word that is no number, or rows of different lengths
        return None
    return None


def _dense_block(header: Header, rows: list[str], ignored: np.ndarray) -> np.ndarray | None:
    values = np.loadtxt(rows, delimiter=",", comments=None, ndmin=2)
    if values.shape[1] != len(header.attributes) or not np.isfinite(values).all():
        return None
    for columns, allowed in _nominal_groups(header, ignored):
        if not np.isin(values[:, columns], allowed).all():
            return None
    return values


def _sparse_block(header: Header, rows: list[str], ignored: np.ndarray) -> sparse.csr_array | None:
    n_columns = len(header.attributes)
    if not all(row[-1] == "}" for row in rows):
        return None
    inner = [row[1:-1].strip() for row in rows]
    lengths = [text.count(",") + 1 if text else 0 for text in inner]
    # NumPy insists on the same number of words in every pair, and skips empty ones.
    pairs = ",".join(text for text in inner if text).split(",") if any(lengths) else []
    table = np.loadtxt(pairs, comments=None, ndmin=2) if pairs else np.empty((0, 2))
    if table.shape != (sum(lengths), 2) or not np.isfinite(table).all():
        return None
    index, data = table.T.copy()
    if not ((index >= 0) & (index < n_columns) & (index == np.floor(index))).all():
        return None
    columns = index.astype(np.int32)
    for group, allowed in _nominal_groups(header, ignored):
        in_group = np.zeros(n_columns, dtype=bool)
        in_group[group] = True
        # The first declared value is what Weka means by a value left out.
        if allowed[0] != 0 or not np.isin(data[in_group[columns]], allowed).all():
            return None
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    values = sparse.csr_array((data, columns, ends), shape=(len(rows), n_columns))
    values.sort_indices()
    return values if values.has_canonical_format else None  # else a column is given twice


def _nominal_groups(header: Header, ignored: np.ndarray) -> list[tuple[list[int], list[float]]]:
    """Columns with the same declared values, and these values in their order."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for column, attribute in enumerate(header.attributes):
        if attribute.values and not ignored[column]:
            groups.setdefault(attribute.values, []).append(column)
    return [
        (columns, list(header.attributes[columns[0]].numbers.values()))
        for columns in groups.values()
    ]


# ------------------------------------------------------------------------------ one by one


def _one_by_one(header: Header, lines: list[str], ignored: np.ndarray) -> sparse.csr_array:
    columns: list[int] = []
    data: list[float] = []
    ends = [0]
    for number, line in enumerate(lines, start=header.first_line):
        text = strip_comment(line)
        if not text:
            continue
        try:
            for column, value in enumerate(_row(header, text, ignored)):
                if value != 0:
                    columns.append(column)
                    data.append(value)
        except ValueError as error:
            raise ValueError(
                f"{header.path}, line {number}: {error}. Correct that line of the file."
            ) from error
        ends.append(len(columns))
    parts = (np.array(data, float), np.array(columns, np.int32), np.array(ends, np.int32))
    return sparse.csr_array(parts, shape=(len(ends) - 1, len(header.attributes)))


def _row(header: Header, text: str, ignored: np.ndarray) -> list[float]:
    attributes = header.attributes
    if text.startswith("{"):
        row = [0.0 if skip else a.left_out for a, skip in zip(attributes, ignored, strict=True)]
        for column, cell in _sparse_cells(text, len(attributes)).items():
            row[column] = 0.0 if ignored[column] else attributes[column].number(cell)
        return row
    cells = split_cells(text)
    if len(cells) != len(attributes):
        raise ValueError(
            f"a row must hold {len(attributes)} values, one per attribute, got {len(cells)}"
        )
    return [
        0.0 if skip else attribute.number(cell)
        for attribute, cell, skip in zip(attributes, cells, ignored, strict=True)
    ]


def _sparse_cells(text: str, n_columns: int) -> dict[int, str]:
    if not text.endswith("}"):
        raise ValueError(f"a sparse row must end with a brace, got {short(text[-20:])!r}")
    cells: dict[int, str] = {}
    inner = text[1:-1].strip()
    for pair in split_cells(inner, raw=True) if inner else []:
        words = pair.split(None, 1)
        if len(words) != 2 or not words[0].isdecimal():
            raise ValueError(f"a sparse row holds pairs 'index value', got {short(pair)!r}")
        column = int(words[0])
        if column >= n_columns or column in cells:
            fault = "is given twice" if column in cells else "is out of range"
            raise ValueError(
                f"an index in a sparse row must lie between 0 and {n_columns - 1} and occur once, "
                f"but {column} {fault}"
            )
        cells[column] = unquote(words[1])
    return cells

"""LIBSVM's text format with several labels per row."""

import os
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._errors import DataFileError
from compactlearn.datasets._formats.xmlrepo import known_columns, pairs_dataset
from compactlearn.datasets._parsing.assemble import LabelledPart
from compactlearn.datasets._parsing.index_value_rows import PairReader, UnknownLabel
from compactlearn.datasets._parsing.unpacking import Limits, Lines

__all__ = ["libsvm_parts", "read_libsvm"]


def read_libsvm(
    path: str | os.PathLike[str],
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read a multi-label LIBSVM (svmlight) file, plain or compressed.

    A row is "label,label index:value index:value"; "#" begins a remark, and a row that starts
    with a blank, or at once with a pair, has no label. Labels that are all whole numbers are
    columns of Y as they stand, from 0 to the largest. Otherwise all are names, and the columns
    of Y are these in alphabetical order.

    Parameters
    ----------
    path : str or path
        The file.
    zero_based : bool
        Whether features are counted from 0. LIBSVM counts them from 1.
    n_features : int, optional
        By default the largest index decides.
    n_labels : int, optional
        The number of labels where they are whole numbers; by default the largest decides.
    label_names : list of str, optional
        The names that may occur, in the order of the columns they get.
    limits : Limits, optional
        How far a compressed file may expand.

    Raises
    ------
    DataFileError
        A ValueError that names the file, the line and the reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "toy.svm")
    ...     _ = path.write_text("sad,funny 1:0.5 2:2\\nsad 1:1\\n")
    ...     data = read_libsvm(path)
    >>> data.label_names, data.Y.toarray(), data.X
    (('funny', 'sad'), array([[1, 1], [0, 1]]), array([[0.5, 2. ], [1. , 0. ]]))
    """
    if label_names is None:
        try:
            rows = _read(path, zero_based, n_features, n_labels, None, limits)
        except DataFileError as error:
            if not isinstance(error.__cause__, UnknownLabel):
                raise
        else:
            return pairs_dataset(rows, rows.X.csr(), rows.Y.csr(np.int64))
    known = {name: column for column, name in enumerate(label_names or ())}
    rows = _read(path, zero_based, n_features, None, known, limits)
    if label_names is not None and len(known) > len(label_names):
        raise DataFileError(
            rows.lines.path,
            f"label_names must hold every label of the file, but {list(known)[-1]!r} is not among "
            "them. Add it.",
        )
    names = list(known) if label_names is not None else sorted(known)
    Y = rows.Y.csr(np.int64)
    Y.resize(Y.shape[0], len(names))
    Y = sparse.csr_array(Y[:, [known[name] for name in names]])
    Y.sort_indices()
    return pairs_dataset(rows, rows.X.csr(), Y, names)


def libsvm_parts(
    path: str | os.PathLike[str],
    size: int,
    *,
    zero_based: bool = False,
    n_features: int | None = None,
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
    limits: Limits | None = None,
) -> Iterator[LabelledPart]:
    """The same some rows at a time; the numbers of columns, or names of labels, must be given."""
    named = None if label_names is None else {name: j for j, name in enumerate(label_names)}
    with Lines(path, limits) as lines:
        n_labels = n_labels if named is None else len(named)
        rows = _reader(lines, zero_based, n_features, n_labels, named)
        shape = known_columns(rows)
        for more in chain((True for _ in rows.steps()), [False]):
            if named is not None and len(named) > len(label_names or ()):
                raise DataFileError(
                    lines.path,
                    f"label_names must hold every label of the file, but {list(named)[-1]!r} is "
                    "not among them. Add it.",
                )
            if rows.X.n_rows >= size or (not more and rows.X.n_rows):
                names = None if label_names is None else tuple(label_names)
                yield LabelledPart(*rows.take(*shape), None, names)


def _reader(
    lines: Lines,
    zero_based: bool,
    n_features: int | None,
    n_labels: int | None,
    named: dict[str, int] | None,
) -> PairReader:
    return PairReader(
        lines,
        first_index=0 if zero_based else 1,
        n_features=n_features,
        n_labels=n_labels,
        keep_blank=False,
        named=named,
        comments=True,
    )


def _read(
    path: str | os.PathLike[str],
    zero_based: bool,
    n_features: int | None,
    n_labels: int | None,
    named: dict[str, int] | None,
    limits: Limits | None,
) -> PairReader:
    with Lines(path, limits) as lines:
        rows = _reader(lines, zero_based, n_features, n_labels, named)
        rows.read()
    return rows

"""Files as blocks of rows, for fits on more rows than memory."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scipy import sparse

from compactlearn.core._params import Integer
from compactlearn.core._row_blocks import RowBlocks
from compactlearn.datasets._dataset import DataFileError, Matrix, as_dense
from compactlearn.datasets._formats.columns import Labels
from compactlearn.datasets._formats.index_value import rows_declared
from compactlearn.datasets._formats.parquet import rows_stored
from compactlearn.datasets._formats.reading import ENDINGS, FORMATS, checked_options
from compactlearn.datasets._parsing.assemble import LabelledPart, stem
from compactlearn.datasets._parsing.lines import Limits, plain_ending, present

_BLOCK_BYTES = 1 << 25  # of a block of dense rows
_SPARSE_ROWS = 1 << 16  # of a block of sparse ones
_PROBED = 256  # rows from which the columns are known

Path_ = str | os.PathLike[str]


class BlockFiles(RowBlocks):
    """Rows of one or several files, read in blocks; only one block is in memory.

    It is made by :func:`open_blocks`, and can be iterated over repeatedly.

    Parameters
    ----------
    paths : list of Path
        The files.
    read : callable
        Function from a path and a number of rows to parts of about that number of rows.
    rows_per_block : int or None
        As in :func:`open_blocks`.
    n_rows : int or None
        How many rows there are in all, where that is known.

    Attributes
    ----------
    paths : tuple of Path
    n_features, n_labels : int
    feature_names, label_names : tuple of str or None
    rows_per_block : int
        Approximate number of rows of a block; the last one of a file has fewer.
    n_rows : int or None
        How many there are in all, where the files say so, or when they have been read once.
    is_sparse : bool
        Whether X of the blocks is sparse: less than a quarter of the first rows is not 0.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        read: Callable[[Path, int], Iterator[LabelledPart]],
        rows_per_block: int | None,
        n_rows: int | None,
    ) -> None:
        self.paths, self.n_rows, self._read = tuple(paths), n_rows, read
        first = next(read(self.paths[0], _PROBED), None)
        if first is None:
            raise DataFileError(self.paths[0], "it has no rows. Check that it is whole.")
        self.n_features, self.n_labels = first.X.shape[1], first.Y.shape[1]
        self.feature_names, self.label_names = first.feature_names, first.label_names
        self.is_sparse = sparse.issparse(first.X)
        width = self.n_features + self.n_labels
        usual = _SPARSE_ROWS if self.is_sparse else max(1, _BLOCK_BYTES // (8 * width))
        self.rows_per_block = usual if rows_per_block is None else rows_per_block

    def __iter__(self) -> Iterator[tuple[Matrix, sparse.csr_array]]:
        n_rows = 0
        for path in self.paths:
            for part in self._read(path, self.rows_per_block):
                self._check(path, part)
                n_rows += part.X.shape[0]
                X = sparse.csr_array(part.X) if self.is_sparse else as_dense(part.X)
                yield X, part.Y
        self.n_rows = n_rows

    @property
    def name(self) -> str:
        """The name of the only file without its endings, or of the first file's folder."""
        first = self.paths[0]
        return stem(first) if len(self.paths) == 1 else first.parent.name

    def _check(self, path: Path, part: LabelledPart) -> None:
        """Raise DataFileError for a file with other columns than the first."""
        for what, matrix, count, names, own in (
            ("features", part.X, self.n_features, self.feature_names, part.feature_names),
            ("labels", part.Y, self.n_labels, self.label_names, part.label_names),
        ):
            if matrix.shape[1] != count or names != own:
                raise DataFileError(
                    path,
                    f"every file must have the {count} {what} of {self.paths[0].name!r}, in their "
                    f"order, and this one has {matrix.shape[1]} of its own. Pass files of the same "
                    "columns.",
                )

    def __repr__(self) -> str:
        rows = "rows" if self.n_rows is None else f"{self.n_rows} rows"
        kind = "sparse" if self.is_sparse else "dense"
        files = f"{len(self.paths)} file" + "s" * (len(self.paths) > 1)
        return (
            f"BlockFiles of {files}: {rows}, {self.n_features} features ({kind}), "
            f"{self.n_labels} labels, about {self.rows_per_block} rows in a block"
        )


def open_blocks(
    path_or_paths: Path_ | Sequence[Path_],
    labels: Labels = None,
    *,
    rows_per_block: int | None = None,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> BlockFiles:
    """Open files of any size to be read block by block: ``CMLLClassifier().fit(open_blocks(...))``.

    Parameters
    ----------
    path_or_paths : path of a file or folder, or list of such
        Of a folder, all files whose names end as those of a format do (or all, where none does) and
        that are not hidden, in the order of their names. All files must have the same columns.
    labels : path, str, list of str, int or None
        Which columns are labels, as in :func:`compactlearn.datasets.read`.
    rows_per_block : int, optional
        By default 32 MiB of dense rows, or 65,536 sparse ones.
    format : {"arff", "arrow", "csv", "libsvm", "parquet", "xmlrepo"}, optional
        By default found from the name of the first file, or else from its content.
    limits : Limits, optional
        How far a compressed file may expand; by default without limit, since only one block
        of it is in memory.
    **options
        Handed to the reader of the format, as in :func:`compactlearn.datasets.read`. Text of
        libsvm's, and extreme-classification text without a first line that says so, need
        ``n_features`` and ``n_labels``.

    Returns
    -------
    BlockFiles
        An iterable of ``(X, Y)`` that can be iterated over repeatedly.

    Raises
    ------
    DataFileError
        A ValueError that names the file, the line where there are lines, and the reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("a", "b"):
    ...         _ = pathlib.Path(folder, f"{part}.csv").write_text("x,y\\n1,0\\n2,1\\n3,1\\n")
    ...     films = open_blocks(folder, labels=-1, rows_per_block=2)
    ...     sizes = [X.shape[0] for X, Y in films]
    >>> films, sum(sizes)
    (BlockFiles of 2 files: 6 rows, 1 features (dense), 1 labels, about 2 rows in a block, 6)
    """
    if rows_per_block is not None and not Integer(1).accepts(rows_per_block):
        raise ValueError(
            "rows_per_block must be a whole number of at least 1, or None, and is "
            f"{rows_per_block!r}; pass such a number."
        )
    paths = _files(path_or_paths)
    chosen, options = checked_options(paths[0], labels, format, limits, options)
    limits = limits or Limits(ratio=2**62, total=2**62)
    read = partial(FORMATS[chosen], limits=limits, **options)
    return BlockFiles(paths, read, rows_per_block, _n_rows(paths, chosen, limits))


def _files(given: Path_ | Sequence[Path_]) -> list[Path]:
    listed = [given] if isinstance(given, str | os.PathLike) else list(given)
    found: list[Path] = []
    for path in map(Path, listed):
        if not path.is_dir():
            found.append(present(path))
            continue
        # Hidden are notes of the system, or of a writer of data sets (_SUCCESS, _metadata).
        inside = [
            file
            for file in sorted(path.rglob("*"))
            if file.is_file()
            and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        ]
        # A folder of data may also hold notes, and the XML files that name labels.
        found += [file for file in inside if plain_ending(file) in ENDINGS] or inside
    if not found:
        raise FileNotFoundError(
            f"Files to read in blocks were asked for by {given!r}, and there are none; pass the "
            "path of a file, of a folder with files, or a list of such."
        )
    return found


def _n_rows(paths: Sequence[Path], chosen: str, limits: Limits) -> int | None:
    """Return the number of rows of all files; None if one file does not state it."""
    count = {"parquet": rows_stored, "xmlrepo": partial(rows_declared, limits=limits)}.get(chosen)
    counts = [None] if count is None else [count(path) for path in paths]
    known = [rows for rows in counts if rows is not None]
    return sum(known) if len(known) == len(counts) else None

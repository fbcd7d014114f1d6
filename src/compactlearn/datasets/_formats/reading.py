"""`read`: any file, its format found from its name or its content."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from compactlearn.datasets._dataset import DataFileError, Dataset
from compactlearn.datasets._formats.arff import arff_parts
from compactlearn.datasets._formats.columns import AnyLabels
from compactlearn.datasets._formats.delimited import csv_parts
from compactlearn.datasets._formats.index_value import libsvm_parts, xmlrepo_parts
from compactlearn.datasets._formats.parquet import arrow_parts, parquet_parts
from compactlearn.datasets._parsing.assemble import LabelledPart, whole
from compactlearn.datasets._parsing.lines import Limits, Lines, plain_ending, present

#: Readers of files in parts, or whole, by format.
FORMATS: dict[str, Callable[..., Iterator[LabelledPart]]] = {
    "arff": arff_parts,
    "arrow": arrow_parts,
    "csv": csv_parts,
    "libsvm": libsvm_parts,
    "parquet": parquet_parts,
    "xmlrepo": xmlrepo_parts,
}
ENDINGS = {
    ".arff": "arff", ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".parquet": "parquet",
    ".pq": "parquet", ".svm": "libsvm", ".libsvm": "libsvm", ".svmlight": "libsvm",
    ".xmlrepo": "xmlrepo", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
#: Formats whose labels are columns among others.
WITH_COLUMNS = {"arff", "arrow", "csv", "parquet"}
_SIZES = re.compile(rb"\s*\d+\s+\d+\s+\d+\s*")
_PAIRS = re.compile(rb"(?:[^\s:]*\s+)?\d+:\S+(?:\s+\d+:\S+)*\s*")


def read(
    path: str | os.PathLike[str],
    labels: AnyLabels = None,
    *,
    format: str | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Dataset:
    """Read a multi-label data file, plain or compressed by xz, bz2 or gzip.

    Labels are 0 and 1; a missing value is NaN in X, and an error in Y.

    * "arff" is the format of Weka, Mulan and MEKA, with dense or sparse rows. A nominal attribute
      becomes its values, if all of them are numbers, and 0 and 1 if it has two: "yes", "true", "y",
      "t" and "on" are 1 against their opposites, otherwise the value declared second is. Attributes
      with more values, of strings and of dates cannot become numbers; name them in ``ignore``. A
      value left out of a sparse row is 0, or the one declared first.
    * "csv" is a table with a comma, semicolon, tab or bar between cells. "true", "yes" and their
      opposites are 1 and 0; an empty cell, "NA" and the like is a missing value.
    * "parquet" and "arrow" are tables of integers, floats and booleans (extra "data").
    * "xmlrepo" is the text of the Extreme Classification Repository: labels with commas between
      them, then features as "index:value", all counted from 0. The first line may say "rows
      features labels". A row that starts with a blank, or at once with a pair, has no label.
    * "libsvm" is the same without such a line, with features counted from 1, and remarks after "#".
      A file of it whose features are counted from 0 is read as "xmlrepo".

    Parameters
    ----------
    path : path of the file
        The file.
    labels : path, str, list of str, int or None
        Where labels are columns among others (ARFF, CSV, Parquet, Arrow), which these are: a Mulan
        XML file (as a string it ends in .xml), a list of names, the prefix of their names, or their
        number n: the first n columns if n > 0, the last -n if n < 0. None where the file itself
        says: ARFF of MEKA ("-C n" in the relation's name) or with an XML file of the same name,
        files that compactlearn wrote, and all other formats. Labels keep the order of their
        columns.
    format : {"arff", "arrow", "csv", "libsvm", "parquet", "xmlrepo"}, optional
        By default found from the file's name, or else from its content.
    limits : Limits, optional
        How far a compressed file may expand.
    **options
        ``ignore``, a list of columns to leave out, for tables. ``delimiter`` and ``header`` for
        CSV: the character between cells (by default the most frequent one of the first line), and
        whether that line holds names; if not, columns are called "0", "1" and so on. ``n_features``
        and ``n_labels`` for "xmlrepo" without a first line of sizes and for "libsvm", where
        otherwise the largest index decides.

    Returns
    -------
    Dataset
        X is a csr_array if fewer than a quarter of its values are non-zero, otherwise an ndarray;
        Y is a csr_array.

    Raises
    ------
    DataFileError
        A ValueError that names the file, the line where there are lines, and the reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "films.csv")
    ...     _ = path.write_text("minutes,is_funny,is_sad\\n96,1,0\\n121,0,1\\n")
    ...     films = read(path, labels="is_")
    ...     path = pathlib.Path(folder, "toy.txt")
    ...     _ = path.write_text("3 4 2\\n0,1 0:0.5 3:2\\n 2:1\\n1 1:7\\n")
    ...     toy = read(path)
    >>> films.feature_names, films.X.ravel(), films.Y.toarray()
    (('minutes',), array([ 96., 121.]), array([[1, 0], [0, 1]]))
    >>> toy
    Dataset 'toy': 3 rows, 4 features (dense), 2 labels, 1.00 labels per row
    """
    path = present(path)
    chosen, options = checked_options(path, labels, format, limits, options)
    return whole(path, FORMATS[chosen](path, None, limits=limits, **options))


def checked_options(
    path: Path,
    labels: AnyLabels,
    format: str | None,
    limits: Limits | None,
    options: dict[str, Any],
) -> tuple[str, dict[str, Any]]:
    """Return the format of a file and the options of its reader; raise if they do not fit."""
    chosen = format or format_of(path, limits)
    options = options if labels is None else options | {"labels": labels}
    if chosen not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)} or None, got {chosen!r}.")
    if "labels" in options and chosen not in WITH_COLUMNS:
        raise TypeError(
            f"labels says which columns of a table are labels, but {path} is of the format "
            f"{chosen!r}, whose rows begin with their labels; leave it out."
        )
    for option, flag in (("header", "--no-header"), ("delimiter", "--delimiter")):
        if option in options and chosen != "csv":
            raise TypeError(
                f"{option} ({flag} on the command line) says how tables of text are read, but "
                f"{path} is of the format {chosen!r}; leave it out."
            )
    return chosen, options


def format_of(path: str | os.PathLike[str], limits: Limits | None = None) -> str:
    """Return the format of a file by the ending of its name, or else by its first lines.

    >>> format_of("enron.arff.xz")
    'arff'
    """
    return ENDINGS.get(plain_ending(path)) or _format_of_content(path, limits)


def _format_of_content(path: str | os.PathLike[str], limits: Limits | None) -> str:
    with Lines(path, limits) as lines:
        first = lines.line()
        while first is not None and (not first.strip() or first.lstrip().startswith(b"%")):
            first = lines.line()
    first = first or b""
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.lstrip().startswith(b"@"):
        return "arff"
    if _SIZES.fullmatch(first):
        return "xmlrepo"
    if _PAIRS.fullmatch(first):
        raise DataFileError(
            path,
            "its rows may be xmlrepo (features counted from 0) or libsvm (from 1). Pass "
            "format='xmlrepo' or format='libsvm' (--input-format on the command line).",
        )
    if any(mark in first for mark in (b",", b"\t", b";")):
        return "csv"
    raise DataFileError(
        path,
        "neither its name nor its content determines its format. Pass format= (--input-format on "
        f"the command line), one of {', '.join(FORMATS)}.",
    )

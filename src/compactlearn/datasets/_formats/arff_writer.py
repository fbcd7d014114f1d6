"""ARFF, and the Mulan XML file beside it, written."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from compactlearn.core._atomic import atomic
from compactlearn.datasets._dataset import Dataset
from compactlearn.datasets._formats.arff_header import quote
from compactlearn.datasets._formats.label_file import writable, write_label_names
from compactlearn.datasets._formats.xmlrepo import number
from compactlearn.datasets._parsing.assemble import stem

__all__ = ["write_arff"]

_PLAIN = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)


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
        own = slice(X.indptr[row], X.indptr[row + 1])
        cells = list(zip(X.indices[own].tolist(), X.data[own].tolist(), strict=True))
        own = slice(Y.indptr[row], Y.indptr[row + 1])
        labels = zip((Y.indices[own] + n_features).tolist(), Y.data[own].tolist(), strict=True)
        cells = sorted([*cells, *labels])
        yield "{" + ",".join(f"{column} {_cell(value)}" for column, value in cells if value) + "}"


def _cell(value: float) -> str:
    return "?" if value != value else number(value)

"""The two data sets that ship inside the package; `data/README.md` says where they came from."""

import json
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from scipy import sparse

from compactlearn.datasets._dataset import Dataset

__all__ = ["EMBEDDED", "load_embedded"]

EMBEDDED = ("emotions", "enron")
_SOURCE = (
    "inside compactlearn; values of the Python package scikit-multilearn 0.0.1 (BSD licence), "
    "names of the columns as in Mulan's files"
)


def load_embedded(name: str) -> Dataset:
    """One of `EMBEDDED`: enron with sparse X and Y, emotions with dense ones.

    >>> load_embedded("enron")
    Dataset 'enron': 1702 rows, 1001 features (sparse), 53 labels, 3.38 labels per row
    >>> load_embedded("emotions").label_names[:3]
    ('amazed-suprised', 'happy-pleased', 'relaxing-calm')
    """
    resource = files("compactlearn.datasets") / "data" / f"{name}.npz"
    with as_file(resource) as path, np.load(path, allow_pickle=False) as arrays:
        if "x" in arrays:
            X, Y = arrays["x"], arrays["y"].astype(np.int64)
        else:
            X = _ones(arrays["x_indices"], arrays["x_indptr"], arrays["x_shape"], np.float64)
            Y = _ones(arrays["y_indices"], arrays["y_indptr"], arrays["y_shape"], np.int64)
        n_train = int(arrays["n_train"])
    features, labels = (tuple(_names()[name][of]) for of in ("features", "labels"))
    return Dataset(X, Y, features, labels, name, _SOURCE, n_train)


@cache
def _names() -> dict[str, dict[str, list[str]]]:
    resource = files("compactlearn.datasets") / "data" / "names.json"
    return json.loads(resource.read_text(encoding="utf-8"))


def _ones(
    indices: np.ndarray, indptr: np.ndarray, shape: np.ndarray, dtype: type
) -> sparse.csr_array:
    # The file stores short unsigned indices; scipy and scikit-learn expect int32.
    parts = (np.ones(len(indices), dtype), indices.astype(np.int32), indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=tuple(int(size) for size in shape))

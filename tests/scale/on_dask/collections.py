"""The same rows as Dask collections of every kind."""

import numpy as np
import scipy.sparse

from tests.makers import maker

make_data = maker(90, 6, 5)


def array(matrix, *sizes, sparse=False):
    """Return a Dask array with blocks of ``sizes`` rows; sparse ones have CSR blocks."""
    import dask.array as da

    matrix = np.asarray(matrix)
    rows = sizes or (matrix.shape[0],)
    whole = da.from_array(matrix, chunks=(rows, *((size,) for size in matrix.shape[1:])))
    return whole.map_blocks(scipy.sparse.csr_array) if sparse else whole


def frame(matrix, prefix, npartitions=3):
    import dask.dataframe as dd
    import pandas as pd

    names = [f"{prefix}{number}" for number in range(matrix.shape[1])]
    return dd.from_pandas(pd.DataFrame(matrix, columns=names), npartitions=npartitions)


SIZES = (40, 7, 13, 30)  # of blocks of ninety rows
OTHER_SIZES = (20, 50, 20)


# Functions from features and labels to collections of the same rows.
COLLECTIONS = {
    "dense": lambda X, Y: (array(X, *SIZES), array(Y, *SIZES)),
    "other blocks": lambda X, Y: (array(X, *SIZES), array(Y, *OTHER_SIZES)),
    "columns in blocks": lambda X, Y: (array(X).rechunk((30, 2)), array(Y).rechunk((20, 2))),
    "sparse": lambda X, Y: (array(X, *SIZES, sparse=True), array(Y, *SIZES, sparse=True)),
    "labels in memory": lambda X, Y: (array(X, *SIZES), Y),
    "sparse labels in memory": lambda X, Y: (array(X, *SIZES), scipy.sparse.csr_array(Y)),
    "frames": lambda X, Y: (frame(X, "x"), frame(Y, "y", npartitions=4)),
    "frame and array": lambda X, Y: (frame(X, "x"), array(Y, *OTHER_SIZES)),
}


def dense(matrix):
    return matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)

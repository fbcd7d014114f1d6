"""Blocks of numbers: read as Python reads them one by one, and without a word to other threads."""

import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.datasets import read
from compactlearn.datasets._parsing.number_blocks import SKIP, VALUE, Grammar

TABLE = Grammar({"\n0,": VALUE, ",0,": VALUE, ",0\n": VALUE, "\n0\n": VALUE, "\n\n": SKIP})
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# Weighted towards what nearly is a number.
CELLS = st.one_of(
    st.text("0123456789+-.eE", min_size=1, max_size=6),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_block_is_read_as_its_cells_are_or_not_at_all(rows):
    text = "".join(",".join(row) + "\n" for row in rows).encode()
    cells = [cell for row in rows for cell in row]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what NumPy warns of must not come before it
        scan = TABLE.scan(text)
    if scan is not None:
        assert all(NUMBER.fullmatch(cell) for cell in cells), text
        np.testing.assert_array_equal(scan.numbers, [float(cell) for cell in cells])


def test_reading_leaves_the_warnings_of_other_threads_alone(tmp_path, monkeypatch):
    """A warning in another thread stays a warning, and the filters are what they were throughout.

    The other thread speaks at the very moment at which this one parses.
    """
    path, parse, filters, refused = tmp_path / "toy.csv", np.fromstring, [], []
    path.write_text("x,y\n1.5e3,1\n2.25,0\n")

    def speak():
        filters.append(list(warnings.filters))
        try:
            warnings.warn("only a warning", ResourceWarning, stacklevel=1)
        except ResourceWarning as error:
            refused.append(error)

    def overheard(*arguments, **options):
        with ThreadPoolExecutor(1) as other:
            other.submit(speak).result()
        return parse(*arguments, **options)

    monkeypatch.setattr("compactlearn.datasets._parsing.number_blocks.np.fromstring", overheard)
    before = list(warnings.filters)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", ResourceWarning)
        during = list(warnings.filters)
        assert read(path, labels=-1).n_samples == 2
    assert filters, "nothing was parsed at once"
    assert all(found == during for found in filters)
    assert not refused
    assert len(heard) == len(filters)
    assert list(warnings.filters) == before

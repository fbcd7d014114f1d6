"""Blocks of numbers are read as Python reads each number, without warnings of NumPy."""

import re
import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

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

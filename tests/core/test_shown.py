"""Names that a terminal may show, and cells that a spreadsheet may open."""

import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn.core._shown import shown
from compactlearn.core._spreadsheet import csv_line, no_formula

ANY = st.text(st.characters(), max_size=20)  # halves of surrogate pairs too
CELLS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
        st.text('=+-@\t\r\n",;x1.', max_size=5),
    ),
    min_size=2,
    max_size=4,
)


@given(ANY)
def test_nothing_that_is_shown_controls_a_terminal(text):
    found = shown(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in found)
    assert found.encode() is not None
    if text.isprintable():
        assert found == text


@given(ANY)
def test_what_is_to_be_kept_is_kept(text):
    assert shown(text, keep="\n").count("\n") == text.count("\n")


@given(CELLS, st.sampled_from([",", "\t", ";"]))
def test_lines_are_read_back_as_they_were(cells, delimiter):
    line = csv_line(cells, delimiter, raw=True)
    assert list(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter)) == [cells]


@given(CELLS)
def test_no_cell_is_a_formula(cells):
    (row,) = csv.reader(io.StringIO(csv_line(cells), newline=""))
    for cell, was in zip(row, cells, strict=True):
        if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
            float(cell)  # a number is none
            assert cell == was
        else:
            assert cell in (was, f"'{was}")


@pytest.mark.parametrize("number", ["-1.5", "+2", "-1e-7", "-.5"])
def test_numbers_stay_numbers(number):
    assert no_formula(number) == number
    assert csv_line([float(number), number]) == f"{float(number)},{number}\n"


@pytest.mark.parametrize("text", ["-1.5+cmd", "- 1", "-1_0", "+١"])
def test_what_only_resembles_a_number_is_none(text):
    assert no_formula(text) == f"'{text}"

"""Hand-made ARFF files, and the errors of broken ones."""

import re
import tracemalloc
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from compactlearn.datasets import DataFileError, read
from tests.datasets.matrices import dense

read_arff = partial(read, format="arff")
HEADER = """@relation 'toy: -C 2'
@attribute first {0,1}
@attribute second {0,1}
@attribute a numeric
@attribute b REAL
@attribute c {0,1}
@data
"""


def arrays(data):
    return dense(data.X), dense(data.Y)


@pytest.mark.parametrize(
    "rows",
    [
        "{0 1,2 2.5,4 1}\n{}\n{1 1, 3 -7}\n",
        "{4 1,0 1,2 2.5}\n{ }\n  {1  1 ,  3\t-7}  \r\n",  # any order, any blanks
        "1,0,2.5,0,1\n0,0,0,0,0\n0,1,0,-7,0\n",
        "1 , 0,\t2.5,0,1\r\n0,0,0,0,0\r\n\r\n0,1,0,-7,0",
        "1,0,2.5,0,1\n{}\n{1 1,3 -7}\n",  # dense and sparse rows side by side
        "% a remark\n1,0,2.5,0,1 % and another\n\n0,0,0,0,0\n0,1,0,-7,0\n",
        "1,0,'2.5',0,\"1\"\n0,0,0,0,0\n0,1,0,-7,0\n",
        "{0 '1',2 2.5,4 1.0}\n{}\n{1 1,3 -7}\n",
    ],
)
def test_every_way_to_write_the_same_rows(write, rows):
    data = read_arff(write(HEADER + rows, "toy.arff.packed"))
    X, Y = arrays(data)
    np.testing.assert_array_equal(X, [[2.5, 0, 1], [0, 0, 0], [0, -7, 0]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 0], [0, 1]])
    assert (X.dtype, data.Y.dtype, type(data.Y)) == (np.float64, np.int64, sparse.csr_array)
    assert (data.feature_names, data.label_names) == (("a", "b", "c"), ("first", "second"))
    assert data.name == "toy"


def test_few_values_stay_sparse_and_many_become_dense(write):
    assert isinstance(read_arff(write(HEADER + "{2 1}\n" + "{}\n" * 9)).X, sparse.csr_array)
    assert isinstance(read_arff(write(HEADER + "{2 1,3 1,4 1}\n" * 9)).X, np.ndarray)
    zeros = read_arff(write(HEADER + "0,0,0,0,0\n" * 9))
    assert isinstance(zeros.X, sparse.csr_array)
    assert zeros.X.nnz == zeros.Y.nnz == 0, "zeros written down are not stored"
    nothing = read_arff(write(HEADER))
    assert (nothing.X.shape, nothing.Y.shape) == ((0, 3), (0, 2))


def test_quotes_and_escapes_in_names_and_values(write):
    path = write(r"""
% comment first
@RELATION 'it\'s a name'

@Attribute 'with space' numeric
@ATTRIBUTE "double, \"quoted\""	{0,1}
@attribute TAG_m\'usica {0,1}
@attribute 'colour' { 'dark blue' , "a,b" }
@attribute brace{0,1}
@DATA
1.5,1,0,'dark blue',1
2.5,0,1,"a,b",0
""")
    data = read_arff(path, labels=["TAG_m'usica", 'double, "quoted"'])
    assert data.label_names == ('double, "quoted"', "TAG_m'usica"), "in the order of the columns"
    assert data.feature_names == ("with space", "colour", "brace")
    X, Y = arrays(data)
    np.testing.assert_array_equal(X, [[1.5, 0, 1], [2.5, 1, 0]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("values", "cells", "expected"),
    [
        ("{YES,NO}", ["YES", "NO"], [1, 0]),
        ("{no, yes}", ["yes", "no"], [1, 0]),
        ("{cat,dog}", ["dog", "cat"], [1, 0]),
        ("{only}", ["only", "only"], [0, 0]),
        ("{1,2,10}", ["10", "2"], [10, 2]),
        ("{-0.5,3}", ["3", "-0.5"], [3, -0.5]),
        ("numeric", ["1e-3", "?"], [0.001, np.nan]),
        ("{cat,dog}", ["?", "dog"], [np.nan, 1]),
        ("integer", ["-3", "+4"], [-3, 4]),
    ],
)
def test_numbers_of_values(write, values, cells, expected):
    rows = "".join(f"1,{cell}\n" for cell in cells)
    path = write(f"@relation r\n@attribute y {{0,1}}\n@attribute x {values}\n@data\n{rows}")
    np.testing.assert_array_equal(arrays(read_arff(path, 1))[0][:, 0], expected)


def test_a_value_left_out_of_a_sparse_row_is_the_one_declared_first(write):
    head = "@relation r\n@attribute y {0,1}\n@attribute plain {3,4}\n"
    path = write(head + "@attribute number numeric\n@data\n{}\n{0 1,1 4,2 9}\n")
    np.testing.assert_array_equal(read_arff(path, 1).X, [[3, 0], [4, 9]])
    path = write(head + "@attribute word {YES,NO}\n@data\n{}\n{0 1,1 4,2 NO}\n")
    np.testing.assert_array_equal(read_arff(path, 1).X, [[3, 1], [4, 0]])


def test_so_many_values_left_out_are_refused(write):
    """A few bytes for each of nine million values."""
    attributes = "".join(f"@attribute c{j} {{1,2,3}}\n" for j in range(3000))
    path = write(f"@relation r\n{attributes}@attribute y {{0,1}}\n@data\n" + "{}\n" * 3000)
    tracemalloc.start()
    try:
        with pytest.raises(DataFileError, match="3000 nominal attributes, whose first value"):
            read_arff(path, -1)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


def test_attributes_can_be_ignored_and_some_must_be(write):
    text = """@relation r
@attribute id string
@attribute when date 'yyyy-MM-dd'
@attribute colour {red,green,blue}
@attribute x numeric
@attribute y {0,1}
@data
'a, b',2020-01-01,red,5,1
"""
    data = read_arff(write(text), -1, ignore=["id", "when", "colour"])
    assert data.feature_names == ("x",)
    np.testing.assert_array_equal(data.X, [[5]])
    for kept, kind in (("id", "string"), ("colour", "nominal with 3 values")):
        ignore = [name for name in ("id", "when", "colour") if name != kept]
        with pytest.raises(DataFileError, match=rf"'{kept}' is of type '{kind}'; leave it out"):
            read_arff(write(text), -1, ignore=ignore)


def test_which_columns_are_labels(write):
    path = write(HEADER.replace("toy: -C 2", "toy: -C -1") + "1,0,1,1,1\n")
    xml = write(
        '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">'
        '<label name="c"><label name="first"/></label></labels>',
        "toy.xml",
    )
    assert read_arff(path).label_names == ("c",)
    assert read_arff(path, 2).label_names == ("first", "second")
    assert read_arff(path, np.int64(-2)).label_names == ("b", "c")
    assert read_arff(path, xml).label_names == ("first", "c")
    assert read_arff(path, str(xml)).label_names == ("first", "c")
    assert read_arff(path, ("second", "c")).label_names == ("second", "c")


def test_latin_1_is_read_where_utf_8_fails(write):
    text = "@relation r\n@attribute é {0,1}\n@attribute x numeric\n@data\n1,2\n"
    for content in (text.encode(), text.encode("latin-1"), text.encode("utf-8-sig")):
        assert read_arff(write(content), 1).label_names == ("é",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,0,2.5,0\n", "line 8: a row must hold 5 values, one per attribute, got 4"),
        ("1,0,1,1,1\n\n1,0,x,0,1\n", "line 10: the attribute 'a' must hold a finite number"),
        ("1,0,nan,0,1\n", "line 8: the attribute 'a' must hold a finite number, got 'nan'"),
        ("1,0,,0,1\n", "the attribute 'a' must hold a finite number, got ''"),
        ("1,0,1,0,2\n", "the attribute 'c' must hold one of its declared values, got '2'"),
        ("{4 7}\n", "the attribute 'c' must hold one of its declared values, got '7'"),
        ("{2 inf}\n", "must hold a finite number, got 'inf'"),
        ("{4 1 1}\n", "the attribute 'c' must hold one of its declared values"),
        *(
            (f"{row}\n", f"between braces, with indices from 0 to 4, each of them once, got {got}")
            for row, got in (
                *(("{2 1,5 1}", "'5 1'"), ("{2 1,2 3}", "'2 3'"), ("{2.5 1}", "'2.5 1'")),
                *(("{-1 1}", "'-1 1'"), ("{2 1,}", "''"), ("{2 1,4}", "'4'"), ("{4}", "'4'")),
                *(("{2 1", "'{2 1'"), ("{", "'{'"), ("{2 1,4 \v}", "'4'")),
            )
        ),
    ],
)
def test_a_broken_line_is_named(write, rows, message):
    path = write(HEADER + rows)
    with pytest.raises(DataFileError, match=re.escape(message)) as caught:
        read_arff(path)
    assert str(caught.value).startswith(f"{path}, line ")
    assert str(caught.value).endswith("Correct that line of the file.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an ARFF file declares attributes"),
        ("@relation r\n@attribute x numeric\n", "after 1 attributes it ends"),
        ("@relation r\n@data\n1\n", "line 2: an ARFF file declares attributes"),
        ("a,b\n1,2\n", "line 1: an ARFF file declares attributes"),
        ("@attribute x\n@data\n", "line 1: an attribute is declared by"),
        ("@attribute x {}\n@data\n", "got '@attribute x {}'"),
        ("@attribute x {a,b\n@data\n", "got '@attribute x {a,b'"),
        ("@attribute x {a,a}\n@data\n", "got '@attribute x {a,a}'"),
    ],
)
def test_a_broken_header_is_named(write, text, message):
    with pytest.raises(DataFileError, match=re.escape(message)):
        read_arff(write(text), 1)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (0, ValueError, "from 1 to 4 (from the front)"),
        (5, ValueError, "since the file has 5 columns; got 5"),
        (-5, ValueError, "got -5. Pass the number of label columns"),
        (True, TypeError, "got True. Pass one of these"),
        (2.0, TypeError, "labels must be the path of a Mulan XML file, a list"),
        ([], TypeError, "got []"),
        ([1, 2], TypeError, "got [1, 2]"),
        (["frist"], ValueError, "no column has the name 'frist'"),
        (["frist"], ValueError, "Did you mean 'first'?"),
        ("absent.xml", FileNotFoundError, "no file is there; check the path"),
    ],
)
def test_labels_that_cannot_be_found(write, labels, error, message):
    path = write(HEADER + "1,0,1,1,1\n")
    with pytest.raises(error, match=re.escape(message)):
        read_arff(path, labels)
    with pytest.raises(TypeError, match="ignore must be a list of column names"):
        read_arff(path, 2, ignore="a")


def test_a_name_of_two_columns_cannot_select_one(write):
    path = write("@attribute y {0,1}\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,0,1\n")
    with pytest.raises(ValueError, match="2 columns have the name 'y'"):
        read_arff(path, ["y"])
    assert read_arff(path, 2).label_names == ("y", "y")


@pytest.mark.parametrize(
    "relation", ["toy", "toy: -C 2-weka.filters.unsupervised.attribute.Reorder-R3-last,1-2"]
)
def test_labels_must_be_known_to_the_header_and_be_current(write, relation):
    path = write(HEADER.replace("toy: -C 2", relation) + "1,0,1,1,1\n")
    with pytest.raises(DataFileError, match=r"it is 'toy.*Pass labels \(--labels\): a Mulan"):
        read_arff(path)


@pytest.mark.parametrize(
    ("row", "given"), [("1,0,7,1,1", "7"), ("1,0,-1,1,1", "-1"), ("1,0,?,1,1", "a missing value")]
)
def test_a_label_is_0_or_1(write, row, given):
    path = write(HEADER + row + "\n")
    with pytest.raises(DataFileError, match=f"'a' holds {given}; check") as caught:
        read_arff(path, 3)
    assert caught.value.line == 8


@pytest.mark.parametrize("text", ["<labels><label name='a'>", "<labels/>", "{"])
def test_a_label_file_that_names_nothing(write, text):
    path, xml = write(HEADER + "1,0,1,1,1\n"), write(text, "toy.xml")
    with pytest.raises(DataFileError, match=r"toy.xml, line 1: a Mulan label file must be plain"):
        read_arff(path, xml)


def test_names_in_a_label_file_are_compared_without_backslashes(write):
    path = write("@attribute TAG_m\\'usica {0,1}\n@attribute x numeric\n@data\n1,0\n")
    for written in ("TAG_m\\'usica", "TAG_m'usica"):
        xml = write(f'<labels><label name="{written}"/></labels>', "toy.xml")
        assert read_arff(path, xml).label_names == ("TAG_m'usica",)

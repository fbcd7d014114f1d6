"""Hand-made ARFF files, and the refusals of broken ones."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn.datasets import read_arff
from compactlearn.datasets._errors import DataFileError

HEADER = """@relation 'toy: -C 2'
@attribute first {0,1}
@attribute second {0,1}
@attribute a numeric
@attribute b REAL
@attribute c {0,1}
@data
"""


def arrays(data):
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    return X, data.Y.toarray()


def test_dense(write):
    data = read_arff(write(HEADER + "1,0,2.5,-1e3,1\n0,0,0,4,0\n"))
    X, Y = arrays(data)
    np.testing.assert_array_equal(X, [[2.5, -1000, 1], [0, 4, 0]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 0]])
    assert data.feature_names == ("a", "b", "c")
    assert data.label_names == ("first", "second")
    assert data.name == "toy"
    assert data.source.endswith("toy.arff")
    assert X.dtype == np.float64
    assert data.Y.dtype == np.int64
    assert isinstance(data.Y, sparse.csr_array)


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
    X, Y = arrays(read_arff(write(HEADER + rows)))
    np.testing.assert_array_equal(X, [[2.5, 0, 1], [0, 0, 0], [0, -7, 0]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize("compress", [lzma.compress, bz2.compress, gzip.compress])
@pytest.mark.parametrize("name", ["toy.arff.packed", "toy.arff"])
def test_compressed_files_are_known_by_their_content(write, compress, name):
    data = read_arff(write(compress((HEADER + "1,0,2.5,0,1\n").encode()), name))
    np.testing.assert_array_equal(data.X, [[2.5, 0, 1]])
    assert data.name == "toy"


def test_few_values_stay_sparse_and_many_become_dense(write):
    sparse_rows = HEADER + "{2 1}\n" + "{}\n" * 9
    assert isinstance(read_arff(write(sparse_rows)).X, sparse.csr_array)
    assert isinstance(read_arff(write(HEADER + "{2 1,3 1,4 1}\n" * 9)).X, np.ndarray)
    zeros = read_arff(write(HEADER + "0,0,0,0,0\n" * 9))
    assert isinstance(zeros.X, sparse.csr_array)
    assert zeros.X.nnz == zeros.Y.nnz == 0, "zeros written down are not stored"


def test_quotes_and_escapes_in_names_and_values(write):
    path = write(r"""
% comment first
@RELATION 'it\'s a name'

@Attribute 'with space' numeric
@ATTRIBUTE "double, \"quoted\""	{0,1}
@attribute TAG_m\'usica {0,1}
@attribute 'colour' { 'dark blue' , red, "a,b" }
@attribute brace{0,1}
@DATA
1.5,1,0,'dark blue',1
2.5,0,1,"a,b",0
""")
    data = read_arff(path, labels=["TAG_m'usica", 'double, "quoted"'])
    assert data.label_names == ('double, "quoted"', "TAG_m'usica"), "in the order of the columns"
    assert data.feature_names == (
        "with space",
        "colour=dark blue",
        "colour=red",
        "colour=a,b",
        "brace",
    )
    X, Y = arrays(data)
    np.testing.assert_array_equal(X, [[1.5, 1, 0, 0, 1], [2.5, 0, 0, 1, 0]])
    np.testing.assert_array_equal(Y, [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("values", "cells", "expected"),
    [
        ("{YES,NO}", ["YES", "NO"], [1, 0]),
        ("{no, yes}", ["yes", "no"], [1, 0]),
        ("{True,False}", ["False", "True"], [0, 1]),
        ("{cat,dog}", ["dog", "cat"], [1, 0]),
        ("{only}", ["only", "only"], [0, 0]),
        ("{1,2,10}", ["10", "2"], [10, 2]),
        ("{-0.5,3}", ["3", "-0.5"], [3, -0.5]),
        ("numeric", ["1e-3", "?"], [0.001, np.nan]),
        ("{cat,dog}", ["?", "dog"], [np.nan, 1]),
        ("integer", ["-3", "+4"], [-3, 4]),
    ],
)
def test_what_values_become(write, values, cells, expected):
    rows = "".join(f"1,{cell}\n" for cell in cells)
    path = write(f"@relation r\n@attribute y {{0,1}}\n@attribute x {values}\n@data\n{rows}")
    X, _ = arrays(read_arff(path, 1))
    np.testing.assert_array_equal(X[:, 0], expected)


def test_a_value_left_out_of_a_sparse_row_is_the_one_declared_first(write):
    path = write("""@relation r
@attribute y {0,1}
@attribute plain {3,4}
@attribute word {YES,NO}
@attribute many {red,green,blue}
@attribute number numeric
@data
{}
{0 1,1 4,2 NO,3 blue,4 9}
""")
    data = read_arff(path, 1)
    assert data.feature_names == (
        "plain",
        "word",
        "many=red",
        "many=green",
        "many=blue",
        "number",
    )
    np.testing.assert_array_equal(data.X, [[3, 1, 1, 0, 0, 0], [4, 0, 0, 0, 1, 9]])


def test_that_holds_where_all_declared_values_are_numbers(write):
    path = write("@attribute y {0,1}\n@attribute x {3,4}\n@data\n{0 1}\n{1 4}\n")
    np.testing.assert_array_equal(read_arff(path, 1).X, [[3], [4]])


def test_attributes_can_be_ignored(write):
    text = """@relation r
@attribute id string
@attribute when date 'yyyy-MM-dd'
@attribute x numeric
@attribute y {0,1}
@data
'a, b',2020-01-01,5,1
"""
    data = read_arff(write(text), -1, ignore=["id", "when"])
    assert data.feature_names == ("x",)
    np.testing.assert_array_equal(data.X, [[5]])
    with pytest.raises(
        ValueError, match=r"'id' is of type 'string'; leave it out with ignore=\['id'\]"
    ):
        read_arff(write(text), -1)


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


def test_without_rows(write):
    data = read_arff(write(HEADER))
    assert data.X.shape == (0, 3)
    assert data.Y.shape == (0, 2)


numbers = st.one_of(
    st.just(0.0), st.floats(-1e9, 1e9, allow_nan=False), st.integers(-5, 5).map(float)
)


@given(st.data())
def test_dense_and_sparse_writing_read_the_same_numbers(tmp_path_factory, data):
    n_features = data.draw(st.integers(1, 5))
    row = st.tuples(
        st.lists(st.integers(0, 1), min_size=2, max_size=2),
        st.lists(numbers, min_size=n_features, max_size=n_features),
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    table = [[*labels, *features] for labels, features in rows]
    header = "@relation r\n@attribute p {0,1}\n@attribute q {0,1}\n"
    header += "".join(f"@attribute x{j} numeric\n" for j in range(n_features)) + "@data\n"
    dense = "".join(",".join(repr(value) for value in line) + "\n" for line in table)
    braces = "".join(
        "{" + ",".join(f"{j} {value!r}" for j, value in enumerate(line) if value) + "}\n"
        for line in table
    )
    folder = tmp_path_factory.mktemp("arff")
    for rows_text in (dense, braces, "% careful\n" + dense.replace("\n", " % route\n")):
        path = folder / "r.arff"
        path.write_text(header + rows_text)
        X, Y = arrays(read_arff(path, 2))
        np.testing.assert_array_equal(np.hstack([Y, X]), table)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,0,2.5,0\n", "line 8: a row must hold 5 values, one per attribute, got 4"),
        (
            "1,0,1,1,1\n\n1,0,x,0,1\n",
            "line 10: the attribute 'a' must hold a finite number, got 'x'",
        ),
        ("1,0,nan,0,1\n", "line 8: the attribute 'a' must hold a finite number, got 'nan'"),
        ("1,0,,0,1\n", "the attribute 'a' must hold a finite number, got ''"),
        ("1,0,1,0,2\n", "the attribute 'c' must hold one of its declared values (0, 1), got '2'"),
        ("{4 7}\n", "the attribute 'c' must hold one of its declared values (0, 1), got '7'"),
        ("{2 inf}\n", "must hold a finite number, got 'inf'"),
        ("{2 1,5 1}\n", "must lie between 0 and 4 and occur once, but 5 is out of range"),
        ("{2 1,2 1}\n", "must lie between 0 and 4 and occur once, but 2 is given twice"),
        ("{2.5 1}\n", "a sparse row holds pairs 'index value', got '2.5 1'"),
        ("{-1 1}\n", "a sparse row holds pairs 'index value', got '-1 1'"),
        ("{2 1 3,4}\n", "line 8:"),
        ("{2 1,}\n", "a sparse row holds pairs 'index value', got ''"),
        ("{2 1\v2,4 \v}\n", "a sparse row holds pairs 'index value', got '4'"),
        ("{2 1,4}\n", "a sparse row holds pairs 'index value', got '4'"),
        ("{4}\n", "a sparse row holds pairs 'index value', got '4'"),
        ("{4 1 1}\n", "the attribute 'c' must hold one of its declared values"),
        ("{2 1\n", "a sparse row must end with a brace, got '{2 1'"),
    ],
)
def test_a_broken_line_is_named(write, rows, message):
    path = write(HEADER + rows)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_arff(path)
    assert str(caught.value).startswith(str(path))
    assert str(caught.value).endswith("Correct that line of the file.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must hold a line @data"),
        ("@relation r\n@attribute x numeric\n", "ends without one after 1 attributes"),
        ("@relation r\n@data\n1\n", "line 2: an ARFF file declares attributes"),
        ("a,b\n1,2\n", "line 1: an ARFF file declares attributes"),
        ("@attribute x\n@data\n", "line 1: an attribute is declared by a name and a type"),
        ("@attribute x {}\n@data\n", "lists its different values between braces, got '{}'"),
        ("@attribute x {a,b\n@data\n", "lists its different values between braces, got '{a,b'"),
    ],
)
def test_a_broken_header_is_named(write, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_arff(write(text), 1)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (0, ValueError, "between 1 and 4 (from the front)"),
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
    with pytest.raises(error, match=re.escape(message)):
        read_arff(write(HEADER + "1,0,1,1,1\n"), labels)


def test_a_name_borne_twice_cannot_be_asked_for(write):
    path = write("@attribute y {0,1}\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,0,1\n")
    with pytest.raises(ValueError, match="2 columns have the name 'y'"):
        read_arff(path, ["y"])
    assert read_arff(path, 2).label_names == ("y", "y")


def test_ignore_wants_a_list(write):
    with pytest.raises(TypeError, match=re.escape("ignore must be a list of column names")):
        read_arff(write(HEADER + "1,0,1,1,1\n"), 2, ignore="a")


def test_labels_must_be_known_to_the_header_and_be_current(write):
    bare = HEADER.replace("toy: -C 2", "toy")
    with pytest.raises(ValueError, match=r"but it is 'toy'; pass labels \(--labels\): a Mulan"):
        read_arff(write(bare + "1,0,1,1,1\n"))
    moved = HEADER.replace("-C 2", "-C 2-weka.filters.unsupervised.attribute.Reorder-R3-last,1-2")
    with pytest.raises(ValueError, match=r"'-C 2', but also that the columns were filtered since"):
        read_arff(write(moved + "1,0,1,1,1\n"))


@pytest.mark.parametrize(
    ("row", "given"), [("1,0,7,1,1", "7"), ("1,0,-1,1,1", "-1"), ("1,0,?,1,1", "a missing value")]
)
def test_a_label_is_0_or_1(write, row, given):
    path = write(HEADER + row + "\n")
    with pytest.raises(
        DataFileError, match=f"in every row, but 'a' holds {given}; check"
    ) as caught:
        read_arff(path, 3)
    assert caught.value.line == 8


class TestLabelFile:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("<labels><label name='a'>", "is not well-formed XML"),
            ("<labels/>", "but has none. Give another file"),
        ],
    )
    def test_refusals(self, write, text, message):
        path, xml = write(HEADER + "1,0,1,1,1\n"), write(text, "toy.xml")
        with pytest.raises(ValueError, match=message):
            read_arff(path, xml)

    def test_names_are_compared_without_backslashes(self, write):
        path = write("@attribute TAG_m\\'usica {0,1}\n@attribute x numeric\n@data\n1,0\n")
        for written in ("TAG_m\\'usica", "TAG_m'usica"):
            xml = write(f'<labels><label name="{written}"/></labels>', "toy.xml")
            assert read_arff(path, xml).label_names == ("TAG_m'usica",)


def test_a_file_with_one_column_has_no_room_for_labels(tmp_path):
    path = tmp_path / "narrow.arff"
    path.write_text("@relation x\n@attribute a numeric\n@data\n1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="need two columns or more, and the file has 1; check"):
        read_arff(path, labels=1)

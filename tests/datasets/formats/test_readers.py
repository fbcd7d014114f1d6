"""Tests of all readers but ARFF's on hand-made files, and of `read`, which finds the format."""

import bz2
import gzip
import lzma
import re
from functools import partial

import numpy as np
import pytest

from compactlearn.datasets import DataFileError, read
from compactlearn.datasets._formats.reading import format_of
from tests.datasets.matrices import dense

read_xmlrepo = partial(read, format="xmlrepo")
read_libsvm = partial(read, format="libsvm")
X = np.array([[2.5, 0, 1], [0, 0, 0], [0, -7, 0.125]])
Y = np.array([[1, 0], [0, 0], [0, 1]])


def check(data, X=X, Y=Y):
    found = dense(data.X)
    assert (found.dtype, data.Y.dtype) == (np.float64, np.int64)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)


class TestPairs:
    @pytest.mark.parametrize(
        "text",
        [
            "3 3 2\n0 0:2.5 2:1\n\n1 1:-7 2:0.125\n",
            "3 3 2\r\n0 0:2.5 2:1\r\n\r\n1 1:-7 2:0.125",
            " 3  3\t2 \n0  2:1 0:2.5 \n \n1\t1:-7e0 2:1.25E-1\n\n\n",
            "3 3 2\n0 0:2.5 2:1\n0:0\n1 1:-7 2:0.125\n",
            "0 0:2.5 2:1\n 0:0\n1 1:-7 2:0.125\n",
        ],
    )
    def test_xmlrepo(self, write, text):
        check(read_xmlrepo(write(text, "toy.txt")))

    def test_libsvm(self, write):
        check(read_libsvm(write("# head\n0 1:2.5 3:1 # why\n\n 1:0\n1 2:-7 3:0.125\n", "t.svm")))
        path = write("0 0:2.5 2:1\n 0:0\n1 1:-7 2:0.125\n", "t.svm")
        check(read_xmlrepo(path))
        with pytest.raises(DataFileError, match=r"line 1: .* indices from 1, each"):
            read_libsvm(path)

    @pytest.mark.parametrize("reader", [read_xmlrepo, read_libsvm])
    def test_the_numbers_of_columns_can_be_given(self, write, reader):
        wide = reader(write("0 1:2.5 2:1\n", "toy.txt"), n_features=9, n_labels=4)
        assert (wide.n_features, wide.n_labels, wide.feature_names) == (9, 4, None)

    def test_declared_sizes_allocate_nothing(self, write):
        data = read_xmlrepo(write("1 999999999 99999999\n5 7:1\n", "toy.txt"))
        assert (data.X.shape, data.Y.shape) == ((1, 999999999), (1, 99999999))

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("2 3 2\n0 0:1\n", 2, "promises 2 rows, but 1 follow"),
            ("1 3 2\n0 0:1\n1 1:1\n", 3, "promises 1 rows, but 2 follow"),
            ("1 9999999999 9\n0 0:1\n", 1, "may have 2147483647 columns at most"),
            ("", 0, "has features and labels, but this file has 0 features"),
            *(
                (f"3 3 2\n0 0:1\n{row}\n1 1:1\n", 3, f"got {row!r}. Correct that line")
                for row in (
                    *("2 0:1", "0 3:1", "0,,1 0:1", "0 0:1 0:2", "0,0 0:1", "0 0:x", "0 0:inf"),
                    *("0 0:1 2", "0 1.0:1", "+1 1:1.5", "word 1:1", "0 0:1 # why"),
                )
            ),
        ],
    )
    def test_refusals(self, write, text, line, message):
        with pytest.raises(DataFileError, match=re.escape(message)) as caught:
            read_xmlrepo(write(text, "toy.txt"))
        assert caught.value.line == line
        assert "toy.txt" in str(caught.value)


class TestCsv:
    @pytest.mark.parametrize(
        "text",
        [
            "a,b,c,p,q\n2.5,0,1,1,0\n0,0,0,0,0\n0,-7,0.125,0,1\n",
            "a;b;c;p;q\r\n2.5; 0;1;1;0\r\n\r\n0;0;0;0;0\r\n0;-7;.125;0;1",
            "a\tb\tc\tp\tq\n2.5\t0\t1\tTrue\tfalse\n0\t0\t0\t0\t0\n0\t-7\t0.125\tno\tyes\n",
            'a,"b","c",p,q\n"2.5",0,1,1,0\n0,0,0,0,0\n0,-7,0.125,0,1\n',
            "\ufeffa,b,c,p,q\n2.5,0,1,1,0\n0,0,0,0,0\n0,-7,12.5e-2,0,1\n",
        ],
    )
    def test_every_way_to_write_the_same_table(self, write, text):
        for labels in (-2, ["q", "p"]):
            data = read(write(text, "t.csv"), labels)
            check(data)
            assert data.feature_names == ("a", "b", "c")
            assert data.label_names == ("p", "q")

    def test_prefix_ignore_and_odd_names(self, write):
        text = 'id,"x, ""y""\nz",L:1,L:2\nfoo,1,1,0\n"b,ar",2,0,1\n'
        data = read(write(text, "t.csv"), "L:", ignore=["id"])
        assert data.feature_names == ('x, "y"\nz',)
        check(data, [[1], [2]], [[1, 0], [0, 1]])

    def test_without_names(self, write):
        data = read(write("1,0,5\n0,1,6\n", "t.csv"), 2, header=False)
        check(data, [[5], [6]], [[1, 0], [0, 1]])
        assert data.label_names == ("0", "1")

    def test_missing_values(self, write):
        path = write("p,x\n1,\n0,NA\n1,3\n", "t.csv")
        check(read(path, 1), [[np.nan], [np.nan], [3]], [[1], [0], [1]])

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("p,x\n1,2\n1\n", 3, "a row must hold 2 cells, one per column, got 1"),
            ("p,x\n1,2\n\n1,red\n", 4, "the column 'x' must hold finite numbers, got 'red'"),
            ("p,x\n1,2\n7,2\n", 3, "'p' holds 7"),
            ("p,x\n,2\n", 2, "'p' holds a missing value"),
            ('p,x\n1,"2\n', 2, "its cells cannot be separated"),
            ("\n", 1, "its first line is empty"),
            ("\0,\0\n", 1, "its first line holds zero bytes"),
            ("p\n1\n", 1, "two columns at least"),
        ],
    )
    def test_refusals(self, write, text, line, message):
        with pytest.raises(DataFileError, match=re.escape(message)) as caught:
            read(write(text, "t.csv"), 1)
        assert caught.value.line == line
        with pytest.raises(ValueError, match="delimiter must be one plain character"):
            read(write(text, "t.csv"), 1, delimiter="::")


def test_parquet_of_others(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    columns = {
        "id": ["a", "b"],
        "whole": arrow.array([3, None]),
        "real": arrow.array([0.5, 2], arrow.float32()),
        "L1": [True, False],
        "L2": arrow.array([0, 1], arrow.uint8()),
    }
    parquet.write_table(arrow.table(columns), path)
    check(read(path, "L", ignore=["id"]), [[3, 0.5], [np.nan, 2]], [[1, 0], [0, 1]])
    with pytest.raises(DataFileError, match="'id' is of type 'string'"):
        read(path, "L")
    with pytest.raises(DataFileError, match="does not say which columns are labels"):
        read(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataFileError, match="cannot be read as Parquet"):
        read(path, "L")


ARFF = "@relation 't: -C 1'\n@attribute p {0,1}\n@attribute x numeric\n@data\n1,2\n0,3\n"


class TestRead:
    @pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
    @pytest.mark.parametrize(
        ("name", "text", "options"),
        [
            ("t.arff", ARFF, {}),
            ("t", "% remark\n\n" + ARFF, {}),
            ("t.csv", "p,x\n1,2\n0,3\n", {"labels": 1}),
            ("t.TSV", "x\tp\n2\t1\n3\t0\n", {"labels": ["p"]}),
            ("t.data", "p,x\n1,2\n0,3\n", {"labels": "p"}),
            ("t.txt", "2 1 1\n0 0:2\n 0:3\n", {}),
            ("t.svm", "0 1:2\n 1:3\n", {}),
            ("t.txt", "0 1:2\n 1:3\n", {"format": "libsvm"}),
            ("t.txt", "0 0:2\n 0:3\n", {"format": "xmlrepo"}),
        ],
    )
    def test_by_name_and_by_content(self, write, pack, name, text, options):
        endings = {gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz", bytes: ""}
        data = read(write(pack(text.encode()), name + endings[pack]), **options)
        check(data, [[2], [3]], [[1], [0]])
        assert data.name == "t" or name == "t.data"
        assert read(write(pack(text.encode()), "T" + name), **options).n_samples == 2

    def test_an_xml_file_of_the_same_name(self, write):
        path = write(ARFF.replace(": -C 1", ""), "t.arff")
        with pytest.raises(DataFileError, match="must say by MEKA's '-C n'"):
            read(path)
        write('<labels><label name="x"><label name="p"/></label></labels>', "t.xml")
        with pytest.raises(DataFileError, match="'x' holds 2"):
            read(path)
        write('<labels><label name="p"/></labels>', "t.xml")
        assert read(path).label_names == ("p",)

    @pytest.mark.parametrize(
        ("text", "options", "error", "message"),
        [
            ("0 1:2\n", {}, DataFileError, "Pass format='xmlrepo' or format='libsvm'"),
            (" 1:3 2:4\n", {}, DataFileError, "Pass format='xmlrepo' or format='libsvm'"),
            ("", {}, DataFileError, "neither its name nor its content"),
            ("hello\n", {}, DataFileError, "neither its name nor its content"),
            ("", {"format": "excel"}, ValueError, "format must be one of"),
            ("0 1:2\n", {"format": "libsvm", "labels": 3}, TypeError, "begin with their labels"),
            ("2 1 1\n", {"header": False}, TypeError, r"header \(--no-header"),
            ("p,x\n1,2\n", {}, DataFileError, "does not say which columns are labels"),
        ],
    )
    def test_refusals(self, write, text, options, error, message):
        with pytest.raises(error, match=message):
            read(write(text, "t.txt"), **options)

    def test_no_file(self):
        with pytest.raises(FileNotFoundError, match="no file is there"):
            read("absent.csv", 1)
        assert (format_of("b.tar.pq"), format_of("a.libsvm.gz.xz")) == ("parquet", "libsvm")

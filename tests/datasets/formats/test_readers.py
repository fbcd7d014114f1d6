"""Every reader but ARFF's on hand-made files, and `read`, which chooses among them."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from compactlearn.datasets import (
    DataFileError,
    read,
    read_csv,
    read_libsvm,
    read_mat,
    read_parquet,
    read_xmlrepo,
)
from compactlearn.datasets._formats.reading import format_of

X = np.array([[2.5, 0, 1], [0, 0, 0], [0, -7, 0.125]])
Y = np.array([[1, 0], [0, 0], [0, 1]])


def arrays(data):
    found = data.X.toarray() if sparse.issparse(data.X) else data.X
    assert found.dtype == np.float64
    assert data.Y.dtype == np.int64
    return found, data.Y.toarray()


def check(data, X=X, Y=Y):
    found = arrays(data)
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], Y)


class TestXmlrepo:
    @pytest.mark.parametrize(
        "text",
        [
            "3 3 2\n0 0:2.5 2:1\n\n1 1:-7 2:0.125\n",
            "3 3 2\r\n0 0:2.5 2:1\r\n\r\n1 1:-7 2:0.125",
            " 3  3\t2 \n0  2:1 0:2.5 \n \n1\t1:-7e0 2:1.25E-1\n\n\n",
        ],
    )
    def test_with_header(self, write, text):
        check(read_xmlrepo(write(text, "toy.txt")))

    def test_without_header(self, write):
        text = "0 0:2.5 2:1\n 0:0\n1 1:-7 2:0.125\n"
        data = read_xmlrepo(write(text, "toy.txt"))
        check(data)
        assert data.feature_names is None
        wide = read_xmlrepo(write(text, "toy.txt"), n_features=9, n_labels=4)
        assert (wide.n_features, wide.n_labels) == (9, 4)

    def test_a_row_may_start_with_a_pair(self, write):
        check(read_xmlrepo(write("3 3 2\n0 0:2.5 2:1\n0:0\n1 1:-7 2:0.125\n", "toy.txt")))

    def test_declared_sizes_allocate_nothing(self, write):
        data = read_xmlrepo(write("1 999999999 99999999\n5 7:1\n", "toy.txt"))
        assert data.X.shape == (1, 999999999)
        assert data.Y.shape == (1, 99999999)

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("2 3 2\n0 0:1\n", 2, "promises 2 rows, but 1 follow"),
            ("999999999 999999999 9\n0 0:1\n", 2, "promises 999999999 rows, but 1 follow"),
            ("1 9999999999 9\n0 0:1\n", 1, "may have 2147483647 columns at most"),
            ("1 3 2\n2 0:1\n", 2, "a label must be a whole number from 0 to 1, got '2'"),
            ("1 3 2\n0 3:1\n", 2, "the index of a feature must be a whole number from 0 to 2"),
            ("1 3 2\n0,,1 0:1\n", 2, "a label must be a whole number from 0 to 1, got ''"),
            ("1 3 2\n0 0:1 0:2\n", 2, "the feature 0 is given twice"),
            ("1 3 2\n0,0 0:1\n", 2, "the label 0 is given twice"),
            ("1 3 2\n0 0:x\n", 2, "must be a finite number, got 'x'"),
            ("1 3 2\n0 0:inf\n", 2, "must be a finite number, got 'inf'"),
            ("1 3 2\n0 0:1 2\n", 2, "features are pairs 'index:value', got '2'"),
            ("1 3 2\n0 1.0:1\n", 2, "must be a whole number from 0 to 2, got '1.0'"),
            ("1 3 2\n+1 1:1.5\n", 2, "a label must be a whole number"),
            ("", 0, "has features and labels, but this file has 0 features"),
        ],
    )
    def test_refusals(self, write, text, line, message):
        with pytest.raises(DataFileError, match=re.escape(message)) as caught:
            read_xmlrepo(write(text, "toy.txt"))
        assert caught.value.line == line
        assert "toy.txt" in str(caught.value)


class TestLibsvm:
    def test_numbered_labels(self, write):
        check(read_libsvm(write("# head\n0 1:2.5 3:1 # why\n\n 1:0\n1 2:-7 3:0.125\n", "t.svm")))

    def test_counted_from_0(self, write):
        path = write("0 0:2.5 2:1\n 0:0\n1 1:-7 2:0.125\n", "t.svm")
        check(read_libsvm(path, zero_based=True))
        with pytest.raises(DataFileError, match="line 1: the index of a feature must be a whole"):
            read_libsvm(path)

    def test_named_labels(self, write):
        path = write("b,3 1:1\na 1:2\n3 2:1\n", "t.svm")
        data = read_libsvm(path)
        assert data.label_names == ("3", "a", "b")
        check(data, [[1, 0], [2, 0], [0, 1]], [[1, 0, 1], [0, 1, 0], [1, 0, 0]])
        given = read_libsvm(path, label_names=["b", "a", "z", "3"])
        assert given.label_names == ("b", "a", "z", "3")
        check(given, [[1, 0], [2, 0], [0, 1]], [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 1]])
        with pytest.raises(DataFileError, match="must hold every label of the file, but '3'"):
            read_libsvm(path, label_names=["b", "a"])


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
    def test_ways_to_write_it(self, write, text):
        for labels in (-2, ["q", "p"]):
            data = read_csv(write(text, "t.csv"), labels)
            check(data)
            assert data.feature_names == ("a", "b", "c")
            assert data.label_names == ("p", "q")

    def test_prefix_ignore_and_odd_names(self, write):
        text = 'id,"x, ""y""\nz",L:1,L:2\nfoo,1,1,0\n"b,ar",2,0,1\n'
        data = read_csv(write(text, "t.csv"), "L:", ignore=["id"])
        assert data.feature_names == ('x, "y"\nz',)
        check(data, [[1], [2]], [[1, 0], [0, 1]])

    def test_without_names(self, write):
        data = read_csv(write("1,0,5\n0,1,6\n", "t.csv"), 2, header=False)
        check(data, [[5], [6]], [[1, 0], [0, 1]])
        assert data.label_names == ("0", "1")

    def test_missing_values(self, write):
        path = write("p,x\n1,\n0,NA\n1,3\n", "t.csv")
        check(read_csv(path, 1), [[np.nan], [np.nan], [3]], [[1], [0], [1]])

    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("p,x\n1,2\n1\n", 3, "a row must hold 2 cells, one per column, got 1"),
            ("p,x\n1,2\n\n1,red\n", 4, "the column 'x' must hold finite numbers, got 'red'"),
            ("p,x\n1,2\n7,2\n", 3, "'p' holds 7"),
            ("p,x\n,2\n", 2, "'p' holds a missing value"),
            ('p,x\n1,"2\n', 2, "its cells cannot be told apart"),
            ("\n", 1, "the first line is empty"),
            ("p\n1\n", 1, "two columns at least"),
        ],
    )
    def test_refusals(self, write, text, line, message):
        with pytest.raises(DataFileError, match=re.escape(message)) as caught:
            read_csv(write(text, "t.csv"), 1)
        assert caught.value.line == line

    def test_a_bad_delimiter(self, write):
        with pytest.raises(ValueError, match="delimiter must be one plain character"):
            read_csv(write("p,x\n1,2\n", "t.csv"), 1, delimiter="::")


class TestMat:
    @pytest.mark.parametrize("compressed", [False, True])
    @pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, np.int8])
    def test_agrees_with_scipy(self, tmp_path, compressed, kind):
        values = (X * 8).astype(kind)
        path = tmp_path / "t.mat"
        others = {"words": "text", "cells": np.array([1, "a"], object), "s": {"f": 1}}
        scipy.io.savemat(path, {**others, "data": values, "target": Y}, do_compression=compressed)
        check(read_mat(path), X * 8)

    @pytest.mark.parametrize("compressed", [False, True])
    def test_sparse_and_turned(self, tmp_path, compressed):
        path = tmp_path / "t.mat"
        content = {"X": sparse.csc_matrix(X), "Y": sparse.csc_matrix(Y.T)}
        scipy.io.savemat(path, content, do_compression=compressed)
        check(read_mat(path))
        check(read(path, labels="Y", features="X"))

    def test_plus_and_minus_one(self, tmp_path):
        path = tmp_path / "t.mat"
        scipy.io.savemat(path, {"fea": X, "gnd": 2.0 * Y - 1})
        check(read_mat(path))

    def test_square(self, tmp_path):
        path = tmp_path / "t.mat"
        scipy.io.savemat(path, {"data": X[:2], "target": np.array([[1, 1], [0, 0]])})
        with pytest.raises(DataFileError, match="its labels may be rows or columns"):
            read_mat(path)
        check(read_mat(path, labels_are="columns"), X[:2], [[1, 1], [0, 0]])
        check(read_mat(path, labels_are="rows"), X[:2], [[1, 0], [1, 0]])

    def test_refusals(self, tmp_path, write):
        path = tmp_path / "t.mat"
        scipy.io.savemat(path, {"first": X, "second": Y})
        with pytest.raises(DataFileError, match=r"'first' \(3x3\), 'second' \(3x2\)"):
            read_mat(path)
        check(read_mat(path, features="first", labels="second"))
        with pytest.raises(DataFileError, match="no numeric matrix 'third'"):
            read_mat(path, features="third")
        with pytest.raises(DataFileError, match="labels must be 0 and 1, or -1 and"):
            read_mat(path, features="second", labels="first", labels_are="rows")
        with pytest.raises(DataFileError, match=r"this is MATLAB 7\.3"):
            read_mat(write(b"MATLAB 7.3 MAT-file" + b" " * 600, "new.mat"))
        with pytest.raises(DataFileError, match="a head of 128 bytes"):
            read_mat(write(b"", "empty.mat"))
        with pytest.raises(ValueError, match="labels_are must be"):
            read_mat(path, labels_are="both")


class TestParquet:
    def test_tables_of_others(self, tmp_path):
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
        check(read_parquet(path, "L", ignore=["id"]), [[3, 0.5], [np.nan, 2]], [[1, 0], [0, 1]])
        with pytest.raises(DataFileError, match="'id' is of type 'string'"):
            read_parquet(path, "L")
        with pytest.raises(DataFileError, match="does not say which columns are labels"):
            read_parquet(path)
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(DataFileError, match="cannot be read as Parquet"):
            read_parquet(path, "L")


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

    def test_binary_formats_by_content(self, tmp_path):
        scipy.io.savemat(tmp_path / "t.mat", {"data": X, "target": Y})
        (tmp_path / "t.mat").rename(tmp_path / "renamed")
        check(read(tmp_path / "renamed"))
        (tmp_path / "packed").write_bytes(gzip.compress((tmp_path / "renamed").read_bytes()))
        check(read(tmp_path / "packed"))

    def test_an_xml_file_beside_it(self, write):
        path = write(ARFF.replace(": -C 1", ""), "t.arff")
        with pytest.raises(DataFileError, match="must say by MEKA's '-C n'"):
            read(path)
        write('<labels><label name="x"><label name="p"/></label></labels>', "t.xml")
        with pytest.raises(DataFileError, match="'x' holds 2"):
            read(path)
        write('<labels><label name="p"/></labels>', "t.xml")
        assert read(path).label_names == ("p",)

    def test_refusals(self, write):
        for text in ("0 1:2\n", " 1:3 2:4\n"):
            with pytest.raises(DataFileError, match="Pass format='xmlrepo' or format='libsvm'"):
                read(write(text, "t.txt"))
        for text in ("", "hello\n"):
            with pytest.raises(DataFileError, match="neither its name nor its content"):
                read(write(text, "t.txt"))
        with pytest.raises(ValueError, match="format must be one of"):
            read(write("", "t.txt"), format="excel")
        with pytest.raises(TypeError, match="rows begin with their labels"):
            read(write("0 1:2\n", "t.svm"), labels=3)
        with pytest.raises(DataFileError, match="does not say which columns are labels"):
            read(write("p,x\n1,2\n", "t.csv"))
        with pytest.raises(FileNotFoundError, match="no file is there"):
            read("absent.csv", 1)

    def test_endings_are_looked_through(self):
        for name in ("a.parquet", "b.tar.pq"):
            assert format_of(name) == "parquet"
        assert format_of("a.libsvm.gz.xz") == "libsvm"

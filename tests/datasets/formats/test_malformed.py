"""Damaged and hostile files: each is read, or raises DataFileError.

Valid files are damaged by hypothesis, byte by byte and line by line. The result of each is either
a data set whose parts fit together, or a DataFileError with file and reason.
"""

import bz2
import functools
import gzip
import lzma
import time
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from compactlearn.datasets import (
    DataFileError,
    Dataset,
    Limits,
    fingerprint,
    read,
    write_parquet,
)
from compactlearn.datasets._formats.columns import read_label_names
from compactlearn.datasets._parsing.number_blocks import Grammar

read_arff = partial(read, format="arff")
DENSE = rb"""% a remark
@relation 'toy: -C -2'
@attribute 'odd \'name' numeric
@attribute colour {red,'dark blue'}
@attribute flag {YES,NO}
@attribute size REAL
@attribute p {0,1}
@attribute "q, %" {0,1}
@data
1.5,red,YES,-2e3,1,0
?,'dark blue',NO,7,0,0

0,red,?,0.25,1,1 % remark
{0 3,1 'dark blue',5 1}
"""
PLAIN = b"@relation 't: -C 2'\n@attribute p {0,1}\n@attribute q {0,1}\n@attribute a numeric\n"
PLAIN += b"@attribute b numeric\n@data\n1,0,2.5,-7\n0,0,0.125,1e5\n0,1,0,3\n"
SPARSE = PLAIN.split(b"@data")[0] + b"@data\n{0 1,2 2.5}\n{}\n{1 1,3 -7}\n{0 1,1 1,2 3,3 4}\n"
XMLREPO = b"4 5 3\n0,2 0:1.5 4:2\n 1:3\n\n1 0:-1e-3 2:7 3:12345678901234567\n"
LIBSVM = b"0,2 1:1.5 5:2\n 1:3\n# remark\n1 1:-1e-3 2:7\n"
CSV = b'a,"b ""c""",L1,L2\n1.5,-2,1,0\n,NA,0,0\n"3",4e2,yes,no\n'
TSV = b"L1\tL2\tx\ty\n1\t0\t2.5\t3\n0\t0\t1\t1\n0\t1\t7\t0\n"
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="p"><label name="q"></label></label>
</labels>
"""


@functools.cache
def parquet(folder):
    data = Dataset(np.arange(12.0).reshape(4, 3), np.eye(4, 2, dtype=np.int64), tuple("abc"))
    write_parquet(data, folder / "valid.parquet")
    return (folder / "valid.parquet").read_bytes()


# name of the file, valid content, how to read it, whether it has lines
SUBJECTS = {
    "arff-mixed": ("t.arff", DENSE, read_arff),
    "arff-plain": ("t.arff", PLAIN, read_arff),
    "arff-sparse": ("t.arff", SPARSE, read_arff),
    "arff-xz": ("t.arff.xz", lzma.compress(SPARSE), read),
    "arff-bz2": ("t.arff.bz2", bz2.compress(SPARSE), read),
    "arff-gz": ("t.arff.gz", gzip.compress(SPARSE, mtime=0), read),
    "xmlrepo": ("t.txt", XMLREPO, partial(read, format="xmlrepo")),
    "libsvm": ("t.svm", LIBSVM, read),
    "csv": ("t.csv", CSV, lambda path: read(path, "L")),
    "tsv": ("t.tsv", TSV, lambda path: read(path, 2)),
    "by-content": ("t", SPARSE, read),
    "xml": ("names.xml", XML, read_label_names),
    "parquet": ("t.parquet", None, read),
}

PAIRS = ("xmlrepo", "libsvm")  # read in whole blocks only

# Bytes that mean something in one of the formats, before any others.
bytes_to_insert = st.one_of(
    st.sampled_from([b"{", b"}", b",", b":", b" ", b"\n", b"'", b'"', b"\\", b"%", b"@", b"#"]),
    st.sampled_from([b"\0", b"\r", b"\t", b"-", b"9" * 30, b"1e999", b"nan", b"\xff", b"&", b"<"]),
    st.binary(min_size=1, max_size=4),
)
#: Where bytes are removed, how many (the rest, if very many), and what is put there.
edits = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.one_of(st.integers(0, 8), st.just(1 << 20)),
        st.one_of(st.just(b""), bytes_to_insert),
    ),
    min_size=1,
    max_size=4,
)


def damaged(content, edits):
    for place, n_removed, inserted in edits:
        at = int(place * len(content))
        content = content[:at] + inserted + content[at + n_removed :]
    return content


def outcome(path, reader):
    """Return the data of the reader, or its error message."""
    try:
        return reader(path)
    except DataFileError as error:
        return error


def check_outcome(path, reader):
    started = time.perf_counter()
    found = outcome(path, reader)
    assert time.perf_counter() - started < 10
    if isinstance(found, DataFileError):
        assert path.name in str(found)
        assert len(found.reason) > 10
        assert found.line is None or f"line {found.line}: " in str(found)
    if isinstance(found, Dataset):
        check_fits(found)
    return found


def same_outcome(one, other):
    if not (isinstance(one, Dataset) and isinstance(other, Dataset)):
        return type(one) is type(other) and str(one) == str(other)
    same = one.feature_names == other.feature_names and one.X.shape == other.X.shape
    return same and fingerprint(one) == fingerprint(other)


def check_fits(data):
    assert data.X.shape[0] == data.Y.shape[0] == data.n_samples
    assert data.X.dtype == np.float64
    assert data.Y.dtype == np.int64
    assert min(data.n_features, data.n_labels) >= 0
    values = data.X.data if sparse.issparse(data.X) else data.X
    assert not np.isinf(values).any() or "parquet" in data.source
    for matrix in (data.X, data.Y):
        if sparse.issparse(matrix):
            matrix.check_format(full_check=True)
            assert matrix.has_canonical_format
    assert (data.Y.data == 1).all()
    for names, columns in ((data.feature_names, data.X), (data.label_names, data.Y)):
        assert names is None or len(names) == columns.shape[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("malformed")


def subject(folder, name):
    file, content, reader = SUBJECTS[name]
    return folder / file, parquet(folder) if content is None else content, reader


def write_new(path, content):
    path.unlink(missing_ok=True)  # a disk is slow to write over a file
    path.write_bytes(content)


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_undamaged_file_is_read(folder, name):
    path, content, reader = subject(folder, name)
    path.write_bytes(content)
    found = reader(path)
    assert found == ["p", "q"] if name == "xml" else min(found.n_samples, found.n_labels) > 1


@pytest.mark.parametrize("name", SUBJECTS)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), database=None)
@given(edits=edits)
def test_damaged_files(folder, name, edits):
    """Parsing a block at once gives the same result as parsing it line by line."""
    path, content, reader = subject(folder, name)
    write_new(path, damaged(content, edits))
    found = check_outcome(path, reader)
    if name not in PAIRS:
        with mock.patch.object(Grammar, "scan", return_value=None):
            assert same_outcome(found, outcome(path, reader))


# ------------------------------------------------------------------------------ hostile files


@pytest.mark.parametrize(
    ("file", "pack"),
    [("b.arff.xz", lzma.compress), ("b.arff.bz2", bz2.compress), ("b.arff.gz", gzip.compress)],
)
def test_a_decompression_bomb_is_refused(tmp_path, file, pack):
    path = tmp_path / file
    head = b"@relation 'b: -C 1'\n@attribute p {0,1}\n@attribute x numeric\n@data\n"
    path.write_bytes(pack(head + b"0,0\n" * 500_000))
    small = Limits(ratio=20, free=1 << 20)
    for limits in (small, Limits(total=1 << 20, free=1 << 20)):
        with pytest.raises(DataFileError, match=r"expand to more than .* beyond the limits"):
            read(path, limits=limits)
    assert read_arff(path).n_samples == 500_000, "within the usual limits"


def test_a_bomb_in_parquet_is_refused(tmp_path):
    data = Dataset(sparse.csr_array((60_000, 40)), sparse.csr_array((60_000, 1), dtype=np.int64))
    write_parquet(data, tmp_path / "b.parquet")
    with pytest.raises(DataFileError, match="beyond the limits"):
        read(tmp_path / "b.parquet", limits=Limits(ratio=100, free=1 << 20))


def test_pickles_are_not_a_format(tmp_path):
    (tmp_path / "t.pkl").write_bytes(b"\x80\x04cposix\nsystem\n(S'false'\ntR.")
    with pytest.raises(DataFileError, match="neither its name nor its content"):
        read(tmp_path / "t.pkl")


@pytest.mark.parametrize(
    "head",
    [
        b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>',
        b'<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        b'<!DOCTYPE l SYSTEM "http://localhost/evil.dtd">',
    ],
)
def test_entities_are_refused(tmp_path, head):
    path = tmp_path / "t.xml"
    path.write_bytes(head + b'<labels><label name="&a;"/></labels>')
    with pytest.raises(DataFileError, match="no document type, but it declares a document type"):
        read_label_names(path)


def test_a_deep_hierarchy_is_no_problem(tmp_path):
    path = tmp_path / "deep.xml"
    path.write_bytes(
        b"<labels>" + b'<label name="a">' * 50_000 + b"</label>" * 50_000 + b"</labels>"
    )
    assert len(read_label_names(path)) == 50_000


@pytest.mark.parametrize("cell", [b"'", b'"', b"\\", b"',\"", b"%'", b"{'"])
def test_unclosed_quotes_take_no_long_time(tmp_path, cell):
    path = tmp_path / "t.arff"
    path.write_bytes(PLAIN + cell * 200_000 + b"\n")
    check_outcome(path, read_arff)
    path.write_bytes(b"@attribute " + cell * 200_000 + b"\n@data\n")
    check_outcome(path, lambda path: read_arff(path, 1))


def test_a_damaged_checksum_is_noticed(tmp_path):
    content = bytearray(gzip.compress(SPARSE))
    content[-6] ^= 1
    (tmp_path / "t.arff.gz").write_bytes(content)
    with pytest.raises(DataFileError, match="a compressed file must be whole"):
        read(tmp_path / "t.arff.gz")


@pytest.mark.parametrize("value", ["-", "+", ".", "-.", "1-2", "1.2.3", "--1", "- -5", "1e", "e1"])
def test_what_is_no_number_is_not_read_as_one(tmp_path, value):
    path = tmp_path / "t.arff"
    for rows in (f"1,0,{value},2", f"1,0,2,{value}", f"{{2 {value}}}", f"1,0,{value},1e5"):
        path.write_bytes(PLAIN + rows.encode() + b"\n")
        with pytest.raises(DataFileError, match="line 10: "):
            read_arff(path)


def test_blocks_and_lines_agree_wherever_they_are_cut(tmp_path, monkeypatch):
    rows = b"".join(b"{%d 1,%d 2.5,3 -7}\n" % (j % 2, 2) for j in range(300))
    (tmp_path / "t.arff").write_bytes(SPARSE.split(b"@data")[0] + b"@data\n" + rows)
    whole = read_arff(tmp_path / "t.arff")
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr("compactlearn.datasets._parsing.lines._CHUNK", size)
        cut = read_arff(tmp_path / "t.arff")
        np.testing.assert_array_equal(cut.X, whole.X)
        np.testing.assert_array_equal(cut.Y.toarray(), whole.Y.toarray())
    (tmp_path / "t.arff").write_bytes((tmp_path / "t.arff").read_bytes() + b"{9 1}\n")
    with pytest.raises(DataFileError, match=r"line 307: a sparse row holds pairs"):
        read_arff(tmp_path / "t.arff")

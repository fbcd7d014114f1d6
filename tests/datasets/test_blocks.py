"""Files in blocks have the rows of the files read whole."""

import gzip

import numpy as np
import pytest
import scipy.sparse

from compactlearn import CMLLClassifier
from compactlearn.datasets import (
    DataFileError,
    Dataset,
    load,
    open_blocks,
    read,
    write_arff,
    write_parquet,
    write_xmlrepo,
)
from tests.datasets.matrices import dense


def gathered(source):
    blocks = list(source)
    return tuple(np.vstack([dense(block[place]) for block in blocks]) for place in (0, 1))


def same_rows(source, data):
    X, Y = gathered(source)
    assert np.array_equal(X, dense(data.X))
    assert np.array_equal(Y, dense(data.Y))
    assert (source.n_features, source.n_labels) == (data.n_features, data.n_labels)


def write_csv(data, path):
    names = ",".join([*data.feature_names, *data.label_names])
    rows = np.hstack([dense(data.X), dense(data.Y)])
    lines = [",".join(repr(float(value)) for value in row) for row in rows]
    path.write_text("\n".join([names, *lines]) + "\n")


def write_arrow(data, path):
    arrow = pytest.importorskip("pyarrow")
    names = [*data.feature_names, *data.label_names]
    columns = np.hstack([dense(data.X), dense(data.Y)]).T
    table = arrow.table(dict(zip(names, columns, strict=True)))
    with arrow.OSFile(str(path), "wb") as stream, arrow.ipc.new_file(stream, table.schema) as out:
        out.write_table(table, max_chunksize=150)


@pytest.fixture(scope="module")
def emotions():
    return load("emotions")


@pytest.fixture(scope="module")
def enron():
    data = load("enron")
    return Dataset(data.X[:400], data.Y[:400], data.feature_names, data.label_names, "enron")


@pytest.mark.parametrize("rows_per_block", [11, 37, 10_000])
@pytest.mark.parametrize("ending", ["arff", "parquet", "csv", "feather"])
def test_tables_have_the_same_rows(tmp_path, emotions, ending, rows_per_block):
    writers = {"arff": write_arff, "parquet": write_parquet, "csv": write_csv}
    path = tmp_path / f"data.{ending}"
    writers.get(ending, write_arrow)(emotions, path)
    labels = None if ending in ("arff", "parquet") else -6
    source = open_blocks(path, labels, rows_per_block=rows_per_block)
    assert source.n_rows == (593 if ending == "parquet" else None)
    same_rows(source, emotions)
    same_rows(source, emotions)  # again
    assert source.n_rows == 593
    assert source.feature_names == emotions.feature_names
    assert source.label_names == emotions.label_names
    if ending in ("parquet", "feather"):
        assert max(X.shape[0] for X, _ in source) < 2 * rows_per_block


def test_sparse_tables_stay_sparse(tmp_path, enron):
    write_arff(enron, tmp_path / "data.arff")
    source = open_blocks(tmp_path / "data.arff", rows_per_block=100)
    assert source.is_sparse
    assert all(scipy.sparse.issparse(X) for X, _ in source)
    same_rows(source, enron)


def test_text_of_extreme_classification(tmp_path, enron):
    write_xmlrepo(enron, tmp_path / "data.txt")
    source = open_blocks(tmp_path / "data.txt", rows_per_block=50)
    assert source.n_rows == 400
    same_rows(source, enron)
    packed = tmp_path / "data.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "data.txt").read_bytes()))
    same_rows(open_blocks(packed), enron)
    content = (tmp_path / "data.txt").read_text().splitlines(keepends=True)
    (tmp_path / "bare.xmlrepo").write_text("".join(content[1:]))
    with pytest.raises(DataFileError, match=r"must say how many columns .* Pass n_features"):
        open_blocks(tmp_path / "bare.xmlrepo")
    shape = {"n_features": enron.n_features, "n_labels": enron.n_labels}
    same_rows(open_blocks(tmp_path / "bare.xmlrepo", **shape), enron)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_first_line_that_promises_other_rows(tmp_path, enron, change):
    write_xmlrepo(enron, tmp_path / "data.txt")
    content = (tmp_path / "data.txt").read_bytes()
    (tmp_path / "data.txt").write_bytes(content.replace(b"400", b"%d" % (400 + change), 1))
    with pytest.raises(DataFileError, match=f"promises {400 + change} rows, but"):
        list(open_blocks(tmp_path / "data.txt", rows_per_block=50))


# ---- several files ----------------------------------------------------------------------------


def parts(data, folder, n=3):
    for place, rows in enumerate(np.array_split(np.arange(data.n_samples), n)):
        part = Dataset(data.X[rows], data.Y[rows], data.feature_names, data.label_names, "part")
        write_parquet(part, folder / f"part-{place}.parquet")


def test_a_folder_of_files_is_one_source(tmp_path, emotions):
    pytest.importorskip("pyarrow")
    folder = tmp_path / "set"
    (folder / "_temporary").mkdir(parents=True)
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden").write_text("")
    (folder / "README.md").write_text("what this is")
    (folder / "_temporary" / "left.parquet").write_text("")
    parts(emotions, folder)
    source = open_blocks(folder, rows_per_block=100)
    assert len(source.paths) == 3
    assert source.n_rows == 593
    same_rows(source, emotions)
    same_rows(open_blocks(sorted(folder.glob("part*"))), emotions)
    assert repr(source).startswith("BlockFiles of 3 files: 593 rows, 72 features (dense)")
    model = CMLLClassifier(threshold=0.5).fit(source)
    whole = CMLLClassifier(threshold=0.5).fit(emotions.X, emotions.Y)
    difference = model.decision_function(emotions.X) - whole.decision_function(emotions.X)
    assert np.abs(difference).max() < 1e-8
    assert model.label_names_ == list(emotions.label_names)


def test_files_of_other_columns_are_refused(tmp_path, emotions):
    pytest.importorskip("pyarrow")
    parts(emotions, tmp_path)
    names = emotions.feature_names
    other = Dataset(emotions.X, emotions.Y, names[::-1], emotions.label_names, "other")
    write_parquet(other, tmp_path / "part-9.parquet")
    with pytest.raises(DataFileError, match=r"part-9.*every file must have the 72 features of"):
        list(open_blocks(tmp_path))
    model = CMLLClassifier()
    with pytest.raises(DataFileError, match="every file must have the 72 features"):
        model.fit(open_blocks(tmp_path))
    assert not hasattr(model, "embedding_")


# ---- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [0, -3, 2.5, True, "many"])
def test_rows_of_a_block_are_a_whole_number(tmp_path, rows):
    with pytest.raises(ValueError, match="rows_per_block must be a whole number of at least 1"):
        open_blocks(tmp_path, rows_per_block=rows)


def test_no_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="there are none; pass the path of a file"):
        open_blocks(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file is there"):
        open_blocks(tmp_path / "absent.csv")


def test_labels_are_refused_where_each_row_begins_with_its_labels(tmp_path, enron):
    write_xmlrepo(enron, tmp_path / "data.txt")
    with pytest.raises(TypeError, match="whose rows begin with their labels; leave it out"):
        open_blocks(tmp_path / "data.txt", labels=-3)


def test_a_file_without_rows(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n")
    with pytest.raises(DataFileError, match="it has no rows"):
        open_blocks(tmp_path / "data.csv", labels=-1)


def test_a_missing_value_is_named_by_its_block(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n" + "1,0\n" * 5 + ",1\n")
    source = open_blocks(tmp_path / "data.csv", labels=-1)
    assert np.isnan(read(tmp_path / "data.csv", labels=-1).X).any()
    with pytest.raises(ValueError, match=r"Block 0, .*: X must hold finite numbers .* in row 5, "):
        CMLLClassifier().fit(source)


def test_a_line_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "data.csv").write_text("a,b\n" + "1,0\n" * 100_000 + "1,0,3\n")
    source = open_blocks(tmp_path / "data.csv", labels=-1, rows_per_block=100)
    with pytest.raises(DataFileError, match=r"line 100002.*a row must hold 2 cells"):
        CMLLClassifier().fit(source)

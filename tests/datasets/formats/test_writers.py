"""Files that are written are read back equal, by this package and by others."""

import io
import lzma
import os

import arff as liac
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn.datasets import Dataset, read, write_arff, write_parquet, write_xmlrepo
from tests.datasets.matrices import dense

ODD = ["it's", '"', "a b", "\\", "\\n", "a\nb", "tab\there", "%", "{0,1}", ",", "?", "é", "", " "]
ODD += ["日本", "-C 3", "<&>", "@data", "#", "1", "'quoted'", "a\\'b", "\u2028", "\x85", "𝔁", "\r"]

# XML knows no control characters but these three, and no halves of characters.
characters = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.sampled_from(
    "\n\r\t"
)
names = st.one_of(
    st.sampled_from(ODD), st.text(characters.filter(lambda c: c not in "\ufffe\uffff"), max_size=6)
)
numbers = st.one_of(
    st.just(0.0),
    st.integers(-9, 9).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53 + 2, 1e22, 1e23]),
)


@st.composite
def datasets(draw):
    n, d, m = (draw(st.integers(low, 4)) for low in (0, 1, 1))
    cells = st.just(0.0) if draw(st.booleans()) else numbers
    X = np.array(draw(st.lists(cells, min_size=n * d, max_size=n * d))).reshape(n, d)
    Y = np.array(draw(st.lists(st.integers(0, 1), min_size=n * m, max_size=n * m)), np.int64)
    Y = Y.reshape(n, m)
    columns = draw(st.lists(names, min_size=d + m, max_size=d + m)) if draw(st.booleans()) else None
    return Dataset(
        X=sparse.csr_array(X) if draw(st.booleans()) else X,
        Y=sparse.csr_array(Y) if draw(st.booleans()) else Y,
        feature_names=tuple(columns[:d]) if columns else None,
        label_names=tuple(columns[d:]) if columns else None,
        name=draw(names),
    )


def same(found, expected):
    np.testing.assert_array_equal(dense(found.X), dense(expected.X))
    np.testing.assert_array_equal(dense(found.Y), dense(expected.Y))


WRITERS = {"t.arff": write_arff, "t.parquet": write_parquet, "t.txt": write_xmlrepo}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@pytest.mark.parametrize("name", WRITERS)
@given(data=datasets())
@example(
    data=Dataset(np.ones((1, len(ODD))), np.ones((1, len(ODD)), np.int64), tuple(ODD), tuple(ODD))
)
def test_read_back_equal(folder, name, data):
    path = folder / name
    WRITERS[name](data, path)
    found = read(path)
    same(found, data)
    if name != "t.txt":
        features = data.feature_names or tuple(f"x{j}" for j in range(data.n_features))
        labels = data.label_names or tuple(f"y{j}" for j in range(data.n_labels))
        assert (found.feature_names, found.label_names) == (features, labels)
        if name == "t.arff" and len({*features, *labels}) == data.n_features + data.n_labels:
            by_xml = read(path, path.with_suffix(".xml"))
            same(by_xml, data)
            assert by_xml.label_names == labels
    if name == "t.parquet":
        assert found.name == data.name


def test_missing_values_are_kept_where_the_format_has_them(tmp_path):
    data = Dataset(np.array([[np.nan, 1.0]]), np.array([[1]]))
    for name in ("t.arff", "t.parquet"):
        WRITERS[name](data, tmp_path / name)
        same(read(tmp_path / name), data)
    with pytest.raises(ValueError, match="holds finite numbers only"):
        write_xmlrepo(data, tmp_path / "t.txt")
    with pytest.raises(ValueError, match="ARFF has no word for infinity"):
        write_arff(Dataset(np.array([[np.inf]]), np.array([[1]])), tmp_path / "i.arff")
    with pytest.raises(ValueError, match="made of characters that XML knows"):
        write_arff(Dataset(np.ones((1, 1)), np.ones((1, 1)), ("\0",), ("y",)), tmp_path / "c.arff")
    assert sorted(os.listdir(tmp_path)) == ["t.arff", "t.parquet", "t.xml"]


# ------------------------------------------------------------------------------ others' parsers

simple = st.text("abcXYZ_09", min_size=1, max_size=5).map(lambda s: "c" + s)


@st.composite
def plain_datasets(draw):
    data = draw(datasets())
    k = data.n_features + data.n_labels
    # They tell columns apart by their names, and one of them does so whatever the case.
    columns = draw(st.lists(simple, min_size=k, max_size=k, unique_by=str.lower))
    d = data.n_features
    return Dataset(data.X, data.Y, tuple(columns[:d]), tuple(columns[d:]), name="plain")


@given(data=plain_datasets())
def test_liac_arff_reads_the_same(folder, data):
    path = folder / "liac.arff"
    write_arff(data, path)
    loaded = liac.load(io.StringIO(path.read_text()), encode_nominal=True)
    expected = np.hstack([dense(data.X), dense(data.Y)])
    assert len(loaded["data"]) == len(expected)
    if data.n_samples:
        np.testing.assert_array_equal(np.array(loaded["data"], dtype=float), expected)
    assert [name for name, _ in loaded["attributes"]] == [*data.feature_names, *data.label_names]


@given(data=plain_datasets().filter(lambda data: data.n_samples))  # it writes no empty files
def test_we_read_what_liac_arff_writes(folder, data):
    table = np.hstack([dense(data.X), dense(data.Y)]).tolist()
    attributes = [(f"{name} {{%,'", "REAL") for name in data.feature_names]
    attributes += [(name, ["0", "1"]) for name in data.label_names]
    d = data.n_features
    rows = [[*row[:d], *(str(int(label)) for label in row[d:])] for row in table]
    path = folder / "by-liac.arff"
    path.write_text(liac.dumps({"relation": "r", "attributes": attributes, "data": rows}))
    same(read(path, -data.n_labels), data)
    assert read(path, -1 * data.n_labels).feature_names == tuple(n for n, _ in attributes[:d])


REAL = {"emotions": 6, "medical": 45, "cal500": 174, "enron": 53, "yeast": 14}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_liac_arff_reads_the_real_files_as_we_do(shared_datasets, name):
    path, n_labels = shared_datasets / name / f"{name}.arff.xz", REAL[name]
    text = lzma.decompress(path.read_bytes()).decode()
    is_sparse = "{" in text.lower().split("@data")[1]
    loaded = liac.loads(text, return_type=liac.LOD if is_sparse else liac.DENSE)
    data = read(path, -n_labels)
    total = data.n_features + data.n_labels
    if is_sparse:
        table = np.zeros((len(loaded["data"]), total))
        for row, cells in enumerate(loaded["data"]):
            table[row, list(cells)] = [float(value) for value in cells.values()]
    else:
        table = np.array(loaded["data"], dtype=float)
    np.testing.assert_array_equal(np.hstack([dense(data.X), dense(data.Y)]), table)
    assert [name for name, _ in loaded["attributes"]] == [*data.feature_names, *data.label_names]

"""Whatever is wrong with a file, it is said in a sentence, by one exception, and nothing else
happens."""

import copy
import json
import os
import pickle
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import (
    CMLLClassifier,
    CompactClassifier,
    ModelFileError,
    Original,
    load_model,
    save_model,
)
from compactlearn.io import _model_file as model_file
from compactlearn.io._codec import check_rule
from compactlearn.io._models import checked_shape
from compactlearn.io._trees import depth_of
from tests.io.mutations import put_together, sealed, split_file
from tests.io.stored_models import X, Y, fitted, new_rows
from tests.makers import modest

ROOT = Path(__file__).resolve().parents[2]
BAD = 3  # a percentage: of what is loaded and should not have been, most raises when it predicts


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The bytes of a small file, and a place for damaged ones."""
    path = tmp_path_factory.mktemp("files") / "model"
    CompactClassifier(Original()).fit(X[:, :2], Y[:, :2]).save(path)
    return path.read_bytes(), path


def refusal(path, content, **how):
    path.unlink(missing_ok=True)  # a disk is slow to write over a file
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"\.$") as caught:
        load_model(path, **how)
    assert str(path) in str(caught.value)
    return str(caught.value)


def refused_by_both(model, path, said):
    """A model that cannot be loaded is not saved, and a file of it that was forged not loaded."""
    path.write_text("the old file")
    with pytest.raises(ModelFileError, match=f"(?s)was not saved.*{said}.*is as it was before"):
        save_model(model, path)
    assert [part.name for part in path.parent.iterdir()] == [path.name]
    assert path.read_text() == "the old file"
    with open(path, "wb") as stream:
        model_file.write(stream, model, "model")
    with pytest.raises(ModelFileError, match=said):
        load_model(path)


# --- accidents -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_flipped_bit_at_every_place(small):
    content, path = small
    rng = np.random.default_rng(0)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        refusal(path, bytes(damaged))


@modest
@given(data=st.data())
def test_any_change_of_bytes(small, data):
    content, path = small
    place = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(0, 40))
    other = data.draw(st.binary(max_size=40))
    changed = content[:place] + other + content[place + length :]
    if changed != content:
        refusal(path, changed, memory_map=data.draw(st.booleans()))


def test_a_file_that_is_cut_off_or_goes_on(small):
    content, path = small
    for length in (0, 1, 7, 8, 9, 100, len(content) // 2, len(content) - 1):
        refusal(path, content[:length])
    for more in (b"\0", b" ", content):
        assert "bytes" in refusal(path, content + more)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (pickle.dumps({"a": 1}), "a pickle, which would have to be executed"),
        (b"PK\x03\x04" + b"\0" * 60, "is none of them"),
        (b"", "is none of them"),
        (b"hello", "is none of them"),
        (b"\xff" * 64, "is none of them"),
        ((2**62).to_bytes(8, "little") + b"{}", "is none of them"),
        ((60_000).to_bytes(8, "little") + b'{"a":' + b"[" * 59_995, "header cannot be read"),
        ((2).to_bytes(8, "little") + b"{}", "header cannot be read"),
        (
            (26).to_bytes(8, "little") + b'{"__metadata__":{"a":"b"}}',
            "none that holds a compactlearn model",
        ),
        ((24).to_bytes(8, "little") + b'{"__metadata__":{"a":1}}', "no texts that say"),
        ((30).to_bytes(8, "little") + b'{"a":NaN,"__metadata__":{}}   ', "NaN is no number"),
    ],
)
def test_what_is_no_model_file(tmp_path, content, said):
    assert said in refusal(tmp_path / "file", content)


@pytest.mark.parametrize("digest", ["\ud800" * 64, "0" * 63, "G" * 64])
def test_a_header_digest_that_is_none(small, digest):
    content, path = small
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"]["header_digest"] = digest
    text = json.dumps(header).encode()
    changed = len(text).to_bytes(8, "little") + text + content[8 + length :]
    assert "digest of its header" in refusal(path, changed)


@pytest.mark.skipif(sys.platform != "linux", reason="opens a pipe at both ends")
def test_a_pipe_is_not_read(tmp_path):
    """Nothing is waited for: a pipe that nobody writes to would never answer."""
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / "link"
    path.symlink_to("pipe")
    pipe = os.open(path, os.O_RDWR)
    try:
        os.write(pipe, bytes(100))
        with pytest.raises(ModelFileError, match="is a folder, device or pipe; pass the path of"):
            load_model(path)
        assert os.read(pipe, 200) == bytes(100)
        with pytest.raises(OSError, match="cannot be replaced by a file"):
            fitted("linear").save(path)
    finally:
        os.close(pipe)
    assert path.is_fifo()


def test_a_pickle_is_not_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    refusal(tmp_path / "file", pickle.dumps(Trap()))
    assert not (tmp_path / "sprung").exists()


# --- claims --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim",
    [
        {"dtype": "F64", "shape": [2**62], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [2**32, 2**32], "data_offsets": [0, 0]},  # 2**64 wraps to 0
        {"dtype": "F64", "shape": [0, 2**62], "data_offsets": [0, 0]},
        {"dtype": "F64", "shape": [-1, -1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1], "data_offsets": [8, 16]},
        {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]},
        {"dtype": "F64", "shape": [True], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1], "data_offsets": [0, 8, 9]},
        {"dtype": "F65", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "O", "shape": [1], "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1] * 60, "data_offsets": [0, 8]},
        {"dtype": "F64", "shape": [1]},
        None,
    ],
)
def test_claims_about_arrays(small, claim):
    """Nothing of the size that is claimed is asked for."""
    content, path = small
    about, _, _ = split_file(content)
    names = {"a": ("", [], b"x" * 8)}
    tracemalloc.start()
    message = refusal(path, sealed({"a": claim}, about, b"x" * 8, names))
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()
    assert "makes no sense" in message or "and it has 8 for them" in message


def with_root(value):
    return lambda about, description: description.update(root=value)


def with_attribute(name):
    return lambda about, description: description["things"][-1][1].update({name: 1})


NESTED = 1
for _ in range(100):
    NESTED = [NESTED]

ALTERED = [
    (with_root({"thing": 99}), "refers to a part that does not exist"),
    (with_root({"thing": -1}), "refers to a part that does not exist"),
    (with_root({"array": "99"}), "99"),
    (with_root({"import": "os"}), "import"),
    (with_root({"type": "os.system"}), "os.system"),
    (with_root({"texts": "description"}), "where texts should"),
    (with_root({"text array": ["description", [1], 10**12]}), "where texts should"),
    (with_root({"masked": [{"objects": [[1], [1]]}, {"objects": [[1], [1]]}]}), "mask"),
    (with_root({"objects": [[-1], [1]]}), "negative"),
    (with_root({"dict": [[[], 1]]}), "unhashable"),
    (with_root({"scalar": ["float64", "1"]}), "where a number should"),
    (with_root({"tuple": 5}), "where a list should"),
    (with_root({"slice": [1, 2]}), "where a list should"),
    (with_root({"float": "os"}), "os"),
    (with_root(NESTED), "nested too deeply"),
    (with_root(5), "no fitted model"),
    (with_root({"thing": 0}), "no fitted model"),
    *((with_attribute(name), "to be set") for name in ("predict", "__class__", "not a name")),
    (lambda about, description: description["things"][-1][1].pop("alpha"), "lacks alpha"),
    (
        lambda about, description: description["things"][0].__setitem__(0, "Quantum"),
        "install a new",
    ),
    (
        lambda about, _: about.update(format_version="4"),
        "version '4' .* reads version 5 only; load",
    ),
    (
        lambda about, _: about.update(format_version="6"),
        "version '6' .* reads version 5 only; load",
    ),
]


@pytest.mark.parametrize(("change", "said"), ALTERED)
def test_descriptions_that_make_no_model(small, change, said):
    content, path = small
    about, arrays, description = split_file(content)
    about["library_version"] = "\ud800\x1b[2J"
    change(about, description)
    message = refusal(path, put_together(about, arrays, description))
    assert re.search(said, message)
    message.encode()  # it can be printed


# --- what compiled code would believe ------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("shape", (2, 1)),
        ("shape", (-2, 3)),
        ("shape", (2, 2**40)),
        ("indices", np.array([0, 3], np.int32)),
        ("indices", np.array([-1, 2], np.int32)),
        ("indices", np.array([0, 2], np.int64)),
        ("indices", np.array([0], np.int32)),
        ("indptr", np.array([0, 2], np.int32)),
        ("indptr", np.array([0, 3, 2], np.int32)),
        ("indptr", np.array([1, 1, 2], np.int32)),
        ("indptr", np.array([0, 1, 1], np.int32)),
    ],
)
def test_sparse_matrices(part, value):
    parts = {
        "shape": (2, 3),
        "n_stored": 2,
        "indices": np.array([0, 2], np.int32),
        "indptr": np.array([0, 1, 2], np.int32),
    }
    assert checked_shape("csr_array", **parts) == (2, 3)
    with pytest.raises(ModelFileError):
        checked_shape("csr_array", **{**parts, part: value})


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("features_", [-1, 1, 2, 3, 4], "not sorted or out of range"),
        ("features_", [0.0, 1.0, 2.0, 3.0, 4.0], "not sorted or out of range"),
        ("features_", [0, 1, 2, 3], "n_features_in_' of KeptFeatures must be 'size d'"),
        ("classifier_", 5, "must be 'CompactClassifier'"),
        ("weights_", np.zeros((6, 12)), "'weights_' of KeptWeights must be 'sparse q d'"),
        ("intercept_", [0.0], r"'intercept_' of KeptWeights .*\(q = 6, .* of the shape \(1,\)"),
    ],
)
def test_parts_that_do_not_fit_each_other(tmp_path, name, value, said):
    model = copy.deepcopy(fitted("Auto of few features and weights"))
    parts = [member.model for member in model.blend_.members]
    parts = [part[-1] if hasattr(part, "steps") else part for part in parts]
    kind = "KeptFeatures" if name in ("features_", "classifier_") else "KeptWeights"
    (part,) = [part for part in parts if type(part).__name__ == kind]
    setattr(part, name, np.array(value) if isinstance(value, list) else value)
    refused_by_both(model, tmp_path / "model", said)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("fields_", {"title": 2.0}, "one vectoriser for each field"),
        ("fields_", {"title": 0.0, "body": 1.0}, "positive number"),
        ("fields_", ["title", "body"], "'fields_' of FieldVectorizer must be 'dict'"),
        ("vectorizers_", [None, None], "other than a vectoriser"),
    ],
)
def test_fields_that_do_not_fit_their_vectorisers(tmp_path, name, value, said):
    model = copy.deepcopy(fitted("fields"))
    setattr(model[0], name, value)
    refused_by_both(model, tmp_path / "model", said)


@modest
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_depth_of_any_tree(n_leaves, seed):
    """Against the definition, on trees that are grown at random."""
    rng = np.random.default_rng(seed)
    left, right, depth = [-1], [-1], [0]
    while left.count(-1) < n_leaves:
        leaf = rng.choice([k for k, child in enumerate(left) if child == -1])
        left[leaf], right[leaf] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
        depth += [depth[leaf] + 1] * 2
    assert depth_of(np.array(left), np.array(right)) == max(depth)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([0, -1, -1], [2, -1, -1]),  # for ever
        ([1, -1, -1], [3, -1, -1]),  # beyond the end
        ([1, -1, -1], [-1, -1, -1]),  # one side
        ([1, -1, -1], [1, -1, -1]),  # the same child twice
        ([1, -1, -1, -1], [2, -1, -1, -1]),  # a node that nobody leads to
    ],
)
def test_trees_that_are_none(left, right):
    with pytest.raises(ModelFileError):
        depth_of(np.array(left), np.array(right))


def layer(n_in, n_out, n_biases=None):
    return np.ones((n_in, n_out)), np.ones(n_out if n_biases is None else n_biases)


@pytest.mark.parametrize(
    "layers",
    [
        (),
        [layer(3, 4), layer(4, 2)],  # a list
        (layer(3, 4), layer(5, 2)),
        (layer(3, 4), layer(4, 2, n_biases=4)),
        (layer(2, 4), layer(4, 2)),  # other features
        (layer(3, 4)[:1], layer(4, 2)),
        ((np.full((3, 4), "x"), np.ones(4)), layer(4, 2)),
    ],
)
def test_layers_that_do_not_fit_each_other(layers):
    rule = {"n_features": "size d", "layers": "layers d m"}
    check_rule(SimpleNamespace(n_features=3, layers=(layer(3, 4), layer(4, 2))), rule)
    with pytest.raises(ModelFileError, match=r"'layers' .* must be 'layers d m'"):
        check_rule(SimpleNamespace(n_features=3, layers=layers), rule)


FORGED = ("multiplied out", "exact kernel", "POP", "Shortlist of few", "C2AE", "counts")
FORGED += ("forest as learner", "three classes", "scalers first", "nystroem")
FORGED += ("Auto of few features and weights", "columns")


def forged(folder, count):
    """Load and use so many files with right digests and wrong contents, in another process."""
    for name in FORGED:
        save_model(fitted(name), folder / f"{name}.model")
        rows = new_rows(name)
        rows = rows.toarray() if sp.issparse(rows) else np.array(rows)
        np.save(folder / f"{name}.npy", rows)
    fitted("Shortlist").compress("float16").save(folder / "half.model")
    np.save(folder / "half.npy", new_rows("Shortlist"))
    arguments = [sys.executable, "-m", "tests.io.mutations", str(folder), "0", str(count)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
    seed = (folder / "seed").read_text() if (folder / "seed").exists() else "none"
    assert done.returncode == 0, f"seed {seed}: {done.stderr[-2000:]}"
    found = json.loads(done.stdout.splitlines()[-1])  # what was forged may make others print
    assert sum(found.values()) == count
    assert found["refused"] > count / 2
    assert found["raised"] < count * BAD / 100


@pytest.mark.slow
def test_ten_thousand_forged_files_end_no_interpreter(tmp_path):
    forged(tmp_path, 10_000)


# --- digests and large files ---------------------------------------------------------------------


def test_digests_of_a_large_file(tmp_path, monkeypatch):
    """Compare the small arrays of a file above the bound, and large ones only on request."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 900)), (rng.random((40, 30)) < 0.4).astype(int)
    model = CMLLClassifier(20, 10, threshold=np.linspace(0.1, 0.9, 30)).fit(rows, labels)
    path = tmp_path / "model"
    model.save(path)
    content = path.read_bytes()
    inside_large = content.index(model.embedding_.projection_.tobytes()) + 1000
    inside_small = content.index(model.threshold_.tobytes()) + 5
    monkeypatch.setattr("compactlearn.core._tensor_file.ALWAYS_WHOLE", 1000)
    for place, noticed in ((inside_large, False), (inside_small, True)):
        damaged = bytearray(content)
        damaged[place] ^= 1
        if noticed:
            refusal(path, bytes(damaged))
        else:
            path.write_bytes(bytes(damaged))
            assert load_model(path).n_labels_ == 30
        assert "digest" in refusal(path, bytes(damaged), verify=True)
    path.write_bytes(content)
    assert load_model(path, verify=True).n_labels_ == 30

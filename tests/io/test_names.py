"""Whatever can be saved can be loaded, and is the same: over names and values of any kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactlearn import CMLLClassifier, ModelFileError, load_model
from compactlearn.io import _model_file as model_file
from compactlearn.io import _values as values
from tests.io.test_round_trip import equal
from tests.makers import modest

ROWS = np.random.default_rng(0).normal(size=(40, 3))

# Letters of every script, spaces, control characters and NUL; halves of surrogate pairs apart.
letters = st.characters(exclude_categories=("Cs",))
halves = st.characters(categories=("Cs",))
short = st.text(letters, max_size=6).map(lambda text: f"n{text}")  # a blank name is no name
ends = st.sampled_from(["", " ", "\0", "\0\0", "\n", "\u3000"])
names = st.builds(str.__add__, short, ends)


@st.composite
def name_lists(draw):
    """Distinct names, one of which may be much longer than the others."""
    found = draw(st.lists(names, min_size=2, max_size=12, unique=True))
    times = draw(st.sampled_from([1, 5, 100, 3000]))
    place = draw(st.integers(0, len(found) - 1))
    longer = found[place] * times
    return found if longer in found else [*found[:place], longer, *found[place + 1 :]]


def saved_and_loaded(model, folder):
    path = folder / "model"
    path.unlink(missing_ok=True)  # a disk is slow to write over a file
    model.save(path)
    return load_model(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("names")


@modest
@given(found=name_lists())
def test_names_of_labels(folder, found):
    tags = [[found[row % len(found)], found[row % 2]] for row in range(len(ROWS))]
    model = CMLLClassifier(threshold=0.5).fit(ROWS, tags)
    loaded = saved_and_loaded(model, folder)
    assert loaded.label_names_ == model.label_names_
    assert equal(loaded.classes_, model.classes_)
    assert loaded.predict_labels(ROWS, k=1) == model.predict_labels(ROWS, k=1)


@st.composite
def class_vectors(draw):
    """Classes as strings of fixed width, as objects, and as integers of any type."""
    kind = draw(st.sampled_from(["U", "O", "i8", "u8", "i1"]))
    if kind in "UO":
        found = [name.rstrip("\0") for name in draw(name_lists())]
    else:
        span = np.iinfo(kind)
        found = draw(st.lists(st.integers(int(span.min), int(span.max)), min_size=2, max_size=9))
    found = [*dict.fromkeys(found), *found[:1]]
    classes = np.array(found, dtype=None if kind == "U" else {"O": object}.get(kind, kind))
    return classes[np.arange(len(ROWS)) % len(classes)]


@modest
@given(y=class_vectors())
def test_classes_of_a_vector(folder, y):
    if len(set(y.tolist())) == 1:
        return
    model = CMLLClassifier(threshold=0.5).fit(ROWS, y)
    loaded = saved_and_loaded(model, folder)
    assert equal(loaded.classes_, model.classes_)
    assert equal(loaded.predict(ROWS), model.predict(ROWS))


def test_half_of_a_surrogate_pair_in_the_name_of_a_label(tmp_path):
    (tmp_path / "model").write_text("the old file")
    vector = np.array(["a", "b\ud800"], dtype=object)[np.arange(len(ROWS)) % 2]
    for labels in ([[name] for name in vector], vector):
        model = CMLLClassifier(threshold=0.5).fit(ROWS, labels)
        with pytest.raises(ModelFileError, match=r"half of a surrogate pair.* rename the label"):
            model.save(tmp_path / "model")
        assert (tmp_path / "model").read_text() == "the old file"


# ---- any values -------------------------------------------------------------------------------

texts = st.text(st.one_of(letters, halves), max_size=5)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), texts,
    st.integers(-128, 127).map(np.int8), st.floats(width=32).map(np.float32),
)  # fmt: skip
keys = st.one_of(st.booleans(), st.integers(), texts, st.tuples(st.integers(), texts))
arrays = st.one_of(
    st.lists(texts, max_size=30).map(lambda t: np.array(t, dtype=object)),
    st.lists(texts, max_size=30).map(lambda t: np.array(t, dtype=str)),
    st.lists(scalars, max_size=4).map(lambda t: np.array([*t, None], dtype=object)[:-1]),
    st.lists(st.floats(), max_size=30).map(np.array),
)
trees = st.recursive(
    st.one_of(scalars, arrays),
    lambda part: st.one_of(
        st.lists(part, max_size=20),
        st.lists(part, max_size=4).map(tuple),
        st.dictionaries(keys, part, max_size=4),
        st.frozensets(keys, max_size=4),
        st.sets(keys, max_size=4),
    ),
    max_leaves=12,
)


@modest
@given(tree=st.one_of(trees, st.lists(texts, min_size=17, max_size=40)))
def test_any_tree_of_values(folder, tree):
    path = folder / "tree"
    path.unlink(missing_ok=True)
    model_file.dump(tree, path, "the tree")
    assert equal(model_file.restore(path), tree)


def nested(depth):
    return [nested(depth - 1)] if depth else 1


def within_itself():
    found = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    "value",
    [nested(100), nested(900), within_itself(), 10**5000, dict.fromkeys(range(20000), 0)],
    ids=["deep", "deeper", "within itself", "a large integer", "too many integers as keys"],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, value):
    (tmp_path / "model").write_text("the old file")
    with pytest.raises(ModelFileError, match=r"\.$"):
        model_file.dump({"inside": value}, tmp_path / "model", "the model")
    assert (tmp_path / "model").read_text() == "the old file"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_texts_that_would_take_much_room_become_objects(tmp_path, monkeypatch):
    """The limit is one of the whole file, and is counted alike when it is written and read."""
    monkeypatch.setattr(values, "_MOST_SPARE", 10_000)
    wide = [np.array(["x" * 500, *"abcdefgh"], dtype=str) for _ in range(3)]
    model_file.dump(wide, tmp_path / "file", "the texts")
    loaded = model_file.restore(tmp_path / "file")
    assert [array.dtype.kind for array in loaded] == ["U", "O", "O"]
    assert [array.tolist() for array in loaded] == [array.tolist() for array in wide]

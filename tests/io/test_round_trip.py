"""A model that was stored and loaded is the model: to the bit, in all that can be asked of it."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from compactlearn import CMLLClassifier, load_model, save_model
from tests.io.stored_models import (
    MODELS,
    SLOW,
    X,
    X_new,
    Y,
    fitted,
    new_rows,
    training_data,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*label components were asked for"),
    pytest.mark.filterwarnings("ignore:Found unknown categories"),
]

METHODS = ("predict", "decision_function", "predict_proba", "transform", "predict_codes")
every_model = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in MODELS]
)


def equal(a, b):
    """Whether two values are the same in type, shape and every bit, and in the order in memory
    where the second has one."""
    if type(a) is not type(b):
        return False
    if sp.issparse(a):
        return a.shape == b.shape and all(
            equal(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr")
        )
    if isinstance(a, np.ma.MaskedArray):
        return equal(a.mask, b.mask) and equal(list(a[~a.mask]), list(b[~b.mask]))
    if isinstance(a, np.ndarray):
        same = a.dtype == b.dtype and a.shape == b.shape
        if a.dtype == object:
            return same and all(equal(*pair) for pair in zip(a.flat, b.flat, strict=True))
        order = a.flags.c_contiguous == b.flags.c_contiguous or not b.flags.forc
        return same and order and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(equal(*pair) for pair in zip(a, b, strict=True))
    if isinstance(a, float | np.floating):
        return a == b or (a != a and b != b)
    if hasattr(a, "tree_"):
        return equal(a.tree_.__getstate__()["values"], b.tree_.__getstate__()["values"])
    state = getattr(a, "__dict__", None)
    if isinstance(state, dict):
        # Where the sums of partial_fit are not pickled they are not stored, and addresses are no
        # content.
        mine, theirs = ({**thing.__getstate__()} for thing in (a, b))
        for spent in ("_stop_words_id", "_sample_weight", "estimator_params"):
            mine.pop(spent, None), theirs.pop(spent, None)
        if mine.pop("vocabulary_", None) != theirs.pop("vocabulary_", None):  # in any order
            return False
        return mine.keys() == theirs.keys() and all(equal(mine[key], theirs[key]) for key in mine)
    return a == b


def answers(model, rows):
    return {
        name: getattr(model, name)(rows)
        for name in METHODS
        if (hasattr(model, name) and not isinstance(model, Pipeline)) or name == "predict"
        if hasattr(model, name)
    }


@every_model
def test_every_answer_and_attribute_is_the_same_to_the_bit(name, tmp_path):
    model, rows, path = copy.deepcopy(fitted(name)), new_rows(name), tmp_path / "model"
    save_model(model, path)
    # Saved again it is the same file, and so is that of a copy.
    for other in (load_model(path), pickle.loads(pickle.dumps(model))):
        assert equal(other, model)
        assert repr(other) == repr(model)
        save_model(other, tmp_path / "other")
        assert path.read_bytes() == (tmp_path / "other").read_bytes()
    expected = answers(model, rows)
    for memory_map in (False, True):
        loaded = load_model(path, memory_map=memory_map)
        for method in (*expected, *expected):  # nothing that the first answer has made differs
            assert equal(getattr(loaded, method)(rows), expected[method]), method


@pytest.mark.parametrize("name", ["linear", "Shortlist", "texts", "C2AE"])
def test_equal_models_make_equal_files(name, tmp_path):
    model, *_ = MODELS[name]
    save_model(fitted(name), tmp_path / "first")
    other = copy.deepcopy(model).fit(*training_data(name))
    save_model(other, tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    other.fit(*training_data(name))  # attributes that were set again are in another order
    save_model(other, tmp_path / "third")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "third").read_bytes()


AGAIN = ("linear", "thresholds", "nystroem", "frames", "three classes", "Shortlist of few")
AGAIN += ("CMLLClassifierCV", "texts", "foreign learner")


@pytest.mark.parametrize("name", AGAIN)
def test_a_clone_of_it_can_be_fitted_again(name, tmp_path):
    save_model(fitted(name), tmp_path / "model")
    loaded = load_model(tmp_path / "model", memory_map=True)
    fresh = clone(loaded).fit(*training_data(name))
    rows = new_rows(name)
    for again in (fresh, loaded.fit(*training_data(name))):  # and so can the model itself
        for method, answer in answers(fitted(name), rows).items():
            assert equal(getattr(again, method)(rows), answer), method


COMPRESSED = ("logistic", "few features", "exact kernel", "Shortlist of few", "three classes")
COMPRESSED += ("foreign learner", "Auto of few features and weights")


@pytest.mark.parametrize("name", [*COMPRESSED, pytest.param("Auto", marks=pytest.mark.slow)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_compressed_models(name, dtype, tmp_path):
    small, rows = fitted(name).compress(dtype), new_rows(name)
    small.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model", memory_map=True)
    assert equal(loaded, small)
    assert loaded.compression_ == small.compression_
    assert small.nbytes_ - 64 <= loaded.nbytes_ <= small.nbytes_
    for method in ("predict", "decision_function"):
        assert equal(getattr(loaded, method)(rows), getattr(small, method)(rows))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_halves_are_stored_as_halves(tmp_path):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 3000)), (rng.random((60, 40)) < 0.3).astype(int)
    model = CMLLClassifier(20, 10).fit(rows, labels)
    sizes = {}
    for dtype in ("float64", "float32", "float16"):
        small = model.compress(dtype)
        small.save(tmp_path / dtype)
        sizes[dtype] = (tmp_path / dtype).stat().st_size
        assert sizes[dtype] < small.nbytes_ + 12_000
    assert sizes["float16"] < 0.30 * sizes["float64"]


def test_what_two_parts_share_is_one_thing_again(tmp_path):
    for name in ("linear", "exact kernel", "forest as learner"):
        model = fitted(name)
        model.save(tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        assert loaded.parts_.projection is loaded.embedding_.projection_
        assert loaded.parts_.regressor is loaded.regressor_
        assert loaded.parts_.labels is loaded.label_space_
    assert loaded.nbytes_ == model.nbytes_


def test_partial_fit_goes_on(tmp_path):
    model = CMLLClassifier(threshold=0.5)
    model.partial_fit(X[:40], Y[:40]).save(tmp_path / "model")
    loaded = load_model(tmp_path / "model", memory_map=True)
    model.partial_fit(X[40:], Y[40:])
    loaded.partial_fit(X[40:], Y[40:])
    assert equal(loaded.decision_function(X_new), model.decision_function(X_new))


def test_what_is_multiplied_out_is_in_the_file(tmp_path):
    model = fitted("multiplied out")
    assert model.parts_.linear.chain.new_numbers  # or this test would show nothing
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    factors = vars(loaded.parts_)["linear"].factors
    assert equal(factors, model.parts_.linear.factors)
    assert not any(factor.flags.writeable for factor in factors)


def test_special_numbers_and_names(tmp_path):
    model = copy.deepcopy(fitted("linear"))
    model.strange_ = {
        "nan": float("nan"),
        (1, "inf"): [np.inf, -np.inf, -0.0, 5e-324, 2**70, True, None],
        "scalars": (np.float32(0.1), np.int8(-3), np.bool_(True), np.str_("ä"), np.float64("nan")),
        "texts": ["\ud800", "\x00", '"', "日本"] * 10,
        "arrays": (np.array(3.0), np.zeros((0, 3)), np.array([], dtype="<U5"), np.arange(4)[::2]),
        "wide": np.array(["a", "b"], dtype="<U9"),
        "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "masked": np.ma.MaskedArray(np.array([1, "a"], dtype=object), [True, False]),
        "sets": (frozenset({"b", "a"}), {1, 2}),
        "range": range(1, 9, 2),
        "empty": ([], (), {}),
    }
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    model.strange_["arrays"] = (*model.strange_["arrays"][:3], np.arange(4)[::2].copy())
    assert equal(loaded.strange_, model.strange_)
    assert np.signbit(loaded.strange_[1, "inf"][2])


def test_a_generator_becomes_none_and_that_is_said(tmp_path):
    model = CMLLClassifier(random_state=np.random.RandomState(0)).fit(X, Y)
    with pytest.warns(UserWarning, match=r"CMLLClassifier\.random_state.* will be None"):
        model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").random_state is None


def test_safetensors_reads_it(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    model = CMLLClassifier(None, 3).fit(np.tile(X, 80), Y)
    model.save(tmp_path / "model")
    arrays = safetensors.load_file(tmp_path / "model")
    stored = [array.tobytes() for array in arrays.values()]
    for array in (model.embedding_.decoder_, model.regressor_.coef_.T, model.threshold_):
        assert np.asarray(array).tobytes() in stored or np.ndim(array) == 0

"""Models in smaller numbers: exact in float64, else within rounding, and as small as they say."""

import copy
import functools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from compactlearn import (
    CMLL,
    CPLST,
    PLST,
    AutoCompactClassifier,
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    KernelMap,
    Original,
    ShortlistClassifier,
    load_model,
)
from compactlearn.auto import _classifier as auto_classifier
from compactlearn.cli import main
from compactlearn.compact import _compression as compressing
from compactlearn.compact._compression import Half
from compactlearn.core._weight import bytes_in
from compactlearn.metrics import average_precision, ranking_loss, scorer
from compactlearn.model_selection import GridSearchMoments
from tests.makers import as_dense, maker, modest, untuned

pytestmark = pytest.mark.filterwarnings("ignore:.*label components were asked for")

make_data = maker(90, 40, 8, mean=1, noise=3, share=0.7, dtype=int)
X, Y = make_data()
X_new, Y_new = make_data(30, seed=1)

MODELS = {
    "linear": CMLLClassifier(),
    "few codes": CMLLClassifier(None, 2),
    "logistic": CMLLClassifier(decoder="logistic", threshold="per-label"),
    "scaled": CMLLClassifier(scale=True),
    "reduced rank": CompactClassifier(CPLST(2), decoder="logistic", alpha="auto"),
    "exact kernel": CMLLClassifier(feature_map=KernelMap()),
    "exact kernel, features kept": CompactClassifier(Original(), feature_map=KernelMap()),
    "nystroem": CMLLClassifier(
        feature_map=KernelMap(algorithm="nystroem", n_components=20, random_state=0)
    ),
    "foreign map": CMLLClassifier(feature_map=StandardScaler()),
    "foreign learner": CompactClassifier(CMLL(None, 4), regressor=Ridge()),
    "forest": CompactClassifier(regressor=RandomForestRegressor(3, random_state=0)),
    "Shortlist": ShortlistClassifier(random_state=0),
}
A_FEW = 40 + 20 * 8  # bytes: names, and the identity that takes the place of a decoder
every_model = pytest.mark.parametrize("name", MODELS)
ROUNDING = {"float64": 0.0, "float32": 2.0**-24, "float16": 2.0**-11}
every_type = pytest.mark.parametrize("dtype", ROUNDING)


@functools.cache
def fitted(name):
    return copy.deepcopy(MODELS[name]).fit(X, Y)


def scores(model, rows=X_new):
    return as_dense(model.decision_function(rows))


# --- the same predictions ------------------------------------------------------------------------


@every_model
def test_nothing_is_rounded_in_float64(name):
    model = fitted(name)
    before = pickle.dumps(model)
    small = model.compress("float64")
    np.testing.assert_array_equal(scores(small), scores(model))
    np.testing.assert_array_equal(as_dense(small.predict(X_new)), as_dense(model.predict(X_new)))
    assert small.n_parameters_ == model.n_parameters_
    assert small.nbytes_ <= model.nbytes_ + A_FEW
    assert pickle.dumps(model) == before, "the model itself has changed"


@every_model
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_scores_are_those_of_the_model_to_the_accuracy_of_the_type(name, dtype):
    model = fitted(name)
    small = model.compress(dtype)
    tolerance = {"float32": 1e-4, "float16": 0.05}[dtype]
    # Candidates that are level may change places in a shortlist, and leaves of a tree be others.
    loose = name in ("Shortlist", "forest")
    close = np.abs(scores(small) - scores(model)) <= tolerance * max(1, np.abs(scores(model)).max())
    assert close.mean() >= (0.95 if loose else 1.0)
    assert small.n_parameters_ == model.n_parameters_
    if name != "Shortlist":
        np.testing.assert_array_equal(small.predict(X_new), scores(small) > small.threshold_)


@every_type
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("units", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    "model",
    [
        CompactClassifier(Original(), alpha=1e-9),
        CMLLClassifier(None, 3, alpha=1e-9),
        CMLLClassifier(5, 8, alpha=1e-9),
        CMLLClassifier(6, 6, scale=True),
    ],
)
def test_rounding_is_bounded_by_the_terms_of_a_score(model, units, offset, dtype):
    """Each stored number is off by its own rounding at most; sums of n terms are in float32.

    Units of features move no bound: the smallest and the largest numbers are rounded alike.
    """
    rows, new = units * (X + offset), units * (X_new + offset)
    model = clone(model).set_params(threshold=0.5).fit(rows, Y)
    small = model.compress(dtype)
    terms = np.abs(new) / np.abs(getattr(model, "scale_", 1.0))
    stages = model.parts_.linear.factors
    for factor in stages:
        terms = terms @ np.abs(factor)
    constant = np.abs(model.parts_.offset)
    inner = model.parts_.regressor.intercept_
    constant = constant + np.abs(inner) @ np.abs(as_dense(model.parts_.decoder))
    stored = len(stages) * ROUNDING[dtype] + (hasattr(model, "scale_") * ROUNDING[dtype])
    summed = 0.0 if dtype == "float64" else (X.shape[1] + 12) * 2.0**-24
    bound = 1.05 * (stored + summed) * terms + 3 * ROUNDING[dtype] * constant
    assert (np.abs(scores(small, new) - scores(model, new)) <= bound + 1e-300).all()


# --- bytes ---------------------------------------------------------------------------------------


def test_bytes_of_a_linear_model_are_those_of_its_numbers():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(150, 2000))
    model = CompactClassifier(PLST(5), threshold=0.5).fit(wide, np.tile(Y, (2, 5))[:150])
    for dtype, size in (("float64", 8), ("float32", 4), ("float16", 2)):
        found = model.compress(dtype).nbytes_
        assert size * model.n_parameters_ <= found <= 1.1 * size * model.n_parameters_ + 5000


@pytest.mark.parametrize(
    ("d", "m", "lost"),
    [
        (2, 8, {"predict_codes"}),  # 40 x 2, 2 x 8
        (8, 2, {"transform"}),  # 40 x 2, 2 x 8
        (None, 2, set()),
        (None, None, set()),
    ],
)
def test_matrices_are_multiplied_out_where_that_leaves_fewer_numbers(d, m, lost):
    model = CMLLClassifier(d, m, completion="krylov").fit(X, Y)
    small = model.compress("float64")
    stored = small.parts_
    parts = (stored.projection, stored.regressor.coef_, stored.decoder)
    entries = sum(part.size for part in parts if part is not None and not sp.issparse(part))
    assert entries + Y.shape[1] == model.n_parameters_
    for method in ("transform", "predict_codes"):
        if method in lost:
            with pytest.raises(AttributeError, match=f"no {method}: .*multiplied out"):
                getattr(small, method)(X_new)
        else:
            np.testing.assert_allclose(
                getattr(small, method)(X_new), getattr(model, method)(X_new), atol=1e-14
            )
    if "transform" in lost:
        with pytest.raises(AttributeError, match="multiplied out"):
            small.get_feature_names_out()


def test_sums_of_rows_are_dropped():
    model = CMLLClassifier(threshold=0.5).partial_fit(X, Y)
    small = model.compress("float64")
    assert small.nbytes_ < model.nbytes_ / 2
    with pytest.raises(ValueError, match="partial_fit"):
        small.partial_fit(X, Y)


# --- a model like others -------------------------------------------------------------------------


@every_model
@every_type
def test_it_survives_a_pickle_to_the_bit(name, dtype):
    small = fitted(name).compress(dtype)
    fresh = pickle.loads(pickle.dumps(small))
    again = pickle.loads(pickle.dumps(fresh))
    for other in (fresh, again, copy.deepcopy(small), copy.copy(small)):
        np.testing.assert_array_equal(scores(other), scores(small))
        assert other.compression_ == small.compression_
        assert other.nbytes_ == small.nbytes_
    assert small.compress(dtype).nbytes_ == small.nbytes_
    np.testing.assert_array_equal(scores(small.compress(dtype)), scores(small))


@every_model
def test_it_is_fitted_again_as_any(name):
    model = fitted(name)
    small = model.compress("float16")
    assert clone(small).get_params().keys() == model.get_params().keys()
    small.fit(X, Y)
    assert not hasattr(small, "compression_")
    np.testing.assert_array_equal(scores(small), scores(model))
    assert small.nbytes_ == model.nbytes_


def test_the_best_of_a_search():
    for search in (
        CMLLClassifierCV(alphas=(1.0, 10.0), cv=2),
        GridSearchMoments(CMLLClassifier(), {"alpha": [1.0, 9.0]}, cv=2),
    ):
        search.fit(X, Y)
        small = search.compress("float16", X_new, Y_new)
        assert isinstance(small, CMLLClassifier)
        assert small.compression_["bytes_before"] == search.best_estimator_.nbytes_


@pytest.mark.parametrize("classes", [["a", "b"], [1.0, 2049.0, 1e5 + 1]])
def test_classes_keep_their_names(classes):
    y = np.array(classes)[np.argmax(X[:, : len(classes)], axis=1)]
    model = CMLLClassifier().fit(X, y)
    small = model.compress("float16")
    np.testing.assert_array_equal(small.classes_, model.classes_)
    assert set(small.predict(X_new)) <= set(classes)


# --- what it costs -------------------------------------------------------------------------------


def test_the_report():
    model = fitted("logistic")
    plain = model.compress("float16")
    assert plain.compression_ == {
        "dtype": "float16",
        "bytes_before": model.nbytes_,
        "bytes_after": plain.nbytes_,
    }
    small = model.compress(np.float16, X_new, Y_new)
    assert small.compression_["scoring"] == "average_precision"
    assert small.compression_["before"] == average_precision(Y_new, scores(model))
    assert small.compression_["after"] == average_precision(Y_new, scores(small))
    losses = model.compress("float16", X_new, Y_new, scoring=scorer("ranking_loss")).compression_
    assert losses["scoring"] == "ranking_loss"
    assert losses["before"] == ranking_loss(Y_new, scores(model))


def test_refusals():
    for dtype in ("int8", None, 7):
        with pytest.raises(ValueError, match=r"'float64', 'float32' or 'float16', and was given"):
            fitted("linear").compress(dtype)
    with pytest.raises(ValueError, match="pass both X and Y"):
        fitted("linear").compress("float32", X_new)
    with pytest.raises(NotFittedError):
        CMLLClassifier().compress()


def test_numbers_that_a_type_does_not_have_are_refused():
    model = CompactClassifier(Original(), alpha=0.0, threshold=0.5).fit(1e-60 * X, Y)
    with pytest.raises(ValueError, match="too large; use dtype='float64'"):
        model.compress("float32")


# --- halves --------------------------------------------------------------------------------------


@given(
    shape=st.sampled_from([(0,), (1,), (7,), (0, 3), (5, 1), (6, 4), (3, 0)]),
    exponent=st.integers(-100, 100),
    spread=st.integers(0, 12),
    seed=st.integers(0, 10**6),
)
@modest
def test_halves(shape, exponent, spread, seed):
    """Eleven digits of every number within eight decades of the largest of its column; rounding
    twice is rounding once."""
    rng = np.random.default_rng(seed)
    array = rng.normal(size=shape) * 2.0**exponent * 2.0 ** rng.integers(-spread, spread + 1, shape)
    half = Half.of(array)
    found = half.array()
    assert found.dtype == np.float32
    assert half.values.dtype == np.float16
    assert (np.abs(found - array) <= 2.0**-11 * np.abs(array)).all()
    again = Half.of(found)
    np.testing.assert_array_equal(again.values, half.values)
    np.testing.assert_array_equal(again.exponents, half.exponents)


# --- kernels, whose terms cancel -----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "cosine"])
@pytest.mark.parametrize("offset", [0.0, 5.0, 100.0])
@pytest.mark.parametrize("alpha", [1.0, 1e-6])
def test_scores_of_a_kernel_model_change_by_no_more_than_is_said(kernel, offset, alpha):
    """On new rows, as a share of the largest score or of 1; else it is kept in a wider type."""
    rng = np.random.default_rng(0)
    rows, new = offset + rng.normal(size=(60, 6)), offset + rng.normal(size=(200, 6))
    labels = (rows[:, :3] > offset).astype(int)
    model = untuned(Original(), feature_map=KernelMap(kernel), alpha=alpha)
    expected = scores(model.fit(rows, labels), new)
    for dtype, share in compressing.AGREEMENT.items():
        small = model.compress(dtype)
        stored = small.compression_["dtype"]
        assert compressing.TYPES.index(stored) <= compressing.TYPES.index(dtype)
        most = share * max(1.0, np.abs(expected).max())
        assert np.abs(scores(small, new) - expected).max() <= most
        again = pickle.loads(pickle.dumps(small))
        np.testing.assert_array_equal(scores(again, new), scores(small, new))


# --- the type that a model is stored in -----------------------------------------------------------

QUICK = {"time_budget": 0.01, "random_state": 0, "cv": 2}


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_type_is_chosen_within_which_scores_agree(monkeypatch, seed):
    """Whatever arrays a model has, and however large or small it may be."""
    rng = np.random.default_rng(seed)
    whole = {"weights": rng.standard_normal((9, 7)) * 10.0 ** rng.uniform(-3, 3)}
    rows = rng.standard_normal((5, 9)) * 10.0 ** rng.uniform(-6, 3)
    large, huge = rng.choice([10, 300, 10_000], 2)
    monkeypatch.setattr(compressing, "LARGE", large)
    monkeypatch.setattr(compressing, "HUGE", max(large, huge))

    def said(part):
        return rows @ part["weights"]

    found = compressing.lightened(whole, said)
    rounded = found is not whole
    agreement = compressing.AGREEMENT
    assert not rounded or np.abs(said(found) - said(whole)).max() <= max(agreement.values())
    nearest = np.abs(rows @ whole["weights"].astype(np.float32) - said(whole)).max()
    assert rounded == (bytes_in(whole) > large and nearest <= agreement["float32"])


def test_a_search_stores_its_model_in_the_type_that_is_asked_for(monkeypatch):
    sizes = {
        dtype: AutoCompactClassifier(dtype=dtype, **QUICK).fit(X, Y).nbytes_
        for dtype in ("float64", "float32", "float16")
    }
    assert sizes["float32"] <= 0.7 * sizes["float64"]
    assert sizes["float16"] <= 0.8 * sizes["float32"]
    monkeypatch.setattr(compressing, "LARGE", 10)
    monkeypatch.setattr(auto_classifier, "HUGE", 1000)
    with pytest.warns(UserWarning, match=r"The model takes \d+ MB"):
        small = AutoCompactClassifier(**QUICK).fit(X, Y)
    assert small.nbytes_ < 0.7 * sizes["float64"]


@pytest.mark.parametrize("method", ["cmll", "shortlist", "auto"])
def test_the_shell_stores_numbers_in_the_type_of_dtype(tmp_path, method):
    table, out = tmp_path / "table.csv", tmp_path / "model"
    head = ",".join(f"c{k}" for k in range(48))
    np.savetxt(table, np.hstack([X, Y]), delimiter=",", header=head, comments="", fmt="%g")
    words = ["fit", str(table), "--labels", "-8", "-o", str(out), "--force", "--method", method]
    words += ["--time-budget", "0.01"] if method == "auto" else []
    sizes, found = {}, {}
    for dtype in ("auto", "float64", "float32", "float16"):
        assert main([*words, "--dtype", dtype]) == 0
        model = load_model(out)
        sizes[dtype], found[dtype] = model.nbytes_, scores(model, X)
    assert sizes["float64"] > sizes["float32"] > sizes["float16"]
    np.testing.assert_allclose(found["auto"], found["float64"], atol=1e-9)  # it is small
    np.testing.assert_allclose(found["float32"], found["float64"], atol=1e-2)

"""Shapes, types and odd data on which a fit has to work, and to give the right answer."""

import tempfile
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import label_binarize

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    Original,
)
from tests.makers import as_dense, make_data

MODELS = {
    "CMLL": CMLLClassifier(),
    "CMLL_y": CMLLClassifier(n_feature_components=None),
    "wide": CMLLClassifier(n_feature_components=0.8, completion="krylov"),
    "narrow": CMLLClassifier(n_feature_components=1),
    "moments": CMLLClassifier(solver="moments"),
    "dual": CMLLClassifier(solver="dual"),
    "krylov": CMLLClassifier(solver="krylov"),
    "ORI": CompactClassifier(Original()),
    "scaled": CMLLClassifier(scale=True),
    "neighbours": CompactClassifier(regressor=KNeighborsRegressor(2)),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
SOLVERS = ("auto", "moments", "dual", "krylov")
METHODS = {
    f"{cls.__name__}-{solver}": CompactClassifier(cls(solver=solver))
    for cls in (PLST, CPLST, FaIE, DMLR, MDDM)
    for solver in SOLVERS
}
BOTH = {**MODELS, **METHODS}
models_and_methods = pytest.mark.parametrize("model", BOTH.values(), ids=BOTH.keys())


def fit(model, X, Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "cut to the rank" is welcome on such data
        return clone(model).fit(X, Y)


def check(model, X, Y):
    """Fit, and look at the answers as a user would."""
    fitted = fit(model, X, Y)
    n, n_labels = Y.shape
    scores = fitted.decision_function(X)
    assert scores.shape == (n, n_labels)
    assert np.all(np.isfinite(scores))
    labels = fitted.predict(X)
    assert labels.shape == (n, n_labels)
    assert set(np.unique(labels)) <= {0, 1}
    np.testing.assert_array_equal(labels, scores > fitted.threshold_)
    if model.regressor is None:
        mean = np.asarray(Y.mean(axis=0)).ravel()
        np.testing.assert_allclose(scores.mean(axis=0), mean, atol=1e-8)
    return fitted


# --- shapes --------------------------------------------------------------------------------------


@models_and_methods
@pytest.mark.parametrize(
    "shape",
    [(10, 30, 4), (40, 3, 9), (40, 1, 4), (6, 20, 15), (3, 2, 2), (2, 5, 3), (40, 7, 2)],
    ids=str,
)
def test_shapes(model, shape):
    check(model, *make_data(*shape, seed=3))


@every_model
def test_as_many_codes_as_labels(model):
    if "n_label_components" in model.get_params():
        model = clone(model).set_params(n_label_components=5)
    check(model, *make_data())


@every_model
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_one_sparse_label_stays_a_matrix(model, container):
    X, Y = make_data(40, 7, 3)
    check(model, X, container(Y[:, :1]))


@every_model
def test_one_dense_label_warns_and_is_one_dimensional(model):
    X, Y = make_data(40, 7, 3)
    column = Y[:, :1].astype(int)
    with pytest.warns(DataConversionWarning):
        fitted = clone(model).fit(X, column)
    flat = clone(model).fit(X, column.ravel())
    np.testing.assert_array_equal(fitted.decision_function(X), flat.decision_function(X))
    assert fitted.decision_function(X).shape == (40,)
    assert fitted.predict(X).shape == (40,)


# --- odd labels ----------------------------------------------------------------------------------


@models_and_methods
@pytest.mark.parametrize("shape", [(40, 7), (6, 9)], ids=["tall", "wide"])
def test_labels_never_and_always_on(model, shape):
    """Always absent: 0 in any row. Always present: 1 there too, unless the codes are weighed."""
    X, Y = make_data(*shape)
    Y[:, 1], Y[:, 3] = 0, 1
    fitted = check(model, X, Y)
    np.testing.assert_allclose(fitted.decision_function(X)[:, 1], 0, atol=1e-10)
    assert not fitted.predict(X)[:, 1].any()
    scores = fitted.decision_function(X + 0.1)
    np.testing.assert_allclose(scores[:, 1], 0, atol=1e-8)
    if isinstance(fitted.embedding_, PLST | CPLST | MDDM | Original):
        np.testing.assert_allclose(scores[:, 3], 1, atol=1e-8)


@models_and_methods
@pytest.mark.parametrize("value", [0, 1])
def test_nothing_but_constant_labels(model, value):
    X, _ = make_data()
    fitted = check(model, X, np.full((40, 5), float(value)))
    np.testing.assert_allclose(fitted.decision_function(X), value, atol=1e-6 if value else 1e-12)
    assert (fitted.predict(X) == value).all()


@every_model
def test_rows_without_labels(model):
    X, Y = make_data()
    Y[::3] = 0
    check(model, X, Y)


@every_model
def test_equal_labels_get_equal_scores(model):
    X, Y = make_data()
    Y[:, 4] = Y[:, 0]
    scores = check(model, X, Y).decision_function(X)
    np.testing.assert_allclose(scores[:, 4], scores[:, 0], atol=1e-8)


# --- odd features --------------------------------------------------------------------------------


@every_model
def test_constant_features(model):
    X, Y = make_data()
    X[:, 2], X[:, 5] = 0, 17.0
    check(model, X, Y)


@models_and_methods
def test_nothing_but_constant_features(model):
    """Nothing to learn from: every row gets the label means."""
    _, Y = make_data()
    X = np.tile([1.0, 0.0, -3.0], (40, 1))
    scores = check(model, X, Y).decision_function(X)
    if model.regressor is None:
        np.testing.assert_allclose(scores, np.tile(Y.mean(axis=0), (40, 1)), atol=1e-8)


@every_model
def test_constant_feature_changes_no_score(model):
    if model.get_params().get("completion") == "krylov":
        model = clone(model).set_params(n_feature_components=6)
    X, Y = make_data()
    wide = np.insert(X, 3, 4.0, axis=1)
    plain, other = fit(model, X, Y), fit(model, wide, Y)
    np.testing.assert_allclose(other.decision_function(wide), plain.decision_function(X), atol=1e-8)


@every_model
def test_duplicated_rows_and_features(model):
    X, Y = make_data()
    check(model, np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0))
    check(model, np.hstack([X, X]), Y)
    check(model, np.tile(X[:2], (10, 1)), np.tile(Y[:2], (10, 1)))


# --- containers and dtypes -----------------------------------------------------------------------


def memory_map(array):
    """Return a read-only memory map of an array."""
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file.name, array)
        return np.load(file.name, mmap_mode="r")


def strided(array):
    """Return every second row and column of a larger array."""
    big = np.zeros((2 * len(array), 2 * array.shape[1]))
    big[::2, ::2] = array
    return big[::2, ::2]


def stored_zeros(array):
    """Return a sparse matrix that stores every cell, zeros included."""
    stored = sp.csr_array(np.ones_like(array))
    stored.data[:] = array.ravel()
    return stored


def typed(dtype, container=np.asarray):
    return lambda array: container(array.astype(dtype))


SPARSE = (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix, sp.coo_array)
LABELS_AS = {
    **{np.dtype(d).name: typed(d) for d in (bool, np.int8, np.int32, np.int64, np.uint8, "f4")},
    **{f"{kind.__name__}-{d.__name__}": typed(d, kind) for kind in SPARSE for d in (bool, int)},
    "stored zeros": stored_zeros,
    "memory map": memory_map,
    "lists": lambda array: array.astype(int).tolist(),
}
FEATURES_AS = {
    **{kind.__name__: kind for kind in SPARSE},
    "memory map": memory_map,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "lists": np.ndarray.tolist,
    "float32": typed(np.float32),
    "sparse float32": typed(np.float32, sp.csr_array),
}


@every_model
@pytest.mark.parametrize("form", LABELS_AS.values(), ids=LABELS_AS.keys())
def test_labels_in_other_forms(model, form):
    X, Y = make_data()
    expected, fitted = fit(model, X, Y), fit(model, X, form(Y))
    np.testing.assert_allclose(
        fitted.decision_function(X), expected.decision_function(X), atol=1e-8
    )
    np.testing.assert_array_equal(as_dense(fitted.predict(X)), expected.predict(X))


@every_model
@pytest.mark.parametrize("name", FEATURES_AS)
def test_features_in_other_forms(model, name):
    X, Y = make_data()
    X = np.where(np.abs(X) > 0.8, X, 0.0).astype(np.float32).astype(np.float64)
    other = FEATURES_AS[name](X)
    expected = fit(model, X, Y).decision_function(X)
    fitted = fit(model, other, Y)
    atol = 2e-4 if "float32" in name else 1e-8
    for rows in (other, X):
        np.testing.assert_allclose(fitted.decision_function(rows), expected, atol=atol)


@every_model
def test_integer_and_boolean_features(model):
    X, Y = make_data()
    counts = np.round(3 * X).astype(np.int64)
    expected = fit(model, counts.astype(float), Y).decision_function(counts.astype(float))
    np.testing.assert_allclose(fit(model, counts, Y).decision_function(counts), expected, atol=1e-8)
    check(model, X > 0, Y)


def test_single_precision_sums_do_not_overflow_or_drift():
    """Features around 1e4 with spread 1: a float32 sum of squares would lose the spread."""
    X, Y = make_data(400)
    X = (X + 1e4).astype(np.float32)
    expected = CompactClassifier(Original()).fit(X.astype(float), Y).decision_function(X[:5])
    actual = CompactClassifier(Original()).fit(X, Y).decision_function(X[:5].astype(float))
    np.testing.assert_allclose(actual, expected, atol=1e-2)


@every_model
def test_inputs_are_left_alone(model):
    X, Y = make_data()
    w = np.linspace(0.5, 2, 40)
    kept = X.copy(), Y.copy(), w.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model)
        fitted.fit(X, Y) if model.regressor is not None else fitted.fit(X, Y, sample_weight=w)
    fitted.predict(X)
    fitted.decision_function(X)[:] = 7
    fitted.transform(X)
    for before, after in zip(kept, (X, Y, w), strict=True):
        np.testing.assert_array_equal(before, after)

    S = sp.csr_array(np.where(np.abs(X) > 0.8, X, 0.0))
    parts = S.data.copy(), S.indices.copy(), S.indptr.copy()
    fit(model, S, sp.csr_array(Y)).predict(S)
    for before, after in zip(parts, (S.data, S.indices, S.indptr), strict=True):
        np.testing.assert_array_equal(before, after)


def test_embedding_leaves_its_input_alone():
    X, Y = make_data()
    kept = X.copy(), Y.copy()
    for model in (CMLL(), CMLL(n_feature_components=None), Original()):
        model.fit(X, Y).transform(X)
        np.testing.assert_array_equal(X, kept[0])
        np.testing.assert_array_equal(Y, kept[1])


# --- frames --------------------------------------------------------------------------------------

FEATURES = [f"feature {i}" for i in range(7)]
LABELS = [f"label {i}" for i in range(5)]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("dtype", [bool, int])
@every_model
def test_frames_keep_their_names(model, frame, dtype):
    X, Y = make_data()
    expected = fit(model, X, Y).decision_function(X)
    frame_X = frame(dict(zip(FEATURES, X.T, strict=True)))
    frame_Y = frame(dict(zip(LABELS, Y.astype(dtype).T, strict=True)))
    fitted = fit(model, frame_X, frame_Y)
    assert list(fitted.feature_names_in_) == FEATURES
    assert list(fitted.label_names_) == LABELS
    np.testing.assert_allclose(fitted.decision_function(frame_X), expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"(?i)feature names"):
        fitted.predict(frame_X[FEATURES[::-1]])


def test_arrays_have_no_names():
    fitted = CMLLClassifier().fit(*make_data())
    assert not hasattr(fitted, "feature_names_in_")
    assert not hasattr(fitted, "label_names_")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_of_the_embedded_features(frame):
    X, Y = make_data()
    frame_X = frame(dict(zip(FEATURES, X.T, strict=True)))
    frame_Y = frame(dict(zip(LABELS, Y.T, strict=True)))
    model = CMLL(n_feature_components=3, n_label_components=3).fit(frame_X, frame_Y)
    names = model.get_feature_names_out()
    assert list(names) == ["cmll0", "cmll1", "cmll2"]
    assert list(model.feature_names_in_) == FEATURES
    kept = CMLL(n_feature_components=None).fit(frame_X, frame_Y)
    assert list(kept.get_feature_names_out()) == FEATURES
    assert list(Original().fit(frame_X, frame_Y).get_feature_names_out()) == FEATURES
    table = CMLL(n_feature_components=3, n_label_components=3).set_output(transform="pandas")
    assert list(table.fit(frame_X, frame_Y).transform(frame_X).columns) == list(names)


# --- one label per row ---------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("names", [[0, 1], [-1, 1], ["no", "yes"], [False, True], [3, 7]])
def test_two_classes(model, names):
    X, Y = make_data(60)
    y = np.array(names)[Y[:, 0].astype(int)]
    fitted = fit(model, X, y)
    np.testing.assert_array_equal(fitted.classes_, names)
    scores = fitted.decision_function(X)
    assert scores.shape == (60,)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[(scores > 0).astype(int)])
    assert np.mean(fitted.predict(X) == y) > 0.7


@models_and_methods
def test_several_classes(model):
    X, Y = make_data(60, 7, 3)
    y = np.array(["x", "y", "z"])[np.argmax(Y + 0.1 * X[:, :3], axis=1)]
    fitted = fit(model, X, y)
    scores = fitted.decision_function(X)
    assert scores.shape == (60, 3)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[scores.argmax(axis=1)])
    onehot = label_binarize(y, classes=["x", "y", "z"])
    np.testing.assert_allclose(scores, fit(model, X, onehot).decision_function(X), atol=1e-8)


def test_two_classes_with_ridge_agree_with_the_threshold():
    """ORI on a binary target: above the threshold means above it for plain ridge too."""
    X, Y = make_data(60)
    y = Y[:, 0].astype(int)
    for threshold in (0.3, 0.5, 0.7):
        model = CompactClassifier(Original(), threshold=threshold).fit(X, y)
        expected = Ridge(alpha=1.0).fit(X, y).predict(X) > threshold
        np.testing.assert_array_equal(model.predict(X), expected)

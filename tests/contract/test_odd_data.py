"""What the comparison methods refuse, in one sentence each; and the odd data that they accept."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from compactlearn import (
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CompactClassifier,
    FaIE,
    KernelMap,
    Original,
)
from tests.makers import make_data

from .state import Unchanged

NAN, INF = float("nan"), float("inf")
METHODS = {"PLST": PLST, "CPLST": CPLST, "FaIE": FaIE, "DMLR": DMLR, "MDDM": MDDM}
every_method = pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
SOLVERS = ["auto", "moments", "dual", "krylov"]
every_solver = pytest.mark.parametrize("solver", SOLVERS)


@pytest.fixture
def data():
    return make_data()


def refused(model, X, Y, name, value, good=None):
    """The sentence names the parameter and its value; what was learnt before is still there."""
    good = X if good is None else good
    with Unchanged(model, good), pytest.raises(ValueError, match=name) as caught:
        model.fit(X, Y)
    text = str(caught.value)
    assert len(text.split()) >= 5, f"not a sentence: {text}"
    assert str(value) in text
    return text


# --- parameters ----------------------------------------------------------------------------------

LABEL_SIZES = [6, 0, -2, 1.5, 0.0, -0.25, NAN, INF, None, True, "all"]
FEATURE_SIZES = [8, 0, -2, 1.5, 0.0, -0.25, NAN, INF, None, True, "all"]
BAD_NUMBERS = [-0.5, NAN, INF, -INF, None, "many"]
BAD_VALUES = [
    *((cls, "n_label_components", v) for cls in (PLST, CPLST, FaIE, DMLR) for v in LABEL_SIZES),
    *((MDDM, "n_feature_components", v) for v in FEATURE_SIZES),
    *((cls, "ridge", v) for cls in (CPLST, FaIE) for v in BAD_NUMBERS),
    *((cls, "beta", v) for cls in (FaIE, DMLR) for v in BAD_NUMBERS),
    *((MDDM, "mixing", v) for v in [*BAD_NUMBERS, 1.5, -1e-9]),
    *((CPLST, "hat", v) for v in (None, 1)),
    *((FaIE, "hat", v) for v in (None, 1)),
    *((FaIE, "coding", v) for v in (None, 1)),
    *((FaIE, "offset", v) for v in (None, 1)),
    *((DMLR, "offset", v) for v in (None, 1)),
    *((DMLR, "center", v) for v in (None, "yes")),
    *((MDDM, "variant", v) for v in (None, 1)),
    *((MDDM, "completion", v) for v in (None, 1)),
    *((cls, "solver", None) for cls in METHODS.values()),
]
WORDS = [  # class, parameter, what was typed, what was meant
    *((cls, "n_label_components", "atuo", "auto") for cls in (PLST, CPLST, FaIE, DMLR)),
    (MDDM, "n_feature_components", "auot", "auto"),
    *((cls, "solver", "momets", "moments") for cls in METHODS.values()),
    *((cls, "solver", "kyrlov", "krylov") for cls in METHODS.values()),
    *((cls, "hat", "centered", "centred") for cls in (CPLST, FaIE)),
    *((cls, "hat", "penalized", "penalised") for cls in (CPLST, FaIE)),
    *((cls, "hat", "intercpt", "intercept") for cls in (CPLST, FaIE)),
    *((cls, "ridge", "shraed", "shared") for cls in (CPLST, FaIE)),
    *((cls, "beta", "aut", "auto") for cls in (FaIE, DMLR)),
    *((cls, "offset", "mena", "mean") for cls in (FaIE, DMLR)),
    (FaIE, "coding", "sined", "signed"),
    (FaIE, "coding", "bianry", "binary"),
    (FaIE, "coding", "centered", "centred"),
    (MDDM, "variant", "projecton", "projection"),
    (MDDM, "variant", "subspce", "subspace"),
    (MDDM, "completion", "varaince", "variance"),
]


def called(case):
    return "-".join(getattr(part, "__name__", str(part)) for part in case)


@pytest.mark.parametrize(("cls", "name", "value"), BAD_VALUES, ids=map(called, BAD_VALUES))
@pytest.mark.parametrize("alone", [True, False], ids=["embedding", "classifier"])
def test_bad_values(cls, name, value, alone, data):
    X, Y = data
    model = cls().fit(X, Y) if alone else CompactClassifier(cls()).fit(X, Y)
    model.set_params(**{name if alone else f"embedding__{name}": value})
    refused(model, X, Y, name, value)


@pytest.mark.parametrize(
    ("cls", "name", "value", "bound"),
    [
        *((cls, "n_label_components", 6, "5") for cls in (PLST, CPLST, FaIE, DMLR)),
        (MDDM, "n_feature_components", 8, "7"),
        (CPLST, "ridge", -0.5, "0"),
        (FaIE, "ridge", -0.5, "0"),
        (FaIE, "beta", -0.5, "0"),
        (DMLR, "beta", -0.5, "0"),
        (MDDM, "mixing", 1.5, "1"),
    ],
)
def test_the_bound_is_named(cls, name, value, bound, data):
    X, Y = data
    model = cls().fit(X, Y).set_params(**{name: value})
    text = refused(model, X, Y, name, value)
    assert bound in text.replace(str(value), "", 1)


@pytest.mark.parametrize(("cls", "name", "typed", "meant"), WORDS, ids=map(called, WORDS))
def test_unknown_words_suggest_the_nearest(cls, name, typed, meant, data):
    X, Y = data
    model = cls().fit(X, Y).set_params(**{name: typed})
    text = refused(model, X, Y, name, typed)
    assert f"'{meant}'" in text.split(f"'{typed}'", 1)[1]


@pytest.mark.parametrize(
    ("typed", "meant"), [("penalized", "penalised"), ("fre", "free"), ("targt", "target")]
)
def test_unknown_bias(typed, meant, data):
    X, Y = data
    model = CompactClassifier(PLST()).fit(X, Y).set_params(bias=typed)
    text = refused(model, X, Y, "bias", typed)
    assert f"'{meant}'" in text.split(f"'{typed}'", 1)[1]


@pytest.mark.parametrize("value", [None, 1, True])
def test_bias_is_a_word(value, data):
    X, Y = data
    model = CompactClassifier(PLST()).fit(X, Y).set_params(bias=value)
    refused(model, X, Y, "bias", value)


@every_method
@pytest.mark.parametrize("value", [-1.0, NAN, INF, None])
def test_bad_penalty_of_the_learner(cls, value, data):
    X, Y = data
    model = CompactClassifier(cls()).fit(X, Y).set_params(alpha=value)
    refused(model, X, Y, "alpha", value)


@pytest.mark.parametrize("completion", ["variance", "random"])
def test_only_projections_are_completed(completion, data):
    X, Y = data
    model = MDDM().fit(X, Y).set_params(variant="subspace", completion=completion)
    refused(model, X, Y, "completion", completion)


# --- data ----------------------------------------------------------------------------------------


@every_method
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("which", ["X", "Y"])
@pytest.mark.parametrize(("value", "word"), [(NAN, "nan"), (INF, "inf"), (-INF, "inf")])
def test_data_must_be_finite(cls, container, which, value, word, data):
    X, Y = data
    for model in (cls().fit(X, Y), CompactClassifier(cls()).fit(X, Y)):
        pair = {"X": X.copy(), "Y": Y.copy()}
        pair[which][3, 2] = value
        with Unchanged(model, X), pytest.raises(ValueError, match=f"(?i){word}"):
            model.fit(container(pair["X"]), container(pair["Y"]))


@every_method
@pytest.mark.parametrize("value", [2, -1, 0.5])
def test_labels_must_be_zero_or_one(cls, value, data):
    X, Y = data
    model = cls().fit(X, Y)
    bad = Y.copy()
    bad[3, 2] = value
    with Unchanged(model, X), pytest.raises(ValueError, match=re.escape(str(value))):
        model.fit(X, bad)


@every_method
def test_rows_must_match(cls, data):
    X, Y = data
    model = cls().fit(X, Y)
    with Unchanged(model, X), pytest.raises(ValueError, match=r"40.*38|38.*40"):
        model.fit(X, Y[:-2])


@every_method
def test_codes_must_match(cls, data):
    X, Y = data
    model = cls().fit(X, Y)
    with pytest.raises(ValueError, match="9"):
        model.decode(np.ones((2, 9)))
    with pytest.raises(ValueError, match="6"):
        model.transform(X[:, :6])


@every_method
def test_a_refused_block_leaves_the_sums_alone(cls, data):
    X, Y = data
    model = CompactClassifier(cls()).partial_fit(X, Y)
    bad = X[:9].copy()
    bad[0, 0] = NAN
    with Unchanged(model, X), pytest.raises(ValueError, match=r"(?i)nan"):
        model.partial_fit(bad, Y[:9])
    model.partial_fit(X[:9], Y[:9])
    clean = CompactClassifier(cls()).partial_fit(X, Y).partial_fit(X[:9], Y[:9])
    np.testing.assert_array_equal(model.decision_function(X), clean.decision_function(X))


@every_method
@pytest.mark.parametrize("kernel", ["rfb", "polynomal"])
def test_unknown_kernel(cls, kernel, data):
    X, Y = data
    model = CompactClassifier(cls(), feature_map=KernelMap()).fit(X, Y)
    model.set_params(feature_map__kernel=kernel)
    refused(model, X, Y, "kernel", kernel)


# --- odd data that must do -----------------------------------------------------------------------

ODD = {**METHODS, "Original": Original}
every_model = pytest.mark.parametrize("cls", ODD.values(), ids=ODD.keys())
quiet = pytest.mark.filterwarnings("ignore:.*cut:UserWarning")


def built(cls, solver):
    return cls() if cls is Original else cls(solver=solver)


@quiet
@every_model
@every_solver
@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("shape", [(40, 7), (6, 9)], ids=["tall", "wide"])
def test_a_constant_label_is_scored_by_its_constant(cls, solver, value, shape, data):
    """Free bias: a label always absent scores 0, one always present scores 1."""
    X, Y = make_data(*shape)
    Y[:, 2] = value
    model = CompactClassifier(built(cls, solver)).fit(X, Y)
    scores = model.decision_function(X + 0.1)
    assert np.isfinite(scores).all()
    if not isinstance(model.embedding, FaIE | DMLR):
        np.testing.assert_allclose(scores[:, 2], value, atol=1e-8)
    elif value == 0:
        np.testing.assert_allclose(scores[:, 2], 0, atol=1e-8)
    else:
        np.testing.assert_allclose(model.decision_function(X)[:, 2].mean(), 1, atol=1e-8)


@quiet
@every_model
@every_solver
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_nothing_but_constant_labels(cls, solver, value, data):
    X, Y = data
    Y = np.full_like(Y, value)
    model = CompactClassifier(built(cls, solver)).fit(X, Y)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, value, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), Y)


@quiet
@every_model
@every_solver
def test_constant_features_leave_the_label_means(cls, solver, data):
    X, Y = data
    X = np.full_like(X, 0.3)
    model = CompactClassifier(built(cls, solver)).fit(X, Y)
    expected = np.tile(Y.mean(axis=0), (len(X), 1))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)


@quiet
@every_solver
@pytest.mark.parametrize("shape", [(40, 7), (12, 20)], ids=["tall", "wide"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_mixing_one_needs_no_regular_covariance(solver, shape, container):
    """X'HX is singular (a constant and a copied column, D above N): its range is enough."""
    X, Y = make_data(*shape)
    X = np.c_[X, X[:, 0], np.full(len(X), 2.0)]
    embedding = MDDM(2, variant="subspace", mixing=1.0, solver=solver)
    model = CompactClassifier(embedding).fit(container(X), container(Y))
    P = model.embedding_.projection_
    Xc = X - X.mean(axis=0)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.T @ Xc.T @ Xc @ P, np.eye(2), atol=1e-7)
    assert np.isfinite(model.decision_function(X)).all()
    # A copied column adds no direction: eigenvalues are those without it and the constant.
    plain = clone(embedding).fit(X[:, : shape[1]], Y)
    np.testing.assert_allclose(model.embedding_.eigenvalues_, plain.eigenvalues_, rtol=1e-7)


@quiet
@every_method
@every_solver
def test_two_rows_are_data(cls, solver):
    X, Y = make_data(2, 3, 4)
    Y[:] = [[0, 1, 0, 1], [1, 0, 0, 1]]
    model = CompactClassifier(cls(solver=solver)).fit(X, Y)
    assert np.isfinite(model.decision_function(X)).all()


@quiet
@every_method
@every_solver
def test_one_feature_is_data(cls, solver, data):
    X, Y = data
    model = CompactClassifier(cls(solver=solver)).fit(X[:, :1], Y)
    assert np.isfinite(model.decision_function(X[:, :1])).all()


@quiet
@every_method
def test_classes_instead_of_labels(cls, data):
    X, Y = data
    y = np.array(["a", "b", "c"])[np.argmax(Y[:, :3] + 0.1 * X[:, :3], axis=1)]
    model = CompactClassifier(cls()).fit(X, y)
    np.testing.assert_array_equal(model.classes_, ["a", "b", "c"])
    assert set(model.predict(X)) <= {"a", "b", "c"}


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (PLST, r"pass an instance, for example PLST\(\)"),
        ("PLST", r"compactlearn\.method"),
        (3, r"pass CMLL\(\)"),
    ],
    ids=["class", "name", "number"],
)
def test_what_is_no_embedding(given, remedy):
    X, Y = make_data()
    with pytest.raises(ValueError, match=rf"^embedding must be .*{remedy}"):
        CompactClassifier(given).fit(X, Y)

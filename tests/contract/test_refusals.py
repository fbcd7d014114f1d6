"""Bad input: a sentence with what is wrong and what to do, and the estimator left as it was.

Every method meets the same data, and every parameter its own bad values; a new one is a row.
"""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge

from compactlearn import (
    CMLL,
    CPLST,
    DMLR,
    MDDM,
    PLST,
    CMLLClassifier,
    CompactClassifier,
    FaIE,
    KernelMap,
    Moments,
    Original,
)
from tests.makers import make_data

from .state import Unchanged

NAN, INF = float("nan"), float("inf")
X, Y = make_data()  # 40 rows, 7 features, 5 labels

EMBEDDINGS = {
    "CMLL": CMLL(n_label_components=3),
    "Original": Original(),
    "PLST": PLST(),
    "CPLST": CPLST(),
    "FaIE": FaIE(),
    "DMLR": DMLR(),
    "MDDM": MDDM(),
}
CLASSIFIERS = {
    "CMLLClassifier": CMLLClassifier(n_label_components=3),
    **{
        f"CompactClassifier({name})": CompactClassifier(embedding)
        for name, embedding in EMBEDDINGS.items()
        if name != "CMLL"
    },
}
MODELS = {**EMBEDDINGS, **CLASSIFIERS}
every_embedding = pytest.mark.parametrize("model", EMBEDDINGS.values(), ids=EMBEDDINGS.keys())
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
CONTAINERS = (np.asarray, sp.csr_array, sp.csc_matrix)
ANSWERS = ("predict", "decision_function", "transform", "predict_codes")


def refused(model, said, *arguments, method="fit", **keywords):
    """The message has these words, and whatever was learnt before is still there."""
    with Unchanged(model, X), pytest.raises(ValueError, match=re.escape(said)):
        getattr(model, method)(*arguments, **keywords)


def spoilt(array, value, container=np.asarray):
    array = np.array(array, dtype=float)
    array[3, 2] = value
    return container(array)


# --- values --------------------------------------------------------------------------------------

FINITE = "X must hold finite numbers only, and contains {}, first in row 3, column 2; drop"
NOT_FINITE = [(NAN, "NaN"), (INF, "infinity (inf)"), (-INF, "infinity (inf)")]
UNKNOWN = "Every label must be 0 or 1, and Y contains NaN, which would mean an unknown label; fill"
INFINITE = "Every label must be 0 or 1, and Y contains inf; for"


@every_model
@pytest.mark.parametrize(("value", "word"), NOT_FINITE)
def test_features_must_be_finite(model, value, word):
    model = clone(model).fit(X, Y)
    for container in CONTAINERS:
        refused(model, FINITE.format(word), spoilt(X, value, container), Y)


@every_model
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (INF, INFINITE),
        *((v, f"Every label must be 0 or 1, and Y contains {v}; for -1") for v in (2, -1, 0.5)),
    ],
)
def test_labels_must_be_zero_or_one(model, value, said):
    model = clone(model).fit(X, Y)
    for container in CONTAINERS:
        refused(model, said, X, spoilt(Y, value, container))


@every_embedding
def test_labels_of_an_embedding_must_be_known(model):
    model = clone(model).fit(X, Y)
    for container in CONTAINERS:
        refused(model, UNKNOWN, X, spoilt(Y, NAN, container))


@every_model
def test_labels_may_not_be_words(model):
    said = "Labels must be 0 or 1, and Y has entries such as 'no'; if its rows are lists of names"
    refused(clone(model).fit(X, Y), said, X, np.where(Y > 0, "yes", "no"))


@every_classifier
@pytest.mark.parametrize(("value", "word"), NOT_FINITE)
def test_new_rows_must_be_finite(model, value, word):
    model = clone(model).fit(X, Y)
    for method in ANSWERS:
        refused(model, FINITE.format(word), spoilt(X, value), method=method)


@every_classifier
@pytest.mark.parametrize("how", ["partial_fit", "fit"])
@pytest.mark.parametrize("bad", ["X", "Y"])
def test_partial_fit_refuses_the_same(model, how, bad):
    model = clone(model).partial_fit(X, Y)
    value = NAN if bad == "X" or how == "partial_fit" else INF  # fit takes unknown labels
    pair = (spoilt(X, value), Y) if bad == "X" else (X, spoilt(Y, value))
    said = FINITE.format("NaN") if bad == "X" else UNKNOWN if how == "partial_fit" else INFINITE
    refused(model, said, *pair, method=how)
    # and the sums of earlier blocks are kept: the next block gives the same as without a failure
    model.partial_fit(X[:9], Y[:9])
    clean = clone(model).partial_fit(X, Y).partial_fit(X[:9], Y[:9])
    np.testing.assert_array_equal(model.decision_function(X), clean.decision_function(X))


# --- shapes --------------------------------------------------------------------------------------

COLUMNS = "X has 5 features, but {} is expecting 7 features as input; pass the same columns"


@every_model
def test_rows_must_match(model):
    model = clone(model).fit(X, Y)
    for container in CONTAINERS:
        said = "X and Y must have as many rows as each other, and have 40 and 38"
        refused(model, said, container(X), container(Y[:-2]))


@every_model
def test_empty_data(model):
    model = clone(model).fit(X, Y)
    found, need = "Found array with 0 ", f"a minimum of 1 is required by {type(model).__name__}"
    refused(model, f"{found}sample(s) (shape=(0, 7)) while {need}; pass at least", X[:0], Y[:0])
    refused(model, f"{found}feature(s) (shape=(40, 0)) while {need}; pass at least", X[:, :0], Y)
    refused(model, "Y has no columns; it needs at least one label.", X, Y[:, :0])


@every_classifier
def test_other_number_of_features(model):
    model = clone(model).fit(X, Y)
    for container in CONTAINERS:
        for method in ANSWERS:
            refused(model, COLUMNS.format(type(model).__name__), container(X[:, :5]), method=method)


@every_embedding
def test_other_number_of_features_or_codes_in_an_embedding(model):
    model = clone(model).fit(X, Y)
    refused(model, COLUMNS.format(type(model).__name__), X[:, :5], method="transform")
    n_codes = 3 if isinstance(model, CMLL) else 5
    said = f"decode needs codes with {n_codes} columns, one per label component, and was given"
    refused(model, f"{said} shape (2, 6)", np.ones((2, 6)), method="decode")


def test_other_columns_in_a_later_block():
    model = CMLLClassifier(n_label_components=3).partial_fit(X, Y)
    refused(model, COLUMNS.format("CMLLClassifier"), X[:, :5], Y, method="partial_fit")
    said = "partial_fit began with 5 multilabel labels, and was now given 4 multilabel labels"
    refused(model, said, X, Y[:, :4], method="partial_fit")


@every_model
def test_flat_features(model):
    refused(clone(model).fit(X, Y), "Expected 2D array, got 1D array instead", X[:, 0], Y)


# --- parameters ----------------------------------------------------------------------------------

SIZE = "an integer >= 1, a finite number > 0 and <= 1"
NUMBER = "a finite number >= 0"
NO_SIZES = [0, -2, 1.5, 0.0, -0.25, NAN, INF, True, "all"]
NO_NUMBERS = [-0.5, NAN, INF, -INF, None, "many"]
OURS, LABEL_SIDE = (CMLL, CMLLClassifier), (PLST, CPLST, FaIE, DMLR)
LEARNERS = (CompactClassifier, CMLLClassifier)
PARAMETERS = [  # whose it is, its name, what it may be, what not, words typed and meant
    (OURS, "n_feature_components", f"{SIZE}, 'auto' or None", NO_SIZES, {"atuo": "auto"}),
    (OURS, "n_label_components", f"{SIZE}, 'auto' or None", NO_SIZES, {"auot": "auto"}),
    ((MDDM,), "n_feature_components", f"{SIZE} or 'auto'", [*NO_SIZES, None], {"auot": "auto"}),
    (LABEL_SIDE, "n_label_components", f"{SIZE} or 'auto'", [*NO_SIZES, None], {"atuo": "auto"}),
    ((*OURS, FaIE, DMLR), "beta", f"{NUMBER} or 'auto'", NO_NUMBERS, {"aut": "auto"}),
    ((CMLL,), "label_ridge", NUMBER, NO_NUMBERS, {}),
    ((CMLL,), "max_iter", "an integer >= 1", [0, -3], {}),
    ((CMLL,), "tol", NUMBER, [-1e-3], {}),
    ((CPLST, FaIE), "ridge", f"{NUMBER} or 'shared'", NO_NUMBERS, {"shraed": "shared"}),
    (LEARNERS, "alpha", NUMBER + " or 'auto'", NO_NUMBERS, {}),
    (
        (CMLL, *LABEL_SIDE),
        "offset",
        "'mean' or 'none'",
        [None, 1],
        {"mena": "mean", "non": "none"},
    ),
    (
        (*OURS, MDDM),
        "completion",
        "'none' or 'krylov'",
        [None, 1],
        {"kyrlov": "krylov", "non": "none"},
    ),
    (
        (*LABEL_SIDE, MDDM),
        "solver",
        "'auto', 'moments', 'dual' or 'krylov'",
        [None],
        {"momets": "moments", "kyrlov": "krylov"},
    ),
    (
        OURS,
        "solver",
        "'auto', 'moments', 'dual', 'krylov' or 'randomized'",
        [None],
        {"randomised": "randomized"},
    ),
    (LEARNERS, "decoder", "'linear' or 'logistic'", [None], {"liner": "linear"}),
    (
        LEARNERS,
        "threshold",
        "a finite number, a one-dimensional array of finite numbers or 'auto', 'f1', 'per-label' "
        "or 'cardinality'",
        [NAN, "half"],
        {},
    ),
    (
        (CompactClassifier,),
        "regressor",
        "a regressor with the methods fit and predict or None",
        ["ridge"],
        {},
    ),
]
TOO_MANY = "{}={} asks for more components than there are {} ({}); lower it to at most"


def bad_parameters():
    for classes, name, accepted, values, misspelt in PARAMETERS:
        for cls in classes:
            got = f"The parameter {name!r} of {cls.__name__} must be {accepted}; got "
            for value in values:
                yield cls, name, value, f"{got}{value!r}. Set {name} to "
            for typed, meant in misspelt.items():
                said = f"{got}{typed!r}. Set {name} to one of these. Did you mean {meant!r}?"
                yield cls, name, typed, said
    for cls in (*OURS, *LABEL_SIDE):
        yield cls, "n_label_components", 6, TOO_MANY.format("n_label_components", 6, "labels", 5)
    for cls in (*OURS, MDDM):
        said = TOO_MANY.format("n_feature_components", 8, "features", 7)
        yield cls, "n_feature_components", 8, said


CASES = list(bad_parameters())
IDS = [f"{cls.__name__}-{name}-{value}" for cls, name, value, _ in CASES]


@pytest.mark.parametrize(("cls", "name", "value", "said"), CASES, ids=IDS)
def test_bad_parameters(cls, name, value, said):
    refused(cls().fit(X, Y).set_params(**{name: value}), said, X, Y)
    if cls in (CMLL, MDDM, *LABEL_SIDE):  # as part of a classifier too
        model = CompactClassifier(cls()).fit(X, Y)
        refused(model.set_params(**{f"embedding__{name}": value}), said, X, Y)


@pytest.mark.parametrize(("typed", "meant"), [("rfb", "rbf"), ("polynomal", "poly")])
def test_unknown_kernel(typed, meant):
    model = CompactClassifier(PLST(), feature_map=KernelMap()).fit(X, Y)
    model.set_params(feature_map__kernel=typed)
    said = f"got {typed!r}. Set kernel to one of these. Did you mean {meant!r}?"
    refused(model, said, X, Y)


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (PLST, "pass an instance, for example PLST()"),
        ("PLST", "pass an instance, or get the whole classifier by compactlearn.method"),
        (3, "pass CMLL(), PLST() or another"),
    ],
    ids=["class", "name", "number"],
)
def test_embedding_must_be_an_embedding(given, remedy):
    model = CompactClassifier().fit(X, Y).set_params(embedding=given)
    said = f"embedding must be None or an embedding of this package, and is {given!r}; {remedy}"
    refused(model, said, X, Y)


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        ([0.5, 0.5], "hold one for each of the 5 labels, and has 2 entries; pass an array of 5."),
        (np.full(6, 0.5), "hold one for each of the 5 labels, and has 6 entries"),
        (np.full((5, 2), 0.5), "must be a finite number, a one-dimensional array of finite"),
        ([0.1, 0.2, NAN, 0.4, 0.5], "must be a finite number, a one-dimensional array of finite"),
    ],
)
def test_thresholds_must_be_one_number_per_label(threshold, said):
    refused(CompactClassifier().fit(X, Y).set_params(threshold=threshold), said, X, Y)


def test_single_label_targets_take_one_threshold():
    model = CompactClassifier(threshold=np.full(5, 0.5)).fit(X, Y)
    said = "threshold must be a single number when y is a vector of classes, and has 5 entries"
    refused(model, said, X, Y[:, 0].astype(int))


def test_refused_threshold_leaves_two_classes_as_they_were():
    y = Y[:, 0].astype(int)
    model = CompactClassifier().fit(X, y).set_params(threshold="half")
    refused(model, "The parameter 'threshold' of CompactClassifier must be", X, y)


# --- weights -------------------------------------------------------------------------------------

WEIGHT = "must hold one finite number >= 0 for each of the 40 rows, one of them > 0; got "
WEIGHTS = {
    "negative": (np.r_[-1.0, np.ones(39)], f"{WEIGHT}-1.0. Pass"),
    "too few": (np.ones(39), f"{WEIGHT}shape (39,)"),
    "NaN": (np.r_[NAN, np.ones(39)], f"{WEIGHT}nan"),
    "infinite": (np.r_[INF, np.ones(39)], f"{WEIGHT}inf"),
    "all zero": (np.zeros(40), f"{WEIGHT}zeros alone"),
    "two columns": (np.ones((40, 2)), f"{WEIGHT}shape (40, 2)"),
    "words": (np.array(["heavy"] * 40), f"{WEIGHT}array(['heavy'"),
    "a word": ("balanced", f"{WEIGHT}'balanced'"),
}


@every_classifier
@pytest.mark.parametrize(("weights", "said"), WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_weights(model, weights, said, method):
    model = clone(model).partial_fit(X, Y)
    refused(model, said, X, Y, method=method, sample_weight=weights)


# --- moments -------------------------------------------------------------------------------------


def test_blocks_must_agree_in_their_columns():
    said = "combined only over the same columns; one has 7 left and 5 right, the other "
    with pytest.raises(ValueError, match=f"{said}5 and 5"):
        Moments.from_blocks([(X, Y), (X[:, :5], Y)])
    with pytest.raises(ValueError, match=f"{said}7 and 4"):
        Moments.from_blocks([(X, Y), (X, Y[:, :4])])
    with pytest.raises(ValueError, match=f"{said}5 and 5"):
        Moments.from_blocks([(X, Y)]) + Moments.from_blocks([(X[:, :5], Y)])


def test_blocks_are_checked_like_data():
    for pair in [(spoilt(X, NAN), Y), (X, spoilt(Y, NAN)), (spoilt(X, INF), Y)]:
        with pytest.raises(ValueError, match="These moments contain NaN or infinity; check the"):
            CMLLClassifier().fit_moments(Moments.from_blocks([pair]))
    with pytest.raises(ValueError, match="were given 40 and 39; pass blocks cut"):
        Moments.from_blocks([(X, Y[:-1])])
    with pytest.raises(ValueError, match="was given no block; it needs at least one"):
        Moments.from_blocks([])


def test_moments_cannot_become_negative():
    small, large = Moments.from_blocks([(X[:5], Y[:5])]), Moments.from_blocks([(X, Y)])
    with pytest.raises(ValueError, match="subtract only rows that were added before"):
        CMLLClassifier().fit_moments(small - large)


def test_foreign_learner_needs_rows_not_moments():
    moments = Moments.from_blocks([(X, Y)])
    model = CompactClassifier(regressor=Ridge())
    assert not hasattr(model, "fit_moments")
    with pytest.raises(AttributeError, match="has no attribute 'fit_moments'") as raised:
        model.fit_moments(moments)
    assert "needs the built-in ridge" in str(raised.value)


# --- names ---------------------------------------------------------------------------------------


def test_new_frames_must_have_the_same_columns():
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    model = CMLLClassifier().fit(frame, Y)
    said = "The feature names should match those that were passed during fit"
    with Unchanged(model, frame), pytest.raises(ValueError, match=said):
        model.predict(frame.rename(columns={"c": "other"}))


def test_moments_of_other_labels_are_refused():
    """Squares of 0 and 1 are 0 and 1, so the sums give other labels away."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    for Y in (rng.choice([-1, 1], size=(30, 3)), 2 * (rng.random((30, 3)) < 0.5)):
        with pytest.raises(ValueError, match="labels 0 or 1"):
            CMLLClassifier().fit_moments(Moments.from_arrays(X, Y))
    weights = rng.uniform(0, 3, size=30)
    Y = (rng.random((30, 3)) < 0.5).astype(int)
    CMLLClassifier().fit_moments(Moments.from_arrays(X, Y, weights))

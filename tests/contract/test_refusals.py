"""Bad input: one sentence with the value and the bound, and the estimator left as it was."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import Ridge

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, Moments, Original
from tests.makers import make_data

from .state import Unchanged

MODELS = {
    "CMLLClassifier": CMLLClassifier(n_label_components=3),
    "CompactClassifier(Original)": CompactClassifier(Original()),
    "CMLL": CMLL(n_label_components=3),
    "Original": Original(),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
CLASSIFIERS = {name: model for name, model in MODELS.items() if "Classifier" in name}
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
containers = pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_matrix])


@pytest.fixture
def data():
    return make_data()


def refused(model, X, good, match, *call, error=ValueError, method="fit", **keywords):
    """The call fails with a full sentence; whatever was learnt before is still there."""
    with Unchanged(model, good), pytest.raises(error, match=match) as caught:
        getattr(model, method)(X, *call, **keywords)
    text = str(caught.value)
    assert len(text.split()) >= 5, f"not a sentence: {text}"
    return text


def spoilt(array, value, container=np.asarray):
    array = np.array(array, dtype=float)
    array[3, 2] = value
    return container(array)


# --- values --------------------------------------------------------------------------------------


@every_model
@containers
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_features_must_be_finite(model, data, container, value, word):
    X, Y = data
    model = clone(model).fit(X, Y)
    refused(model, spoilt(X, value, container), X, f"(?i){word}", Y)


@every_model
@containers
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_labels_must_be_finite(model, data, container, value, word):
    X, Y = data
    model = clone(model).fit(X, Y)
    refused(model, X, X, f"(?i){word}", spoilt(Y, value, container))


@every_model
@containers
@pytest.mark.parametrize("value", [2, -1, 0.5])
def test_labels_must_be_zero_or_one(model, data, container, value):
    X, Y = data
    model = clone(model).fit(X, Y)
    text = refused(model, X, X, re.escape(str(value)), spoilt(Y, value, container))
    assert "0" in text
    assert "1" in text


@every_model
def test_labels_may_not_be_words(model, data):
    X, Y = data
    model = clone(model).fit(X, Y)
    with Unchanged(model, X), pytest.raises(ValueError, match=r"\w+ \w+ \w+"):
        model.fit(X, np.where(Y > 0, "yes", "no"))


@every_classifier
@pytest.mark.parametrize("method", ["predict", "decision_function", "transform", "predict_codes"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_new_rows_must_be_finite(model, data, method, value):
    X, Y = data
    model = clone(model).fit(X, Y)
    refused(model, spoilt(X, value), X, "(?i)nan|inf", method=method)


@pytest.mark.parametrize("how", ["partial_fit", "fit"])
@pytest.mark.parametrize("bad", ["X", "Y"])
def test_partial_fit_refuses_the_same(data, how, bad):
    X, Y = data
    model = CMLLClassifier(n_label_components=3, solver="moments").fit(X, Y)
    pair = {"X": X, "Y": Y}
    pair[bad] = spoilt(pair[bad], np.nan)
    refused(model, pair["X"], X, "(?i)nan", pair["Y"], method=how)
    # and what was summed up before is still summed up: going on equals never having failed
    model.partial_fit(X[:9], Y[:9])
    clean = CMLLClassifier(n_label_components=3, solver="moments").fit(X, Y)
    clean.partial_fit(X[:9], Y[:9])
    np.testing.assert_array_equal(model.decision_function(X), clean.decision_function(X))


# --- shapes --------------------------------------------------------------------------------------


@every_model
@containers
def test_rows_must_match(model, data, container):
    X, Y = data
    model = clone(model).fit(X, Y)
    text = refused(model, container(X), X, "40", container(Y[:-2]))
    assert "38" in text


@every_model
def test_empty_data(model, data):
    X, Y = data
    model = clone(model).fit(X, Y)
    refused(model, X[:0], X, "0", Y[:0])
    refused(model, X[:, :0], X, "0", Y)
    refused(model, X, X, "0|label", Y[:, :0])


@every_classifier
@containers
@pytest.mark.parametrize("method", ["predict", "decision_function", "transform", "predict_codes"])
def test_other_number_of_features(model, data, container, method):
    X, Y = data
    model = clone(model).fit(X, Y)
    text = refused(model, container(X[:, :5]), X, "5", method=method)
    assert "7" in text


@pytest.mark.parametrize("model", [CMLL(n_label_components=3), Original()], ids=repr)
def test_other_number_of_features_or_codes_in_an_embedding(model, data):
    X, Y = data
    model = clone(model).fit(X, Y)
    text = refused(model, X[:, :5], X, "5", method="transform")
    assert "7" in text
    with pytest.raises(ValueError, match="6"):
        model.decode(np.ones((2, 6)))


def test_other_columns_in_a_later_block(data):
    X, Y = data
    model = CMLLClassifier(n_label_components=3).partial_fit(X, Y)
    text = refused(model, X[:, :5], X, "5", Y, method="partial_fit")
    assert "7" in text
    text = refused(model, X, X, "4", Y[:, :4], method="partial_fit")
    assert "5" in text


@every_model
def test_flat_features(model, data):
    X, Y = data
    model = clone(model).fit(X, Y)
    refused(model, X[:, 0], X, "2D|two|1-D|1D|dimension", Y)


# --- sizes ---------------------------------------------------------------------------------------

SIZES = [
    ("n_feature_components", 8, "7"),
    ("n_feature_components", 0, "1"),
    ("n_feature_components", -2, "1"),
    ("n_feature_components", 1.5, "1"),
    ("n_feature_components", 0.0, "0"),
    ("n_feature_components", -0.25, "0"),
    ("n_feature_components", float("nan"), "1"),
    ("n_label_components", 6, "5"),
    ("n_label_components", 0, "1"),
    ("n_label_components", -2, "1"),
    ("n_label_components", 1.5, "1"),
    ("n_label_components", 0.0, "0"),
    ("n_label_components", -0.25, "0"),
    ("n_label_components", float("inf"), "1"),
]
# The value, and a bound that the sentence has to name.
NUMBERS = [
    ("beta", -0.5, "0"),
    ("beta", float("nan"), "0"),
    ("beta", float("inf"), ""),
    ("label_ridge", -0.5, "0"),
    ("label_ridge", float("nan"), "0"),
    ("max_iter", 0, "1"),
    ("max_iter", -3, "1"),
    ("tol", -1e-3, "0"),
]
LEARNER = [("alpha", -0.5, "0"), ("alpha", float("nan"), "0")]
WORDS = [  # parameter, what was typed, what was meant
    ("n_feature_components", "atuo", "auto"),
    ("n_label_components", "auot", "auto"),
    ("beta", "aut", "auto"),
    ("offset", "mena", "mean"),
    ("offset", "non", "none"),
    ("solver", "alternatin", "alternating"),
    ("solver", "close", "closed"),
    ("completion", "varaince", "variance"),
    ("completion", "randm", "random"),
]
LEARNER_WORDS = [("decoder", "liner", "linear")]


@pytest.mark.parametrize(("name", "value", "bound"), [*SIZES, *NUMBERS], ids=str)
@pytest.mark.parametrize("cls", [CMLL, CMLLClassifier])
def test_numbers_out_of_range(cls, data, name, value, bound):
    X, Y = data
    model = cls().fit(X, Y).set_params(**{name: value})
    text = refused(model, X, X, re.escape(f"{value}"), Y)
    assert bound in text.replace(f"{value}", "", 1)
    assert name in text


@pytest.mark.parametrize(("name", "value", "bound"), LEARNER, ids=str)
@pytest.mark.parametrize("cls", [CompactClassifier, CMLLClassifier])
def test_learner_numbers_out_of_range(cls, data, name, value, bound):
    X, Y = data
    model = cls().fit(X, Y).set_params(**{name: value})
    text = refused(model, X, X, re.escape(f"{value}"), Y)
    assert name in text
    assert bound in text


@pytest.mark.parametrize(("name", "typed", "meant"), WORDS, ids=str)
@pytest.mark.parametrize("cls", [CMLL, CMLLClassifier])
def test_unknown_words_suggest_the_nearest(cls, data, name, typed, meant):
    X, Y = data
    model = cls().fit(X, Y).set_params(**{name: typed})
    text = refused(model, X, X, re.escape(typed), Y)
    assert name in text
    # All words are listed; the one that was meant comes again after what was typed.
    assert f"'{meant}'" in text.split(f"'{typed}'", 1)[1]


@pytest.mark.parametrize(("name", "typed", "meant"), LEARNER_WORDS, ids=str)
@pytest.mark.parametrize("cls", [CompactClassifier, CMLLClassifier])
def test_unknown_words_of_the_classifier(cls, data, name, typed, meant):
    X, Y = data
    model = cls().fit(X, Y).set_params(**{name: typed})
    text = refused(model, X, X, re.escape(typed), Y)
    assert name in text
    assert meant in text


def test_threshold_is_not_any_word(data):
    X, Y = data
    model = CompactClassifier().fit(X, Y).set_params(threshold="half")
    assert "threshold" in refused(model, X, X, "half", Y)


def test_parameters_of_a_nested_embedding_are_checked_too(data):
    X, Y = data
    model = CompactClassifier(CMLL()).fit(X, Y).set_params(embedding__n_label_components=6)
    text = refused(model, X, X, "6", Y)
    assert "5" in text


def test_embedding_must_be_an_embedding(data):
    X, Y = data
    model = CompactClassifier().fit(X, Y).set_params(embedding="CMLL")
    with Unchanged(model, X), pytest.raises((TypeError, ValueError), match="embedding"):
        model.fit(X, Y)


def test_regressor_must_be_able_to_fit_and_predict(data):
    X, Y = data
    model = CompactClassifier().fit(X, Y).set_params(regressor="ridge")
    with Unchanged(model, X), pytest.raises((TypeError, ValueError), match="regressor"):
        model.fit(X, Y)


@pytest.mark.parametrize("threshold", [[0.5, 0.5], np.full(6, 0.5), np.full((5, 2), 0.5)])
def test_thresholds_must_be_one_per_label(data, threshold):
    X, Y = data
    model = CompactClassifier().fit(X, Y).set_params(threshold=threshold)
    text = refused(model, X, X, "threshold", Y)
    assert "5" in text


@pytest.mark.parametrize("threshold", [float("nan"), [0.1, 0.2, float("nan"), 0.4, 0.5]])
def test_thresholds_must_be_numbers(data, threshold):
    X, Y = data
    model = CompactClassifier().fit(X, Y).set_params(threshold=threshold)
    refused(model, X, X, "threshold", Y)


def test_single_label_targets_take_one_threshold(data):
    X, Y = data
    model = CompactClassifier(threshold=np.full(5, 0.5)).fit(X, Y)
    refused(model, X, X, "threshold", Y[:, 0].astype(int))


def test_refused_threshold_leaves_two_classes_as_they_were(data):
    X, Y = data
    model = CompactClassifier().fit(X, Y[:, 0].astype(int)).set_params(threshold="half")
    refused(model, X, X, "threshold", Y[:, 0].astype(int))


# --- weights -------------------------------------------------------------------------------------

WEIGHTS = {
    "negative": (np.r_[-1.0, np.ones(39)], "-1|negative"),
    "too few": (np.ones(39), "39"),
    "NaN": (np.r_[np.nan, np.ones(39)], "(?i)nan"),
    "infinite": (np.r_[np.inf, np.ones(39)], "(?i)inf"),
    "all zero": (np.zeros(40), "(?i)zero|0"),
    "two columns": (np.ones((40, 2)), "2|1D|1-D|dimension"),
    "words": (np.array(["heavy"] * 40), "heavy|float|number"),
}


@every_classifier
@pytest.mark.parametrize(("weights", "match"), WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bad_weights(model, data, weights, match, method):
    X, Y = data
    model = clone(model).partial_fit(X, Y)
    refused(model, X, X, match, Y, method=method, sample_weight=weights)


# --- moments -------------------------------------------------------------------------------------


def test_blocks_must_agree_in_their_columns(data):
    X, Y = data
    with pytest.raises(ValueError, match="5"):
        Moments.from_blocks([(X, Y), (X[:, :5], Y)])
    with pytest.raises(ValueError, match="4"):
        Moments.from_blocks([(X, Y), (X, Y[:, :4])])
    with pytest.raises(ValueError, match="5"):
        Moments.from_blocks([(X, Y)]) + Moments.from_blocks([(X[:, :5], Y)])


def test_blocks_are_checked_like_data(data):
    X, Y = data
    for pair in [(spoilt(X, np.nan), Y), (X, spoilt(Y, np.nan)), (spoilt(X, np.inf), Y)]:
        with pytest.raises(ValueError, match=r"(?i)nan|inf"):
            CMLLClassifier().fit_moments(Moments.from_blocks([pair]))
    with pytest.raises(ValueError, match="39"):
        Moments.from_blocks([(X, Y[:-1])])
    with pytest.raises(ValueError, match=r"(?i)block|empty|0"):
        Moments.from_blocks([])


def test_moments_cannot_become_negative(data):
    X, Y = data
    small, large = Moments.from_blocks([(X[:5], Y[:5])]), Moments.from_blocks([(X, Y)])
    with pytest.raises(ValueError, match="subtract only rows that were added before"):
        CMLLClassifier().fit_moments(small - large)


def test_foreign_learner_needs_rows_not_moments(data):
    X, Y = data
    moments = Moments.from_blocks([(X, Y)])
    model = CMLLClassifier(regressor=Ridge())
    assert not hasattr(model, "fit_moments")
    with pytest.raises(AttributeError, match="has no attribute 'fit_moments'") as raised:
        model.fit_moments(moments)
    assert "needs the built-in ridge" in str(raised.value)


# --- names ---------------------------------------------------------------------------------------


def test_new_frames_must_have_the_same_columns(data):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    model = CMLLClassifier().fit(frame, Y)
    with Unchanged(model, frame), pytest.raises(ValueError, match="feature names"):
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

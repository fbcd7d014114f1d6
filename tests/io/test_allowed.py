"""No parameter of a foreign part makes a loaded model open, execute or wait for anything."""

import inspect
import os
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC

from compactlearn import (
    CMLLClassifier,
    CMLLClassifierCV,
    CompactClassifier,
    ModelFileError,
    ThresholdTuner,
    load_model,
    save_model,
    text_classifier,
)
from compactlearn.io._patterns import is_linear
from compactlearn.io._rules import OWN, SKLEARN
from compactlearn.io._sklearn import check_parameters
from compactlearn.io._types import TYPES, class_named
from compactlearn.related._stored import RULES
from tests.io.mutations import put_together, split_file
from tests.io.stored_models import TEXTS, TEXTS_NEW, X, X_new, Y, fitted
from tests.io.test_round_trip import answers, equal

TEXT_TYPES = (CountVectorizer, TfidfVectorizer, HashingVectorizer)
FOREIGN = [name for name, module in TYPES.items() if module.startswith("sklearn.")]


def forged(path, kind, name, value):
    """Write another value of a parameter into a file, with right digests."""
    about, arrays, description = split_file(path.read_bytes())
    (state,) = [state for found, state in description["things"] if found == kind]
    state[name] = value
    path.unlink()
    path.write_bytes(put_together(about, arrays, description))


# ---- the tables -------------------------------------------------------------------------------


def test_rules_are_of_stored_classes_and_name_known_classes():
    assert {*OWN, *SKLEARN, *RULES} <= set(TYPES)
    for rule in (*OWN.values(), *SKLEARN.values(), *RULES.values()):
        for word in " or ".join(rule.values()).split(" or "):
            assert not word[0].isupper() or word in TYPES or word == "BaseEstimator"


@pytest.mark.parametrize("name", FOREIGN)
def test_default_values_are_allowed(name):
    parameters = inspect.signature(class_named(name)).parameters
    given = {key: one.default for key, one in parameters.items()}
    missing = {key for key, value in given.items() if value is inspect.Parameter.empty}
    check_parameters(class_named(name), {key: given[key] for key in given.keys() - missing})


PARTS = {
    "min and max": make_pipeline(MinMaxScaler((0, 2), clip=True), CMLLClassifier()),
    "robust": make_pipeline(RobustScaler(quantile_range=(10, 90)), CMLLClassifier()),
    "singular vectors": make_pipeline(TruncatedSVD(3, random_state=0), CMLLClassifier()),
    "random features": make_pipeline(RBFSampler(n_components=5, random_state=0), CMLLClassifier()),
    "named outputs": make_pipeline(StandardScaler(), CMLLClassifier()).set_output(
        transform="default"
    ),
    "several": CompactClassifier(regressor=MultiOutputRegressor(Ridge(solver="svd"))),
    "least squares": CompactClassifier(regressor=LinearRegression(n_jobs=2)),
    "one versus rest": ThresholdTuner(OneVsRestClassifier(LinearSVC(C=0.5, random_state=0))),
    "folds": CMLLClassifierCV(alphas=[1.0], cv=ShuffleSplit(2, test_size=0.3, random_state=0)),
    "a generator": CMLLClassifierCV(
        alphas=[1.0], cv=ShuffleSplit(2, random_state=np.random.RandomState(0))
    ),
}


@pytest.mark.filterwarnings("ignore:Generators of random numbers")
@pytest.mark.parametrize("case", PARTS)
def test_parts_with_other_than_default_values(case, tmp_path):
    model = clone(PARTS[case]).fit(X, Y)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for method, answer in answers(model, X_new).items():
        assert equal(getattr(loaded, method)(X_new), answer), method


@pytest.mark.parametrize("splitter", [GroupKFold(3), StratifiedKFold(2, shuffle=True)])
def test_splitters(splitter, tmp_path):
    model = CMLLClassifier().fit(X, Y)
    model.given_ = splitter
    model.save(tmp_path / "model")
    assert vars(load_model(tmp_path / "model").given_) == vars(splitter)


# ---- files that are read or written -----------------------------------------------------------


@pytest.mark.parametrize("type_", TEXT_TYPES, ids=lambda type_: type_.__name__)
def test_texts_are_never_names_of_files(type_, tmp_path):
    """Neither a file that was forged, nor one that its owner wanted so."""
    words = HashingVectorizer(n_features=64) if type_ is HashingVectorizer else type_()
    model = make_pipeline(words, CMLLClassifier(threshold=0.5)).fit(TEXTS, Y)
    save_model(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    model[0].input = "filename"
    with pytest.raises(ModelFileError, match=r"'input' of .* must be 'content'.*keep the model"):
        save_model(model, tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before
    forged(tmp_path / "model", type_.__name__, "input", "file")
    with pytest.raises(ModelFileError, match=r"'input' of .* must be 'content'"):
        load_model(tmp_path / "model")


def test_a_pipeline_has_no_cache(tmp_path):
    folder = tmp_path / "cache"
    model = Pipeline([("scale", StandardScaler()), ("tags", CMLLClassifier())], memory=str(folder))
    with pytest.warns(UserWarning, match=r"Pipeline\.memory will be None"):
        save_model(model.fit(X, Y), tmp_path / "model")
    forged(tmp_path / "model", "Pipeline", "memory", str(tmp_path / "chosen by the file"))
    loaded = load_model(tmp_path / "model")
    assert loaded.memory is None
    clone(loaded).fit(X, Y)
    assert sorted(os.listdir(tmp_path)) == ["cache", "model"]


# ---- work without end -------------------------------------------------------------------------

GOOD = [
    r"(?u)\b\w\w+\b", r"\b\w+\b", r"\w+", r"\S+", r"[^\s]+", r"\b[a-zA-Z]{3,}\b", r"[^,]+", ".",
    r"(?i)\b[a-z]+\b", r"\w+|[^\w\s]", r"\b[\w'-]+\b", r"\d{4}", r"\b[^\d\W]+\b", r"\b\w{2,20}\b",
    r"[\w\-\.]+", r".+",
]  # fmt: skip
BAD = [
    r"(\w+\s?)+$", r"(a|a)*b", r"\w+\w+", r"[a-z]+\b", r"(?=a)\w", r"(\w)\1", r"\w+-", r"\w*\d",
    r"\w+?", r"\w++", r"a{1000}", "(", "[", "a{2", r"(?x) a", r"(?P<a>b)", r"(?:a|b)+", r"a{2}{3}",
    r"a?a?a?b", "\\", "a" * 101, 5, b"a", r"\b\w+(?:\w\w+)*\b", r"(?u)(?u)a+a+", "[z-a]",
]  # fmt: skip


@pytest.mark.parametrize("pattern", GOOD)
def test_patterns_of_linear_time(pattern):
    assert is_linear(pattern)
    re.findall(pattern, "a-" * 50_000 + "a" * 50_000 + "1!")


@pytest.mark.parametrize("pattern", BAD, ids=lambda pattern: repr(pattern)[:40])
def test_patterns_that_may_take_more(pattern):
    assert not is_linear(pattern)


def test_such_a_pattern_is_neither_saved_nor_loaded(tmp_path):
    path, pattern = tmp_path / "model", r"(\w+\s?)+$"
    model = text_classifier(CMLLClassifier(threshold=0.5)).fit(TEXTS, Y)
    save_model(model, path)
    forged(path, "TextVectorizer", "token_pattern", pattern)
    with pytest.raises(ModelFileError, match="'token_pattern' of TextVectorizer must be a regular"):
        load_model(path)
    model[0].token_pattern = pattern
    with pytest.raises(
        ModelFileError, match=r"docs/reference/model-files\.md has its grammar.*; got"
    ):
        save_model(model, path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ngram_range", {"tuple": [1, 10**9]}),
        ("ngram_range", {"tuple": [-(2**40), 2]}),
        ("ngram_range", 1),
        ("analyzer", "os.system"),
        ("strip_accents", "/bin/sh"),
        ("encoding", "zip"),
        ("decode_error", "surrogateescape"),
        ("tokenizer", "split"),
        ("stop_words", {"dict": [["a", 1]]}),
        ("vocabulary", {"range": [0, 10**12, 1]}),
        ("_sklearn_output_config", "pandas"),
    ],
)
def test_what_vectorisers_are_not_asked_to_do(name, value, tmp_path):
    save_model(fitted("texts"), tmp_path / "model")
    forged(tmp_path / "model", "TfidfVectorizer", name, value)
    with pytest.raises(ModelFileError, match=f"'{name}'.* of TfidfVectorizer must be"):
        load_model(tmp_path / "model")


def test_characters_and_words_of_all_settings(tmp_path):
    settings = [
        {"analyzer": "char", "ngram_range": (2, 5)},
        {"analyzer": "char_wb", "ngram_range": (1, 3), "max_features": 40},
        {"stop_words": "english", "strip_accents": "unicode", "encoding": "Latin_1"},
        {"vocabulary": {"worda": 0, "wordb": 1, "wordc": 2}},
        {"vocabulary": ["worda", "wordb"], "dtype": np.float64},
        {"stop_words": ["worda"], "token_pattern": r"\b[\w-]+\b", "max_df": 0.9, "min_df": 2},
    ]
    for each in settings:
        model = text_classifier(CMLLClassifier(threshold=0.5), **each).fit(TEXTS, Y)
        save_model(model, tmp_path / "model")
        assert equal(load_model(tmp_path / "model").predict(TEXTS_NEW), model.predict(TEXTS_NEW))


@pytest.mark.parametrize("tag", ["set", "dict", "objects"])
@pytest.mark.parametrize("chosen", ["hash alike", "are pairs"])
def test_keys_whose_hashes_a_file_can_choose(tag, chosen, tmp_path):
    """A few thousand are allowed in the whole file, whatever they are; texts are not counted."""
    numbers = range(1, 4_001)
    keys = [k * (2**61 - 1) if chosen == "hash alike" else {"tuple": [k, k]} for k in numbers]
    parts = {
        "set": {"set": keys},
        "dict": {"dict": [[key, 0] for key in keys]},
        "objects": {"objects": [[4000], keys]},
    }
    save_model(fitted("linear"), tmp_path / "model")
    forged(tmp_path / "model", "CMLLClassifier", "columns_", [parts[tag]] * 3)
    with pytest.raises(ModelFileError, match="more than 10000 keys that are no texts"):
        load_model(tmp_path / "model")
    words = {"set": [f"word {k}" for k in range(20_000)]}
    forged(tmp_path / "model", "CMLLClassifier", "columns_", words)
    assert len(load_model(tmp_path / "model").columns_) == 20_000

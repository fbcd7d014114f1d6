"""No parameter of a foreign part makes a loaded model open, execute or wait for anything."""

import inspect
import os
import re
from pathlib import Path

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
from compactlearn.io._allowed import ATTRIBUTES, PARAMETERS, check_parameters
from compactlearn.io._patterns import LinearPattern
from compactlearn.io._types import TYPES, class_named
from tests.io.mutations import put_together, taken_apart
from tests.io.stored_models import TEXTS, TEXTS_NEW, X, X_new, Y, fitted
from tests.io.test_round_trip import answers, equal

TEXT_TYPES = (CountVectorizer, TfidfVectorizer, HashingVectorizer)
ANY = ("/etc/passwd", Path("/tmp/cache"), "os.system", -(10**30), b"x", [[]])
# Parameters that may be any integer, pair, literal or category.
FREE = {"neg_label", "pos_label", "feature_range", "token_pattern"}
FREE |= {"missing_values", "fill_value", "categories"}
FOREIGN = {name: class_named(name) for name in TYPES if name.startswith("sklearn ")}
every_type = pytest.mark.parametrize("type_", FOREIGN.values(), ids=FOREIGN)


def forged(path, kind, name, value):
    """Write another value of a parameter into a file, with right digests."""
    about, arrays, description = taken_apart(path.read_bytes())
    (state,) = [state for found, state in description["things"] if found == kind]
    state[name] = value
    path.unlink()
    path.write_bytes(put_together(about, arrays, description))


# ---- the table --------------------------------------------------------------------------------


def test_every_foreign_part_is_in_the_table():
    assert {type_.__name__ for type_ in FOREIGN.values()} == set(PARAMETERS)


@every_type
def test_every_parameter_is_in_the_table_with_its_default(type_):
    for name, parameter in inspect.signature(type_).parameters.items():
        assert PARAMETERS[type_.__name__][name]
        if parameter.default is not inspect.Parameter.empty:
            check_parameters(type_, {name: parameter.default}, [name])


@every_type
def test_no_parameter_has_any_value(type_):
    for name in set(inspect.signature(type_).parameters) - FREE:
        for value in ANY:
            with pytest.raises(ModelFileError, match=f"'{name}' of {type_.__name__} must be"):
                check_parameters(type_, {name: value}, [name])


def test_a_parameter_of_a_later_version_has_its_default_value():
    class Later(StandardScaler):
        def __init__(self, *, copy=True, with_mean=True, with_std=True, opens=""):
            super().__init__(copy=copy, with_mean=with_mean, with_std=with_std)
            self.opens = opens

    check_parameters(Later, {"opens": ""}, ["opens"])
    with pytest.raises(ModelFileError, match="'opens' of Later must be its default value"):
        check_parameters(Later, {"opens": "/etc/passwd"}, ["opens"])


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_no_attribute_has_any_value(name):
    for value in (Path("/tmp"), b"x", {"a": "b"}, object()):
        if name == "vocabulary_" and isinstance(value, dict):
            continue  # whose terms are compared where it is made
        assert not any(rule.accepts(value) for rule in ATTRIBUTES[name])


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
    splitter.n_splits = "/etc/passwd"
    with pytest.raises(ModelFileError, match="'n_splits'"):
        model.save(tmp_path / "model")


# ---- files that are read or written -----------------------------------------------------------


@pytest.mark.parametrize("type_", TEXT_TYPES, ids=lambda type_: type_.__name__)
@pytest.mark.parametrize("source", ["filename", "file"])
def test_texts_are_never_names_of_files(type_, source, tmp_path):
    """Neither a file that was forged, nor one that its owner wanted so."""
    words = HashingVectorizer(n_features=64) if type_ is HashingVectorizer else type_()
    model = make_pipeline(words, CMLLClassifier(threshold=0.5)).fit(TEXTS, Y)
    save_model(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    model[0].input = source
    with pytest.raises(ModelFileError, match=r"'input' of .* must be 'content'.*keep the model"):
        save_model(model, tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before
    forged(tmp_path / "model", f"sklearn {type_.__name__}", "input", source)
    with pytest.raises(ModelFileError, match=r"'input' of .* must be 'content'"):
        load_model(tmp_path / "model")


def test_a_pipeline_has_no_cache(tmp_path):
    folder = tmp_path / "cache"
    model = Pipeline([("scale", StandardScaler()), ("tags", CMLLClassifier())], memory=str(folder))
    with pytest.warns(UserWarning, match=r"Pipeline\.memory will be None"):
        save_model(model.fit(X, Y), tmp_path / "model")
    forged(tmp_path / "model", "sklearn Pipeline", "memory", str(tmp_path / "chosen by the file"))
    loaded = load_model(tmp_path / "model")
    assert loaded.memory is None
    clone(loaded).fit(X, Y)
    assert sorted(os.listdir(tmp_path)) == ["cache", "model"]


# ---- work without end -------------------------------------------------------------------------

GOOD = [
    r"(?u)\b\w\w+\b", r"\b\w+\b", r"\w+", r"\S+", r"[^\s]+", r"\b[a-zA-Z]{3,}\b", r"[^,]+", ".",
    r"\b\w+(?:-\w+)*\b", r"\b\w+(?:['’-]\w+)?\b", r"(?i)\b[a-z]+\b", r"\w+|[^\w\s]", r"\b(\w\w+)\b",
    r"#?\w+", r"\b[\w'-]+\b", r"\d{4}", r"\b[^\d\W]+\b", r"\b\w{2,20}\b", r"[\w\-\.]+", r".+",
]  # fmt: skip
BAD = [
    r"(\w+\s?)+$", r"(a|a)*b", r"\w+\w+", r"[a-z]+\b", r"(?=a)\w", r"(\w)\1", r"\w+-", r"\w*\d",
    r"((a))+", r"\b\w+(?:\w\w+)*\b", r"\w+?", r"\w++", r"a{1000}", "(", ")", "[", "a{2", r"(?x) a",
    r"(?P<a>b)", r"(?:a|b)+", r"a?a?a?a?a?a?b", r"\b\w+(?:[a-]\w+)*\b", r"\b\w+(?:[!-z]\w+)*", "\\",
    r"(?i)\b[a-z]+(?:[K][a-z]+)*\b", r"(a)(b)", r"(?i)[^s]+(?:S[^s]+)*",
    "a" * 201, r"\w{9}" * 9, "a?" * 9, 5, b"a", r"\w+(?:-\w+)*(?:-\w+)*",
    r"(\w+)+", r"(?u)(?u)a+a+", r"\b\w+(?:-\w+)*(?:-\w+)*\b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", GOOD)
def test_patterns_of_linear_time(pattern):
    assert LinearPattern().accepts(pattern)
    re.findall(pattern, "a-" * 50_000 + "a" * 50_000 + "1!")


@pytest.mark.parametrize("pattern", BAD, ids=lambda pattern: repr(pattern)[:40])
def test_patterns_that_may_take_more(pattern):
    assert not LinearPattern().accepts(pattern)


@pytest.mark.parametrize("pattern", [r"(\w+\s?)+$", r"\w+-"])
def test_such_a_pattern_is_neither_saved_nor_loaded(pattern, tmp_path):
    path = tmp_path / "model"
    model = text_classifier(CMLLClassifier(threshold=0.5)).fit(TEXTS, Y)
    save_model(model, path)
    forged(path, "TextVectorizer", "token_pattern", pattern)
    with pytest.raises(ModelFileError, match="'token_pattern' of TextVectorizer must be a regular"):
        load_model(path)
    model[0].token_pattern = pattern
    with pytest.raises(ModelFileError, match=r"docs/guide/storing\.md has its grammar.*; got"):
        save_model(model, path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ngram_range", {"tuple": [1, 10**9]}),
        ("analyzer", "os.system"),
        ("strip_accents", "/bin/sh"),
        ("encoding", "zip"),
        ("decode_error", "surrogateescape"),
        ("tokenizer", "split"),
        ("dtype", "O"),
        ("stop_words", {"dict": [["a", 1]]}),
        ("vocabulary", {"range": [0, 10**12, 1]}),
        ("_sklearn_output_config", {"dict": [["transform", "os"]]}),
    ],
)
def test_what_vectorisers_are_not_asked_to_do(name, value, tmp_path):
    save_model(fitted("texts"), tmp_path / "model")
    forged(tmp_path / "model", "sklearn TfidfVectorizer", name, value)
    with pytest.raises(ModelFileError, match=f"'{name}' of TfidfVectorizer must be"):
        load_model(tmp_path / "model")


def test_characters_and_words_of_all_settings(tmp_path):
    settings = [
        {"analyzer": "char", "ngram_range": (2, 5)},
        {"analyzer": "char_wb", "ngram_range": (1, 3), "max_features": 40},
        {"stop_words": "english", "strip_accents": "unicode", "encoding": "Latin_1"},
        {"vocabulary": {"worda": 0, "wordb": 1, "wordc": 2}},
        {"vocabulary": ["worda", "wordb"], "dtype": np.float64},
        {"stop_words": ["worda"], "token_pattern": r"\b\w+(?:-\w+)*\b", "max_df": 0.9, "min_df": 2},
    ]
    for each in settings:
        model = text_classifier(CMLLClassifier(threshold=0.5), **each).fit(TEXTS, Y)
        save_model(model, tmp_path / "model")
        assert equal(load_model(tmp_path / "model").predict(TEXTS_NEW), model.predict(TEXTS_NEW))


@pytest.mark.parametrize("tag", ["set", "frozenset", "dict"])
@pytest.mark.parametrize("chosen", ["hash alike", "are floats", "are pairs"])
def test_keys_whose_hashes_a_file_can_choose(tag, chosen, tmp_path):
    """A few thousand are allowed in the whole file, whatever they are; texts are not counted."""
    make = {
        "hash alike": lambda k: k * (2**61 - 1),
        "are floats": float,
        "are pairs": lambda k: {"tuple": [k, k]},
    }[chosen]
    keys = [make(k) for k in range(1, 4_001)]
    parts = {"dict": [[key, 0] for key in keys]} if tag == "dict" else {tag: keys}
    save_model(fitted("linear"), tmp_path / "model")
    forged(tmp_path / "model", "CMLLClassifier", "columns_", [parts] * 3)
    with pytest.raises(ModelFileError, match="more than 10000 keys that are no texts"):
        load_model(tmp_path / "model")
    words = {"set": [f"word {k}" for k in range(20_000)]}
    forged(tmp_path / "model", "CMLLClassifier", "columns_", words)
    assert len(load_model(tmp_path / "model").columns_) == 20_000

"""From texts to names: a plain pipeline, and a sentence for what is no column of texts."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline

from compactlearn import (
    AutoCompactClassifier,
    CMLLClassifier,
    ShortlistClassifier,
    evaluate,
    predict_labels,
    predict_topk,
    text_classifier,
)
from compactlearn.auto import TextVectorizer, _candidates
from compactlearn.auto._texts import _single_share

TEXTS = [
    "boil the pasta in salted water",
    "bake the bread in a hot oven",
    "the keeper saved a late penalty",
    "a penalty goal won the match",
    "salted bread with olive oil",
    "the match was lost in the rain",
    "rain and wind until friday",
    "wind from the west, no rain",
]
TAGS = [["food", "pasta"], ["food", "bread"], ["sport"], ["sport"]]
TAGS += [["food", "bread"], ["sport", "weather"], ["weather"], ["weather"]]
NAMES = ["bread", "food", "pasta", "sport", "weather"]
QUICK = CMLLClassifier(threshold=0.5)


def test_texts_and_names_in_names_out():
    model = text_classifier().fit(TEXTS, TAGS)
    assert type(model) is Pipeline
    assert isinstance(model[0], TfidfVectorizer)
    assert isinstance(model[-1], AutoCompactClassifier)
    assert model[-1].label_names_ == NAMES
    assert model.classes_.tolist() == NAMES
    bread, match = predict_labels(model, ["fresh bread from the oven", "rain stopped the match"])
    assert {name for name, _ in bread} == {"bread", "food"}
    assert {name for name, _ in match} == {"sport", "weather"}
    assert all(0.0 < probability < 1.0 for _, probability in bread + match)


COLUMNS = {
    "tuple": tuple,
    "object array": lambda texts: np.array(texts, dtype=object),
    "array of strings": np.array,
    "pandas": lambda texts: pd.Series(texts, index=range(100, 108)),
    "pandas strings": lambda texts: pd.Series(texts, dtype="string"),
    "polars": pl.Series,
    "bytes": lambda texts: [text.encode() for text in texts],
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_columns_of_texts(column):
    expected = text_classifier(QUICK).fit(TEXTS, TAGS)
    model = text_classifier(clone(QUICK))
    model.fit(column(TEXTS), pd.Series(TAGS))
    assert predict_labels(model, column(TEXTS)) == predict_labels(expected, TEXTS)


def test_the_pipeline_is_its_steps_by_hand():
    """With names or with a matrix, through a pickle or a clone."""
    words = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    X = words.fit_transform(TEXTS)
    Y = np.array([[int(name in tags) for name in NAMES] for tags in TAGS])
    by_hand = clone(QUICK).fit(X, Y)
    model = text_classifier(clone(QUICK)).fit(TEXTS, TAGS)
    for other in (model, pickle.loads(pickle.dumps(model)), clone(model).fit(TEXTS, TAGS)):
        np.testing.assert_array_equal(other.decision_function(TEXTS), by_hand.decision_function(X))
        assert predict_labels(other, TEXTS, 2) == predict_labels(model, TEXTS, 2)
    assert evaluate(model, TEXTS, TAGS) == by_hand.evaluate(X, Y)
    np.testing.assert_array_equal(model[0].get_feature_names_out(), words.get_feature_names_out())


def test_joined_tags():
    column = pd.Series([", ".join(tags) for tags in TAGS])
    model = text_classifier(clone(QUICK)).fit(TEXTS, column, tags__sep=",")
    expected = text_classifier(clone(QUICK)).fit(TEXTS, TAGS)
    assert predict_labels(model, TEXTS) == predict_labels(expected, TEXTS)
    assert evaluate(model, TEXTS, column, sep=",") == evaluate(expected, TEXTS, TAGS)


def test_settings_are_those_of_scikit_learn():
    model = text_classifier(clone(QUICK), ngram_range=(1, 2), min_df=2)
    assert model[0].get_params()["ngram_range"] == (1, 2)
    assert clone(model)[0].get_params() == model[0].get_params()
    model.set_params(words__analyzer="char_wb", words__ngram_range=(3, 3)).fit(TEXTS, TAGS)
    assert "bre" in model[0].vocabulary_
    with pytest.raises(TypeError, match="no_such_setting"):
        text_classifier(no_such_setting=1)


NO_TEXTS = {
    "a string": ("one text", r"a single str was given, 'one text'; pass a list"),
    "a frame": (pd.DataFrame({"id": [1], "text": ["a"]}), r"DataFrame.*frame\['text'\]"),
    "one column": (pl.DataFrame({"body": ["a"]}), r"DataFrame.*frame\['body'\]"),
    "NaN": (pd.Series(["a", np.nan]), r"row 1 is nan; fill what is missing.*fillna"),
    "NA": (pd.Series(["a", None], dtype="string"), r"row 1 is <NA>; fill"),
    "lists of words": ([["a", "b"]], r"row 0 is \['a', 'b'\]; .* make strings"),
    "a sparse matrix": (sp.csr_array(np.eye(2)), r"csr_array of shape \(2, 2\).*by itself"),
    "a dictionary": ({"text": ["a"]}, r"a single dict was given.*pass a list"),
    "nothing": ([], r"there are none; pass at least one"),
}


@pytest.mark.parametrize(("texts", "said"), NO_TEXTS.values(), ids=NO_TEXTS.keys())
def test_what_is_no_column_of_texts(texts, said):
    fitted = TextVectorizer().fit(TEXTS)
    for method in (TextVectorizer().fit, TextVectorizer().fit_transform, fitted.transform):
        with pytest.raises(ValueError, match=said):
            method(texts)


# ---- texts without words -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_empty_texts_are_named_at_fit_and_at_prediction(seed):
    rng = np.random.default_rng(seed)
    empty = np.sort(rng.permutation(30)[: rng.integers(1, 8)])
    texts = [f"word{k % 5} other{k % 3}" for k in range(30)]
    for row in empty:
        texts[row] = str(rng.choice(["", "  ", "...", "a b c", "\n"]))
    first = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
    named = rf"in {len(empty)} of 30 texts \(rows? {re.escape(first)}\): "
    words = TextVectorizer()
    with pytest.warns(UserWarning, match=f"No terms {named}"):
        X = words.fit_transform(texts)
    with pytest.warns(UserWarning, match=f"No terms {named}") as said:
        text_classifier(clone(QUICK)).fit(texts, [["a"], ["b"], []] * 10)
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match=f"No term that fit had {named}"):
        np.testing.assert_allclose(words.transform(texts).toarray(), X.toarray())
    full = [text for row, text in enumerate(texts) if row not in empty]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextVectorizer().fit(full).transform(full[:3])


@pytest.mark.parametrize("texts", [[""], ["", " "], ["...", "a b"], [""] * 2000])
def test_texts_that_are_all_empty(texts):
    for fit in (TextVectorizer().fit, TextVectorizer().fit_transform):
        with pytest.raises(ValueError, match=rf"of {len(texts)} texts none has any .*column"):
            fit(texts)
    with pytest.raises(ValueError, match="Texts must have terms to learn from"):
        text_classifier(clone(QUICK)).fit(texts, [["a"]] * len(texts))


def test_a_text_without_known_words_gets_the_frequencies():
    model = text_classifier(ShortlistClassifier(random_state=0)).fit(TEXTS, TAGS)
    expected = {name: np.mean([name in tags for tags in TAGS]) for name in NAMES}
    with pytest.warns(
        UserWarning, match=r"No term that fit had in 2 of 3 texts \(rows 0, 2\)"
    ) as said:
        found = predict_labels(model, ["", "fresh bread", "unknown"], k=5)
    assert said[0].filename == __file__
    for row in (found[0], found[2]):
        assert dict(row) == pytest.approx(expected, rel=1e-5)
    assert dict(found[1]) != pytest.approx(expected, rel=1e-2)


# ---- words or characters -----------------------------------------------------------------------


def language(n_texts, n_forms, seed):
    """Texts of stems that are as frequent as words of languages are, with random endings."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, 3_001)
    stems = rng.choice(3_000, size=(n_texts, 12), p=shares / shares.sum())
    endings = rng.integers(0, n_forms, size=stems.shape)
    return [
        " ".join(f"stem{a}x{'abcdefghijkl'[b % 12]}{'abcdefghijkl'[b // 12]}" for a, b in row)
        for row in np.stack([stems, endings], axis=2)
    ]


def test_characters_are_advised_where_words_have_many_forms():
    inflected = language(1_500, 144, 0)
    with pytest.warns(UserWarning, match=r"\d\d% of the words .* try text_classifier\(analyzer="):
        TextVectorizer().fit(inflected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TextVectorizer().fit(language(1_500, 1, 0))  # a form for each word
        TextVectorizer().fit(inflected[:500])  # too few texts to warn
        TextVectorizer(analyzer="char_wb", ngram_range=(3, 5)).fit(inflected)


def test_as_many_words_of_new_texts_are_unknown_as_words_are_in_one_text_only():
    """The advice is based on this."""
    for n_forms in (1, 12, 144):
        texts = language(3_000, n_forms, 0)
        words = TfidfVectorizer().fit(texts[:1_500])
        everything = CountVectorizer(binary=True).fit(texts).transform(texts[1_500:])
        known = CountVectorizer(binary=True, vocabulary=words.vocabulary_)
        unknown = 1 - known.transform(texts[1_500:]).nnz / everything.nnz
        single = _single_share(words.transform(texts[:1_500]))
        assert single == pytest.approx(unknown, abs=0.03)


@pytest.mark.slow
def test_many_labels_are_for_the_shortlist_alone(monkeypatch):
    """And what it says of new texts is what ShortlistClassifier by itself ranks first."""
    monkeypatch.setattr(_candidates, "MANY_LABELS", 40)
    monkeypatch.setattr(_candidates, "SHORTLIST_ROWS", 200)
    rng = np.random.default_rng(0)
    tags = [sorted({f"tag {k}" for k in rng.integers(0, 60, size=3)}) for _ in range(400)]
    texts = [
        " ".join(f"word{tag[4:]}" for tag in row) + f" noise{n % 7}" for n, row in enumerate(tags)
    ]
    model = text_classifier().fit(texts, tags)
    assert [row["name"] for row in model[-1].leaderboard_] == ["shortlist"]
    assert isinstance(model[-1].best_estimator_, ShortlistClassifier)
    alone = model[-1].best_estimator_
    best, _ = predict_topk(model, texts[:50], 3)
    np.testing.assert_array_equal(best, alone.predict_topk(model[0].transform(texts[:50]), 3)[0])
    right = [
        len({name for name, _ in row} & set(has)) / len(has)
        for row, has in zip(predict_labels(model, texts), tags, strict=True)
    ]
    assert np.mean(right) > 0.9

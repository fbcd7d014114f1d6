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
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from compactlearn import (
    AutoCompactClassifier,
    CMLLClassifier,
    ShortlistClassifier,
    evaluate,
    explain,
    predict_labels,
    predict_topk,
    text_classifier,
)
from compactlearn.auto import FieldVectorizer, TextVectorizer, _candidates
from compactlearn.auto._texts import SETTINGS, _single_share
from compactlearn.inspection import inspect_model, model_report

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
    has = "has" if len(empty) == 1 else "have"
    begun, rows = f"{len(empty)} of 30 texts {has}", rf"\(rows? {re.escape(first)}\): "
    words = TextVectorizer()
    with pytest.warns(UserWarning, match=f"{begun} no word {rows}"):
        X = words.fit_transform(texts)
    with pytest.warns(UserWarning, match=f"{begun} no word {rows}") as said:
        text_classifier(clone(QUICK)).fit(texts, [["a"], ["b"], []] * 10)
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match=f"{begun} no word of the training texts {rows}"):
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
        UserWarning, match=r"2 of 3 texts have no word of the training texts \(rows 0, 2\): their"
    ) as said:
        found = predict_labels(model, ["", "fresh bread", "unknown"], k=5)
    assert said[0].filename == __file__
    for row in (found[0], found[2]):
        assert dict(row) == pytest.approx(expected, rel=1e-5)
    assert dict(found[1]) != pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (["???", "rain"], "1 of 2 texts has no {} of the training texts (row 0): its prediction"),
        (["?", "!"], "2 of 2 texts have no {} of the training texts (rows 0, 1): their prediction"),
    ],
)
@pytest.mark.parametrize(("analyzer", "term"), [("word", "word"), ("char", "run of characters")])
def test_one_and_several_texts_without_known_words(new, said, analyzer, term):
    words = TextVectorizer(analyzer=analyzer, ngram_range=(1, 2)).fit(TEXTS)
    with pytest.warns(UserWarning, match=f"^{re.escape(said.format(term))}"):
        words.transform(new)


# ---- texts with several fields -----------------------------------------------------------------

TITLES = ["Pasta", "Bread", "Penalty saved", "Final won", "Bread", "Final lost", "Rain", "Wind"]
FIELDS = {"title": TITLES, "body": TEXTS}
ROWS = [{"title": title, "body": body} for title, body in zip(TITLES, TEXTS, strict=True)]
FRAMES = {
    "pandas": pd.DataFrame(FIELDS, index=range(5, 13)),
    "polars": pl.DataFrame(FIELDS),
    "mapping": FIELDS,
    "mapping of arrays": {name: np.array(texts) for name, texts in FIELDS.items()},
    "dicts": ROWS,
    "column of dicts": pd.Series(ROWS),
    "structured": np.array(
        [*zip(TITLES, TEXTS, strict=True)], dtype=[("title", "O"), ("body", "O")]
    ),
    "more columns": pd.DataFrame({"id": range(8), **FIELDS}),
}


@pytest.mark.parametrize("X", FRAMES.values(), ids=FRAMES.keys())
def test_fields_are_blocks_times_their_weights(X):
    weights = {"title": 2, "body": 0.5}
    model = text_classifier(clone(QUICK), fields=weights).fit(X, TAGS)
    found = model[0].transform(X)
    assert sp.issparse(found)
    assert found.dtype == np.float32
    blocks = [
        TextVectorizer(**SETTINGS).fit_transform(FIELDS[name]) * weight / np.sqrt(4.25)
        for name, weight in weights.items()
    ]
    np.testing.assert_allclose(found.toarray(), sp.hstack(blocks).toarray(), rtol=1e-6)
    np.testing.assert_allclose((found.toarray() ** 2).sum(axis=1), 1, rtol=1e-6)
    names = model[0].get_feature_names_out().tolist()
    assert names.index("title: bread") < names.index("body: bread")
    assert predict_labels(model, X) == predict_labels(model, ROWS)


@pytest.mark.parametrize(
    "fields", [["body"], ("body",), {"body": 1}, {"body": 0.3}, pd.Index(["body"])]
)
def test_one_field_is_no_field(fields):
    alone = text_classifier(clone(QUICK)).fit(TEXTS, TAGS)
    model = text_classifier(clone(QUICK), fields=fields).fit(FRAMES["pandas"], TAGS)
    a, b = model[0].transform(ROWS), alone[0].transform(TEXTS)
    assert type(a) is type(b)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    assert evaluate(model, ROWS, TAGS) == evaluate(alone, TEXTS, TAGS)


@pytest.mark.parametrize("factor", [0.25, 3, 1e4])
def test_only_proportions_of_weights_count(factor):
    weights = {"title": 2.0, "body": 1.0}
    larger = {name: factor * weight for name, weight in weights.items()}
    rows = [FieldVectorizer(fields).fit_transform(ROWS) for fields in (weights, larger)]
    np.testing.assert_allclose(rows[0].toarray(), rows[1].toarray(), rtol=1e-6)
    scores = [
        text_classifier(clone(QUICK), fields=fields).fit(ROWS, TAGS).decision_function(ROWS)
        for fields in (weights, larger)
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-5)


def test_a_field_counts_by_its_weight():
    texts = [{"title": a, "body": b} for a in ("ham", "egg") for b in ("ham", "egg")] * 3
    tags = [[row["title"]] for row in texts]
    model = text_classifier(clone(QUICK), fields={"title": 9, "body": 1}).fit(texts, tags)
    assert [row[0][0] for row in predict_labels(model, texts[:4], 1)] == [
        "ham",
        "ham",
        "egg",
        "egg",
    ]


def test_fields_in_clones_pickles_and_parameters():
    model = text_classifier(clone(QUICK), fields={"title": 2, "body": 1}, ngram_range=(1, 2))
    assert model.get_params()["words__vectorizer__ngram_range"] == (1, 2)
    model.fit(ROWS, TAGS)
    expected = model.decision_function(ROWS)
    for other in (pickle.loads(pickle.dumps(model)), clone(model).fit(ROWS, TAGS)):
        np.testing.assert_array_equal(other.decision_function(ROWS), expected)
    model.set_params(words__fields=["title"], words__vectorizer__analyzer="char_wb")
    np.testing.assert_array_equal(model.decision_function(ROWS), expected)  # until the next fit
    assert all(
        name.startswith("title: ") for name in model.fit(ROWS, TAGS)[0].get_feature_names_out()
    )
    searched = GridSearchCV(model, {"words__fields": [["title"], ["title", "body"]]}, cv=2)
    searched.set_params(scoring=lambda fitted, X, Y: fitted.predict(X).shape[0])
    Y = np.array([[int(name in tags) for name in NAMES] for tags in TAGS])
    assert searched.fit(FRAMES["pandas"], Y).best_score_ == 4
    scored = evaluate(searched, FRAMES["pandas"], Y)
    assert 0 <= scored["micro_f1"] <= 1


@pytest.mark.parametrize("missing", [None, np.nan, np.float32("nan"), pd.NA])
def test_a_missing_text_is_empty(missing):
    rows = [dict(row) for row in ROWS]
    rows[0]["title"] = rows[4]["body"] = missing
    empty = [dict(row) for row in rows]
    empty[0]["title"] = empty[4]["body"] = ""
    words = FieldVectorizer(["title", "body"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # in both rows the other field has words
        expected = words.fit_transform(empty).toarray()
        for X in (rows, pd.DataFrame(rows)):
            np.testing.assert_array_equal(words.fit_transform(X).toarray(), expected)
            np.testing.assert_array_equal(words.transform(X).toarray(), expected)
    with pytest.warns(UserWarning, match=r"1 of 2 texts has no word of .* \(row 1\): its") as said:
        words.transform([ROWS[0], {"title": missing, "body": "unheard"}])
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match=r"1 of 9 texts has no word \(row 8\): .* Drop this row"):
        words.fit([*ROWS, {}])


def test_words_of_fields_explain():
    model = text_classifier(clone(QUICK), fields=["title", "body"]).fit(ROWS, TAGS)
    for X in (ROWS, FRAMES["pandas"], FIELDS):
        (why,) = [one for one in explain(model, X, "bread", k=2) if one.row == 1]
        assert [term.name for term in why.terms] == ["title: bread", "body: bread"]
    page = model_report(model, ROWS, TAGS)
    assert "title: bread" in page
    facts = inspect_model(model, ROWS, [["weather"]] * 8)
    assert facts.mistakes[0].text in {" / ".join(row.values()) for row in ROWS}


def test_the_search_takes_fields():
    model = text_classifier(fields=["title", "body"]).fit(FRAMES["polars"], TAGS)
    found = {name for name, _ in predict_labels(model, [{"title": "Bread", "body": "oven"}])[0]}
    assert found == {"bread", "food"}


NO_FIELDS = {
    "a string": ("title", r"fields must be a list .* got 'title'\. Pass \['title'\]"),
    "none": ([], r"fields must be a list of column names.*got \[\]"),
    "a number": (3, "fields must be a list of column names.*got 3"),
    "numbers": ([0, 1], r"fields must be a list of column names.*got \[0, 1\]"),
    "a set": ({"title"}, "fields must be a list of column names"),
    "twice": (["a", "b", "a"], r"each column once; got 'a' 2 times.*\{'a': 2\}"),
    "zero": ({"a": 1, "b": 0}, r"positive number, from 1e-9 to 1e9; got 0 for 'b'. To leave"),
    "negative": ({"a": -1}, "positive number.*got -1 for 'a'"),
    "NaN": ({"a": np.nan}, "positive number.*got nan for 'a'"),
    "infinite": ({"a": np.inf}, "positive number.*got inf for 'a'"),
    "a text": ({"a": "2"}, "positive number.*got '2' for 'a'"),
    "true": ({"a": True}, "positive number.*got True for 'a'"),
}


@pytest.mark.parametrize(("fields", "said"), NO_FIELDS.values(), ids=NO_FIELDS.keys())
def test_what_names_no_fields(fields, said):
    with pytest.raises(ValueError, match=said):
        text_classifier(fields=fields)
    with pytest.raises(ValueError, match=said):
        FieldVectorizer(fields).fit(ROWS)


WITHOUT_FIELDS = {
    "a list of texts": (TEXTS, r"\('title', 'body'\).*a list that has 'boil.*leave fields out"),
    "a text": ("rain", "X must have a column for each field.*got 'rain'"),
    "a number": (3, "X must have a column for each field.*got 3"),
    "a column": (pd.Series(TEXTS), r"got a Series of shape \(8,\)"),
    "a matrix": (np.array([TITLES, TEXTS]).T, r"got a ndarray of shape \(8, 2\)"),
    "numbers": (sp.csr_array(np.eye(2)), r"got a csr_array of shape \(2, 2\)"),
    "nothing": ([], "got an empty list"),
    "dicts and a text": ([*ROWS, "rain"], "a list that has 'rain'"),
    "no such column": (
        pd.DataFrame({"titel": TITLES, "body": TEXTS}),
        "none is called 'title'; there are 'titel', 'body'.*Did you mean 'titel'",
    ),
    "no such key": ([{"title": "a"}], "none is called 'body'; there are 'title'"),
    "no such key of a mapping": ({"body": TEXTS}, "none is called 'title'; there are 'body'"),
    "one row": (ROWS[0], "Field 'title': Texts must be .* a single str was given, 'Pasta'"),
    "of different lengths": ({"title": ["a"], "body": TEXTS}, r"\{'title': 1, 'body': 8\}"),
    "numbers in a field": ([{"title": 7, "body": "a"}], "Field 'title': .*row 0 is 7"),
    "no rows": (pd.DataFrame({"title": [], "body": []}), "Field 'title': .*at least one text"),
    "a query": (pl.LazyFrame(FIELDS), r"pass X\.collect\(\)"),
}


@pytest.mark.parametrize(("X", "said"), WITHOUT_FIELDS.values(), ids=WITHOUT_FIELDS.keys())
def test_what_has_not_the_fields(X, said):
    words = FieldVectorizer(["title", "body"]).fit(ROWS)
    for method in (FieldVectorizer(["title", "body"]).fit, words.transform):
        with pytest.raises((ValueError, TypeError), match=said):
            method(X)


def test_a_field_without_any_word():
    with pytest.raises(ValueError, match=r"Field 'title': Texts must have terms .*of 8 texts none"):
        FieldVectorizer(["title", "body"]).fit([{**row, "title": None} for row in ROWS])


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

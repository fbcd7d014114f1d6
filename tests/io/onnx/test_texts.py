"""From texts to scores: the words of a graph are those of scikit-learn, in any script."""

import unicodedata
import warnings

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

from compactlearn import (
    AutoCompactClassifier,
    CMLLClassifier,
    ThresholdTuner,
    text_classifier,
    to_onnx,
)
from compactlearn.io.onnx._graph import Graph
from compactlearn.io.onnx._texts import write_vectoriser
from tests.io.onnx.running import BOUNDS, assert_same, run
from tests.makers import modest

TEXTS = [
    "The quick brown fox jumps over the lazy dog, and the dog does not mind.",
    "It's a well-known fact: don't e-mail foo_bar@example.com in 2024!",
    "A\tfirst line\nand a second line; a third line, a a a b",
    "naïve café, über-cool façade — “quoted” … ½ x² ﬁne",
    "съешь ещё этих мягких французских булок",
    "ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "日本語 テキスト を 解析 する。中文也可以",
    "हिन्दी में कुछ शब्द और e\u0301cole",
    "",
    "   ...   ",
    "x",
    "fox dog fox dog FOX Dog",
]
SETTINGS = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (3, 3), "binary": True},
    {"stop_words": ["the", "and"]},
    {"max_features": 7, "ngram_range": (1, 2)},
    {"lowercase": False},
    {"norm": None, "use_idf": False, "sublinear_tf": True},
    {"norm": "l1", "smooth_idf": False},
    {"token_pattern": r"(?u)\b\w+\b", "ngram_range": (1, 2)},
    {"vocabulary": ["dog fox", "fox", "dog"], "ngram_range": (1, 3)},
]


def labels_of(texts, n_labels=3):
    return np.random.default_rng(len(texts)).integers(0, 2, (len(texts), n_labels))


def pipeline_of(*steps, **options):
    return make_pipeline(*steps, CMLLClassifier(threshold=0.5, alpha=0.1, **options))


@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
def test_tfidf_of_words(settings):
    pipeline = pipeline_of(TfidfVectorizer(**settings)).fit(TEXTS, labels_of(TEXTS))
    for dtype in ("float32", "float64"):
        assert_same(pipeline, to_onnx(pipeline, dtype=dtype, check=TEXTS), TEXTS, BOUNDS[dtype])


def test_counts_and_what_is_made_of_them():
    for steps in ([CountVectorizer()], [CountVectorizer(), TfidfTransformer(sublinear_tf=True)]):
        pipeline = pipeline_of(*steps).fit(TEXTS, labels_of(TEXTS))
        assert_same(pipeline, to_onnx(pipeline, dtype="float64"), TEXTS, BOUNDS["float64"])


def test_the_pipeline_of_this_package():
    """Its vectoriser has rows of single precision, whatever the graph has."""
    tags = [["some", "other"], ["some"], ["third"], ["other", "third"]] * 3
    model = text_classifier(CMLLClassifier(decoder="logistic", threshold=0.3)).fit(TEXTS, tags)
    for dtype in ("float32", "float64"):
        assert_same(model, to_onnx(model, dtype=dtype, topk=2), TEXTS, BOUNDS["float32"])


def test_texts_of_several_fields_are_refused():
    notes = [{"title": text, "body": text} for text in TEXTS]
    model = text_classifier(CMLLClassifier(threshold=0.5), fields=["title", "body"])
    model.fit(notes, [["some"], ["other"]] * (len(notes) // 2))
    with pytest.raises(
        ValueError, match=r"has the fields 'title', 'body'.*to_onnx\(pipeline\[1:\]\)"
    ):
        to_onnx(model)
    rows = model[0].transform(notes)
    assert_same(model[1:], to_onnx(model[1:]), rows.toarray(), BOUNDS["float32"])


def test_texts_without_known_words_get_the_frequencies():
    tags = [["some", "other"], ["some"], ["third"], ["other", "third"]] * 3
    model = text_classifier(AutoCompactClassifier(random_state=0, time_budget=0.01))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the empty texts
        model.fit(TEXTS, tags)
        graph = to_onnx(model, dtype="float64")
        assert_same(model, graph, [*TEXTS, "unknown words", "?"], BOUNDS["float32"])
    found = run(graph, ["", "unknown words"])["probabilities"]
    np.testing.assert_allclose(found, np.full((2, 3), 0.5), atol=1e-6)


def test_texts_behind_a_tuner_or_a_search():
    Y, inner = labels_of(TEXTS), pipeline_of(TfidfVectorizer())
    for model in (
        ThresholdTuner(inner, cv=2),
        GridSearchCV(inner, {"cmllclassifier__alpha": [0.1, 1.0]}, cv=2),
        Pipeline([("all", inner)]),
    ):
        model.fit(TEXTS, Y)
        assert_same(model, to_onnx(model), TEXTS, BOUNDS["float32"])


# Scripts with and without capitals, marks, digits, spaces and signs of many kinds; what becomes two
# characters in lower case, and what depends on its neighbours there.
ALPHABET = st.one_of(
    st.sampled_from("abcxyz ABC 012_-'.,;!?\t\n"),
    st.sampled_from("ÄäÖöÅåÉé İiıIßẞǅǆ \u0301\u0307\u0308\u00ad"),
    st.sampled_from("ΣσςΑα ΣΣ'.\u0345\u0301"),
    st.sampled_from(" \u3000\u2003\x1c\x85\0\u200b\u200d"),
    st.characters(codec="utf-8", min_codepoint=0x20, max_codepoint=0xDFF),
    st.characters(codec="utf-8", min_codepoint=0x1E00, max_codepoint=0x4FFF),
    st.characters(codec="utf-8"),
)
DIVIDED = [
    {"analyzer": "word"},
    {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b", "lowercase": False},
    {"analyzer": "word", "strip_accents": "ascii"},
    {"analyzer": "word", "strip_accents": "unicode"},
]


def counts_graph(vectoriser):
    """The graph of a vectoriser by itself."""
    graph = Graph("float64")
    graph.named(write_vectoriser(graph, vectoriser, "texts"), "counts")
    shape = ("rows", len(vectoriser.vocabulary_))
    texts, counts = (np.dtype(object), ("rows",)), (np.dtype(np.float64), shape)
    return graph.model("words", {"texts": texts}, {"counts": counts}, {}, "")


@pytest.mark.slow
@pytest.mark.parametrize("settings", DIVIDED, ids=repr)
@given(data=st.data())
@hypothesis.settings(modest, max_examples=8)
def test_counts_are_those_of_scikit_learn(settings, data):
    """On texts of any script, composed or not, of which some are new to the vectoriser."""
    texts = data.draw(st.lists(st.text(ALPHABET, max_size=25), min_size=2, max_size=30))
    shortest, more = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 2))
    vectoriser = CountVectorizer(ngram_range=(shortest, shortest + more), **settings)
    vectoriser.fit([*texts[::2], "two or three words"])
    texts += [unicodedata.normalize(form, text) for text in texts for form in ("NFC", "NFD")]
    texts += [text.upper() for text in texts]
    found = run(counts_graph(vectoriser), texts)["counts"]
    np.testing.assert_array_equal(found, vectoriser.transform(texts).toarray())


def test_capitals_of_any_script():
    texts = ["Größe und ÜBERMUT", "große Übermut", "Athen und ΑΘΗΝΑΣ", "İzmir größe αθηνας"] * 5
    pipeline = pipeline_of(TfidfVectorizer()).fit(texts, labels_of(texts))
    upper = [text.upper() for text in texts]
    assert_same(pipeline, to_onnx(pipeline), texts + upper, BOUNDS["float32"])


def test_terms_of_a_given_vocabulary_that_no_text_has():
    terms = ["a", "b", "  ", " a ", " ab ", "a b", "a  b", " ", "ab", "ας", "", "A", "a-b", "a "]
    vectoriser = CountVectorizer(vocabulary=terms, ngram_range=(1, 3))
    texts = [" a  b ab", "a b-a", "A\tB", "ΑΣ", "a  a   b", "", " "]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, of the capital
        expected = vectoriser.fit_transform(texts).toarray()
    np.testing.assert_array_equal(run(counts_graph(vectoriser), texts)["counts"], expected)


def test_a_character_that_becomes_two_parts_words():
    vectoriser = CountVectorizer(strip_accents="unicode", ngram_range=(1, 2)).fit(["aa bb"])
    texts = ["aa bb", "aa ㎏ bb", "aa ² bb"]
    expected = vectoriser.transform(texts).toarray()
    np.testing.assert_array_equal(run(counts_graph(vectoriser), texts)["counts"], expected)


def test_a_graph_is_written_the_same_way_twice():
    vectoriser = CountVectorizer().fit(TEXTS)
    first, second = (counts_graph(vectoriser).SerializeToString() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"analyzer": "char"}, "analyzer='word'"),
        ({"strip_accents": str.title}, "strip_accents=None, 'ascii' or 'unicode'"),
        ({"preprocessor": str.title}, "preprocessor=None"),
        ({"tokenizer": str.split, "token_pattern": None}, "tokenizer=None"),
        ({"token_pattern": r"\S+"}, "token_pattern="),
        ({"stop_words": "english", "ngram_range": (1, 2)}, "stop_words=None for runs of words"),
    ],
)
def test_terms_that_only_python_finds_are_refused(settings, wanted):
    pipeline = pipeline_of(TfidfVectorizer(**settings)).fit(TEXTS, labels_of(TEXTS))
    with pytest.raises(
        ValueError, match="fit with the former, or export what comes after"
    ) as caught:
        to_onnx(pipeline)
    assert f"vectorisers with {wanted}" in str(caught.value)
    # The way out that the sentence names.
    rows = pipeline[:-1].transform(TEXTS)
    assert_same(pipeline[1:], to_onnx(pipeline[1:]), rows, BOUNDS["float32"])

"""From texts to scores: the words of a graph are those of scikit-learn, in any script."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline

from compactlearn import CMLLClassifier, ThresholdTuner, text_classifier, to_onnx
from tests.export.running import BOUNDS, assert_same, run
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
    {"ngram_range": (2, 3)},
    {"ngram_range": (3, 3), "binary": True},
    {"sublinear_tf": True},
    {"stop_words": ["the", "and"]},
    {"min_df": 2},
    {"max_features": 7, "ngram_range": (1, 2)},
    {"lowercase": False},
    {"norm": None, "use_idf": False, "sublinear_tf": True},
    {"norm": "l1", "smooth_idf": False},
    {"token_pattern": r"(?u)\b\w+\b", "ngram_range": (1, 2)},
    {"vocabulary": ["fox", "dog fox", "x", "two words here", "dog"]},
    {"vocabulary": ["dog fox", "fox", "dog"], "ngram_range": (1, 3)},
]


def labels_of(texts, n_labels=3):
    return np.random.default_rng(len(texts)).integers(0, 2, (len(texts), n_labels))


def pipeline_of(*steps, **options):
    return make_pipeline(*steps, CMLLClassifier(threshold=0.5, alpha=0.1, **options))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
def test_tfidf_of_words(settings, dtype):
    pipeline = pipeline_of(TfidfVectorizer(**settings)).fit(TEXTS, labels_of(TEXTS))
    graph = to_onnx(pipeline, dtype=dtype, check=TEXTS)
    assert_same(pipeline, graph, TEXTS, BOUNDS[dtype])


def test_counts_and_what_is_made_of_them():
    for steps in (
        [CountVectorizer(ngram_range=(1, 2))],
        [CountVectorizer(binary=True)],
        [CountVectorizer(), TfidfTransformer(sublinear_tf=True)],
    ):
        pipeline = pipeline_of(*steps).fit(TEXTS, labels_of(TEXTS))
        assert_same(pipeline, to_onnx(pipeline, dtype="float64"), TEXTS, BOUNDS["float64"])


def test_the_pipeline_of_this_package():
    """Its vectoriser has rows of single precision, whatever the graph has."""
    tags = [["some", "other"], ["some"], ["third"], ["other", "third"]] * 3
    model = text_classifier(CMLLClassifier(decoder="logistic", threshold=0.3)).fit(TEXTS, tags)
    for dtype in ("float32", "float64"):
        assert_same(model, to_onnx(model, dtype=dtype, topk=2), TEXTS, BOUNDS["float32"])


def test_texts_behind_a_tuner_or_a_search():
    Y, inner = labels_of(TEXTS), pipeline_of(TfidfVectorizer())
    for model in (
        ThresholdTuner(inner, cv=2),
        GridSearchCV(inner, {"cmllclassifier__alpha": [0.1, 1.0]}, cv=2),
        Pipeline([("all", inner)]),
    ):
        model.fit(TEXTS, Y)
        assert_same(model, to_onnx(model), TEXTS, BOUNDS["float32"])


# Scripts with and without capitals, marks, digits, spaces and signs of many kinds.
ALPHABET = st.one_of(
    st.sampled_from("abcxyz ABC 012_-'.,;!?\t\n"),
    st.characters(codec="utf-8", min_codepoint=0x20, max_codepoint=0x17F),
    st.characters(codec="utf-8", min_codepoint=0x370, max_codepoint=0x6FF),
    st.characters(codec="utf-8", min_codepoint=0x900, max_codepoint=0xDFF),
    st.characters(codec="utf-8", min_codepoint=0x1E00, max_codepoint=0x2BFF),
    st.characters(codec="utf-8", min_codepoint=0x3000, max_codepoint=0x4FFF),
    st.characters(codec="utf-8", min_codepoint=0x1F300, max_codepoint=0x1F64F),
)


@modest
@given(
    texts=st.lists(st.text(ALPHABET, max_size=30), min_size=1, max_size=20),
    longest=st.integers(1, 3),
)
def test_lower_case_texts_of_any_script(texts, longest):
    texts = [text.lower() for text in texts]
    known = [*texts, *TEXTS]
    pipeline = pipeline_of(TfidfVectorizer(ngram_range=(1, longest)))
    pipeline.fit(known, labels_of(known))
    assert_same(pipeline, to_onnx(pipeline, dtype="float64"), known, BOUNDS["float64"])


def test_capitals_outside_ascii_are_the_callers_to_lower():
    texts = ["Größe und ÜBERMUT", "große Übermut", "Athen und ΑΘΗΝΑ", "größe αθηνα"] * 5
    pipeline = pipeline_of(TfidfVectorizer()).fit(texts, labels_of(texts))
    with pytest.raises(
        ValueError, match="ASCII only, and this text has others: pass texts in lower"
    ):
        to_onnx(pipeline, check=texts)
    lowered = [text.lower() for text in texts]
    graph = to_onnx(pipeline, check=lowered)
    np.testing.assert_allclose(
        run(graph, lowered)["scores"], pipeline.decision_function(texts), atol=1e-5
    )


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"analyzer": "char"}, "analyzer='word'"),
        ({"analyzer": "char_wb"}, "analyzer='word'"),
        ({"analyzer": str.split}, "analyzer='word'"),
        ({"strip_accents": "unicode"}, "strip_accents=None"),
        ({"preprocessor": str.title}, "preprocessor=None"),
        ({"tokenizer": str.split, "token_pattern": None}, "tokenizer=None"),
        ({"token_pattern": r"\S+"}, "token_pattern="),
        ({"stop_words": "english", "ngram_range": (1, 2)}, "stop_words=None for runs of words"),
    ],
)
def test_words_that_only_python_finds_are_refused(settings, wanted):
    pipeline = pipeline_of(TfidfVectorizer(**settings)).fit(TEXTS, labels_of(TEXTS))
    with pytest.raises(
        ValueError, match="fit with the former, or export what comes after"
    ) as caught:
        to_onnx(pipeline)
    assert f"vectorisers of words with {wanted}" in str(caught.value)
    # The way out that the sentence names.
    rows = pipeline[:-1].transform(TEXTS)
    assert_same(pipeline[1:], to_onnx(pipeline[1:]), rows, BOUNDS["float32"])


def test_files_are_refused(tmp_path):
    paths = []
    for place, text in enumerate(TEXTS):
        paths.append(tmp_path / f"{place}.txt")
        paths[-1].write_text(text, encoding="utf-8")
    pipeline = pipeline_of(TfidfVectorizer(input="filename")).fit(paths, labels_of(TEXTS))
    with pytest.raises(ValueError, match="input='content'"):
        to_onnx(pipeline)

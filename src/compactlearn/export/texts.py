"""Vectorisers of texts, written so that words are those of scikit-learn.

The runtime's tokenizer has regular expressions of another kind (RE2), in which ``\\w`` and ``\\b``
know ASCII only. The words of scikit-learn's usual patterns are runs of letters, digits and
underscores of any script, and that can be said exactly: ``[\\pL\\pN_]``.

Its lowering of capitals depends on the locales of the machine that serves, and on most has no
rules for single languages. The one that every machine has, "C", lowers ASCII letters and leaves
the others: who has other capitals passes lower-case texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from compactlearn.export.graph import Graph

VECTORISERS = (CountVectorizer, TfidfTransformer)  # TfidfVectorizer is of the first kind

_WORD = r"[\pL\pN_]"
# scikit-learn's patterns and the same runs of characters in RE2.
PATTERNS = {
    r"(?u)\b\w\w+\b": _WORD + "{2,}",
    r"\b\w\w+\b": _WORD + "{2,}",
    r"(?u)\b\w+\b": _WORD + "+",
    r"\b\w+\b": _WORD + "+",
    r"(?u)\w+": _WORD + "+",
    r"\w+": _WORD + "+",
}
_PAD = "\x00"  # no word has it


def write_vectoriser(graph: Graph, vectoriser: Any, x: str) -> str:
    """(N, V) counts or tf-idf values of texts (N,); or of counts (N, V)."""
    if isinstance(vectoriser, TfidfTransformer):
        return _write_tfidf(graph, vectoriser, x)
    _require_plain(vectoriser)
    counts = _write_counts(graph, vectoriser, x)
    if isinstance(vectoriser, TfidfVectorizer):
        return _write_tfidf(graph, vectoriser, counts)
    return counts


def _require_plain(vectoriser: CountVectorizer) -> None:
    """Refuse what texts go through only in Python."""
    several = vectoriser.ngram_range[1] > 1
    plain = {
        "analyzer='word'": vectoriser.analyzer == "word",
        "strip_accents=None": vectoriser.strip_accents is None,
        "preprocessor=None": vectoriser.preprocessor is None,
        "tokenizer=None": vectoriser.tokenizer is None,
        f"token_pattern={next(iter(PATTERNS))!r}": vectoriser.token_pattern in PATTERNS,
        "stop_words=None for runs of words": vectoriser.stop_words is None or not several,
        "input='content'": vectoriser.input == "content",
    }
    for wanted, holds in plain.items():
        if not holds:
            given = getattr(vectoriser, wanted.partition("=")[0])
            raise ValueError(
                f"to_onnx writes vectorisers of words with {wanted}: by ONNX's operators other "
                f"settings would not give the same words. This {type(vectoriser).__name__} has "
                f"{given!r:.80}; fit with the former, or export what comes after the vectoriser, "
                "to_onnx(pipeline[1:]), and make its rows in Python."
            )


def _write_counts(graph: Graph, vectoriser: CountVectorizer, x: str) -> str:
    """How often each word, or run of words, of the vocabulary is in a text."""
    flat = graph.add("Reshape", x, graph.constant(np.array([-1])))
    if vectoriser.lowercase:
        flat = graph.add(
            "StringNormalizer", flat, case_change_action="LOWER", is_case_sensitive=1, locale="C"
        )
    words = graph.add(
        "Tokenizer",
        flat,
        domain="com.microsoft",
        mark=0,
        mincharnum=1,
        pad_value=_PAD,
        tokenexp=PATTERNS[vectoriser.token_pattern],
    )
    shortest, longest = vectoriser.ngram_range
    runs = _runs(vectoriser)
    sizes = [len(run) for run, _ in runs]
    counts = graph.add(
        "TfIdfVectorizer",
        words,
        mode="TF",
        min_gram_length=shortest,
        max_gram_length=longest,
        max_skip_count=0,
        ngram_counts=[sum(n for n in sizes if n < size) for size in range(1, longest + 1)],
        ngram_indexes=[place for _, place in runs],
        pool_strings=[word for run, _ in runs for word in run],
    )
    counts = graph.cast(counts, graph.dtype)
    return graph.clipped(counts, None, 1.0) if vectoriser.binary else counts


def _runs(vectoriser: CountVectorizer) -> list[tuple[list[str], int]]:
    """The words of every term of the vocabulary and its column, the shortest runs first.

    A term that is longer or shorter than the runs that are counted, in a vocabulary that was given,
    is in no text; its column stays, with a word that is in none.
    """
    shortest, longest = vectoriser.ngram_range
    runs = [(term.split(" "), int(place)) for term, place in vectoriser.vocabulary_.items()]
    counted = [
        (run if shortest <= len(run) <= longest else [f"{_PAD}{place}"] * shortest, place)
        for run, place in runs
    ]
    return sorted(counted, key=lambda pair: (len(pair[0]), pair[1]))


def _write_tfidf(graph: Graph, transformer: Any, counts: str) -> str:
    values = counts
    if transformer.sublinear_tf:
        absent, one = graph.add("Equal", counts, graph.numbers(0.0)), graph.numbers(1.0)
        logs = graph.add("Log", graph.add("Where", absent, one, counts))
        values = graph.add("Where", absent, counts, graph.add("Add", logs, one))
    if transformer.use_idf:
        values = graph.scaled(values, transformer.idf_)
    if transformer.norm is None:
        return values
    if transformer.norm == "l1":
        return graph.divided(values, graph.row_sums(graph.add("Abs", values)))
    return graph.unit_rows(values)

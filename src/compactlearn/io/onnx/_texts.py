"""Vectorisers of texts, written so that terms and counts are those of scikit-learn.

Texts become characters, these become integers (:mod:`compactlearn.io.onnx._characters`), in which
the graph finds the ends of words and counts the terms, as runs of integers. Of the runtime it needs
the operator that divides texts into characters, and nothing that depends on a locale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from compactlearn.io.onnx._characters import BLANK, NOTHING, Alphabet, FinalSigma, codes_of_terms
from compactlearn.io.onnx._graph import Graph

VECTORISERS = (CountVectorizer, TfidfTransformer)  # TfidfVectorizer is of the first kind

# scikit-learn's patterns, and whether they find words of one letter.
PATTERNS = {
    r"(?u)\b\w\w+\b": False,
    r"\b\w\w+\b": False,
    r"(?u)\b\w+\b": True,
    r"\b\w+\b": True,
    r"(?u)\w+": True,
    r"\w+": True,
}


def write_vectoriser(graph: Graph, vectoriser: Any, x: str) -> str:
    """Return (N, V) counts or tf-idf values of texts (N,), or of counts (N, V)."""
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
        "strip_accents=None, 'ascii' or 'unicode'": not callable(vectoriser.strip_accents),
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
                f"to_onnx writes vectorisers with {wanted}: by ONNX's operators other settings "
                f"would not give the same terms. This {type(vectoriser).__name__} has "
                f"{given!r:.80}; fit with the former, or export what comes after the vectoriser, "
                "to_onnx(pipeline[1:]), and make its rows in Python."
            )


def _write_counts(graph: Graph, vectoriser: CountVectorizer, x: str) -> str:
    """Count each term of the vocabulary in a text."""
    alphabet = Alphabet.of(vectoriser)
    codes = _write_codes(graph, alphabet, x)
    codes = _write_blanks(graph, codes, single=PATTERNS[vectoriser.token_pattern])
    terms = codes_of_terms(vectoriser, alphabet.codes)
    order = sorted(range(len(terms)), key=lambda place: len(terms[place]))
    sizes = np.bincount([len(term) for term in terms])  # how many have 0, 1, 2, ... codes
    starts = np.cumsum(np.arange(len(sizes)) * sizes)[:-1]
    counts = graph.add(
        "TfIdfVectorizer",
        codes,
        mode="TF",
        min_gram_length=1,
        max_gram_length=len(starts),
        max_skip_count=0,
        ngram_counts=starts.tolist(),
        ngram_indexes=order,
        pool_int64s=[code for place in order for code in terms[place]],
    )
    counts = graph.cast(counts, graph.dtype)
    return graph.clipped(counts, None, 1.0) if vectoriser.binary else counts


# ---- texts as codes: (N, L) integers, with 0 behind them ----------------------------------------


def _write_codes(graph: Graph, alphabet: Alphabet, x: str) -> str:
    """Codes of texts after capitals were lowered and accents stripped, as asked for."""
    flat = graph.add("Reshape", x, graph.constant(np.array([-1])))
    characters = graph.add(
        "Tokenizer",
        flat,
        domain="com.microsoft",
        mark=0,
        mincharnum=1,
        pad_value="",
        separators=[""],
    )
    kinds = graph.add(
        "LabelEncoder",
        characters,
        domain="ai.onnx.ml",
        keys_strings=["", *alphabet.kinds],
        values_int64s=[len(alphabet.expansions) - 1, *alphabet.kinds.values()],
        default_int64=0,
    )
    codes = graph.add("Gather", graph.constant(alphabet.expansions), kinds)
    if alphabet.sigma is not None:
        final = _last_axis(graph, _write_final(graph, alphabet.sigma, kinds))
        codes = graph.add("Where", final, graph.constant(alphabet.sigma.codes), codes)
    return _write_packed(graph, graph.add("Flatten", codes, axis=1))


def _write_final(graph: Graph, sigma: FinalSigma, kinds: str) -> str:
    """Return whether a character is a capital sigma at the end of a word, by Unicode's definition.

    The characters that are not skipped are packed; before and behind the k-th of them are the
    (k - 1)-th and the (k + 1)-th.
    """
    seen = graph.add("Gather", graph.constant(sigma.neighbours), kinds)
    packed = _padded(graph, _write_packed(graph, seen), before=1)
    rank = _ranks(graph, seen)
    one = graph.constant(np.array(1))
    before = graph.add("GatherElements", packed, graph.add("Sub", rank, one), axis=1)
    behind = graph.add("GatherElements", packed, graph.add("Add", rank, one), axis=1)
    cased = graph.constant(np.array(2))
    ends = graph.add(
        "And",
        graph.add("Equal", before, cased),
        graph.add("Not", graph.add("Equal", behind, cased)),
    )
    return graph.add("And", graph.add("Equal", kinds, graph.constant(np.array(sigma.kind))), ends)


def _write_blanks(graph: Graph, codes: str, *, single: bool) -> str:
    """Words with a blank on either side; ``single`` keeps those of one letter."""
    before, behind = (_is_blank(graph, one) for one in _neighbours(graph, codes))
    inside = graph.add("Not", _is_blank(graph, codes))
    if not single:
        alone = graph.add("And", before, behind)
        inside = graph.add("And", inside, graph.add("Not", alone))
    blank, nothing = graph.constant(np.array(BLANK)), graph.constant(np.array(NOTHING))
    parts = [
        graph.add("Where", graph.add("And", inside, before), blank, nothing),
        graph.add("Where", inside, codes, nothing),
        graph.add("Where", graph.add("And", inside, behind), blank, nothing),
    ]
    together = graph.add("Concat", *(_last_axis(graph, part) for part in parts), axis=2)
    return _write_packed(graph, graph.add("Flatten", together, axis=1))


def _write_packed(graph: Graph, codes: str) -> str:
    """Return (N, L + 1) codes of each row that are not 0, and behind them at least one 0."""
    empty = graph.add("Equal", codes, graph.constant(np.array(NOTHING)))
    place = graph.add("Sub", _ranks(graph, codes), graph.constant(np.array(1)))
    # All that is 0 goes to the last column, which stays 0.
    place = graph.add("Where", empty, graph.constant(np.array(-1)), place)
    shape = graph.add("Shape", _padded(graph, codes, behind=1))
    zeros = graph.add("Expand", graph.constant(np.array(NOTHING)), shape)
    return graph.add("ScatterElements", zeros, place, codes, axis=1)


def _ranks(graph: Graph, codes: str) -> str:
    """Count the codes other than 0 in a row up to each place."""
    there = graph.add("Not", graph.add("Equal", codes, graph.constant(np.array(NOTHING))))
    return graph.add("CumSum", graph.cast(there, np.int64), graph.constant(np.array(1)))


def _neighbours(graph: Graph, codes: str) -> tuple[str, str]:
    """Return the codes before and behind each, 0 at the ends."""
    wide = _padded(graph, codes, before=1, behind=1)
    starts, axis = graph.constant(np.array([0])), graph.constant(np.array([1]))
    before = graph.add("Slice", wide, starts, graph.constant(np.array([-2])), axis)
    last = graph.constant(np.array([np.iinfo(np.int64).max]))
    return before, graph.add("Slice", wide, graph.constant(np.array([2])), last, axis)


def _is_blank(graph: Graph, codes: str) -> str:
    return graph.add("LessOrEqual", codes, graph.constant(np.array(BLANK)))  # NOTHING too


def _padded(graph: Graph, codes: str, *, before: int = 0, behind: int = 0) -> str:
    return graph.add("Pad", codes, graph.constant(np.array([0, before, 0, behind])))


def _last_axis(graph: Graph, value: str) -> str:
    return graph.add("Unsqueeze", value, graph.constant(np.array([2])))


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

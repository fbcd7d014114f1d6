"""What the methods are, in a line each: the paper's, and what the library has beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from compactlearn.report.tables.published import family_of, method_order

__all__ = ["describe", "is_compact", "legend"]

_METHODS: Mapping[str, str] = {
    "ORI": "Ridge regression from all features to all labels; nothing is compressed.",
    "PLST": "Labels are compressed to their principal directions; the features are kept.",
    "CPLST": "As PLST, with label directions that the features also predict well.",
    "DMLR": "Labels are compressed to codes that depend on the features and recover the labels.",
    "FaIE": "Label codes that are learnt freely, to be predictable from the features and to "
    "recover the labels.",
    "CMLL_y": "Compact learning of the labels alone; the features are kept.",
    "MDDM": "Features are compressed to the directions that depend most on the labels; the labels "
    "are kept.",
    "POP": "One linear model for each label, with weights that matter little pruned.",
    "C2AE": "Deep networks that embed features and labels together.",
    "CMLL": "Compact learning: features and labels are compressed together, with ridge regression "
    "between the two small spaces and a linear decoder back to the labels.",
    "CMLL+f1": "CMLL, with a threshold that is tuned for F1 on held-out scores.",
    "CMLL+logistic": "CMLL's label codes, with one logistic regression for each label as the "
    "decoder and a tuned threshold.",
    "BR-logistic": "One logistic regression for each label on all features (one-vs-rest), with a "
    "tuned threshold; nothing is compressed.",
    "CMLL/none": "CMLL, with no more feature directions than the label codes give.",
    "CMLL/variance": "CMLL, with its feature directions filled up by those of largest variance.",
    "CMLL/krylov": "CMLL, with its feature directions filled up by a Krylov space of the labels.",
    "CMLL/random": "CMLL, with its feature directions filled up at random.",
    "RRR": "Control: reduced-rank ridge regression, the best few codes for ridge on all features.",
    "PCA+ridge": "Control: ridge regression on the features' principal directions, which know "
    "nothing of the labels.",
    "Random P": "Control: ridge regression on random directions of the features.",
    "MDDM+CMLL_y": "Control: MDDM's features and CMLL_y's codes, neither knowing of the other.",
}
#: Words behind a comma or slash that need more words.
_VARIANTS: Mapping[str, str] = {
    "CMLL's size": "no more numbers in the model than CMLL keeps by itself",
    "landmarks": "the kernel is approximated from some rows (Nystroem)",
}
#: CMLL, its variants and their kernel versions compress both sides together.
_COMPACT = re.compile(r"(k-)?CMLL(?![\w-])")


def describe(method: str) -> str | None:
    """A line in plain words; None of a method that neither the paper nor the library has.

    >>> describe("k-ORI")
    'As ORI, with a Gaussian kernel in place of the features (k-).'
    >>> describe("CMLL, one penalty")
    'A variant of CMLL: one penalty.'
    >>> describe("mine") is None
    True
    """
    if method in _METHODS:
        return _METHODS[method]
    stem = method.removeprefix("k-")
    if stem != method and stem in _METHODS:
        return f"As {stem}, with a Gaussian kernel in place of the features (k-)."
    for sign in ",/":
        base, _, rest = method.partition(sign)
        words = rest.strip()
        if words and family_of(method) == "other":
            return f"A variant of {base}: {_VARIANTS.get(words, words)}."
    return None


def legend(methods: Iterable[str]) -> list[tuple[str, str]]:
    """Names and lines of the methods that have one, in the order of the tables."""
    found = [(method, describe(method)) for method in sorted(set(methods), key=method_order)]
    return [(method, line) for method, line in found if line is not None]


def is_compact(method: str) -> bool:
    """Whether a method is compact learning of features and labels, in any variant.

    >>> [is_compact(name) for name in ("CMLL", "k-CMLL+logistic", "CMLL, 1", "CMLL_y", "ORI")]
    [True, True, True, False, False]
    """
    return _COMPACT.match(method) is not None

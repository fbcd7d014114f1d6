"""Characters as integers, so that an ONNX graph can divide texts as scikit-learn does in Python.

The runtime's own operators lower only the capitals that the machine's locale knows, and their
regular expressions know other words. Here every character has a *kind*, by which a graph looks up
the *codes* of what scikit-learn makes of it: "Ä" those of "ä", "İ" the two of "i" and a dot above.
A character that no term has needs no code of its own.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

NOTHING, BLANK, OTHER, _FIRST = 0, 1, 2, 3  # codes; those of characters that terms have follow
_NEVER = -1  # the code of a character that no text has once it is divided

_SIGMA, _SMALL, _FINAL = "Σσς"
_SKIPPED, _UNCASED, _CASED = 0, 1, 2  # what a capital sigma sees in the characters around it


@dataclass(frozen=True)
class FinalSigma:
    """Rule for the places where "Σ" becomes "ς": after a cased letter and before none."""

    kind: int  # of "Σ"
    codes: NDArray[np.int64]  # (width,) of "ς", as in ``Alphabet.expansions``
    neighbours: NDArray[np.int64]  # (n_kinds,) 0 if a kind is skipped, 2 if it has case, else 1


@dataclass(frozen=True)
class Alphabet:
    """The codes of all characters for one vectoriser."""

    codes: Mapping[str, int]  # of the characters that terms have
    kinds: Mapping[str, int]  # of characters, but for those of kind 0
    expansions: NDArray[np.int64]  # (n_kinds + 1, width), 0 behind; the last is of no character
    sigma: FinalSigma | None  # None where no term has a small sigma

    @classmethod
    def of(cls, vectoriser: CountVectorizer) -> Alphabet:
        """Return the alphabet of a fitted vectoriser of words."""
        letters = {letter for term in vectoriser.vocabulary_ for letter in term if _is_word(letter)}
        codes = {letter: code for code, letter in enumerate(sorted(letters), start=_FIRST)}
        changed = _changed(bool(vectoriser.lowercase), vectoriser.strip_accents)
        greek = _SIGMA in changed and not {_SMALL, _FINAL}.isdisjoint(codes)
        flags = _neighbours() if greek else {}

        def key(character: str) -> _Key:
            flag = flags.get(character, _UNCASED) if character != _SIGMA else -1
            return _coded(changed.get(character, character), codes), flag

        keys: dict[str, _Key] = dict.fromkeys(_words(), ((OTHER,), _UNCASED))
        usual = key(_UNASSIGNED)
        for character in sorted({*codes, *changed, *flags, *_ASCII}):
            keys[character] = key(character)
        kinds = {usual: 0}
        for one in keys.values():
            kinds.setdefault(one, len(kinds))
        expansions = np.zeros((len(kinds) + 1, max(len(part) for part, _ in kinds)), dtype=np.int64)
        for (part, _), place in kinds.items():
            expansions[place, : len(part)] = part
        sigma = None
        if greek:
            seen = [_CASED if flag < 0 else flag for _, flag in kinds]
            sigma = FinalSigma(
                kinds[keys[_SIGMA]], expansions[kinds[key(_FINAL)]], np.array([*seen, _SKIPPED])
            )
        found = {character: kinds[one] for character, one in keys.items() if one != usual}
        return cls(codes, found, expansions, sigma)


_Key = tuple[tuple[int, ...], int]


def _coded(text: str, codes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the codes of what a character becomes.

    Characters that no term has only part those that terms have: two say as much as several; one
    could be a word of one letter.
    """
    found: list[int] = []
    for character in text:
        one = codes.get(character, OTHER) if _is_word(character) else BLANK
        if one != OTHER or found[-2:] != [OTHER, OTHER]:
            found.append(one)
    return tuple(found)


def codes_of_terms(vectoriser: CountVectorizer, codes: Mapping[str, int]) -> list[list[int]]:
    """Return for each column of the counts the codes to look for.

    Words have a blank on either side. A term that cannot be counted, in a vocabulary that was
    given, has a code that no text has.
    """
    shortest, longest = vectoriser.ngram_range
    codes = {" ": BLANK, **codes}
    found: list[list[int]] = [[] for _ in vectoriser.vocabulary_]
    for term, place in vectoriser.vocabulary_.items():
        words = term.split(" ")
        counted = all(words) and shortest <= len(words) <= longest
        spaced = f" {'  '.join(words)} "
        sequence = [codes.get(character, _NEVER) for character in spaced]
        found[place] = sequence if counted and min(sequence) > 0 else [_NEVER - place]
    return found


# ---- what Python knows of characters ------------------------------------------------------------

_is_word = re.compile(r"\w").fullmatch


@lru_cache(maxsize=1)
def _all() -> tuple[str, ...]:
    """Return the characters of Python's version of Unicode; the others are no letters."""
    return tuple(
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) not in ("Cn", "Co", "Cs")
    )


_UNASSIGNED = chr(sys.maxunicode)  # by Unicode's promise it stays so
_ASCII = tuple(map(chr, range(128)))


@lru_cache(maxsize=1)
def _words() -> tuple[str, ...]:
    return tuple(re.findall(r"\w", "".join(_all())))


@lru_cache(maxsize=8)
def _changed(lowercase: bool, strip_accents: str | None) -> dict[str, str]:
    """Return what scikit-learn makes of the characters that do not stay as they are."""
    if not lowercase and strip_accents is None:
        return {}
    settings: dict[str, Any] = {"lowercase": lowercase, "strip_accents": strip_accents}
    become = CountVectorizer(**settings).build_preprocessor()
    return {old: new for old in (*_all(), _UNASSIGNED) if (new := become(old)) != old}


@lru_cache(maxsize=1)
def _neighbours() -> dict[str, int]:
    """Return what a capital sigma skips (0) and which characters have case (2), by trying."""
    found = {}
    for character in _all():
        if (character + _SIGMA).lower()[-1] == _FINAL:
            found[character] = _CASED
        elif ("a" + character + _SIGMA).lower()[-1] == _FINAL:
            found[character] = _SKIPPED
    return found

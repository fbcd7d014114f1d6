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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["BLANK", "NOTHING", "Alphabet", "FinalSigma", "codes_of_terms"]

NOTHING, BLANK, OTHER, _FIRST = 0, 1, 2, 3  # codes; those of characters that terms have follow
_NEVER = -1  # the code of a character that no text has once it is divided

_SIGMA, _SMALL, _FINAL = "Σσς"
_SKIPPED, _UNCASED, _CASED = 0, 1, 2  # what a capital sigma sees in the characters around it


@dataclass(frozen=True)
class FinalSigma:
    """Find where "Σ" becomes "ς": behind a letter with case, and before none.

    Parameters
    ----------
    kind : int
        The kind of "Σ".
    codes : ndarray of shape (width,)
        The codes of "ς", as in ``Alphabet.expansions``.
    neighbours : ndarray of shape (n_kinds,)
        For each kind 0 if it is skipped, 2 if it has case, 1 for all others.
    """

    kind: int
    codes: NDArray[np.int64]
    neighbours: NDArray[np.int64]


@dataclass(frozen=True)
class Alphabet:
    """The codes of all characters for one vectoriser.

    Parameters
    ----------
    codes : mapping of str to int
        The codes of the characters that terms have.
    first_space : int
        Codes from here on are whitespace other than a blank (of ``analyzer="char"``).
    kinds : mapping of str to int
        The kinds of characters, but for those of kind 0.
    expansions : ndarray of shape (n_kinds + 1, width)
        The codes of each kind, with 0 behind them. The last kind is that of no character at all.
    sigma : FinalSigma or None
        None where no term has a small sigma.
    """

    codes: Mapping[str, int]
    first_space: int
    kinds: Mapping[str, int]
    expansions: NDArray[np.int64]
    sigma: FinalSigma | None

    @classmethod
    def of(cls, vectoriser: CountVectorizer) -> Alphabet:
        """Return the alphabet of a fitted vectoriser."""
        codes, first_space = _codes(vectoriser)
        coded = _coding(vectoriser, codes, first_space)
        changed = _changed(bool(vectoriser.lowercase), vectoriser.strip_accents)
        greek = _SIGMA in changed and not {_SMALL, _FINAL}.isdisjoint(codes)
        flags = _neighbours() if greek else {}

        def key(character: str) -> _Key:
            flag = flags.get(character, _UNCASED) if character != _SIGMA else -1
            return coded(changed.get(character, character)), flag

        keys: dict[str, _Key] = {}
        if vectoriser.analyzer == "word":
            keys = dict.fromkeys(_words(), ((OTHER,), _UNCASED))
        usual = key(_UNASSIGNED)
        for character in sorted({*codes, *changed, *flags, *_SPACES, *_ASCII}):
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
        return cls(codes, first_space, found, expansions, sigma)


_Key = tuple[tuple[int, ...], int]


def _codes(vectoriser: CountVectorizer) -> tuple[dict[str, int], int]:
    """Return codes of the characters of terms, and the first code of whitespace but the blank."""
    found = sorted({character for term in vectoriser.vocabulary_ for character in term} - {" "})
    if vectoriser.analyzer == "word":
        found = [character for character in found if _is_word(character)]
    letters = [character for character in found if not character.isspace()]
    codes = {character: code for code, character in enumerate(letters, start=_FIRST)}
    first_space = _FIRST + len(letters)
    if vectoriser.analyzer == "char":
        spaces = [character for character in found if character.isspace()]
        codes |= {space: code for code, space in enumerate(spaces, start=first_space + 1)}
    return codes, first_space


def _coding(
    vectoriser: CountVectorizer, codes: Mapping[str, int], first_space: int
) -> Callable[[str], tuple[int, ...]]:
    """Return the function that gives the codes of what a character becomes."""
    words, whole = vectoriser.analyzer == "word", vectoriser.analyzer == "char"
    # Characters that no term has only part those that terms have: one says as much as several,
    # but for two in a word, which is then no word of one letter.
    most = 2 if words else 1

    def code(character: str) -> int:
        if not _is_word(character) if words else character.isspace():
            return codes.get(character, first_space) if whole and character != " " else BLANK
        return codes.get(character, OTHER)

    def coded(text: str) -> tuple[int, ...]:
        found: list[int] = []
        for character in text:
            one = code(character)
            if one != OTHER or found[-most:] != [OTHER] * most:
                found.append(one)
        return tuple(found)

    return coded


def codes_of_terms(vectoriser: CountVectorizer, codes: Mapping[str, int]) -> list[list[int]]:
    """Return for each column of the counts the codes to look for.

    Words have a blank on either side. A term that cannot be counted, in a vocabulary that was
    given, has a code that no text has.
    """
    shortest, longest = vectoriser.ngram_range
    codes = {" ": BLANK, **codes}
    found: list[list[int]] = [[] for _ in vectoriser.vocabulary_]
    for term, place in vectoriser.vocabulary_.items():
        if vectoriser.analyzer == "word":
            words = term.split(" ")
            counted = all(words) and shortest <= len(words) <= longest
            term = "".join(f" {word} " for word in words)
        elif vectoriser.analyzer == "char_wb":
            # Blanks at the ends only; a word that is too short is counted with both of them.
            whole = len(term) > 2 and term[0] == term[-1] == " "
            counted = " " not in term[1:-1] and (len(term) >= shortest or whole)
            counted = counted and len(term) <= longest and term != "  "
        else:
            counted = shortest <= len(term) <= longest
        sequence = [codes.get(character, _NEVER) for character in term]
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
_SPACES = tuple(character for character in map(chr, range(0x3001)) if character.isspace())


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

"""Conversion of blocks of text into numbers, without a Python object per number.

A grammar lists which mark (a byte that is no part of a number) may follow which, with or without
a number in between, and the role of such a number. Whether a block obeys the grammar is decided
by one look-up in a table for all its marks; a block that does not is read line by line elsewhere.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

# Between two marks there is nothing, or a number with one of three meanings.
SKIP, VALUE, INDEX, LABEL = 1, 2, 3, 4
_DOT = ord(".")
_ODD = b"+-.eE"  # characters of a number besides digits
_POWERS = 10.0 ** np.arange(23)  # all of them exact
_EXACT = 1 << 53
# Numbers between blanks, and nothing else. Possessive: any text is scanned once.
_NUMBERS = re.compile(rb"(?:\s|[+-]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?+(?:\s|\Z))*+")


@dataclass(frozen=True)
class Scan:
    """Marks and numbers of a block, in their order."""

    marks: np.ndarray  # uint8, the byte
    roles: np.ndarray  # uint8, what is before it: SKIP, VALUE, INDEX or LABEL
    numbers: np.ndarray  # int64 or float64, one for each role but SKIP

    def of(self, role: int) -> np.ndarray:
        """Return the numbers of that role, in order."""
        return self.numbers[(self.roles[self.roles != SKIP]) == role]

    def per_row(self, role: int) -> np.ndarray:
        """Return how often the role occurs in each line."""
        ends = np.flatnonzero(self.marks == ord("\n"))
        counts = np.cumsum(self.roles == role)[ends]
        return np.diff(counts, prepend=0)

    def marks_per_row(self) -> np.ndarray:
        """Return how many marks each line has, its newline included."""
        return np.diff(np.flatnonzero(self.marks == ord("\n")), prepend=-1)


class Grammar:
    """Rules for which marks may follow which.

    A rule is the mark before, "0" if a number is between, and the mark; its value is SKIP or
    the role of the number. Other rules are not allowed.

    >>> pairs = Grammar({"\\n0:": INDEX, ":0 ": VALUE, ":0\\n": VALUE, " 0:": INDEX})
    >>> scan = pairs.scan(b"3:1.5 4:-2\\n7:1\\n")
    >>> scan.of(INDEX), scan.of(VALUE), scan.per_row(VALUE)
    (array([3., 4., 7.]), array([ 1.5, -2. , 1. ]), array([2, 1]))
    >>> pairs.scan(b"3 4\\n") is None
    True
    """

    def __init__(self, rules: Mapping[str, int]) -> None:
        marks = sorted({mark for rule in rules for mark in (rule[0], rule[-1])})
        self._code = np.zeros(256, dtype=np.uint8)
        for code, mark in enumerate(marks):
            self._code[ord(mark)] = code
        text = "".join(marks).encode()
        self._marks_and_digits = text + b"0123456789"
        self._mark = _ones_at(text)
        self._mark_or_dot = _ones_at(text + b".")
        self._odd = _ones_at(_ODD)
        self._newline = marks.index("\n")
        self._n = len(marks)  # few: a state fits into one byte
        self._roles = np.zeros(2 * self._n * self._n, dtype=np.uint8)
        for rule, role in rules.items():
            before, after = marks.index(rule[0]), marks.index(rule[-1])
            self._roles[(before * 2 + (len(rule) == 3)) * self._n + after] = role
        self._counts = not {INDEX, LABEL}.isdisjoint(rules.values())
        self._blank = bytes.maketrans(text, b" " * self._n)

    def scan(self, block: bytes) -> Scan | None:
        """Return the numbers of a block of whole lines; None if it breaks a rule."""
        odd = block.translate(None, self._marks_and_digits)
        if odd.translate(None, _ODD):
            return None
        text = np.frombuffer(block, dtype=np.uint8)
        if (b"-" in odd or b"+" in odd) and not _signs_have_digits(text):
            return None
        decimals = None
        if b"." in odd:
            position = np.flatnonzero(_mask(block, self._mark_or_dot))
            real = np.flatnonzero(text[position] != _DOT)
            n_dots = np.diff(real, prepend=-1) - 1
            if n_dots.max(initial=0) > 1:
                return None
            ends = position[real]
            decimals = (ends - position[real - 1] - 1) * n_dots
        else:
            ends = np.flatnonzero(_mask(block, self._mark))
        found = np.diff(ends, prepend=-1) > 1
        marks = text[ends]
        code = self._code[marks]
        state = np.empty(len(code), dtype=np.uint8)
        state[:1] = self._newline
        state[1:] = code[:-1]
        state *= 2
        state += found
        state *= self._n
        state += code
        roles = self._roles[state]
        if not roles.all():
            return None
        if odd and self._counts and not self._only_digits(block, ends, roles):
            return None
        whole = b"e" not in odd and b"E" not in odd
        numbers = self._numbers(block, None if decimals is None else decimals[found], whole)
        if numbers is None or len(numbers) != np.count_nonzero(found):
            return None
        return Scan(marks, roles, numbers)

    def _only_digits(self, block: bytes, ends: np.ndarray, roles: np.ndarray) -> bool:
        """Return whether no index and no label has a sign, a point or an exponent."""
        n_odd = np.cumsum(_mask(block, self._odd), dtype=np.int32)[ends]
        return not (np.diff(n_odd, prepend=0)[roles >= INDEX] > 0).any()

    def _numbers(self, block: bytes, decimals: np.ndarray | None, whole: bool) -> np.ndarray | None:
        if whole:
            # Reading a whole number is several times faster than reading a fraction. An integer
            # and a power of ten that are both exact have the correctly rounded quotient.
            digits = _parse(block.translate(self._blank, b"."), np.int64)
            if digits is None:
                return None
            in_range = len(digits) == 0 or -_EXACT < digits.min() <= digits.max() < _EXACT
            if in_range and decimals is None:
                return digits
            if in_range and decimals is not None and decimals.max(initial=0) < len(_POWERS):
                return digits / _POWERS[decimals] if len(digits) == len(decimals) else None
        numbers = _parse(block.translate(self._blank), np.float64)
        return numbers if numbers is not None and np.isfinite(numbers).all() else None


def _signs_have_digits(text: np.ndarray) -> bool:
    """Return whether a digit follows each sign, maybe after a point, and none goes before it."""
    signs = np.flatnonzero((text == ord("-")) | (text == ord("+")))
    before = text[signs[signs > 0] - 1]
    after = signs + 1
    after += text[after] == _DOT
    return bool(_is_digit(text[after]).all() and not (_is_digit(before) | (before == _DOT)).any())


def _is_digit(characters: np.ndarray) -> np.ndarray:
    return (characters >= ord("0")) & (characters <= ord("9"))


def _ones_at(characters: bytes) -> bytes:
    return bytes(value in characters for value in range(256))


def _mask(block: bytes, table: bytes) -> np.ndarray:
    return np.frombuffer(block.translate(table), dtype=bool)


def _parse(text: bytes, dtype: type) -> np.ndarray | None:
    """Return the numbers between blanks; None if something else is among them.

    NumPy would stop there with a warning, which catching would hide from other threads as well. So
    it never sees such a text; for integers `scan` has made sure of that.
    """
    if not text or text.isspace():
        return np.empty(0, dtype=dtype)
    if dtype is not np.int64 and _NUMBERS.fullmatch(text) is None:
        return None
    return np.fromstring(text, dtype=dtype, sep=" ")


def finite_number(text: str) -> float:
    """Return the number of a text, NaN if it is not a finite number."""
    if "_" in text or not text.isascii():  # which Python accepts
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def table_grammar(delimiter: str) -> Grammar:
    """Return the grammar of rows of numbers with a delimiter between them."""
    d = delimiter
    return Grammar(
        {f"\n0{d}": VALUE, f"{d}0{d}": VALUE, f"{d}0\n": VALUE, "\n0\n": VALUE, "\n\n": SKIP}
    )


def read_table(grammar: Grammar, text: bytes, n_columns: int) -> np.ndarray | None:
    """Return the rows of a table of numbers; None if one has other cells or another width."""
    scan = grammar.scan(text)
    if scan is None:
        return None
    per_row = scan.per_row(VALUE)
    if not ((per_row == n_columns) | (per_row == 0)).all():
        return None
    return scan.numbers.astype(np.float64, copy=False).reshape(-1, n_columns)

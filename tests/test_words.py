"""The project speaks in usual terms: the words of tools/words.py are gone in a private meaning."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def words():
    path = ROOT / "tools" / "words.py"
    spec = importlib.util.spec_from_file_location("words", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_file_uses_a_word_in_a_private_meaning(words):
    assert words.report([ROOT / one for one in words.SEARCHED]) == []


def test_every_exception_is_needed(words):
    """An exception whose file no longer has the word would hide the next one."""
    needless = []
    for name, pattern in list(words.EXCEPTIONS):
        reason = words.EXCEPTIONS.pop((name, pattern))
        if not list(words.words_in(name, (ROOT / name).read_text())):
            needless.append((name, pattern, reason))
        words.EXCEPTIONS[name, pattern] = reason
    assert needless == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("an honest score", ["honest"]),
        ("HonestScores", ["HonestScores"]),
        ("scores of held rows", ["held", "held"]),
        ("held-out rows, held_out and held out", []),
        ("was taken by the search", []),
        ("the model taken", ["taken"]),
        ("first_look and second look", ["first_look", "second look"]),
        ("a household, standing, doorway", []),
        ("the Way of a model, ways_", ["Way", "ways_"]),
        ("the usual way", []),
        ("told apart", ["told"]),
    ],
)
def test_words_are_found_in_names_and_prose_alone(words, text, found):
    assert [word for _, word, _ in words.words_in("any.py", text)] == found


def test_a_docstring_begins_with_a_verb_or_a_noun(words):
    text = 'def f():\n    """What it is."""\n\ndef g():\n    """Return it."""\n'
    assert list(words.starts_in(text)) == [(1, "What it is.")]

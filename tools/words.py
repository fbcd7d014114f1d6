"""List words that the project does not use in a private meaning, and docstrings that begin badly.

`python tools/words.py [PATH ...]` prints every place below the given paths; without one, of
everything that is searched. `tests/test_words.py` holds the repository to an empty list.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEARCHED = (
    "src",
    "bench",
    "tests",
    "tools",
    "docs",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
SUFFIXES = (".py", ".md", ".rst", ".toml", ".html", ".js")
HERE = ("tools/words.py", "tests/test_words.py")

# A word, what to say instead, and the uses that have the usual meaning. Words are found in names as
# well as in prose: an underscore separates words.
WORDS = (
    (r"honest\w*", "out-of-fold, held-out", ()),
    (r"held(?=[ -]rows?\b)", "held-out rows", ()),
    (r"held(?![ _-]out)", "held-out, wrapped, cached, stored", (r"held together", r"held to\b")),
    (r"(?:set|sets|setting) apart", "held out", ()),
    (r"has not met|had not met|new to it", "held-out rows", ()),
    (
        r"taken",
        "selected, wrapped, stored",
        (r"taken[ _](?:from|as|literally|over|off|out|away|together|into|apart|by|at|of)\b",),
    ),
    (r"(?:so )?many numbers", "number of parameters", (r"many numbers (?:of|are|in)\b",)),
    (r"numbers_", "n_parameters_", ()),
    (r"wish\w*", "size budget, time budget", ()),
    (r"(?:first|second|third)[ _]look", "prior, label re-ranking, co-occurrence re-ranking", ()),
    (r"company", "co-occurrence", ()),
    (r"Way|ways?_|_ways?", "preprocessing, route", ()),
    (r"rivals?", "baseline, other method", ()),
    (r"chances?", "probability", (r"by chance", r"chance level")),
    (r"dear(?:er|est)?", "expensive", ()),
    (r"beside", "compared with, versus, next to", ()),
    (r"stands?|stood", "is, appears", (r"stands? for", r"stands? in for")),
    (r"tells?|told", "returns, reports, states", (r"tells? \w+ apart",)),
    (r"in words", "raises an error with a message", ()),
    (r"go(?:es|ing)? on|went on", "resume, continue", ()),
    (r"mend(?:s|ed|ing)?", "fix", ()),
    (r"doors?", "entry point", ()),
    (r"regimes?", "route, algorithm, solver", ()),
)
# Files in which a word has its usual meaning, and why.
EXCEPTIONS = {
    ("bench/pages/large_data.py", "beside"): "a key of committed measurements",
    ("bench/speed/blocks.py", "beside"): "a key of committed measurements",
    ("bench/speed/auto_whole.py", "taken"): "a key of committed measurements",
    ("bench/speed/splits.py", r"rivals?"): "a key of committed measurements",
    ("bench/src/compactlearn_bench/data/enron_labels.toml", "company"): "names of labels",
    ("docs/tutorials/command-line.md", r"doors?"): "a column of a table about cars",
}

STARTS = ("What", "How", "Of", "Those", "That")


def texts(paths):
    """Yield every searched file below ``paths`` with its text."""
    for base in paths:
        files = [base] if base.is_file() else sorted(base.rglob("*"))
        for path in files:
            name = path.relative_to(ROOT).as_posix()
            hidden = any(part.startswith(".") or part == "build" for part in path.parts)
            if path.is_file() and path.suffix in SUFFIXES and name not in HERE and not hidden:
                yield name, path.read_text()


def without_old_names(name, text):
    """Return the text without the changelog's table of old names, its lines kept."""
    if name != "CHANGELOG.md":
        return text
    return re.sub(r"^\|.*\|$", "", text, flags=re.MULTILINE)


def words_in(name, text):
    """Yield (line number, the word found, what to say instead)."""
    for pattern, instead, usual in WORDS:
        if (name, pattern) in EXCEPTIONS:
            continue
        fine = [re.compile(one) for one in usual]
        for match in re.finditer(rf"(?<![a-zA-Z])(?:{pattern})(?![a-zA-Z])", text, re.IGNORECASE):
            if pattern.startswith("Way") and match[0] == "way":
                continue
            if any(one.match(text, match.start()) for one in fine):
                continue
            yield text.count("\n", 0, match.start()) + 1, match[0], instead


def starts_in(text):
    """Yield (line number, first line) of docstrings that do not begin with a verb or a noun."""
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        doc = ast.get_docstring(node) if isinstance(node, nodes) else None
        if doc and re.split(r"\W", doc, maxsplit=1)[0] in STARTS:
            yield getattr(node, "lineno", 1), doc.splitlines()[0]


def report(paths):
    """Return the lines of the list."""
    found = []
    for name, text in texts(paths):
        for line, word, instead in words_in(name, without_old_names(name, text)):
            found.append(f"{name}:{line}: {word!r} (say {instead})")
        if name.endswith(".py"):
            found += [f"{name}:{line}: docstring {first!r}" for line, first in starts_in(text)]
    return found


if __name__ == "__main__":
    given = [Path(one).resolve() for one in sys.argv[1:]] or [ROOT / one for one in SEARCHED]
    lines = report(given)
    print(*lines, f"{len(lines)} places", sep="\n")

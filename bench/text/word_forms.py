"""Words or characters: how the answer depends on the number of forms that a word has.

    python bench/text/word_forms.py DATA.NOUN [--sizes N ...] [--out FILE]

DATA.NOUN, the rows, the draws and the classifier are those of ``vectorizer.py``: words and glosses
of WordNet's nouns, without wordnet's test rows. No other language with labels was at hand, so the
texts are measured as they are, in English, and with endings: every word of three letters or more
gets one of 12, or of 144 (one of 12 and then another one of 12), drawn anew each time it occurs,
the frequent ones more often, as in languages with cases and possessives.

For each number of texts, language and kind of features: precision among the 1, 3 and 5 best labels,
the difference to words with its standard error over the judged rows, and the number of features;
and two shares that can be counted before anything is fitted: of the words of a text, those that no
other text has (``single``, which ``text_classifier`` looks at), and of the words of a new text,
those that are unknown.
"""

import re
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import vectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_union

from compactlearn_bench.measure import parser, write

JUDGED, DRAWS = 4_000, 2
ENDINGS = ["", "n", "a", "ssa", "sta", "lla", "lta", "lle", "ksi", "na", "tta", "t"]
FURTHER = ["", "ni", "si", "nsa", "mme", "nne", "kin", "ko", "han", "pa", "kaan", "s"]
LANGUAGES = {"1 form": 0, "12 forms": 1, "144 forms": 2}
WORDS = {"sublinear_tf": True, "dtype": np.float32}
PARTS = WORDS | {"analyzer": "char_wb", "ngram_range": (3, 5)}
FEATURES = {
    "words": lambda: TfidfVectorizer(**WORDS),
    "characters": lambda: TfidfVectorizer(**PARTS),
    "both": lambda: make_union(TfidfVectorizer(**WORDS), TfidfVectorizer(**PARTS)),
}


def inflected(text, n_endings, rng):
    """The text with endings at its words."""
    shares = 1 / np.arange(1, len(ENDINGS) + 1)
    shares /= shares.sum()

    def ended(found):
        places = rng.choice(len(ENDINGS), size=2, p=shares)
        return found.group() + "".join((ENDINGS[places[0]], FURTHER[places[1]])[:n_endings])

    return re.sub(r"\w{3,}", ended, text) if n_endings else text


def words_of(texts):
    """For each text its different words, as the vectoriser has them."""
    analyse = TfidfVectorizer().build_analyzer()
    return [set(analyse(text)) for text in texts]


def shares(learnt, judged):
    """Return the share of words that no other text has, and the share that a new text lacks."""
    rows = words_of(learnt)
    texts_with = Counter(word for row in rows for word in row)
    single = sum(count == 1 for count in texts_with.values()) / sum(map(len, rows))
    judged_words = list(chain.from_iterable(words_of(judged)))
    return single, sum(word not in texts_with for word in judged_words) / len(judged_words)


def measured(rows, size, language):
    """The rows of the record for one number of texts and one language."""
    draws = []
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        order = rng.permutation(len(rows))[: JUDGED + size]
        texts = [(inflected(rows[k][0], LANGUAGES[language], rng), rows[k][1]) for k in order]
        draws.append((texts[JUDGED:], texts[:JUDGED]))
    parts = [[[text for text, _ in part] for part in draw] for draw in draws]
    single, unknown = np.mean([shares(*part) for part in parts], axis=0)
    record, first = [], None
    for name, make in FEATURES.items():
        found = [vectorizer.tried(make(), *draw) for draw in draws]
        hits, differences = vectorizer.compared(found, first)
        first = hits if first is None else first
        record.append(
            {
                "rows": size,
                "language": language,
                "features": name,
                "single": float(single),
                "unknown": float(unknown),
                **differences,
                "columns": float(np.mean([part[1] for part in found])),
            }
        )
        print(record[-1], flush=True)
    return record


def main():
    command = parser(__doc__, "word_forms.json")
    command.add_argument("nouns", type=Path, help="data.noun of wordnet-base 3.0")
    command.add_argument("--sizes", type=int, nargs="+", default=[500, 2_000, 8_000])
    given = command.parse_args()
    rows = vectorizer.nouns(given.nouns)
    found = [
        row for size in given.sizes for name in LANGUAGES for row in measured(rows, size, name)
    ]
    write(given.out, found, rows=len(rows))


if __name__ == "__main__":
    main()

"""Which settings of TfidfVectorizer serve texts best: words and glosses of WordNet's nouns.

    python bench/text/vectorizer.py DATA.NOUN [--sizes N ...] [--out FILE]

DATA.NOUN is the file of that name in Debian's package wordnet-base 3.0, from which the data set
wordnet is made; here its texts are used unchanged, so that word order and signs are there. The
rows that are wordnet's test rows are left out. Of the others some are drawn to learn from, and
4,000 to judge by, in three draws for each size (one for the largest). Labels are all the synsets
above a noun that some row of those learnt from has; they are passed by name, and the best five by
name are compared with the truth. The classifier is CMLLClassifier with 100 codes, which is quick.

Each setting differs from the first in one thing. The scores are means over the draws: precision
among the 1, 3 and 5 best labels, the difference to the first setting with its standard error over
the judged rows (of all draws together), the number of features, and a processor's seconds to
vectorise and to fit.
"""

import hashlib
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from compactlearn import CMLLClassifier
from compactlearn_bench.measure import parser, write

JUDGED, DRAWS, LARGEST_DRAWN_OFTEN = 4_000, 3, 2_000
BASE = {"sublinear_tf": True, "dtype": np.float32}
SETTINGS = {
    "as it is": {},
    "sublinear_tf=False": {"sublinear_tf": False},
    "dtype float64": {"dtype": np.float64},
    "min_df=2": {"min_df": 2},
    "min_df=3": {"min_df": 3},
    "max_df=0.5": {"max_df": 0.5},
    "words and pairs": {"ngram_range": (1, 2)},
    "words and pairs, min_df=2": {"ngram_range": (1, 2), "min_df": 2},
    "stop words": {"stop_words": "english"},
    "single letters too": {"token_pattern": r"(?u)\b\w+\b"},
    "letters only": {"token_pattern": r"[a-zA-Z][a-zA-Z'\-]+"},
    "accents stripped": {"strip_accents": "unicode"},
    "10,000 commonest words": {"max_features": 10_000},
    "parts of words, 3 to 5": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}


def nouns(path, *, tests=False):
    """Texts and the names of their labels, of the rows that are tests of wordnet or of the others.

    Labels are those of 3 rows that are no tests or more, and of a tenth of these at most.
    """
    synsets = {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue
        head, gloss = line.rstrip().split(" | ", 1)
        parts = head.split()
        n_words = int(parts[3], 16)
        words = [parts[4 + 2 * k].replace("_", " ") for k in range(n_words)]
        place = 4 + 2 * n_words
        pointers = [parts[place + 1 + 4 * k :][:2] for k in range(int(parts[place]))]
        above = [to for kind, to in pointers if kind in ("@", "@i")]
        synsets[parts[0]] = (" ".join(words) + " " + gloss, above)
    found = {}

    def all_above(name):
        if name not in found:
            found[name] = set()
            for one in synsets[name][1]:
                found[name] = found[name] | {one} | all_above(one)
        return found[name]

    names = [name for name in sorted(synsets) if not _is_test(name)]
    counts = {}
    for name in names:
        for label in all_above(name):
            counts[label] = counts.get(label, 0) + 1
    known = {label for label, count in counts.items() if 3 <= count <= len(names) / 10}
    names = [name for name in sorted(synsets) if _is_test(name) == tests]
    rows = [(synsets[name][0], sorted(all_above(name) & known)) for name in names]
    return [row for row in rows if row[1]]


def _is_test(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 5 == 0


def hits(best, truth):
    """(n_rows, 3) the shares of true labels among the 1, 3 and 5 best."""
    right = np.array([[name in has for name in row] for row, has in zip(best, truth, strict=True)])
    return np.column_stack([right[:, :k].mean(axis=1) for k in (1, 3, 5)])


def tried(words, learnt, judged):
    """Return the hits of one kind of features on one draw, their number, and two times."""
    start = time.process_time()
    X = words.fit_transform([text for text, _ in learnt])
    begun = time.process_time()
    model = CMLLClassifier(n_label_components=100, alpha="auto", threshold=0.5)
    model.fit(X, [labels for _, labels in learnt])
    done = time.process_time()
    best, _ = model.predict_topk(words.transform([text for text, _ in judged]), 5, names=True)
    found = hits(best.tolist(), [set(labels) for _, labels in judged])
    return found, X.shape[1], begun - start, done - begun


def compared(parts, first):
    """Return mean precision over all draws, and the difference to the first kind of features."""
    found = np.concatenate([part[0] for part in parts])
    difference = found - (found if first is None else first)
    return found, {
        "precision": found.mean(axis=0).tolist(),
        "difference": difference.mean(axis=0).tolist(),
        "error": (difference.std(axis=0) / np.sqrt(len(difference))).tolist(),
    }


def measured(rows, size):
    """Return the rows of the record for one number of rows to learn from."""
    draws = DRAWS if size <= LARGEST_DRAWN_OFTEN else 1
    record, first = [], None
    for name, settings in SETTINGS.items():
        parts = []
        for draw in range(draws):
            order = np.random.default_rng(draw).permutation(len(rows))
            learnt = [rows[k] for k in order[JUDGED : JUDGED + size]]
            words = TfidfVectorizer(**BASE | settings)
            parts.append(tried(words, learnt, [rows[k] for k in order[:JUDGED]]))
        found, differences = compared(parts, first)
        first = found if first is None else first
        record.append(
            {"rows": size, "setting": name}
            | differences
            | {
                "features": float(np.mean([part[1] for part in parts])),
                "vectorise_s": float(np.mean([part[2] for part in parts])),
                "fit_s": float(np.mean([part[3] for part in parts])),
            }
        )
        print(record[-1], flush=True)
    return record


def main():
    command = parser(__doc__, "vectorizer.json")
    command.add_argument("nouns", type=Path, help="data.noun of wordnet-base 3.0")
    command.add_argument("--sizes", type=int, nargs="+", default=[500, 2_000, 8_000])
    given = command.parse_args()
    rows = nouns(given.nouns)
    found = [row for size in given.sizes for row in measured(rows, size)]
    write(given.out, found, rows=len(rows))


if __name__ == "__main__":
    main()

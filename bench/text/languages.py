"""Words, pairs of words or characters, in languages with many forms of a word.

    python bench/text/languages.py FOLDER [--languages NAME ...] [--out FILE]

Texts are the descriptions of Debian's packages, translated by volunteers; labels are their tags
(debtags), such as "use::gameplaying", and their sections. ``apt-get`` of the machine fetches the
index and the translations into FOLDER, unless they are there, and leaves its own lists alone: the
sets are those of the release that the machine has. Packages with the same description are one row,
and labels are those of at least three rows. German has compounds and cases; Finnish, Polish,
Russian and Czech have many cases; the English descriptions of the packages that are described in
German are there for comparison. A fifth of the source packages is held out at random, or more, so
that about 2,000 texts are learnt from: packages of one source have similar texts.

For each language and kind of features: precision among the 1, 3 and 5 best labels by
``ShortlistClassifier()``, the difference to words with its standard error over the judged rows, and
seconds of the processor; further the share of the words of a text that no other text has
(``single``, from which ``text_classifier`` decides whether it advises characters). Languages of
less than a thousand texts are divided several times.
"""

import re
import subprocess
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_union
from vectorizer import compared, hits
from word_forms import shares

from compactlearn import ShortlistClassifier
from compactlearn_bench.measure import known_rows, parser, write

LANGUAGES = {
    "German": "de",
    "English": "en",
    "Finnish": "fi",
    "Polish": "pl",
    "Russian": "ru",
    "Czech": "cs",
}
MOST, FEWEST_ROWS = 5_000, 3  # texts, rows of a label
LEARNT, TEST_SHARE = 2_000, 0.2  # texts, and the least share of held-out sources
FEW, DRAWS_OF_FEW = 1_000, 4
WORDS = {"sublinear_tf": True, "dtype": np.float32}
PARTS = WORDS | {"analyzer": "char_wb", "ngram_range": (3, 5)}
FEATURES = {
    "words": lambda: TfidfVectorizer(**WORDS),
    "pairs": lambda: TfidfVectorizer(ngram_range=(1, 2), **WORDS),
    "characters": lambda: TfidfVectorizer(**PARTS),
    "both": lambda: make_union(TfidfVectorizer(**WORDS), TfidfVectorizer(**PARTS)),
}


def fetched(folder):
    """Return the files of the package index and of the translations, fetched if necessary."""
    lists = folder.resolve() / "lists"
    if not any(lists.glob("*Translation-*")):
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        options = {
            "Dir::State::lists": lists,
            "Dir::Cache": folder.resolve(),
            "Acquire::Languages": ",".join(LANGUAGES.values()),
        }
        chosen = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
        subprocess.run(["apt-get", "update", *chosen], check=True)
    return lists


def paragraphs(lists, pattern):
    """Yield the fields of every paragraph of the files of this name, compressed or not."""
    for path in sorted(lists.glob(pattern)):
        if "security" in path.name or "updates" in path.name:
            continue
        command = ["/usr/lib/apt/apt-helper", "cat-file", str(path)]
        content = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()
        for block in content.split("\n\n"):
            yield dict(re.findall(r"^(\S+?):[ \t]*(.*(?:\n[ \t].*)*)", block, re.MULTILINE))


def packages(lists):
    """Return for each description its source package and its labels."""
    found = {}
    for one in paragraphs(lists, "*_Packages*"):
        tags = {tag.strip() for tag in one.get("Tag", "").split(",")}
        # debtags such as "role::TODO" and "special::not-yet-tagged" stand for labels to come.
        tags = {tag for tag in tags if "::" in tag and "TODO" not in tag and tag[:7] != "special"}
        if tags and "Description-md5" in one:
            source = one.get("Source", one["Package"]).split(" ")[0]
            section = "section::" + one["Section"].rpartition("/")[2]
            _, known = found.setdefault(one["Description-md5"], (source, set()))
            known |= tags | {section}
    return found


def described(lists, language, known, among=None):
    """Return the texts of a language, with the source package and the labels of each."""
    rows = {}
    for one in paragraphs(lists, f"*_Translation-{language}*"):
        key, text = one.get("Description-md5"), one.get(f"Description-{language}", "")
        if key in known and text and (among is None or key in among):
            rows[key] = (re.sub(r"\n \.?", "\n", text), *known[key])
    order = np.random.default_rng(0).permutation(sorted(rows))[:MOST]
    counts = Counter(label for key in order for label in rows[key][2])
    often = {label for label, count in counts.items() if count >= FEWEST_ROWS}
    texts = {key: (*rows[key][:2], sorted(rows[key][2] & often)) for key in order}
    return {key: row for key, row in texts.items() if row[2]}


def divided(rows, seed):
    """Return the rows to learn from and those of the held-out sources."""
    sources = np.unique([source for _, source, _ in rows])
    rng = np.random.default_rng(seed)
    share = max(TEST_SHARE, 1 - LEARNT / len(rows))
    held_out = set(rng.permutation(sources)[: round(share * sources.size)])
    parts = [], []
    for text, source, labels in rows:
        parts[source in held_out].append((text, labels))
    return parts


def tried(words, learnt, judged):
    """Return the hits of one kind of features, the number of columns, and processor seconds."""
    start = time.process_time()
    X = words.fit_transform([text for text, _ in learnt])
    model = ShortlistClassifier(random_state=0, n_jobs=1)
    model.fit(X, [labels for _, labels in learnt])
    spent = time.process_time() - start
    best, _ = model.predict_topk(words.transform([text for text, _ in judged]), 5, names=True)
    found = hits(best.tolist(), [set(labels) for _, labels in judged])
    return found, X.shape[1], spent


def measured(rows, language):
    """Yield the rows of the record for one language."""
    draws = [divided(rows, seed) for seed in range(DRAWS_OF_FEW if len(rows) < FEW else 1)]
    parts = [[[text for text, _ in part] for part in draw] for draw in draws]
    single, unknown = np.mean([shares(*part) for part in parts], axis=0)
    about = {
        "language": language,
        "rows": int(np.mean([len(draw[0]) for draw in draws])),
        "judged": sum(len(draw[1]) for draw in draws),
        "labels": len({label for _, _, labels in rows for label in labels}),
        "cardinality": float(np.mean([len(labels) for _, _, labels in rows])),
        "single": float(single),
        "unknown": float(unknown),
    }
    first = None
    for name, make in FEATURES.items():
        found = [tried(make(), *draw) for draw in draws]
        own, differences = compared([part[:2] for part in found], first)
        first = own if first is None else first
        sizes = {"columns": float(np.mean([part[1] for part in found]))}
        sizes["fit_processor_s"] = float(np.mean([part[2] for part in found]))
        yield about | {"features": name} | differences | sizes


def main():
    command = parser(__doc__, "languages.json")
    command.add_argument("folder", type=Path, help="of the package index")
    command.add_argument("--languages", nargs="+", default=list(LANGUAGES), choices=LANGUAGES)
    given = command.parse_args()
    warnings.simplefilter("ignore")
    lists = fetched(given.folder)
    known = packages(lists)
    german = described(lists, "de", known)
    record = known_rows(given.out)
    for name in given.languages:
        among = german if name == "English" else None
        rows = list(described(lists, LANGUAGES[name], known, among).values())
        record = [row for row in record if row["language"] != name]
        for row in measured(rows, name):
            print(row, flush=True)
            record.append(row)
            record.sort(key=lambda row: list(LANGUAGES).index(row["language"]))
            write(given.out, record)


if __name__ == "__main__":
    main()

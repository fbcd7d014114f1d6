"""Long tails and short label lists: the shortlist compared with one-vs-rest and label trees.

    python bench/text/long_tails.py --data-home DIR [--data NAME ...] [--only ENTRY ...]

Five sets, made from EURLEX57K and wordnet: 1,500 and 5,000 training laws with all their labels,
judged on the laws of the dev part, and 6,000 rows of wordnet with one label each, the rarest that
the row has, judged on 3,000 more. Rows are drawn from the training parts at random; "oldest" laws
are the first ones instead. The laws are in the order of their years: the first 1,500 end in 1980,
and the laws that judge them do not. Words of the laws are those of run.py, counted in the laws of
the set.

Every entry runs in a process of its own with one thread, as in run.py. A further entry, "stages",
fits the shortlist again and says where labels are lost: the share of true labels with a training
row that are candidates, and precision by the prior alone, by the margins of label re-ranking, and
at most, which is that of true candidates before all others; and the same for other numbers of
candidates and neighbours. The shares of frequencies say how long the tail is.
"""

import sys
import warnings

import numpy as np
import run
import scipy.sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer, normalize

from compactlearn import ShortlistClassifier
from compactlearn.datasets import load, load_texts
from compactlearn.metrics import precision_at_k
from compactlearn_bench.measure import known_rows, parser, write

ROWS, JUDGED, SEED = 6_000, 3_000, 0  # of wordnet
GROUPS = {"1": (1, 2), "2-4": (2, 5), "5+": (5, np.inf)}
SETS = (
    *("1,500 laws", "1,500 oldest laws", "5,000 laws", "5,000 oldest laws"),
    "wordnet, one label",
)
OMIKUJI = {"program": "omikuji", "python": "COMPACTLEARN_BASELINES_PYTHON"}
BONSAI = {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}
SHORTLIST = {"estimator": "compactlearn:ShortlistClassifier", "random_state": 0, "n_jobs": 1}
ENTRIES = {
    "ShortlistClassifier": {"program": "compactlearn", "settings": SHORTLIST},
    "one-vs-rest, linear SVM": {"program": "one_vs_rest_svm", "settings": {"C": 1.0, "tol": 0.1}},
    "one-vs-rest, logistic": {"program": "one_vs_rest_logistic", "settings": {"C": 10.0}},
    "omikuji": OMIKUJI,
    "omikuji, as Bonsai": OMIKUJI | {"settings": BONSAI},
}
STAGES = {  # of sets of fewer than 5,000 laws; of these only the first
    "as it is": {},
    "64 candidates": {"n_candidates": 64},
    "320 candidates": {"n_candidates": 320},
    "20 neighbours": {"n_neighbors": 20},
    "150 neighbours": {"n_neighbors": 150},
}


class LongTail(run.Texts):
    """The rows of a set with a long tail; labels without a training row are left out."""

    def __init__(self, name, data_home):
        X, Y, X_test, Y_test = (_one_label if "wordnet" in name else _laws)(name, data_home)
        there = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
        self.name, self.groups, self.X, self.X_test = name, GROUPS, X, X_test
        self.Y, self.Y_test = (
            scipy.sparse.csr_array(part[:, there], dtype=np.float64) for part in (Y, Y_test)
        )


def _laws(name, data_home):
    parts = load_texts("eurlex57k", data_home=data_home)
    train, judged, count = parts["train"], parts["dev"], int(name.split()[0].replace(",", ""))
    rows = np.arange(len(train.texts))
    rows = (rows if "oldest" in name else np.random.default_rng(SEED).permutation(rows))[:count]
    learnt, tags = ([part[row] for row in rows] for part in (train.texts, train.tags))
    words = TfidfVectorizer(**run.WORDS).fit(learnt)
    names = MultiLabelBinarizer(sparse_output=True).fit([*tags, *judged.tags])
    return [
        scipy.sparse.csr_array(matrix)
        for texts, labels in ((learnt, tags), (judged.texts, judged.tags))
        for matrix in (words.transform(texts), names.transform(labels))
    ]


def _one_label(name, data_home):
    data = load("wordnet", data_home=data_home)
    X = normalize(scipy.sparse.csr_array(data.X, dtype=np.float64))[: data.n_train]
    Y = scipy.sparse.csr_array(data.Y)[: data.n_train]
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    drawn = np.random.default_rng(SEED).permutation(data.n_train)
    drawn = drawn[np.diff(Y.indptr)[drawn] > 0][: ROWS + JUDGED]
    labels = [min(Y[[row]].indices, key=lambda label: (counts[label], label)) for row in drawn]
    one = (np.ones(drawn.size), (np.arange(drawn.size), labels))
    Y = scipy.sparse.csr_array(one, shape=(drawn.size, Y.shape[1]))
    return X[drawn[:ROWS]], Y[:ROWS], X[drawn[ROWS:]], Y[ROWS:]


def stages(texts):
    """Return what each stage of the shortlist finds, for each setting."""
    settings = dict(list(STAGES.items())[: 1 if texts.name.startswith("5,000") else None])
    return [{"setting": name} | _stages(texts, own) for name, own in settings.items()]


def _stages(texts, settings):
    model = ShortlistClassifier(random_state=0, n_jobs=1, **settings)
    model.fit(texts.X, texts.Y)
    found = model.stages_.rank(texts.X_test)
    true = found.candidates.present(scipy.sparse.csr_array(texts.Y_test))
    ranks = {"prior": found.log_odds, "margins": found.margins, "final": found.scores}
    ranks["at most"] = true.astype(np.float64)
    return {
        "candidates": found.candidates.labels.size / texts.X_test.shape[0],
        "recall": float(true.sum() / texts.Y_test.nnz),
        "C": model.C_,
        **{name: _precision(texts, found.candidates, values) for name, values in ranks.items()},
    }


def _precision(texts, candidates, values):
    positive = np.exp(np.clip(values.astype(np.float64), -500, 500))  # others have a score of 0
    return [precision_at_k(texts.Y_test, candidates.matrix(positive), k=k) for k in run.K]


def about(texts):
    """Return the sizes of a set, and how long its tail is."""
    counts = np.bincount(texts.Y.indices)
    own = {"rarest": float((counts < 5).mean()), "single": float((counts == 1).mean())}
    return texts.shape() | own


def measured(texts, name):
    """Return a row of the record."""
    if name == "stages":
        return {"data": texts.name, "entry": name, "settings": stages(texts)}
    spec = {"threads": 1, "seconds": 1800}
    return {"data": texts.name, "entry": name} | run.run_entry(ENTRIES[name], texts, spec)


def main():
    command = parser(__doc__, "long_tails.json")
    command.add_argument("--data", nargs="+", default=list(SETS), choices=SETS)
    names = [*ENTRIES, "stages"]
    command.add_argument("--only", nargs="+", default=names, choices=names)
    given = command.parse_args()
    warnings.simplefilter("ignore")
    rows = {(row["data"], row["entry"]): row for row in known_rows(given.out)}
    for data in given.data:
        texts = LongTail(data, given.data_home)
        rows[data, "about"] = {"entry": "about"} | about(texts)
        for name in given.only:
            rows[data, name] = measured(texts, name)
            print(rows[data, name], flush=True)
            order = [(one, entry) for one in SETS for entry in ("about", *names)]
            write(given.out, [rows[key] for key in order if key in rows])
    return int(any(row.get("status") == "failed" for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())

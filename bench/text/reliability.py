"""Reliability of the probabilities of suggested labels, on four text sets and a long tail.

    python bench/text/reliability.py [NAME ...] [--data-home FOLDER] [--out FILE]

ShortlistClassifier(random_state=0) with its defaults, and the logistic decoder on bibtex. bibtex
and delicious are split at random (a fifth is for testing), wordnet and eurlex57k have test rows of
their own, and "long tail 1" and "long tail 2" are generated: 6,000 rows of one label each, of which
most occur one to five times. Laws are read as TF-IDF of title, header, recitals and body, words of
four laws or more.

The record has P@1, P@3, P@5, micro-F1, the expected and the true number of labels for each test
row, bins of probability for the best label, the best five and the predicted ones, and for the best
label its mean probability and precision by the number of training rows of the label.
"""

import json
import lzma
import sys
import time

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from compactlearn import CMLLClassifier, ShortlistClassifier
from compactlearn.datasets import load
from compactlearn.metrics import micro_f1, precision_at_k, reliability_table
from compactlearn_bench.measure import BENCH, by_data_set, sparse

FREQUENCIES = (1, 2, 3, 5, 10, 30, 100)
LOGISTIC = "bibtex, logistic decoder"
DATA = ("long tail 1", "long tail 2", "bibtex", LOGISTIC, "delicious", "wordnet", "eurlex57k")
PARTS = ("title", "header", "recitals", "body")


def laws(home):
    """Return the rows of EURLEX57K as TF-IDF, and the concepts that have training laws."""
    found = {}
    for part in ("train", "test"):
        with lzma.open(home / "eurlex57k" / f"{part}.jsonl.xz", "rt", encoding="utf-8") as lines:
            found[part] = [json.loads(line) for line in lines]
    texts = {
        part: [" ".join(str(law[field]) for field in PARTS) for law in rows]
        for part, rows in found.items()
    }
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=4).fit(texts["train"])
    names = sorted({name for law in found["train"] for name in law["labels"]})
    place = {name: k for k, name in enumerate(names)}

    def labels(rows):
        pairs = [(i, place[n]) for i, law in enumerate(rows) for n in law["labels"] if n in place]
        row, column = np.array(pairs).T
        return scipy.sparse.csr_array(
            (np.ones(row.size, dtype=int), (row, column)), shape=(len(rows), len(names))
        )

    return [
        f(part)
        for part in ("train", "test")
        for f in (lambda p: vectorizer.transform(texts[p]), lambda p: labels(found[p]))
    ]


def long_tail(own, n_rows=6000, n_labels=1500, n_features=4000, n_topics=60, shared=14, noise=6):
    """Return rows of one label each: words of its topic, of its own, and of anything."""
    rng = np.random.default_rng(0)
    frequency = 1 / np.arange(1, n_labels + 1) ** 1.1
    label = rng.choice(n_labels, size=n_rows, p=frequency / frequency.sum())
    topics = rng.integers(0, n_features, (n_topics, 40))
    words = rng.integers(0, n_features, (n_labels, 4))
    rows = [
        np.concatenate(
            [
                rng.choice(topics[k % n_topics], shared),
                rng.choice(words[k], own),
                rng.integers(0, n_features, noise),
            ]
        )
        for k in label
    ]
    row = np.repeat(np.arange(n_rows), shared + own + noise)
    X = scipy.sparse.csr_array(
        (np.ones(row.size), (row, np.concatenate(rows))), (n_rows, n_features)
    )
    X.sum_duplicates()
    Y = scipy.sparse.csr_array(
        (np.ones(n_rows, dtype=int), (np.arange(n_rows), label)), (n_rows, n_labels)
    )
    test = np.arange(n_rows) % 5 == 0
    return X[~test], Y[~test], X[test], Y[test]


def rows_of(name, home):
    """Return training rows and labels, test rows and labels."""
    if name.startswith("long tail"):
        return long_tail(int(name[-1]))
    if name == "eurlex57k":
        return laws(home)
    data = load(name.partition(",")[0], data_home=home)
    X, Y = sparse(data.X), sparse(data.Y)
    if data.n_train is not None and name == "wordnet":
        test = np.arange(X.shape[0]) >= data.n_train
    else:
        test = np.random.default_rng(0).random(X.shape[0]) < 0.2
    return X[~test], Y[~test], X[test], Y[test]


def bins_of(table):
    return {
        "count": table.count.tolist(),
        "probability": table.mean_probability.tolist(),
        "precision": table.precision.tolist(),
        "largest_gap": table.largest_gap(min_count=50),
    }


def by_frequency(counts, best, p, right):
    """Return rows, mean probability and precision of the best label by its training rows."""
    group = np.searchsorted(FREQUENCIES, counts[best])
    found = []
    for k in np.unique(group):
        own = group == k
        most = FREQUENCIES[k] if k < len(FREQUENCIES) else None
        found.append(
            {
                "at_most": most,
                "rows": int(own.sum()),
                "probability": float(p[own].mean()),
                "precision": float(right[own].mean()),
            }
        )
    return found


def measure(name, home):
    X, Y, X_test, Y_test = rows_of(name, home or BENCH.parents[1] / "shared" / "datasets")
    model = ShortlistClassifier(random_state=0)
    if name == LOGISTIC:
        model = CMLLClassifier(decoder="logistic", random_state=0)
    start, begun = time.perf_counter(), time.process_time()
    model.fit(X, Y)
    seconds = {"fit_s": time.perf_counter() - start, "fit_cpu_s": time.process_time() - begun}
    P = scipy.sparse.csr_array(model.predict_proba(X_test))
    best, at = model.predict_topk(X_test, 1)[0].ravel(), np.arange(X_test.shape[0])
    predicted = model.predict(X_test)
    return {
        "data": name,
        "rows": X.shape[0],
        "labels": Y.shape[1],
        "test_rows": X_test.shape[0],
        **seconds,
        "bytes": int(model.nbytes_),
        "precision": [float(precision_at_k(Y_test, P, k=k)) for k in (1, 3, 5)],
        "micro_f1": float(micro_f1(Y_test, predicted)),
        "expected_labels": float(P.sum() / at.size),
        "true_labels": float(Y_test.sum() / at.size),
        "best": bins_of(reliability_table(Y_test, P, k=1)),
        "best_five": bins_of(reliability_table(Y_test, P, k=5)),
        "predicted": bins_of(reliability_table(Y_test, P, labels=predicted)),
        "by_frequency": by_frequency(
            np.asarray(Y.sum(axis=0)).ravel(), best, P[at, best], Y_test[at, best] > 0
        ),
    }


if __name__ == "__main__":
    sys.exit(by_data_set(__doc__, "suggested_labels.json", DATA, measure))

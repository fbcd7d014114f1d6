"""Seconds and peak memory of the classifiers on 20,000 rows, 20,000 sparse features, 500 labels.

    python bench/speed/at_size.py [--data-home DIR] [--threads N] [--quick] [--out FILE]

zipf     text made up: words and labels by Zipf's law, every label with words of its own; tf-idf
wordnet  20,000 rows and the 500 most frequent labels of wordnet, where --data-home has it

On each, four calls: CMLLClassifier(), the same with all features kept, with the logistic decoder,
and CMLLClassifierCV(). Each runs in a process of its own; the data are not in the clock. The
targets are 60 seconds and 3 GiB for each, data and interpreter included.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
from peak import memory_mark, reset_memory_mark

from compactlearn import CMLLClassifier, CMLLClassifierCV
from compactlearn.datasets import load
from compactlearn.metrics import average_precision, precision_at_k

SECONDS, GIB = 60.0, 3.0  # the targets

CALLS: dict[str, Any] = {
    "CMLLClassifier()": lambda: CMLLClassifier(),
    "CMLLClassifier(None)": lambda: CMLLClassifier(None),
    "CMLLClassifier(decoder='logistic')": lambda: CMLLClassifier(decoder="logistic"),
    "CMLLClassifierCV()": lambda: CMLLClassifierCV(),
}

Problem = tuple[Any, Any, Any, Any]  # X and Y to learn from, X and Y to judge by


def zipf_text(n_rows: int, n_features: int, n_labels: int, seed: int = 0) -> Problem:
    """Rows of ten to sixty words, half of them from the words of their labels."""
    rng = np.random.default_rng(seed)
    total, n_own = n_rows + n_rows // 5, 40
    words = 1.0 / np.arange(1, n_features + 1)
    popular = 1.0 / np.arange(1, n_labels + 1)
    words, popular = words / words.sum(), popular / popular.sum()
    own = rng.choice(n_features, size=(n_labels, n_own), p=(words + 1 / n_features) / 2)
    n_present = 1 + rng.poisson(2.0, size=total)
    row = np.repeat(np.arange(total), n_present)
    Y = sp.csr_array((np.ones(row.size), (row, rng.choice(n_labels, row.size, p=popular))))
    Y.data[:] = 1.0
    n_words = rng.integers(10, 61, size=total)
    row = np.repeat(np.arange(total), n_words)
    place = Y.indptr[row] + (rng.random(row.size) * np.diff(Y.indptr)[row]).astype(np.intp)
    said = own[Y.indices[place], rng.integers(n_own, size=row.size)]
    noise = rng.choice(n_features, size=row.size, p=words)
    column = np.where(rng.random(row.size) < 0.5, said, noise)
    X = sp.csr_array((np.ones(row.size), (row, column)), shape=(total, n_features))
    return _divided(_tf_idf(X), Y, n_rows)


def frequent_wordnet(n_rows: int, n_features: int, n_labels: int, data_home: Path) -> Problem:
    """Rows that have one of the most frequent labels, with the most frequent features."""
    data = load("wordnet", data_home=data_home)
    X, Y = sp.csr_array(data.X), sp.csr_array(data.Y)
    Y = Y[:, _most_frequent(Y, n_labels)]
    rows = np.flatnonzero(np.diff(Y.indptr))
    rows = np.random.default_rng(0).permutation(rows)[: n_rows + n_rows // 5]
    return _divided(X[rows][:, _most_frequent(X[rows], n_features)], Y[rows], n_rows)


def _most_frequent(matrix: Any, count: int) -> np.ndarray:
    seen = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return np.sort(np.argsort(-seen, kind="stable")[:count])


def _tf_idf(X: Any) -> Any:
    rows_with = np.bincount(X.indices, minlength=X.shape[1])
    X = X @ sp.diags_array(np.log(X.shape[0] / np.maximum(rows_with, 1)) + 1.0)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1.0 / np.maximum(lengths, 1e-12)) @ X)


def _divided(X: Any, Y: Any, n_rows: int) -> Problem:
    return X[:n_rows], Y[:n_rows], X[n_rows:], Y[n_rows:]


def measure(problem: Problem, call: str) -> dict[str, Any]:
    """One fit: seconds, peak memory, and how good it is."""
    X, Y, X_new, Y_new = problem
    small = slice(0, 300)
    CMLLClassifier().fit(X[small], Y[small])  # imports and thread pools are not what is timed
    reset_memory_mark()
    model, start = CALLS[call](), time.perf_counter()
    model.fit(X, Y)
    took, peak = time.perf_counter() - start, memory_mark()
    scores, truth = model.decision_function(X_new), Y_new.toarray()
    row = {"seconds": round(took, 1), "peak_gib": round(peak / 2**30, 2)}
    row["average_precision"] = round(float(average_precision(truth, scores)), 4)
    row["precision_at_1"] = round(float(precision_at_k(truth, scores, k=1)), 4)
    return row | {"met": bool(took <= SECONDS and peak <= GIB * 2**30)}


def in_a_child(name: str, call: str, options: argparse.Namespace) -> dict[str, Any]:
    """The same in a process of its own, with so many threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    command = [sys.executable, __file__, "--child", name, call]
    command += ["--quick"] if options.quick else []
    command += ["--data-home", str(options.data_home)] if options.data_home else []
    answer = subprocess.run(
        command,
        env=os.environ | dict.fromkeys(names, str(options.threads)),
        check=True,
        capture_output=True,
        text=True,
    )
    return {"data": name, "call": call} | json.loads(answer.stdout)


def problem_of(name: str, options: argparse.Namespace) -> Problem:
    """One of the two problems, small for a smoke test."""
    shape = (600, 500, 40) if options.quick else (20_000, 20_000, 500)
    if name == "zipf":
        return zipf_text(*shape)
    return frequent_wordnet(*shape, options.data_home)


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; 0 if all targets are met, 1 if not."""
    parser = common.parser(__doc__)
    parser.add_argument("--threads", type=int, default=2, help="threads of the BLAS")
    parser.add_argument("--quick", action="store_true", help="a smoke test on a small problem")
    parser.add_argument("--out", type=Path, help="the record (default: results/at_size.json)")
    parser.add_argument("--child", nargs=2, metavar=("DATA", "CALL"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.child:
        name, call = options.child
        print(json.dumps(measure(problem_of(name, options), call)))
        return 0
    names = ["zipf"] if options.data_home is None or options.quick else ["zipf", "wordnet"]
    rows = []
    for name in names:
        for call in CALLS:
            rows.append(in_a_child(name, call, options))
            print(rows[-1], flush=True)
    out = options.out
    if out is None and not options.quick:
        out = common.RESULTS / "at_size.json"
    if out is not None:
        record = {"date": common.today(), "machine": common.machine(), "threads": options.threads}
        common.write_json(out, record | {"measurements": rows})
    return 0 if options.quick or all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

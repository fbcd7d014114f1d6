"""AutoCompactClassifier on texts of tens of thousands of rows: seconds, bytes, precision, budgets.

    python bench/text/budgets.py [--data-home DIR] [--rows N] [--out FILE]

The data are the rows of wordnet that have one of its 527 most frequent labels, 24,000 of its
training rows and all such test rows. Every entry is fitted once: `ShortlistClassifier()`, the
search without arguments, with time budgets of 10, 30 and 60 seconds and with a size budget. The
record has the seconds of ``fit`` on the wall and of the processors (all threads together), the
bytes of the model, and precision among the 1, 3 and 5 best labels of the test rows.

It takes about three minutes on two quiet cores; ``--rows`` learns from fewer rows and writes no
record.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from compactlearn import AutoCompactClassifier, ShortlistClassifier
from compactlearn.datasets import load
from compactlearn.metrics import precision_at_k
from compactlearn.utils import free_cores
from compactlearn_bench.measure import parser, write

LABELS, ROWS, SEED = 527, 24_000, 0
ENTRIES: dict[str, dict[str, Any]] = {
    "ShortlistClassifier()": {},
    "AutoCompactClassifier()": {},
    "time_budget=10": {"time_budget": 10},
    "time_budget=30": {"time_budget": 30},
    "time_budget=60": {"time_budget": 60},
    "size_budget='20 MB'": {"size_budget": "20 MB"},
}


def texts(data_home: Path | None, n_rows: int) -> list[Any]:
    """Return X and Y of the training rows, and of the test rows."""
    data = load("wordnet", data_home=data_home)
    X = normalize(scipy.sparse.csr_array(data.X, dtype=np.float64))
    Y = scipy.sparse.csr_array(data.Y)
    counts = np.bincount(Y[: data.n_train].indices, minlength=Y.shape[1])
    Y = Y[:, np.sort(np.argsort(-counts, kind="stable")[:LABELS])]
    present = np.diff(Y.indptr) > 0
    train = np.flatnonzero(present[: data.n_train])
    train = np.sort(np.random.default_rng(SEED).permutation(train)[:n_rows])
    test = data.n_train + np.flatnonzero(present[data.n_train :])
    return [X[train], Y[train], X[test], Y[test]]


def measured(name: str, settings: dict[str, Any], data: list[Any]) -> dict[str, Any]:
    """Fit one entry and judge it."""
    X, Y, X_test, Y_test = data
    kind = ShortlistClassifier if name.startswith("Shortlist") else AutoCompactClassifier
    free, start, begun = free_cores(), time.perf_counter(), time.process_time()
    model = kind(random_state=SEED, **settings).fit(X, Y)
    seconds, processor = time.perf_counter() - start, time.process_time() - begun
    top, _ = model.predict_topk(X_test, 5)
    row, place = np.indices(top.shape)
    values = (top.shape[1] - place).ravel().astype(np.float64)
    scores = scipy.sparse.csr_array((values, (row.ravel(), top.ravel())), shape=Y_test.shape)
    return {
        "entry": name,
        "settings": settings,
        "fit_s": seconds,
        "fit_processor_s": processor,
        "free_cores": min(free, free_cores()),
        "bytes": int(model.nbytes_),
        "precision": [precision_at_k(Y_test, scores, k=k) for k in (1, 3, 5)],
        "why": getattr(model, "why_", None),
    }


def main() -> int:
    command = parser(__doc__, "text_budgets.json")
    command.add_argument("--rows", type=int, help="the number of training rows; no record")
    given = command.parse_args()
    data, rows = texts(given.data_home, given.rows or ROWS), []
    for name, settings in ENTRIES.items():
        rows.append(measured(name, settings, data))
        print(rows[-1], flush=True)
    if given.rows is None:
        X, Y, X_test, _ = data
        shape = {"rows": X.shape[0], "test_rows": X_test.shape[0], "features": X.shape[1]}
        write(given.out, rows, **shape, labels=Y.shape[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The automatic search compared with a shortlist on sets of texts: seconds, memory, precision.

    python bench/text/search.py [--data-home DIR] [--out FILE] [NAME ...]

Rows are divided as in run.py. ``ShortlistClassifier()`` and ``AutoCompactClassifier()`` are fitted
once to the same rows, each in a process of its own with one BLAS thread. The record has the
seconds of ``fit`` on the clock and of the processors, precision among the 1, 3 and 5 best labels of
the test rows, the bytes of the model, the models that were tried, and the peak of the memory of the
process, data and libraries included. ``limit_mib`` is what the peak may be: four times the bytes of
X and Y as CSR, and 1 GiB.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from run import Texts

from compactlearn import AutoCompactClassifier, ShortlistClassifier
from compactlearn_bench.measure import by_data_set, in_a_child, peak_bytes

DATA = (
    *("wordnet", "eurlex57k", "delicious", "bibtex"),
    *("tmc2007-500", "corel5k", "corel16k", "enron", "imdb"),
)
KINDS = {"shortlist": ShortlistClassifier, "search": AutoCompactClassifier}


def bytes_of(*matrices):
    """Return the bytes of CSR arrays."""
    return sum(part.nbytes for one in matrices for part in (one.data, one.indices, one.indptr))


def measured(kind, name, data_home):
    """Fit one classifier to one set, and judge it."""
    texts = Texts(name, data_home)
    X, Y = texts.X, texts.Y
    before, clock, processor = peak_bytes(), time.perf_counter(), time.process_time()
    model = KINDS[kind](random_state=0).fit(X, Y)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    peak = peak_bytes()
    found = texts.scores(np.array(model.predict_topk(texts.X_test, 5)[0]))
    tried = getattr(model, "leaderboard_", [])
    return {
        "clock_s": clock,
        "processor_s": processor,
        "precision": [found[f"precision_at_{k}"] for k in (1, 3, 5)],
        "ndcg_at_5": found["ndcg_at_5"],
        "bytes": int(model.nbytes_),
        "before_mib": before / 2**20,
        "peak_mib": peak / 2**20,
        "limit_mib": 4 * bytes_of(X, Y) / 2**20 + 1024,
        "tried": [[row["name"], row["score"], row["seconds"]] for row in tried],
        "skipped": [f"{row['name']}: {row['reason']}" for row in getattr(model, "skipped_", [])],
        "shape": [*X.shape, Y.shape[1], int(X.nnz), int(Y.nnz)],
    }


def both(name, data_home):
    """Return the row of a set."""
    row = {"data": name}
    for kind in KINDS:
        row[kind] = in_a_child(__file__, "--child", kind, name, data_home or "", threads=1)
    rows, features, labels, *_ = row["shortlist"].pop("shape")
    row["search"].pop("shape")
    row |= {"rows": rows, "features": features, "labels": labels}
    return row | {"ratio": row["search"]["processor_s"] / row["shortlist"]["processor_s"]}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        warnings.simplefilter("ignore")
        _, _, kind, name, home = sys.argv
        print(json.dumps(measured(kind, name, Path(home) if home else None)))
    else:
        sys.exit(by_data_set(__doc__, "text_search.json", DATA, both))

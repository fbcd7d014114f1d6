"""Fits of more rows than memory: rows a second, and the memory that does not grow with them.

    python bench/speed/blocks.py [--data-home DIR] [--only PART] [--quick] [--out FILE]

dense    blocks of 300 features and 100 labels, made on the fly, one pass: the peak of memory for 1
         and 10 million rows, and rows a second compared with a plain ``A.T @ A`` of float64 blocks
         of all 400 columns, which is the least that moments take, in turn, the median of pairs
wordnet  the text of wordnet repeated in a file on disk (65,041 rows a copy), CMLLClassifier by
         passes: seconds, passes, and the peak of memory for several numbers of copies
defaults the same with the number of codes that is the default, for one and two copies

Each fit has a process of its own.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from compactlearn import CMLLClassifier
from compactlearn.datasets import load, open_blocks, write_xmlrepo
from compactlearn_bench.measure import (
    in_a_child,
    machine,
    parser,
    peak_bytes,
    timed,
    today,
    write_json,
)

N_FEATURES, N_LABELS, N_ROWS, POOL, TURNS = 300, 100, 1 << 14, 4, 3
N_CODES = {"dense": 50, "wordnet": 100}


# ---- in a process of its own --------------------------------------------------------------------


def pool_of_blocks():
    """Yield a few blocks that all rows are made of."""
    rng = np.random.default_rng(0)
    for _ in range(POOL):
        X = rng.standard_normal((N_ROWS, N_FEATURES))
        yield X, (X[:, :N_LABELS] + rng.standard_normal((N_ROWS, N_LABELS)) > 2.3).astype(np.int8)


def plain_rate(pool, n_rows):
    """Return rows a second of the products of all columns with all, and of nothing else."""
    both = [np.hstack([X, Y.astype(np.float64)]) for X, Y in pool]
    total, start = np.zeros((N_FEATURES + N_LABELS,) * 2), time.perf_counter()
    n_blocks = n_rows // N_ROWS
    for place in range(n_blocks):
        A = both[place % POOL]
        total += A.T @ A
    return n_blocks * N_ROWS / (time.perf_counter() - start)


def blocks_of(pool, n_rows):
    """Yield so many rows, block by block; each block is an array of its own."""
    for start in range(0, n_rows, N_ROWS):
        X, Y = pool[start // N_ROWS % POOL]
        yield X[: n_rows - start], Y[: n_rows - start]


def fit_dense(n_rows, pool=None):
    """Fit rows made on the fly, in one pass."""
    pool = pool or list(pool_of_blocks())
    model = CMLLClassifier(n_label_components=N_CODES["dense"])
    _, seconds = timed(lambda: model.fit_blocks(blocks_of(pool, n_rows)))
    return {
        "rows": n_rows,
        "seconds": round(seconds, 2),
        "rows_a_second": round(n_rows / seconds),
        "peak_bytes": peak_bytes(),
        "passes": model.n_passes_,
        "threshold": model.threshold_,
    }


def fit_in_turn(n_rows):
    """Time a fit and the plain products of as many rows, in turn: neighbours slow both.

    The plain products have one thread of the BLAS, and then all: where other work runs, the threads
    wait for each other, and one is faster. The better of the two counts.
    """
    pool = list(pool_of_blocks())
    plain_rate(pool, n_rows // 4)
    fit_dense(n_rows // 4, pool)
    pairs = []
    for _ in range(TURNS):
        with threadpool_limits(1):
            alone = plain_rate(pool, n_rows)
        plain = max(alone, plain_rate(pool, n_rows))
        rate = fit_dense(n_rows, pool)["rows_a_second"]
        pairs.append({"fit": rate, "plain": round(plain), "share": round(rate / plain, 3)})
    return {"rows": n_rows, "pairs": pairs, "share": float(np.median([p["share"] for p in pairs]))}


def fit_wordnet(path, n_codes=N_CODES["wordnet"]):
    """Fit text on disk, in several passes."""
    warnings.simplefilter("ignore")
    source = open_blocks(path, format="xmlrepo")
    model = CMLLClassifier(n_label_components=n_codes)
    _, seconds = timed(lambda: model.fit(source))
    return {
        "rows": source.n_rows,
        "file_bytes": Path(path).stat().st_size,
        "seconds": round(seconds, 1),
        "rows_a_second_and_pass": round(source.n_rows * model.n_passes_ / seconds),
        "peak_bytes": peak_bytes(),
        "passes": model.n_passes_,
        "label_components": model.embedding_.n_label_components_,
        "objective_share": model.embedding_.objective_share_,
        "threshold": model.threshold_,
    }


CHILDREN = {
    "dense": lambda given: fit_dense(int(given)),
    "turns": lambda given: fit_in_turn(int(given)),
    "wordnet": fit_wordnet,
    "defaults": partial(fit_wordnet, n_codes="auto"),
}


# ---- the runs -----------------------------------------------------------------------------------


def repeated(data, copies, folder):
    """Write a file with the rows of a data set again and again."""
    once, path = Path(folder, "once.txt"), Path(folder, f"times-{copies}.txt")
    if not once.exists():
        write_xmlrepo(data, once)
    first, _, rows = once.read_bytes().partition(b"\n")
    n_rows, rest = first.split(maxsplit=1)
    with path.open("wb") as stream:
        stream.write(b"%d %s\n" % (copies * int(n_rows), rest))
        for _ in range(copies):
            stream.write(rows)
    return path


def dense_runs(sizes):
    runs = [in_a_child(__file__, "--child", "dense", n_rows) for n_rows in sizes]
    return {
        "features": N_FEATURES,
        "labels": N_LABELS,
        "rows_in_a_block": N_ROWS,
        "runs": runs,
        "beside_plain_products": in_a_child(__file__, "--child", "turns", max(sizes) // 10),
    }


def wordnet_runs(data_home, copies, what):
    data = load("wordnet", data_home=data_home).split()[0]
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for count in copies:
            path = repeated(data, count, folder)
            runs.append(in_a_child(__file__, "--child", what, path))
            path.unlink()
    return {"runs": runs}


def main():
    command = parser(__doc__, "blocks.json")
    command.add_argument("--only", choices=["dense", "wordnet", "defaults"])
    command.add_argument("--quick", action="store_true", help="few rows; give --out as well")
    command.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = command.parse_args()
    if asked.child:
        what, given = asked.child
        print(json.dumps(CHILDREN[what](given)))
        return 0
    quick = asked.quick
    parts = {
        "dense": lambda: dense_runs([50_000, 100_000] if quick else [1_000_000, 10_000_000]),
        "wordnet": lambda: wordnet_runs(
            asked.data_home, [1, 2] if quick else [16, 47, 154], "wordnet"
        ),
        "defaults": lambda: wordnet_runs(asked.data_home, [1] if quick else [1, 2], "defaults"),
    }
    record = json.loads(asked.out.read_text()) if asked.out.exists() else {}
    record |= {"date": today(), "machine": machine()}
    for name, part in parts.items():
        if asked.only in (None, name):
            record[name] = part()
            print(name, record[name], flush=True)
            write_json(asked.out, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Gain of a fit on Dask from a second worker.

    python bench/speed/dask_workers.py [--quick] [--repeats N] [--folder DIR] [--out FILE]

machine   seconds that one and two plain processes take to sum the same blocks, without Dask: what
          a second core of this machine brings at best
fit       seconds of a whole fit on one and on two worker processes of one thread each, in turn:
          reading the blocks, summing them, adding the sums up, and solving at the client, which no
          worker shortens

Blocks lie in files that every worker opens by name, so that no rows are shipped. A ratio is one
worker over two: 2 is perfect. A quiet machine is needed.
"""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import scipy.sparse
from distributed import Client, LocalCluster

from compactlearn import CMLLClassifier, Moments
from compactlearn_bench.measure import parser, rounded, timed, write

# Rows, features, labels, blocks; of the sparse set, the share of cells that are not zero.
SHAPES = {"dense": (400_000, 400, 40, 64), "sparse": (100_000, 1_000, 100, 16)}
QUICK = {"dense": (4_000, 40, 8, 8), "sparse": (4_000, 100, 8, 8)}
SHARE = 0.02


def measurements(folder, repeats, shapes):
    """Yield one row for each question."""
    clusters = [
        LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=None, memory_limit=0)
        for n in (1, 2)
    ]
    with clusters[0] as one, clusters[1] as two, Client(one) as first, Client(two) as second:
        for kind, shape in shapes.items():
            write_blocks(folder, kind, shape)
            row = {"data": kind, "shape": list(shape[:3]), "blocks": shape[3]}
            if kind == "dense":
                spawn = multiprocessing.get_context("spawn")
                with spawn.Pool(1) as alone, spawn.Pool(2) as both:
                    calls = [
                        summed_by(pool, n, folder, shape[3]) for n, pool in ((1, alone), (2, both))
                    ]
                    yield row | {"group": "machine"} | in_turn(*calls, repeats)
            X, Y = (array(folder, kind, name, shape) for name in "xy")
            yield row | {"group": "fit"} | in_turn(fit(first, X, Y), fit(second, X, Y), repeats)


def write_blocks(folder, kind, shape):
    n_rows, n_features, n_labels, n_blocks = shape
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(n_features, n_labels))
    for number in range(n_blocks):
        size = (n_rows // n_blocks, n_features)
        if kind == "dense":
            X = rng.normal(size=size)
            labels = X @ mixing > 1.2 * np.sqrt(n_features)
            np.save(folder / f"{kind}-x{number}.npy", X)
        else:
            X = scipy.sparse.random_array(size, density=SHARE, rng=rng, format="csr")
            labels = X @ mixing > 4.0
            scipy.sparse.save_npz(folder / f"{kind}-x{number}.npz", X, compressed=False)
        np.save(folder / f"{kind}-y{number}.npy", labels.astype(np.int8))


def array(folder, kind, name, shape):
    """Return features or labels as a Dask array whose blocks are read where they are needed."""
    n_rows, n_features, n_labels, n_blocks = shape
    size = (n_rows // n_blocks, n_features if name == "x" else n_labels)
    later = dask.delayed(read)
    meta = np.empty((0, 0), np.int8) if name == "y" else np.empty((0, 0))
    if kind == "sparse" and name == "x":
        meta = scipy.sparse.csr_array((0, 0))
    names = [str(folder / f"{kind}-{name}{number}") for number in range(n_blocks)]
    return da.concatenate([da.from_delayed(later(path), size, meta=meta) for path in names])


def read(path):
    # As a plain array over the map: a memory map that travels is copied as a whole.
    if Path(f"{path}.npy").exists():
        return np.asarray(np.load(f"{path}.npy", mmap_mode="r"))
    return scipy.sparse.csr_array(scipy.sparse.load_npz(f"{path}.npz"))


def fit(client, X, Y):
    def call():
        with client.as_current():
            CMLLClassifier(solver="moments", threshold=0.5).fit(X, Y)

    return call


def summed_by(pool, count, folder, n_blocks):
    shares = [(str(folder), range(k, n_blocks, count)) for k in range(count)]
    return lambda: sum(pool.starmap(summed, shares, chunksize=1))


def summed(folder, numbers):
    paths = ([f"{folder}/dense-{name}{k}" for name in "xy"] for k in numbers)
    return Moments.from_blocks((read(x), read(y)) for x, y in paths)


def in_turn(first, second, repeats):
    """Return median seconds on one and on two workers, after one untimed run of both."""
    first(), second()
    runs = [(timed(first)[1], timed(second)[1]) for _ in range(repeats)]
    one, two = np.array(runs).T
    return {
        "pairs": repeats,
        "one_worker_s": rounded(np.median(one)),
        "two_workers_s": rounded(np.median(two)),
        "ratio": rounded(np.median(one / two)),
        "ratios": [rounded(ratio) for ratio in one / two],
    }


def main():
    command = parser(__doc__, "dask_workers.json")
    command.add_argument("--quick", action="store_true", help="small blocks; writes nothing")
    command.add_argument("--repeats", type=int, default=7)
    command.add_argument("--folder", type=Path, help="where the blocks are written (2 GB)")
    given = command.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        shapes = QUICK if given.quick else SHAPES
        for row in measurements(Path(folder), 2 if given.quick else given.repeats, shapes):
            print(row, flush=True)
            rows.append(row)
            if not given.quick:
                write(given.out, rows, dask=dask.__version__)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

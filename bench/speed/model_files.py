"""Model files: how long loading takes, how much of a file one row needs, what processes share.

    python bench/speed/model_files.py [--megabytes N ...] [--out FILE]

load     milliseconds of ``load_model`` in a process that has imported compactlearn: the median and
         the least of many, the first after the file was dropped from the system's cache, and with
         ``verify=True``; compared with ``joblib.load`` of the same model, a CMLLClassifier
one row  milliseconds of the first ``predict_topk`` of a sparse row with a mapped model, and how
         many megabytes of the file are then in the process's memory
share    ten processes that have loaded the model and scored a row: the megabytes of memory that all
         of them take together (PSS, in which a page counts once), one alone, and ten that have
         loaded a pickle
"""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path

import joblib
import numpy as np
import scipy.sparse

from compactlearn import CMLLClassifier, load_model
from compactlearn_bench.measure import parser, timed, write

MB = 1e6
ROWS, CODES, PROCESSES = 600, 500, 10


def model_of(megabytes, rng):
    """Fit up to 500 codes of sparse rows; four fifths of the file are the features' projection."""
    n_features = int(0.8 * megabytes * MB / (8 * CODES))
    n_labels = int(0.1 * megabytes * MB / (8 * CODES))
    X = scipy.sparse.random_array((ROWS, n_features), density=0.01, format="csr", rng=rng)
    Y = scipy.sparse.random_array((ROWS, n_labels), density=0.02, format="csr", rng=rng)
    Y.data[:] = 1.0
    codes = min(CODES, n_features, n_labels)
    return CMLLClassifier(codes, codes, solver="dual", threshold=0.5).fit(X, Y)


def forget(path):
    """Drop a file from the system's cache, where the system lets us."""
    with open(path, "rb") as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def milliseconds(call):
    return 1e3 * timed(call)[1]


def loading(path, pickled, repeats=25):
    forget(path)
    cold = milliseconds(lambda: load_model(path))
    warm = [milliseconds(lambda: load_model(path)) for _ in range(repeats)]
    row = {"what": "load", "kind": "dense", "file_mb": path.stat().st_size / MB}
    row |= {"median_ms": float(np.median(warm)), "least_ms": min(warm), "cold_ms": cold}
    row["verified_ms"] = min(milliseconds(lambda: load_model(path, verify=True)) for _ in range(3))
    row["joblib_ms"] = min(milliseconds(lambda: joblib.load(pickled)) for _ in range(3))
    return row


def resident(path, pid):
    """Return the megabytes of a mapped file that a process has in its memory."""
    total, inside = 0, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            inside = line.endswith(str(path))
        elif inside and words[0] == "Rss:":
            total += int(words[1]) * 1024
    return total / MB


def serve(path, loader, pipe):
    """Load, score a row, and wait: what each of several processes does."""
    model = loader(path)
    columns = np.sort(np.random.default_rng(0).choice(model.n_features_in_, 40, replace=False))
    parts = (np.ones(40), columns, np.array([0, 40]))
    row = scipy.sparse.csr_array(parts, shape=(1, model.n_features_in_))
    pipe.send(milliseconds(lambda: model.predict_topk(row, 5)))
    pipe.recv()


def shared_by(path, loader, count):
    """Return the PSS of processes that have scored a row, what one of them has of the file, and how
    long the first answers took. They are copies of this one, which has no model."""
    context = multiprocessing.get_context("fork")
    pipes, processes = [], []
    for _ in range(count):
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=serve, args=(path, loader, theirs), daemon=True))
        processes[-1].start()
        pipes.append(ours)
    first = [pipe.recv() for pipe in pipes]
    total = 0
    for process in processes:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
            total += int(line.split()[1]) * 1024 if line.startswith("Pss:") else 0
    in_file = resident(path, processes[0].pid)
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send(None)
        process.join()
    return total / MB, in_file, float(np.median(first))


def sharing(path, pickled):
    one, in_file, first = shared_by(path, load_model, 1)
    ten, _, _ = shared_by(path, load_model, PROCESSES)
    _, _, after_pickle = shared_by(pickled, joblib.load, 1)
    pickles, _, _ = shared_by(pickled, joblib.load, PROCESSES)
    size = path.stat().st_size / MB
    row = {"what": "one row", "file_mb": size, "in_memory_mb": in_file, "first_ms": first}
    yield row | {"after_pickle_ms": after_pickle}
    yield {
        "what": "share",
        "file_mb": size,
        "one_mb": one,
        "ten_mb": ten,
        "ten_pickles_mb": pickles,
    }


def main():
    command = parser(__doc__, "model_files.json")
    command.add_argument("--megabytes", type=int, nargs="*", default=[5, 50, 600])
    given = command.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path, pickled = Path(folder, "model"), Path(folder, "pickle")
        for megabytes in given.megabytes:
            model = model_of(megabytes, np.random.default_rng(0))
            saving = milliseconds(lambda model=model: model.save(path))
            joblib.dump(model, pickled)
            del model
            rows.append(loading(path, pickled) | {"save_ms": saving})
            print(rows[-1], flush=True)
        rows += sharing(path, pickled)
    write(given.out, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

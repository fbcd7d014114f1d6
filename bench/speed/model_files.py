"""Model files: how long loading takes, how much of a file one row needs, what processes share.

    python bench/speed/model_files.py [--megabytes N ...] [--out FILE]

load     milliseconds of ``load_model`` in a process that has imported compactlearn: the median and
         the least of many, the first after the file was dropped from the system's cache, and with
         ``verify=True``; beside ``joblib.load`` of the same model. "dense" is a CMLLClassifier of
         sparse rows, "sparse" a POPClassifier, whose indices are checked when it is loaded
one row  milliseconds of the first ``predict_topk`` of a sparse row with a mapped model, and how
         many megabytes of the file are then in the process's memory
share    ten processes that have loaded the model and scored a row: the megabytes of memory that all
         of them take together (PSS, in which a page counts once), beside one, and beside ten that
         have loaded a pickle

Target: below 50 ms for 500 MB. The weights of "sparse" are drawn, not learnt: its file is like one
of that size.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np
import scipy.sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLLClassifier, POPClassifier, load_model

TARGET_MS, TARGET_MB = 50.0, 500
MB = 1e6
ROWS, CODES = 600, 500
PROCESSES = 10


def dense_model(megabytes, rng):
    """Up to 500 codes of sparse rows; four fifths of the file are the features' projection."""
    n_features = int(0.8 * megabytes * MB / (8 * CODES))
    n_labels = int(0.1 * megabytes * MB / (8 * CODES))
    X = scipy.sparse.random_array((ROWS, n_features), density=0.01, format="csr", rng=rng)
    Y = scipy.sparse.random_array((ROWS, n_labels), density=0.02, format="csr", rng=rng)
    Y.data[:] = 1.0
    codes = min(CODES, n_features, n_labels)
    return CMLLClassifier(codes, codes, solver="dual", threshold=0.5).fit(X, Y)


def sparse_model(megabytes, rng):
    """Weights of many labels, in single precision."""
    n_stored = int(megabytes * MB / 8)
    n_labels, n_features = 10_000, 100_000
    model = POPClassifier(random_state=0).fit(rng.normal(size=(20, 4)), rng.random((20, 3)) < 0.5)
    model = model.compress("float32")
    each = n_stored // n_labels
    indices = np.sort(rng.integers(0, n_features, (n_labels, each), dtype=np.int32), axis=1).ravel()
    starts = np.arange(n_labels + 1, dtype=np.int32) * each
    weights = rng.random(indices.size, dtype=np.float32)
    model.coef_ = scipy.sparse.csr_array((weights, indices, starts), shape=(n_labels, n_features))
    model.intercept_ = np.zeros(n_labels, dtype=np.float32)
    labels = type(model.label_space_).numbered(n_labels)
    model.label_space_, model.n_labels_, model.classes_ = labels, n_labels, labels.classes
    model.n_features_in_ = n_features
    return model


def forget(path):
    """Drop a file from the system's cache, where the system lets us."""
    with open(path, "rb") as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def milliseconds(call):
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def loading(kind, path, pickled, repeats=25):
    forget(path)
    cold = milliseconds(lambda: load_model(path))
    warm = [milliseconds(lambda: load_model(path)) for _ in range(repeats)]
    size = path.stat().st_size / MB
    row = {"what": "load", "kind": kind, "file_mb": size, "median_ms": float(np.median(warm))}
    row |= {"least_ms": min(warm), "cold_ms": cold}
    row["verified_ms"] = min(milliseconds(lambda: load_model(path, verify=True)) for _ in range(3))
    row["joblib_ms"] = min(milliseconds(lambda: joblib.load(pickled)) for _ in range(3))
    if kind == "dense" and size >= TARGET_MB:
        row |= {"target_ms": TARGET_MS, "met": row["median_ms"] < TARGET_MS}
    return row


def resident(path, pid="self"):
    """Megabytes of a mapped file that a process has in its memory."""
    total, inside = 0, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            inside = line.endswith(str(path))
        elif inside and words[0] == "Rss:":
            total += int(words[1]) * 1024
    return total / MB


def serve(path, loader, pipe):
    """What each of several processes does: load, score a row, and wait."""
    model = loader(path)
    columns = np.sort(np.random.default_rng(0).choice(model.n_features_in_, 40, replace=False))
    parts = (np.ones(40), columns, np.array([0, 40]))
    row = scipy.sparse.csr_array(parts, shape=(1, model.n_features_in_))
    pipe.send(milliseconds(lambda: model.predict_topk(row, 5)))
    pipe.recv()


def shared_by(path, loader, count):
    """PSS of processes that have the model loaded and one row scored, what one of them has of the
    file, and how long the first answers took. They are copies of this one, which has no model."""
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


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, nargs="*", default=[5, 50, 600])
    parser.add_argument("--out", type=Path, help="the record (default: results/model_files.json)")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, make in (("dense", dense_model), ("sparse", sparse_model)):
            for megabytes in given.megabytes:
                path, pickled = Path(folder, "model"), Path(folder, "pickle")
                model = make(megabytes, np.random.default_rng(0))
                saving = milliseconds(lambda model=model, path=path: model.save(path))
                joblib.dump(model, pickled)
                del model
                rows.append(loading(kind, path, pickled) | {"save_ms": saving})
                print(rows[-1], flush=True)
            if kind == "dense":
                rows += sharing(path, pickled)
    out = given.out
    if out is None and given.megabytes == parser.get_default("megabytes"):
        out = common.RESULTS / "model_files.json"
    if out is not None:
        record = {"date": common.today(), "machine": common.machine()}
        common.write_json(out, record | {"measurements": rows})
    return 0 if all(row.get("met", True) for row in rows) else 1


def sharing(path, pickled):
    one, in_file, first = shared_by(path, load_model, 1)
    ten, _, _ = shared_by(path, load_model, PROCESSES)
    _, _, after_pickle = shared_by(pickled, joblib.load, 1)
    pickles, _, _ = shared_by(pickled, joblib.load, PROCESSES)
    size = path.stat().st_size / MB
    rows = [
        {"what": "one row", "file_mb": size, "in_memory_mb": in_file, "first_ms": first}
        | {"after_pickle_ms": after_pickle},
        {"what": "share", "file_mb": size, "one_mb": one, "ten_mb": ten, "ten_pickles_mb": pickles},
    ]
    for row in rows:
        print(row, flush=True)
    return rows


if __name__ == "__main__":
    sys.exit(main())

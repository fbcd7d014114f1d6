"""Fit one program to the rows of a folder and write down its best labels: a process of its own.

    python bench/text/programs.py FOLDER

`run.py` starts it, with the interpreter of an environment that has the program: the packages that
are compared here ask for versions of NumPy and SciPy that exclude each other. It therefore imports
nothing of this repository. In the folder are X_train.npz, Y_train.npz and X_test.npz (SciPy's
sparse matrices) and task.json (the program, its settings, how many labels, how many threads, what
to do without); it adds top.npy, the best labels of each test row with -1 where a program names
fewer, predicted.npz, its predicted labels where these are asked for, and answer.json.

Clocks run while a program learns and while it predicts. Reading the rows and turning them into
what the program takes is outside. Bytes are those of the folder that a program saves its model
in, or of the model pickled where it has no such way.
"""

import importlib
import importlib.metadata
import importlib.util
import json
import pickle
import sys
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse

BLOCK = 2_000  # rows at a time, where a program makes all scores of a row


class Job:
    """A job: its input and its result."""

    def __init__(self, folder):
        self.folder = folder
        self.task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
        self.settings = self.task["settings"]
        self.k, self.threads = self.task["k"], self.task["threads"]
        self.X, self.Y, self.X_test = (
            scipy.sparse.csr_matrix(scipy.sparse.load_npz(folder / f"{name}.npz"))
            for name in ("X_train", "Y_train", "X_test")
        )
        self.seconds = {}

    @contextmanager
    def clock(self, what):
        start, begun = time.perf_counter(), time.process_time()
        yield
        self.seconds[f"{what}_s"] = time.perf_counter() - start
        self.seconds[f"{what}_processor_s"] = time.process_time() - begun


def compactlearn(job):
    settings = dict(job.settings)
    module, _, name = settings.pop("estimator").partition(":")
    model = getattr(importlib.import_module(module), name)(**settings)
    with job.clock("fit"):
        model.fit(job.X, job.Y)
    with job.clock("predict"):
        top, _ = model.predict_topk(job.X_test, job.k)
    if job.task.get("labels"):
        predicted = scipy.sparse.csr_matrix(model.predict(job.X_test))
        scipy.sparse.save_npz(job.folder / "predicted.npz", predicted)
    return top, pickled_bytes(model)


def omikuji(job):
    program = importlib.import_module("omikuji")
    settings = program.Model.default_hyper_param()
    for name, value in job.settings.items():
        setattr(settings, name, value)
    path = job.folder / "train.txt"
    write_text(path, job.X, job.Y)
    rows = [list(zip(*row, strict=True)) for row in pairs_of(job.X_test)]
    with job.clock("fit"):
        model = program.Model.train_on_data(str(path), settings, n_threads=job.threads)
    with job.clock("predict"):  # it takes one row at a time
        found = [model.predict(row, top_k=job.k) for row in rows]
    model.save(str(job.folder / "model"))
    return filled([[label for label, _ in row] for row in found], job.k), folder_bytes(job)


def napkinxc(job):
    models = importlib.import_module("napkinxc.models")
    X, X_test = (matrix.astype(np.float32) for matrix in (job.X, job.X_test))
    labels = [job.Y.indices[a:b].tolist() for a, b in pairwise(job.Y.indptr)]
    model = models.PLT(str(job.folder / "model"), threads=job.threads, **job.settings)
    with job.clock("fit"):
        model.fit(X, labels)
    with job.clock("predict"):
        found = model.predict(X_test, top_k=job.k)
    return filled(found, job.k), folder_bytes(job)


def pecos(job):
    xmc = importlib.import_module("pecos.xmc")
    linear = importlib.import_module("pecos.xmc.xlinear.model")
    X, Y, X_test = (matrix.astype(np.float32) for matrix in (job.X, job.Y, job.X_test))
    with job.clock("fit"):
        labels = xmc.LabelEmbeddingFactory.create(Y, X, method="pifa", threads=job.threads)
        chain = xmc.Indexer.gen(labels, threads=job.threads)
        model = linear.XLinearModel.train(X, Y, C=chain, threads=job.threads, **job.settings)
    with job.clock("predict"):
        scores = model.predict(X_test, only_topk=job.k, threads=job.threads).tocsr()
    best = [labels[np.argsort(-values, kind="stable")] for labels, values in pairs_of(scores)]
    model.save(str(job.folder / "model"))
    return filled(best, job.k), folder_bytes(job)


def libmultilabel(job):
    linear = importlib.import_module("libmultilabel.linear")
    X, Y, X_test = (matrix.astype(np.float64) for matrix in (job.X, job.Y, job.X_test))
    options = f"{job.settings['options']} -m {job.threads}"
    with job.clock("fit"):
        model = linear.train_1vsrest(Y, X, options=options, verbose=False)
    with job.clock("predict"):
        top = best_of_all(model.predict_values, X_test, job.k)
    return top, pickled_bytes(model)


def one_vs_rest_logistic(job):
    linear_model = importlib.import_module("sklearn.linear_model")
    multiclass = importlib.import_module("sklearn.multiclass")
    one = linear_model.LogisticRegression(solver="liblinear", **job.settings)
    model = multiclass.OneVsRestClassifier(one, n_jobs=job.threads)
    with job.clock("fit"):
        model.fit(job.X, job.Y)
    with job.clock("predict"):
        top = best_of_all(model.predict_proba, job.X_test, job.k)
    return top, pickled_bytes(model)


def one_vs_rest_svm(job):
    svm = importlib.import_module("sklearn.svm")
    multiclass = importlib.import_module("sklearn.multiclass")
    model = multiclass.OneVsRestClassifier(svm.LinearSVC(**job.settings), n_jobs=job.threads)
    with job.clock("fit"):
        model.fit(job.X, job.Y)
    with job.clock("predict"):
        top = best_of_all(model.decision_function, job.X_test, job.k)
    return top, pickled_bytes(model)


PROGRAMS = {  # the name in a spec: what runs it, the module it needs, and who ships that
    "compactlearn": (compactlearn, "compactlearn", "compactlearn"),
    "omikuji": (omikuji, "omikuji", "omikuji"),
    "napkinxc": (napkinxc, "napkinxc", "napkinxc"),
    "pecos": (pecos, "pecos", "libpecos"),
    "libmultilabel": (libmultilabel, "libmultilabel", "libmultilabel"),
    "one_vs_rest_logistic": (one_vs_rest_logistic, "sklearn", "scikit-learn"),
    "one_vs_rest_svm": (one_vs_rest_svm, "sklearn", "scikit-learn"),
}


# ---- forms of rows, of labels and of models -----------------------------------------------------


def pairs_of(matrix):
    """The columns and the values of each row."""
    for a, b in pairwise(matrix.indptr):
        yield matrix.indices[a:b], matrix.data[a:b]


def write_text(path, X, Y):
    """The text of the extreme-classification repository.

    omikuji takes no row without features; nothing can be learnt from one, so they are left out.
    """
    kept = np.flatnonzero(np.diff(X.indptr))
    X, Y = X[kept], Y[kept]
    with path.open("w", encoding="ascii") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        for (labels, _), (columns, values) in zip(pairs_of(Y), pairs_of(X), strict=True):
            features = (f"{j}:{value:.7g}" for j, value in zip(columns, values, strict=True))
            file.write(f"{','.join(map(str, labels))} {' '.join(features)}\n")


def filled(rows, k):
    """Lists of labels as an array with ``k`` columns; -1 where a list is shorter."""
    top = np.full((len(rows), k), -1, dtype=np.int64)
    for place, row in zip(top, rows, strict=True):
        place[: len(row)] = row[:k]
    return top


def best_of_all(scores_of, X, k):
    """The best labels by a function that scores every label."""
    blocks = []
    for start in range(0, X.shape[0], BLOCK):
        scores = np.asarray(scores_of(X[start : start + BLOCK]))
        best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
        blocks.append(np.take_along_axis(best, order, axis=1))
    return np.concatenate(blocks)


def folder_bytes(job):
    return sum(path.stat().st_size for path in (job.folder / "model").rglob("*") if path.is_file())


class Counter:
    """A file that only counts what is written to it."""

    def __init__(self):
        self.count = 0

    def write(self, data):
        size = memoryview(data).nbytes
        self.count += size
        return size


def pickled_bytes(model):
    counter = Counter()
    pickle.dump(model, counter, protocol=5)
    return counter.count


def main(folder):
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    sys.modules.update(dict.fromkeys(task.get("without", ())))  # as if they were not installed
    function, module, distribution = PROGRAMS[task["program"]]
    if importlib.util.find_spec(module) is None:
        reason = f"{distribution} is not installed in the environment that was to run it."
        answer = {"status": "missing", "reason": reason}
    else:
        job = Job(folder)
        top, size = function(job)
        np.save(folder / "top.npy", top)
        answer = {"status": "done", "version": version_of(distribution), "model_bytes": int(size)}
        answer |= job.seconds
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def version_of(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:  # run from its source
        return None


if __name__ == "__main__":
    main(Path(sys.argv[1]))

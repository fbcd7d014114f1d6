"""Texts to tags: compactlearn and the programs that are made for many labels.

    python bench/text/run.py [--data-home DIR] [--data NAME ...] [--only ENTRY ...]
    python bench/text/run.py --data-home DIR --rows 2000      # a trial, which writes nothing

text.toml in this folder lists the data sets and which entries. Every entry runs in a process of
its own (programs.py), one after the other. Other programs have an environment of their own: set
COMPACTLEARN_BASELINES_PYTHON to the interpreter of one with omikuji, napkinxc and libmultilabel,
and COMPACTLEARN_PECOS_PYTHON to that of one with libpecos. Where it is not set, or the
package is not there, the record says so.

What was measured is merged into the record after each entry, so that parts can be run again: a new
outcome replaces that of the same entry on the same data, except that one which is missing, has
failed or took too long never replaces scores. Status 1 if an entry failed.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import MultiLabelBinarizer, normalize

from compactlearn.datasets import describe, load, load_texts
from compactlearn.metrics import (
    inverse_propensities,
    macro_f1,
    micro_f1,
    ndcg_at_k,
    precision_at_k,
    psp_at_k,
    r_precision_at_k,
)
from compactlearn.utils import free_cores
from compactlearn_bench.measure import RESULTS, machine, parser, today, write_json

HERE = Path(__file__).resolve().parent
K = (1, 3, 5)
# Groups of labels by their training rows; for texts, those that results on EURLEX57K are given for.
GROUPS = {"1-9": (1, 10), "10-99": (10, 100), "100+": (100, np.inf)}
GROUPS_OF_TEXTS = {"frequent": (51, np.inf), "few": (1, 51), "none": (0, 1)}
WORDS: dict[str, Any] = {"sublinear_tf": True, "min_df": 4}  # of sets of texts
SEED, TEST_SHARE = 0, 0.2

Record = dict[str, Any]


class Texts:
    """The training and the test rows of a set, and what a prediction for them is worth."""

    def __init__(self, name: str, data_home: Path | None, rows: int | None = None) -> None:
        is_texts = describe(name, data_home).format == "texts"
        parts = (_vectorised if is_texts else _divided)(name, data_home)
        cut = slice(rows), slice(None if rows is None else max(1, rows // 4))
        self.name, self.groups = name, GROUPS_OF_TEXTS if is_texts else GROUPS
        self.X, self.Y = (part[cut[0]] for part in parts[:2])
        self.X_test, self.Y_test = (part[cut[1]] for part in parts[2:])

    def shape(self) -> Record:
        """Return the sizes of the set for the tables."""
        return {
            "data": self.name,
            "train_rows": self.X.shape[0],
            "test_rows": self.X_test.shape[0],
            "features": self.X.shape[1],
            "labels": self.Y.shape[1],
            "cardinality": self.Y.nnz / self.Y.shape[0],
            "judged_labels": {name: int(group.sum()) for name, group in self._groups().items()},
        }

    def save(self, folder: Path) -> None:
        """The rows, for another process."""
        for name, matrix in (("X_train", self.X), ("Y_train", self.Y), ("X_test", self.X_test)):
            scipy.sparse.save_npz(folder / f"{name}.npz", matrix, compressed=False)

    def scores(self, top: np.ndarray) -> Record:
        """Return the scores of the best labels of the test rows, in the order of their columns."""
        scores = _as_scores(top, self.Y_test.shape)
        weights = inverse_propensities(self.Y)
        found = {f"precision_at_{k}": precision_at_k(self.Y_test, scores, k=k) for k in K}
        found |= {f"psp_at_{k}": psp_at_k(self.Y_test, scores, k=k, weights=weights) for k in K}
        found |= {
            f"{f.__name__[:-1]}5": f(self.Y_test, scores) for f in (r_precision_at_k, ndcg_at_k)
        }
        named = scores.astype(bool).multiply(self.Y_test.astype(bool))
        present = self._present()
        recall = np.asarray(named.sum(axis=0)).ravel() / np.maximum(present, 1)
        return found | {"recall_at_5_of_labels": self._by_group(recall)}

    def label_scores(self, predicted: scipy.sparse.csr_array) -> Record:
        """Return the scores of the labels that are predicted for the test rows.

        `macro_f1` is the mean over all labels with training rows, also those that no test row has;
        `f1_of_labels` are means over labels that test rows have.
        """
        right = np.asarray(self.Y_test.astype(bool).multiply(predicted.astype(bool)).sum(axis=0))
        named = self._present() + np.bincount(predicted.indices, minlength=self.Y.shape[1])
        learnt = np.bincount(self.Y.indices, minlength=self.Y.shape[1]) > 0
        return {
            "micro_f1": micro_f1(self.Y_test, predicted),
            "macro_f1": macro_f1(self.Y_test[:, learnt], predicted[:, learnt]),
            "f1_of_labels": self._by_group(2 * right.ravel() / np.maximum(named, 1)),
        }

    def _by_group(self, values: np.ndarray) -> dict[str, float | None]:
        """Return the mean over the labels of each group."""
        return {
            name: float(values[group].mean()) if group.any() else None
            for name, group in self._groups().items()
        }

    def _present(self) -> np.ndarray:
        return np.bincount(self.Y_test.indices, minlength=self.Y.shape[1])

    def _groups(self) -> dict[str, np.ndarray]:
        """Labels that test rows have, by how many training rows do."""
        counts, judged = np.bincount(self.Y.indices, minlength=self.Y.shape[1]), self._present() > 0
        groups = {
            name: judged & (counts >= low) & (counts < high)
            for name, (low, high) in self.groups.items()
        }
        return {"all": judged & (counts > 0)} | groups


def _divided(name: str, data_home: Path | None) -> list[Any]:
    """X and Y of the training and of the test rows, of unit length."""
    data = load(name, data_home=data_home)
    X = normalize(scipy.sparse.csr_array(data.X, dtype=np.float64))
    Y = scipy.sparse.csr_array(data.Y)
    return [matrix[part] for part in _parts(X.shape[0], data.n_train) for matrix in (X, Y)]


def _vectorised(name: str, data_home: Path | None) -> list[Any]:
    """The same of a set of texts; labels of its test rows without training rows are there too."""
    parts = load_texts(name, data_home=data_home)
    train, test = parts["train"], parts["test"]
    words = TfidfVectorizer(**WORDS).fit(train.texts)
    tags = MultiLabelBinarizer(sparse_output=True).fit([*train.tags, *test.tags])
    return [
        scipy.sparse.csr_array(matrix)
        for part in (train, test)
        for matrix in (words.transform(part.texts), tags.transform(part.tags))
    ]


def _parts(n_rows: int, n_train: int | None) -> tuple[np.ndarray, np.ndarray]:
    """The customary parts, or rows drawn at random."""
    if n_train is not None:
        return np.arange(n_train), np.arange(n_train, n_rows)
    order = np.random.default_rng(SEED).permutation(n_rows)
    n_test = round(TEST_SHARE * n_rows)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _as_scores(top: np.ndarray, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    """A matrix that stores the best labels only, with scores that fall along each row."""
    row, place = np.nonzero(top >= 0)
    values = top.shape[1] - place.astype(np.float64)
    return scipy.sparse.csr_array((values, (row, top[row, place])), shape=shape)


def run_entry(entry: Record, texts: Texts, spec: Record) -> Record:
    """One entry on one set: its scores, or a sentence on why there are none."""
    interpreter = sys.executable
    if "python" in entry:
        interpreter = os.environ.get(entry["python"], "")
        if not interpreter:
            return _without("missing", f"{entry['python']} names no interpreter to run it with.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts.save(folder)
        task = {"program": entry["program"], "settings": entry.get("settings", {})}
        task |= {"k": max(K), "threads": spec["threads"]}
        task |= {key: entry[key] for key in ("labels", "without") if key in entry}
        (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        command = [interpreter, str(HERE / "programs.py"), str(folder)]
        try:
            status, said = _finish(command, folder / "said.txt", spec["seconds"])
        except OSError as error:
            reason = f"The interpreter that {entry['python']} names does not start: {error}."
            return _without("missing", reason)
        if status is None:
            return _without("timeout", f"It was ended after {spec['seconds']:,} s.")
        if status != 0:
            return _without("failed", f"It ended with status {status}: {said}")
        answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        if answer["status"] == "done":
            answer |= texts.scores(np.load(folder / "top.npy"))
            if entry.get("labels"):
                predicted = scipy.sparse.load_npz(folder / "predicted.npz")
                answer |= texts.label_scores(scipy.sparse.csr_array(predicted))
        return answer


def _finish(command: list[str], log: Path, seconds: float) -> tuple[int | None, str]:
    """Run a command to its end: status, None if it took too long, and the last line it said."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if process.poll() is None:  # it, and the processes that it has started
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return status, next((line.strip() for line in reversed(lines) if line.strip()), "nothing said")


def _without(status: str, reason: str) -> Record:
    return {"status": status, "reason": reason}


# ---- the record ---------------------------------------------------------------------------------


def merged(record: Record | None, new: Record, spec: Record) -> Record:
    """A record with what was measured now in place of what was there, in the order of the spec."""
    record = record or {"measurements": [], "datasets": []}
    rows = {(row["data"], row["entry"]): row for row in record["measurements"]}
    for row in new["measurements"]:
        old = rows.get((row["data"], row["entry"]))
        if row["status"] == "done" or old is None or old["status"] != "done":
            rows[row["data"], row["entry"]] = row
    sets = {row["data"]: row for row in [*record["datasets"], *new["datasets"]]}
    order = [(data, entry["name"]) for data in spec["datasets"] for entry in spec["entries"]]
    kept = {key: value for key, value in new.items() if key not in ("measurements", "datasets")}
    return kept | {
        "datasets": [sets[name] for name in spec["datasets"] if name in sets],
        "measurements": [rows[key] for key in order if key in rows],
    }


def read_record(path: Path, machine: Record) -> Record | None:
    """The record so far; it must be of this class of machine, as its times are compared."""
    if not path.exists():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    old, new = ((who["cpu"], who["cores"]) for who in (record["machine"], machine))
    if old != new:
        raise SystemExit(
            f"The times in {path.name} were measured on {old[1]} cores of {old[0]}, and this "
            f"machine has {new[1]} of {new[0]}; pass --out to begin another record, or remove "
            "this one."
        )
    return record


def chosen(names: list[str], wanted: list[str], what: str) -> list[str]:
    """All names, or those that are asked for."""
    strangers = [name for name in wanted if name not in names]
    if strangers:
        raise SystemExit(f"There is no {what} {strangers[0]!r}; there are {', '.join(names)}.")
    return [name for name in names if not wanted or name in wanted]


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for, show it, merge it into the record."""
    command = parser(__doc__, "text.json")
    command.add_argument("--spec", type=Path, default=HERE / "text.toml")
    command.add_argument("--data", nargs="+", default=[], metavar="NAME", help="of these sets only")
    command.add_argument(
        "--only", nargs="+", default=[], metavar="ENTRY", help="these entries only"
    )
    command.add_argument("--rows", type=int, help="the first so many training rows; no record")
    options = command.parse_args(arguments)
    spec, own = tomllib.loads(options.spec.read_text(encoding="utf-8")), machine()
    names = chosen([entry["name"] for entry in spec["entries"]], options.only, "entry")
    out = None if options.rows and options.out == RESULTS / "text.json" else options.out
    record = None if out is None else read_record(out, own)
    failed = False
    for data in chosen(spec["datasets"], options.data, "data set"):
        texts = Texts(data, options.data_home, options.rows)
        for entry in spec["entries"]:
            if entry["name"] not in names or data not in entry.get("data", [data]):
                continue
            about = {"data": data, "entry": entry["name"], "program": entry["program"]}
            before = free_cores()
            row = about | {"date": today()} | run_entry(entry, texts, spec)
            row["free_cores"] = min(before, free_cores())  # fewer than there are: times are long
            failed |= row["status"] == "failed"
            print(row, flush=True)
            new = {"date": today(), "machine": own, "threads": spec["threads"]}
            new |= {"datasets": [texts.shape()], "measurements": [row]}
            record = merged(record, new, spec)
            if out is not None:
                write_json(out, record)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

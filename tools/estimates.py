"""Fit the coefficients of shortlist/_estimates.py to measured fits, and check them on other data.

    python tools/estimates.py measure DIR [--data-home DIR] [--only NAME ...] [--without-numba]
    python tools/estimates.py fit DIR [--out bench/results/estimates.json]

``measure`` fits the first candidates of the automatic search to parts of data sets (the most
frequent labels, rows drawn at random), each in a process of its own with one thread, and writes a
file for each to DIR; those that are there already are kept. ``fit`` finds the coefficients for
seconds (with and without Numba) and for memory, by least squares of relative errors over the
shapes of ``FITTED``, and prints them for the module, with the ratio of estimate and measurement on
each shape. Shapes in ``CHECKED`` are not fitted. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from scipy.optimize import nnls

from compactlearn import AutoCompactClassifier
from compactlearn.auto import _candidates as portfolio
from compactlearn.core._deadline import TimeUp, limited
from compactlearn.core._weight import bytes_in
from compactlearn.metrics import precision_at_k
from compactlearn.shortlist._estimates import FitSizes
from compactlearn_bench.harness.host import forget_peak, peak_bytes, resident_bytes
from compactlearn_bench.measure import RESULTS, write

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench" / "text"))

from run import Texts

# Data set, rows, labels.
FITTED = [
    ("wordnet", 1_000, 200),
    ("wordnet", 2_000, 20),
    ("wordnet", 2_000, 200),
    ("wordnet", 2_000, 3_000),
    ("wordnet", 4_000, 100),
    ("wordnet", 8_000, 1_500),
    ("wordnet", 16_000, 50),
    ("wordnet", 16_000, 500),
    ("wordnet", 32_000, 4_000),
    ("wordnet", 50_000, 100),
    ("wordnet", 65_041, 8_821),
    ("eurlex57k", 2_000, 300),
    ("eurlex57k", 8_000, 100),
    ("eurlex57k", 45_000, 4_193),
    ("delicious", 3_000, 100),
    ("delicious", 12_884, 983),
    ("bibtex", 5_916, 159),
    ("bibtex", 1_000, 100),
    ("llog", 1_168, 75),
    ("tmc2007-500", 6_000, 22),
    ("imdb", 40_000, 28),
    ("generated", 100_000, 20_000),
]
CHECKED = [
    ("wordnet", 3_000, 60),
    ("wordnet", 6_000, 3_000),
    ("wordnet", 24_000, 527),
    ("wordnet", 60_000, 1_000),
    ("eurlex57k", 5_000, 800),
    ("eurlex57k", 12_000, 1_500),
    ("delicious", 8_000, 400),
    ("bibtex", 3_000, 100),
    ("tmc2007-500", 22_877, 22),
    ("corel5k", 4_000, 374),
    ("corel16k", 11_013, 153),
    ("generated", 30_000, 15_000),
]
SMALL = [  # of the rule only: too few rows for a shortlist so far
    ("wordnet", 1_000, 20),
    ("wordnet", 1_000, 1_500),
    ("enron", 1_123, 53),
    ("medical", 782, 45),
]
MODULE = Path(__file__).resolve().parents[1] / "src/compactlearn/shortlist/_estimates.py"
SEED, LONGEST = 0, 150.0
KINDS = {
    "shortlist": portfolio.shortlist_candidates,
    "linear": portfolio.linear_candidates,
    "kernel": portfolio.kernel_candidates,
}
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def generated(n_rows: int, n_labels: int) -> list[Any]:
    """Return rows of words that labels share, with labels as frequent as in long tails."""
    rng = np.random.default_rng(SEED)
    n_words = 2 * n_labels
    shares = 1 / np.arange(2, n_labels + 2)
    labels = rng.choice(n_labels, (n_rows + 2_000, 3), p=shares / shares.sum())
    own = rng.integers(0, n_words, (n_labels, 6))
    words = own[labels][:, :, rng.integers(0, 6, 4)].reshape(len(labels), -1)
    common = np.minimum(rng.zipf(1.3, (len(labels), 8)) - 1, n_words - 1)
    words = np.hstack([words, common])
    X, Y = (
        scipy.sparse.csr_array(
            (np.ones(part.size), (np.repeat(np.arange(len(part)), part.shape[1]), part.ravel())),
            shape=(len(part), width),
        )
        for part, width in ((words, n_words), (labels, n_labels))
    )
    Y.data[:] = 1.0
    return [X[:n_rows], Y[:n_rows], X[n_rows:], Y[n_rows:]]


@cache
def parts_of(name: str, data_home: Path | None) -> list[Any]:
    texts = Texts(name, data_home)
    return [texts.X, texts.Y, texts.X_test, texts.Y_test]


def shape_of(name: str, n_rows: int, n_labels: int, data_home: Path | None) -> list[Any]:
    """Return the most frequent labels and some rows of a set."""
    if name == "generated":
        return generated(n_rows, n_labels)
    X, Y, X_test, Y_test = parts_of(name, data_home)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    labels = np.sort(np.argsort(-counts, kind="stable")[:n_labels])
    Y, Y_test = Y[:, labels], Y_test[:, labels]
    present = np.diff(Y.indptr) > 0
    rows = np.flatnonzero(present if n_labels < counts.size else np.ones_like(present))
    rows = np.sort(np.random.default_rng(SEED).permutation(rows)[:n_rows])
    judged = np.flatnonzero(np.diff(Y_test.indptr) > 0)[:3_000]
    return [X[rows], Y[rows], X_test[judged], Y_test[judged]]


def child(folder: Path, kind: str) -> None:
    """Measure one kind of model on the matrices of a folder."""
    warnings.simplefilter("ignore")
    X, Y, X_test, Y_test = (
        scipy.sparse.csr_array(scipy.sparse.load_npz(folder / f"{k}.npz")) for k in range(4)
    )
    search = AutoCompactClassifier(n_jobs=1, random_state=SEED)
    problem = search._read(X, Y, None, None, None, None)[1]
    findings = portfolio.Findings(problem)
    row: dict[str, Any] = {"shape": asdict(FitSizes.of(X, Y))}
    row["csr_bytes"] = sum(
        part.nbytes for one in (X, Y) for part in (one.data, one.indices, one.indptr)
    )
    found = list(KINDS[kind](problem, findings))
    if not found:
        return
    candidate = found[0]
    forget_peak()
    before, start = resident_bytes(os.getpid()), time.process_time()
    try:
        with limited(LONGEST, time.process_time):
            if kind == "kernel":
                _ = findings.linear
                row["search_s"] = time.process_time() - start
            trial = candidate.run()
            row |= {"score": trial.score, "name": trial.name}
    except TimeUp:
        row["stopped"] = True
    row |= {"seconds": time.process_time() - start, "estimate": candidate.seconds}
    row |= {"before": before, "peak": peak_bytes()}
    if "score" in row:
        row["bytes"] = bytes_in(trial.model)
        scores = trial.blend.log_odds(X_test)
        row["precision"] = [precision_at_k(Y_test, scores, k=k) for k in (1, 3, 5)]
    print(json.dumps(row))


def measure(given: argparse.Namespace) -> None:
    """Measure all shapes that have no file yet."""
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, n_rows, n_labels in [*FITTED, *CHECKED, *SMALL]:
        if given.only and name not in given.only:
            continue
        for kind in given.kinds:
            mark = "-plain" if given.without_numba else ""
            out = given.folder / f"{name}-{n_rows}-{n_labels}-{kind}{mark}.json"
            if out.exists():
                continue
            with tempfile.TemporaryDirectory() as place:
                for k, part in enumerate(shape_of(name, n_rows, n_labels, given.data_home)):
                    scipy.sparse.save_npz(Path(place) / f"{k}.npz", part, compressed=False)
                command = [sys.executable, __file__, "child", place, "--kinds", kind]
                command += ["--without-numba"] * given.without_numba
                answer = subprocess.run(
                    command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | THREADS
                )
            if answer.stdout:
                row = {"data": name, "rows": n_rows, "labels": n_labels, "kind": kind}
                row["plain"] = given.without_numba
                row |= json.loads(answer.stdout.splitlines()[-1])
                out.write_text(json.dumps(row), encoding="utf-8")
                print(summary(row), flush=True)


def summary(row: dict[str, Any]) -> str:
    """Return a line about a measured fit."""
    return (
        f"{row['data']:12} {row['rows']:7,} {row['labels']:6,} {row['kind']:9} "
        f"{row['seconds']:7.1f} s, estimate {row['estimate']:7.1f}, "
        f"search {row.get('search_s', 0):5.1f}, {memory(row) / 2**20:6.0f} MiB more, "
        f"model {row.get('bytes', 0) / 1e6:6.1f} MB, P@1 {row.get('precision', [0])[0]:.3f}, "
        f"score {row.get('score', 0):.4f}"
    )


def memory(row: dict[str, Any]) -> int:
    """Return the bytes that a fit needed in addition to its data."""
    return row["peak"] - row["before"]


def terms(row: dict[str, Any], key: str) -> Any:
    """Return the sizes that a coefficient is for."""
    return getattr(FitSizes(**row["shape"]), key)


def coefficients(sizes: Any, measured: Any) -> Any:
    """Return the coefficients, none below 0, of least squares of the logarithms of ratios."""
    A = np.array(sizes) / np.array(measured)[:, None]
    A, scale = A / np.maximum(A.max(axis=0), 1e-300), np.maximum(A.max(axis=0), 1e-300)
    c = nnls(A, np.ones(len(A)))[0]
    for _ in range(50):  # by weights that make relative errors logarithms of ratios
        ratio = np.maximum(A @ c, 0.05)
        weights = np.sqrt(np.abs(np.log(ratio)) / np.maximum(np.abs(ratio - 1), 1e-9))
        c = (c + nnls(A * weights[:, None], weights)[0]) / 2
    return c / scale


def fit(given: argparse.Namespace) -> None:
    """Print coefficients, and the ratio of estimate and measurement on all shapes."""
    rows = [json.loads(path.read_text("utf-8")) for path in sorted(given.folder.glob("*.json"))]
    rows = [row for row in rows if row["kind"] == "shortlist" and "score" in row and "shape" in row]
    found: list[dict[str, Any]] = []
    for name, key, value, plain in (
        ("COMPILED_SECONDS", "work", lambda row: row["seconds"], False),
        ("PLAIN_SECONDS", "work", lambda row: row["seconds"], True),
        ("BYTES", "arrays", memory, False),
    ):
        own = [row for row in rows if row.get("plain", False) == plain]
        if not own:
            continue
        fitted = [row for row in own if (row["data"], row["rows"], row["labels"]) in FITTED]
        c = coefficients([terms(row, key) for row in fitted], [value(row) for row in fitted])
        line = f"{name} = ({', '.join(f'{one:.3g}' for one in c)})"
        print(line)
        if given.write:
            text = re.sub(rf"(?m)^{name} = (\([^)]*\)|\w+)", line, MODULE.read_text("utf-8"))
            MODULE.write_text(text, encoding="utf-8")
        for row in own:
            ratio = float(terms(row, key) @ c) / value(row)
            part = "fitted" if row in fitted else "checked"
            one = {name: row[name] for name in ("data", "rows", "labels", "shape")}
            found.append(
                {"what": name} | one | {"part": part, "measured": value(row), "ratio": ratio}
            )
            print(*(found[-1][name] for name in ("what", "data", "rows", "labels", "part")), ratio)
    write(given.out, found)


def main() -> None:
    command = argparse.ArgumentParser(description=__doc__)
    command.add_argument("what", choices=["measure", "fit", "child"])
    command.add_argument("folder", type=Path)
    command.add_argument("--data-home", type=Path)
    command.add_argument("--only", nargs="+")
    command.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    command.add_argument("--without-numba", action="store_true")
    command.add_argument("--write", action="store_true", help="the coefficients, to the module")
    command.add_argument("--out", type=Path, default=RESULTS / "estimates.json")
    given = command.parse_args()
    if given.what == "child":
        if given.without_numba:
            sys.modules.update(dict.fromkeys(["numba"]))  # as if it were not installed
        child(given.folder, given.kinds[0])
    else:
        {"measure": measure, "fit": fit}[given.what](given)


if __name__ == "__main__":
    main()

"""Parts that the scripts in bench/ share: command line, clock, memory, machine, record."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import scipy.sparse
import sklearn
from threadpoolctl import threadpool_info

import compactlearn
from compactlearn.datasets import load
from compactlearn.utils import host
from compactlearn_bench.harness.host import forget_peak, peak_bytes

__all__ = [
    "BENCH",
    "RESULTS",
    "by_data_set",
    "dense",
    "forget_peak",
    "in_a_child",
    "interleaved",
    "known_rows",
    "machine",
    "parser",
    "peak_bytes",
    "rounded",
    "rows_of",
    "sparse",
    "timed",
    "today",
    "write",
    "write_json",
]

BENCH = Path(__file__).resolve().parents[2]
RESULTS = BENCH / "results"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Row = dict[str, Any]
Call = Callable[[], object]


# ---- command line and record ---------------------------------------------------------------------


def parser(script: str | None, record: str | None = None) -> argparse.ArgumentParser:
    """Return a command line with the script's own text, --data-home and --out."""
    made = argparse.ArgumentParser(
        description=script, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--data-home", type=Path, help="folder of the data sets")
    if record is not None:
        made.add_argument("--out", type=Path, default=RESULTS / record, help="the record")
    return made


def by_data_set(
    script: str | None,
    record: str,
    data: Sequence[str],
    measure: Callable[[str, Path | None], Row | list[Row]],
    arguments: list[str] | None = None,
) -> int:
    """Run the command of a script that measures data sets one by one: some of them, or all.

    ``measure`` returns the row of a data set, or a list of its rows.
    """
    command = parser(script, record)
    command.add_argument("names", nargs="*", metavar="NAME", help=f"default: {', '.join(data)}")
    options = command.parse_args(arguments)
    warnings.simplefilter("ignore")
    found: dict[str, list[Row]] = {}
    for row in known_rows(options.out):
        found.setdefault(row["data"], []).append(row)
    for name in options.names or data:
        rows = measure(name, options.data_home)
        found[name] = rows if isinstance(rows, list) else [rows]
        print(*found[name], sep="\n", flush=True)
        write(options.out, [row for one in data for row in found.get(one, [])])
    return 0


def known_rows(path: Path) -> list[Row]:
    """Return the measurements of a record, so that some of them can be made anew."""
    return json.loads(path.read_text("utf-8"))["measurements"] if path.exists() else []


def write(path: Path, measurements: Sequence[Row], **more: Any) -> None:
    """Write a record: the date, the class of machine, further facts, the measurements."""
    record = {"date": today(), "machine": machine(), **more, "measurements": list(measurements)}
    write_json(path, record)


def write_json(path: Path, record: Row) -> None:
    """Write a record whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    os.replace(part, path)


def today() -> str:
    """Return the date in universal time."""
    return datetime.now(UTC).date().isoformat()


def machine() -> Row:
    """Return the class of machine, never which one: no host, user or path."""
    pools = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    names = [f"{p['internal_api']} {p.get('version')} ({p.get('architecture')})" for p in pools]
    packages = {"numpy": np, "scipy": scipy, "scikit-learn": sklearn, "compactlearn": compactlearn}
    versions = {name: package.__version__ for name, package in packages.items()}
    versions = {"python": platform.python_version(), **versions}
    return {**host(), "blas": sorted(set(names)), "versions": versions}


# ---- clock and processes -------------------------------------------------------------------------


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> Any:
    """Return what a call returns, and its seconds."""
    start = clock()
    result = call()
    return result, clock() - start


def interleaved(
    ours: Call, theirs: Call, *, pairs: int = 7, budget_s: float = 120.0, warm_up: bool = True
) -> Row:
    """Time two calls in turn, so that a busy machine slows both alike.

    Both run once untimed first. Where ``pairs`` of them would take longer than ``budget_s`` there
    are fewer; calls too short for the clock are repeated within each measurement. Returned are
    median seconds, and median and quartiles of the ratio of each pair, ours over theirs.
    """
    repeats = (1, 1)
    if warm_up:
        first = _seconds(ours, 1), _seconds(theirs, 1)
        repeats = tuple(max(1, min(100, round(0.05 / max(spent, 1e-9)))) for spent in first)
        slow = sum(spent * count for spent, count in zip(first, repeats, strict=True))
        pairs = max(1, min(pairs, int(budget_s / max(slow, 1e-9))))
    runs = [(_seconds(ours, repeats[0]), _seconds(theirs, repeats[1])) for _ in range(pairs)]
    mine, other = np.array(runs).T
    low, middle, high = np.percentile(mine / other, [25, 50, 75])
    return {
        "pairs": pairs,
        "ours_s": rounded(np.median(mine)),
        "theirs_s": rounded(np.median(other)),
        "ratio": rounded(middle),
        "ratio_quartiles": [rounded(low), rounded(high)],
    }


def _seconds(call: Call, repeats: int) -> float:
    gc.collect()
    # NumPy and SciPy bring a BLAS each, whose threads spin for some 30 ms after their last call.
    # On two cores the call that is timed next would pay for them; it starts on idle ones instead.
    time.sleep(0.1)
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def in_a_child(script: str, *arguments: object, threads: int | None = None) -> Row:
    """Return the JSON that a script prints last in a process of its own."""
    own = {} if threads is None else dict.fromkeys(_THREADS, str(threads))
    command = [sys.executable, "-P", script, *map(str, arguments)]
    answer = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | own
    )
    return json.loads(answer.stdout.splitlines()[-1])


# ---- data and numbers ----------------------------------------------------------------------------


def rounded(value: Any) -> float:
    """Return four digits of a number."""
    return float(f"{float(value):.4g}")


def dense(matrix: Any) -> np.ndarray:
    """Return a C-ordered float64 array of a dense or sparse matrix."""
    if scipy.sparse.issparse(matrix):
        matrix = matrix.toarray()
    return np.ascontiguousarray(matrix, dtype=np.float64)


def sparse(matrix: Any) -> scipy.sparse.csr_array:
    """Return a CSR array of float64, without explicit zeros."""
    result = scipy.sparse.csr_array(matrix, dtype=np.float64)
    result.eliminate_zeros()
    return result


def rows_of(name: str, data_home: Path | None, seed: int = 0) -> tuple[Any, Any]:
    """Return features and labels, with as many rows and labels as in the paper's table."""
    data = load(name, data_home=data_home)
    X, Y = sparse(data.X), sparse(data.Y)
    if name == "bibtex":  # the paper uses 5000 of 7395 rows, without saying which
        chosen = np.sort(np.random.default_rng(seed).permutation(X.shape[0])[:5000])
        X, Y = X[chosen], Y[chosen]
    if name == "llog":  # the paper's 74 labels are all but this one
        kept = [k for k, label in enumerate(data.label_names or ()) if label != "Humor"]
        Y = Y[:, kept]
    return X, Y

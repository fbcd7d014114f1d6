"""What every benchmark script shares: the machine's class, records on disk, tables on screen."""

import argparse
import json
import os
import platform
import sys
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
from compactlearn.utils import require

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench" / "results"


def machine() -> dict[str, Any]:
    """The class of machine, never which one: no host, user or path."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "blas": sorted(
            {
                f"{pool.get('internal_api')} {pool.get('version')} ({pool.get('architecture')})"
                for pool in threadpool_info()
                if pool.get("user_api") == "blas"
            }
        ),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "compactlearn": getattr(compactlearn, "__version__", "unknown"),
        },
    }


def today() -> str:
    """The date of the run, in universal time."""
    return datetime.now(UTC).date().isoformat()


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write a record whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    os.replace(part, path)


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, with rich where it is installed."""
    try:
        console = require("rich.console", extra="cli", purpose="a drawn table")
        drawing = require("rich.table", extra="cli", purpose="a drawn table")
    except ImportError:
        print(title, "\t".join(header), *("\t".join(row) for row in rows), sep="\n")
        return
    table = drawing.Table(title=title, title_justify="left")
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console.Console(width=None if sys.stdout.isatty() else 120).print(table)


def parser(script: str | None) -> argparse.ArgumentParser:
    """A command line that shows what a script says of itself, and knows where data sets are."""
    made = argparse.ArgumentParser(
        description=script, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--data-home", type=Path, help="folder of the data sets")
    return made


def measured_by_set(
    script: str | None,
    record: str,
    data: Sequence[str],
    measure: Callable[[str, Path | None], dict[str, Any]],
    arguments: list[str] | None = None,
) -> int:
    """The command of a script that measures data sets one by one: some of them, or all.

    The record is written after each; what is not measured again stays as it was.
    """
    command = parser(script)
    command.add_argument("names", nargs="*", metavar="NAME", help=f"default: {', '.join(data)}")
    command.add_argument("--out", type=Path, default=RESULTS / record)
    options = command.parse_args(arguments)
    warnings.simplefilter("ignore")
    known = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    found = {row["data"]: row for row in known.get("measurements", [])}
    for name in options.names or data:
        found[name] = measure(name, options.data_home)
        print(found[name], flush=True)
        rows = [found[one] for one in data if one in found]
        write_json(options.out, {"date": today(), "machine": machine(), "measurements": rows})
    return 0


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def dense(matrix: Any) -> np.ndarray:
    """A C-ordered float64 array of a dense or sparse matrix."""
    if scipy.sparse.issparse(matrix):
        matrix = matrix.toarray()
    return np.ascontiguousarray(matrix, dtype=np.float64)


def sparse(matrix: Any) -> scipy.sparse.csr_array:
    """A CSR array of float64, without explicit zeros."""
    result = scipy.sparse.csr_array(matrix, dtype=np.float64)
    result.eliminate_zeros()
    return result


def auto_penalty(X: Any) -> float:
    """The penalty that ``alpha="auto"`` is on these rows: D times the squared mean deviation."""
    X = sparse(X)
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    seen = squares[squares > 1e-12 * (1.0 + mean**2)]
    return float(np.sqrt(seen).sum() ** 2 / seen.size) if seen.size else 1.0


def rows_of(name: str, data_home: Path | None, seed: int) -> tuple[Any, Any]:
    """Features and labels, with as many rows and labels as in the paper's table."""
    data = load(name, data_home=data_home)
    X, Y = sparse(data.X), sparse(data.Y)
    if name == "bibtex":  # the paper uses 5000 of 7395 rows, without saying which
        chosen = np.sort(np.random.default_rng(seed).permutation(X.shape[0])[:5000])
        X, Y = X[chosen], Y[chosen]
    if name == "llog":  # the paper's 74 labels are all but this one
        Y = Y[:, [k for k, label in enumerate(data.label_names) if label != "Humor"]]
    return X, Y

"""Kernel versions: time beside what they avoid, and the memory of a large one.

    python bench/speed/kernel.py [--data-home DIR] [--seed N] [--out FILE] [--only PART]

* exact: k-CMLL on 5000 rows of bibtex, half the labels as components, kernel matrix included,
  beside one ``numpy.linalg.eigh`` of that kernel matrix (target: at most 0.5). Eigenvalues are
  compared with those of eigh on the method's own matrix.
* landmarks: k-CMLL with 2000 landmarks on all of mediamill: time, and the memory the process had at
  most (target: 8 GiB), measured in a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import common
from peak import memory_mark
from timing import interleaved

from compactlearn import KernelMap, method
from compactlearn.datasets import load

LANDMARKS = 2000
ROOM = 8 * 2**30


def exact(data_home: Path | None, seed: int) -> dict[str, Any]:
    """k-CMLL beside eigh of its kernel matrix."""
    data = load("bibtex", data_home=data_home)
    chosen = np.random.default_rng(seed).permutation(data.X.shape[0])[:5000]
    X, Y = common.sparse(data.X)[chosen], common.sparse(data.Y)[chosen]
    Q = KernelMap().fit_rows(X).gram()
    model = method("k-CMLL", n_label_components=0.5)
    times = interleaved(lambda: model.fit(X, Y), lambda: np.linalg.eigh(Q), pairs=3, budget_s=400.0)
    centred = Q - Q.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    fitted = model.embedding_
    A = fitted.beta_ * centred + np.asarray((Y @ Y.T).todense())
    expected = np.linalg.eigvalsh(A)[::-1][: fitted.n_label_components_]
    error = np.max(np.abs(fitted.eigenvalues_ - expected)) / expected[0]
    return {
        "what": "k-CMLL, exact kernel, against eigh of the kernel matrix",
        "data": f"bibtex, 5000 x {X.shape[1]}, {fitted.n_label_components_} components",
        "target": 0.5,
        "largest_eigenvalue_error": float(f"{error:.1e}"),
        **times.summary(),
    }


def landmarks(data_home: Path | None) -> dict[str, Any]:
    """Measured in a child, so that nothing else is counted."""
    command = [sys.executable, __file__, "--child"]
    if data_home is not None:
        command += ["--data-home", str(data_home)]
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "2")
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(answer.stdout)


def _child(data_home: Path | None) -> None:
    data = load("mediamill", data_home=data_home)
    model = method(
        "k-CMLL",
        protocol="recommended",
        algorithm="nystroem",
        n_components=LANDMARKS,
        random_state=0,
    )
    start = time.perf_counter()
    model.fit(data.X, data.Y)
    seconds = time.perf_counter() - start
    model.predict_topk(data.X, 5)
    report = {
        "what": f"k-CMLL, {LANDMARKS} landmarks: fit and top five of every row",
        "data": f"mediamill, {data.X.shape[0]} x {data.X.shape[1]}",
        "fit_s": round(seconds, 1),
        "peak_bytes": memory_mark(),
        "target_bytes": ROOM,
        "solver": model.embedding_.solver_,
    }
    print(json.dumps(report))


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; status 1 where a target is missed."""
    parser = common.parser(__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the rows of bibtex")
    parser.add_argument("--only", choices=("exact", "landmarks"), help="one part")
    parser.add_argument("--out", type=Path, help="the record (default: results/kernel.json)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        _child(options.data_home)
        return 0
    rows: list[dict[str, Any]] = []
    if options.only in (None, "landmarks"):
        rows.append(landmarks(options.data_home))
        print(rows[-1], flush=True)
    if options.only in (None, "exact"):
        rows.append(exact(options.data_home, options.seed))
        print(rows[-1], flush=True)
    out = options.out or (common.RESULTS / "kernel.json" if options.only is None else None)
    if out is not None:
        record = {"date": common.today(), "machine": common.machine(), "seed": options.seed}
        common.write_json(out, record | {"measurements": rows})
    missed = [
        row
        for row in rows
        if row.get("ratio", 0) > row.get("target", np.inf)
        or row.get("peak_bytes", 0) > row.get("target_bytes", np.inf)
    ]
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())

"""The memory a fit adds at its peak, measured in a process that does nothing else.

The parent writes the arrays to a file; the child reads them (so no parser's leftovers are there
to be reused), fits a tiny problem once (so that imports and thread pools are not counted), sets
the high-water mark of its resident memory back to the present, fits, and reads the mark again.
Setting back is writing 5 to /proc/self/clear_refs and reading VmHWM, on Linux; elsewhere the
mark of getrusage is used as it stands, which can only understate the increase.
"""

import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from compactlearn import CMLLClassifier


def increase_of_a_fit(X: Any, Y: Any, *, threads: int = 2) -> dict[str, Any]:
    """Bytes that a fit with half of the labels as components adds over the loaded data.

    Returns
    -------
    dict
        The increase, the bound 3 (X + Y) + model, plus 4 (D + M)^2 doubles where the moments
        regime ran, and their parts, all in bytes; the route taken and how the mark was read.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, **_parts("x", X), **_parts("y", Y))
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, str(threads))
        answer = subprocess.run(
            [sys.executable, __file__, str(path)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
    return json.loads(answer.stdout)


def _child(path: str) -> None:
    with np.load(path) as stored:
        X, Y = _matrix("x", stored), _matrix("y", stored)
    rng = np.random.default_rng(0)
    small = rng.normal(size=(200, 20)), rng.integers(0, 2, size=(200, 8))
    CMLLClassifier(n_label_components=0.5, threshold=0.5).fit(*small)
    method = "VmHWM after clear_refs" if reset_memory_mark() else "getrusage without a reset"
    before = memory_mark()
    model = CMLLClassifier(n_label_components=0.5, threshold=0.5).fit(X, Y)
    after = memory_mark()
    data, size = matrix_bytes(X) + matrix_bytes(Y), len(pickle.dumps(model, protocol=5))
    # Matrices of order D + M belong to the moments regime only.
    moments = model.embedding_.solver_.endswith("moments")
    square = 4 * (X.shape[1] + Y.shape[1]) ** 2 * 8 if moments else 0
    report = {
        "increase_bytes": after - before,
        "bound_bytes": 3 * data + size + square,
        "data_bytes": data,
        "model_bytes": size,
        "squares_bytes": square,
        "solver": model.embedding_.solver_,
        "read_by": method,
    }
    print(json.dumps(report))


def reset_memory_mark() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def memory_mark() -> int:
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _parts(name: str, matrix: Any) -> dict[str, Any]:
    if not scipy.sparse.issparse(matrix):
        return {name: matrix}
    csr = scipy.sparse.csr_array(matrix)
    return {
        f"{name}_data": csr.data,
        f"{name}_indices": csr.indices,
        f"{name}_indptr": csr.indptr,
        f"{name}_shape": np.array(csr.shape),
    }


def _matrix(name: str, stored: Any) -> Any:
    if name in stored:
        return stored[name]
    parts = tuple(stored[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return scipy.sparse.csr_array(parts, shape=tuple(stored[f"{name}_shape"]))


def matrix_bytes(matrix: Any) -> int:
    if scipy.sparse.issparse(matrix):
        return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return matrix.nbytes


if __name__ == "__main__":
    _child(sys.argv[1])

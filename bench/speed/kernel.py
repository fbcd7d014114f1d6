"""Kernel versions: time compared with what they avoid, and the memory of a large one.

    python bench/speed/kernel.py [--data-home DIR] [--seed N] [--out FILE]

* exact: k-CMLL on 5000 rows of bibtex, half the labels as components, kernel matrix included,
  compared with one ``numpy.linalg.eigh`` of that kernel matrix. Eigenvalues are compared with those
  of eigh on the method's own matrix.
* landmarks: k-CMLL with 2000 landmarks on all of mediamill: time, and the peak of memory of a
  process of its own.
"""

import argparse
import json
import sys

import numpy as np

from compactlearn import KernelMap, method
from compactlearn.datasets import load
from compactlearn_bench.measure import (
    in_a_child,
    interleaved,
    parser,
    peak_bytes,
    rows_of,
    timed,
    write,
)

LANDMARKS = 2000


def exact(data_home, seed):
    """Time k-CMLL and eigh of its kernel matrix."""
    X, Y = rows_of("bibtex", data_home, seed)
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
        "largest_eigenvalue_error": float(f"{error:.1e}"),
        **times,
    }


def landmarks(data_home):
    """Time a fit of all of mediamill; to be called in a process of its own."""
    data = load("mediamill", data_home=data_home)
    own = {"algorithm": "nystroem", "n_components": LANDMARKS, "random_state": 0}
    model = method("k-CMLL", protocol="recommended", **own)
    _, seconds = timed(lambda: model.fit(data.X, data.Y))
    model.predict_topk(data.X, 5)
    return {
        "what": f"k-CMLL, {LANDMARKS} landmarks: fit and top five of every row",
        "data": f"mediamill, {data.X.shape[0]} x {data.X.shape[1]}",
        "fit_s": round(seconds, 1),
        "peak_bytes": peak_bytes(),
        "solver": model.embedding_.solver_,
    }


def main():
    command = parser(__doc__, "kernel.json")
    command.add_argument("--seed", type=int, default=0, help="of the rows of bibtex")
    command.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = command.parse_args()
    if given.child:
        print(json.dumps(landmarks(given.data_home)))
        return 0
    home = ["--data-home", given.data_home] if given.data_home else []
    rows = [in_a_child(__file__, "--child", *home, threads=2), exact(given.data_home, given.seed)]
    for row in rows:
        print(row)
    write(given.out, rows, seed=given.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())

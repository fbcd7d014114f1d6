"""Fits on a GPU compared with the same calls on two cores of the CPU.

    python bench/speed/gpu.py [--data-home DIR] [--out FILE] [--device cuda] [--small]

* delicious: ``CMLLClassifier().fit`` on 12,920 rows, 500 features and 983 labels, arrays on the
  device, with the threshold tuned and with a given one. On the CPU the same dense arrays are
  fitted, and sparse ones, on two threads of the same machine.
* kernel: exact kernel CMLL on 35,000 rows of mediamill, and scores compared with the CPU's on some.

Each part is run for PyTorch, and for CuPy where it is installed. Clocks are read when the device
has nothing left to do. ``--small`` takes few rows and writes nothing.
"""

import contextlib
import os
import statistics
import sys
import time
from functools import partial

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's switch asks for it

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, KernelMap
from compactlearn.datasets import load
from compactlearn.utils import NotInstalled, require
from compactlearn_bench.measure import dense, machine, parser, rounded, sparse, write_json

CORES = 2


def libraries(device):
    """Return how to make an array and how to wait, for each library that is installed."""
    torch = require("torch", extra="deep", purpose="this benchmark")
    on_gpu = device.startswith("cuda")
    wait = torch.cuda.synchronize if on_gpu else (lambda: None)
    found = {"torch": (lambda a: torch.asarray(a, device=device), wait)}
    with contextlib.suppress(NotInstalled, ImportError):
        cupy = require("cupy", extra="arrays", purpose="this benchmark") if on_gpu else None
        if cupy is not None:
            found["cupy"] = (cupy.asarray, cupy.cuda.Device().synchronize)
    return found, torch.cuda.get_device_name() if on_gpu else device


def seconds(call, wait, repeats, warm=2):
    """Return the seconds of each run, after some that do not count."""
    for _ in range(warm):
        call()
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        call()
        wait()
        times.append(time.perf_counter() - start)
    return times


def on_two_cores(call, repeats=3):
    """Return the median seconds on the CPU, by two threads of the BLAS and of ours."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:CORES])
    try:
        with threadpool_limits(CORES):
            return statistics.median(seconds(call, lambda: None, repeats, warm=1))
    finally:
        os.sched_setaffinity(0, every)


def difference(found, expected):
    """Return the largest difference of scores, relative to the largest score."""
    on_host = found.get() if hasattr(found, "get") else found.cpu().numpy()
    return float(f"{np.abs(on_host - expected).max() / np.abs(expected).max():.1e}")


def linear_part(kinds, X, Y, repeats):
    """Measure CMLL on delicious."""
    rows = []
    for given in ({}, {"threshold": 0.5}):
        reference = CMLLClassifier(**given)
        cpu = {
            "dense": on_two_cores(partial(reference.fit, X, Y)),
            "sparse": on_two_cores(partial(reference.fit, sparse(X), sparse(Y))),
        }
        expected = reference.fit(X, Y).decision_function(X)
        for kind, (make, wait) in kinds.items():
            A, B, model = make(X), make(Y), CMLLClassifier(**given)
            with sklearn.config_context(array_api_dispatch=True):
                times = seconds(partial(model.fit, A, B), wait, repeats)
                scores = model.decision_function(A)
                scoring = seconds(partial(model.decision_function, A), wait, repeats)
            middle = statistics.median(times)
            rows.append(
                {
                    "what": f"CMLLClassifier({given or ''}).fit",
                    "library": kind,
                    "data": f"delicious, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels",
                    "components": model.embedding_.n_label_components_,
                    "cpu_cores": CORES,
                    "cpu_s": {name: rounded(value) for name, value in cpu.items()},
                    "device_s": rounded(middle),
                    "device_quartiles": [rounded(t) for t in np.percentile(times, [25, 75])],
                    "times_faster": {name: rounded(t / middle) for name, t in cpu.items()},
                    "decision_function_s": rounded(statistics.median(scoring)),
                    "score_difference": difference(scores, expected),
                    "threshold_difference": abs(model.threshold_ - reference.threshold_),
                }
            )
            print(rows[-1], flush=True)
    return rows


def kernel_part(kinds, X, Y, repeats):
    """Measure exact kernel CMLL on mediamill, and its scores on some rows."""
    some = slice(0, 3_000)
    fresh = CompactClassifier(CMLL(), feature_map=KernelMap())
    reference = sklearn.clone(fresh)
    cpu = on_two_cores(partial(reference.fit, X[some], Y[some]), repeats=1)
    expected = reference.decision_function(X[some])
    rows = []
    for kind, (make, wait) in kinds.items():
        A, B = make(X), make(Y)
        model, part = sklearn.clone(fresh), sklearn.clone(fresh)
        with sklearn.config_context(array_api_dispatch=True):
            few = statistics.median(seconds(partial(part.fit, A[some], B[some]), wait, 3))
            scores = part.decision_function(A[some])
            times = seconds(partial(model.fit, A, B), wait, min(2, repeats), warm=0)
            scoring = seconds(partial(model.decision_function, A), wait, 1, warm=0)
        rows.append(
            {
                "what": "exact kernel CMLL, fit",
                "library": kind,
                "data": f"mediamill, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels",
                "components": model.embedding_.n_label_components_,
                "device_s": rounded(statistics.median(times)),
                "decision_function_s": rounded(scoring[0]),
                "score_difference": difference(scores, expected),
                "score_difference_rows": some.stop,
                "those_rows": {
                    "cpu_cores": CORES,
                    "cpu_s": rounded(cpu),
                    "device_s": rounded(few),
                    "times_faster": rounded(cpu / few),
                },
            }
        )
        print(rows[-1], flush=True)
    return rows


def main():
    command = parser(__doc__, "gpu.json")
    command.add_argument("--device", default="cuda")
    command.add_argument("--repeats", type=int, default=7)
    command.add_argument("--small", action="store_true", help="few rows, to try the script")
    given = command.parse_args()
    kinds, device = libraries(given.device)
    versions = {kind: sys.modules[kind].__version__ for kind in kinds}
    record = {"machine": machine(), "device": device, "versions": versions}
    for name, part, count in (
        ("delicious", linear_part, 12_920),
        ("mediamill", kernel_part, 35_000),
    ):
        data = load(name, data_home=given.data_home)
        rows = np.arange(data.n_samples)
        if name == "mediamill":
            rows = np.random.default_rng(0).permutation(data.n_samples)
        rows = np.sort(rows[: 600 if given.small else count])
        found = part(kinds, dense(data.X[rows]), dense(data.Y[rows]), given.repeats)
        record["kernel" if name == "mediamill" else name] = found
        if not given.small:
            write_json(given.out, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())

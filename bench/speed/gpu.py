"""Fits on a GPU compared with the same calls on two cores of the CPU.

    python bench/speed/gpu.py [--data-home DIR] [--out FILE] [--device cuda] [--small]

* delicious: ``CMLLClassifier().fit`` on 12,920 rows, 500 features and 983 labels, arrays on the
  device. On the CPU the same dense arrays are fitted on two threads of the same machine.
* mediamill: exact kernel CMLL on 35,000 rows.

Each part is run for PyTorch, and for CuPy where it is installed. Clocks are read when the device
has nothing left to do. ``--small`` takes few rows and writes nothing.
"""

import contextlib
import os
import sys
from functools import partial

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's switch asks for it

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, KernelMap
from compactlearn.datasets import load
from compactlearn.utils import NotInstalled, require
from compactlearn_bench.measure import dense, parser, rounded, timed, write

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


def median_seconds(call, wait, repeats):
    """Return the median time of some runs, after one that does not count."""

    def run():
        wait()
        call()
        wait()

    run()
    return rounded(np.median([timed(run)[1] for _ in range(repeats)]))


def on_two_cores(call):
    """Return the median seconds on the CPU, by two threads of the BLAS and of ours."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:CORES])
    try:
        with threadpool_limits(CORES):
            return median_seconds(call, lambda: None, 3)
    finally:
        os.sched_setaffinity(0, every)


def measured(kinds, data, model, X, Y, repeats, *, on_cpu):
    """Yield a row for each library: seconds on the device and, where asked for, on the CPU."""
    row = {"data": data, "rows": X.shape[0], "features": X.shape[1], "labels": Y.shape[1]}
    if on_cpu:
        row |= {"cpu_cores": CORES, "cpu_s": on_two_cores(partial(model.fit, X, Y))}
    for kind, (make, wait) in kinds.items():
        fit = partial(sklearn.clone(model).fit, make(X), make(Y))
        with sklearn.config_context(array_api_dispatch=True):
            yield row | {"library": kind, "device_s": median_seconds(fit, wait, repeats)}


def main():
    command = parser(__doc__, "gpu.json")
    command.add_argument("--device", default="cuda")
    command.add_argument("--repeats", type=int, default=7)
    command.add_argument("--small", action="store_true", help="few rows, to try the script")
    given = command.parse_args()
    kinds, device = libraries(given.device)
    kernel = CompactClassifier(CMLL(), feature_map=KernelMap())
    found = []
    for name, model, count in (
        ("delicious", CMLLClassifier(), 12_920),
        ("mediamill", kernel, 35_000),
    ):
        data = load(name, data_home=given.data_home)
        order = np.random.default_rng(0).permutation(data.n_samples)
        rows = np.sort(order[: 600 if given.small else count])
        X, Y = dense(data.X[rows]), dense(data.Y[rows])
        on_cpu = name == "delicious"
        for row in measured(kinds, name, model, X, Y, given.repeats, on_cpu=on_cpu):
            found.append(row)
            print(row, flush=True)
    if not given.small:
        versions = {kind: sys.modules[kind].__version__ for kind in kinds}
        write(given.out, found, device=device, versions=versions)
    return 0


if __name__ == "__main__":
    sys.exit(main())

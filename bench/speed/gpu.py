"""Fits on a GPU beside the same calls on two cores of the CPU.

    PYTHONPATH=src python bench/speed/gpu.py [--data-home DIR] [--out FILE] [--device cuda]
                                                   [--only PART] [--small]

* delicious: ``CMLLClassifier().fit`` on 12,920 rows, 500 features and 983 labels, arrays on the
  device (target: a twentieth of the CPU's time), with the threshold tuned and with a given one. On
  the CPU the same dense arrays are fitted, and sparse ones, on two threads of the same machine.
* kernel: exact kernel CMLL on 35,000 rows of mediamill (target: 60 s), and on 3,000 of them beside
  the CPU.

Each part is run for PyTorch, and for CuPy where it is there. Scores are compared with NumPy's, and
what comes back must be of the library and on the device of what was given. Without data a set of
the same shape and density is drawn. Clocks are read when the device has nothing left to do.
"""

import argparse
import contextlib
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn's switch asks for it

import numpy as np
import scipy.sparse
import sklearn
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common

from compactlearn import CMLL, CMLLClassifier, CompactClassifier, KernelMap
from compactlearn.datasets import load
from compactlearn.utils import NotInstalled, require

Library = tuple[Callable[[Any], Any], Callable[[], None], str]
CORES = 2


def libraries(device: str) -> dict[str, Library]:
    """How to make an array, how to wait, and what the device is, for each library that is here."""
    found: dict[str, Library] = {}
    torch = require("torch", extra="deep", purpose="this benchmark")
    wait = torch.cuda.synchronize if device.startswith("cuda") else (lambda: None)
    name = torch.cuda.get_device_name() if device.startswith("cuda") else device
    found["torch"] = (lambda a: torch.asarray(a, device=device), wait, name)
    if device.startswith("cuda"):
        with contextlib.suppress(NotInstalled, ImportError):
            cupy = require("cupy", extra="arrays", purpose="this benchmark")
            found["cupy"] = (cupy.asarray, cupy.cuda.Device().synchronize, name)
    return found


def delicious(data_home: Path | None, *, small: bool) -> tuple[Any, Any, str]:
    """Rows, labels, and where they are from."""
    n, n_features, n_labels = (600, 60, 40) if small else (12_920, 500, 983)
    if data_home is not None and not small:
        data = load("delicious", data_home=data_home)
        X, Y = common.sparse(data.X)[:n], common.sparse(data.Y)[:n]
        return X.toarray(), Y.toarray(), "delicious"
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((n, n_features), density=0.037, rng=rng).toarray()
    X = (X > 0).astype(np.float64)
    scores = X @ rng.normal(size=(n_features, 60)) @ rng.normal(size=(60, n_labels))
    scores += rng.normal(size=scores.shape) * scores.std()
    Y = (scores > np.quantile(scores[:200], 1 - 19 / 983)).astype(np.float64)
    return X, Y, "drawn"


def mediamill(data_home: Path | None, *, small: bool) -> tuple[Any, Any, str]:
    """The same for the kernel."""
    n = 700 if small else 35_000
    if data_home is not None and not small:
        data = load("mediamill", data_home=data_home)
        chosen = np.sort(np.random.default_rng(0).permutation(data.X.shape[0])[:n])
        X, Y = data.X[chosen], common.sparse(data.Y)[chosen]
        return X.toarray() if scipy.sparse.issparse(X) else np.asarray(X), Y.toarray(), "mediamill"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 120)) @ rng.normal(size=(120, 120)) / 10
    scores = np.tanh(X @ rng.normal(size=(120, 101)) / 4) + rng.normal(size=(n, 101))
    return X, (scores > np.quantile(scores[:500], 0.957)).astype(np.float64), "drawn"


def seconds(
    call: Callable[[], Any], wait: Callable[[], None], repeats: int, warm: int = 2
) -> list[float]:
    """Of each run, after some that do not count."""
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


def on_two_cores(call: Callable[[], Any], repeats: int = 3) -> list[float]:
    """Of each run on the CPU, by two threads of the BLAS and of ours."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:CORES])
    try:
        with threadpool_limits(CORES):
            return seconds(call, lambda: None, repeats, warm=1)
    finally:
        os.sched_setaffinity(0, every)


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def difference(found: Any, expected: Any) -> float:
    """Relative to the largest score."""
    on_host = found.get() if hasattr(found, "get") else found.cpu().numpy()
    return float(f"{np.abs(on_host - expected).max() / np.abs(expected).max():.1e}")


def linear_part(
    kinds: dict[str, Library], data_home: Path | None, *, small: bool, repeats: int
) -> list[dict[str, Any]]:
    """CMLL on delicious."""
    X, Y, source = delicious(data_home, small=small)
    sparse = scipy.sparse.csr_array(X), scipy.sparse.csr_array(Y)
    rows = []

    def one(kind: str, given: dict[str, Any]) -> dict[str, Any]:
        make, wait, device = kinds[kind]
        A, B = make(X), make(Y)
        model = CMLLClassifier(**given)
        with sklearn.config_context(array_api_dispatch=True):
            times = seconds(lambda: model.fit(A, B), wait, repeats)
            scores = model.decision_function(A)
            answers = [scores, model.predict(A[:64]), *model.predict_topk(A[:64], 5)]
            answers += [model.coef_, model.embedding_.projection_, model.embedding_.decoder_]
            scoring = seconds(lambda: model.decision_function(A), wait, repeats)
        for answer in answers:
            assert type(answer) is type(A), type(answer)
            assert answer.device == A.device, answer.device
        middle = statistics.median(times)
        return {
            "what": f"CMLLClassifier({given or ''}).fit",
            "library": kind,
            "device": device,
            "data": f"{source}, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels",
            "components": model.embedding_.n_label_components_,
            "cpu_cores": CORES,
            "cpu_s": {name: rounded(statistics.median(t)) for name, t in cpu.items()},
            "device_s": rounded(middle),
            "device_quartiles": [rounded(t) for t in np.percentile(times, [25, 75])],
            "times_faster": {
                name: rounded(statistics.median(t) / middle) for name, t in cpu.items()
            },
            "target": 20,
            "decision_function_s": rounded(statistics.median(scoring)),
            "score_difference": difference(scores, expected),
            "threshold_difference": abs(model.threshold_ - reference.threshold_),
        }

    for given in ({}, {"threshold": 0.5}):
        reference = CMLLClassifier(**given)
        cpu = {
            "dense": on_two_cores(lambda model=reference: model.fit(X, Y)),
            "sparse": on_two_cores(lambda model=reference: model.fit(*sparse)),
        }
        expected = reference.fit(X, Y).decision_function(X)
        rows += [tried(one, kind, given) for kind in kinds]
    return rows


def kernel_part(
    kinds: dict[str, Library], data_home: Path | None, *, small: bool, repeats: int
) -> list[dict[str, Any]]:
    """Exact kernel CMLL on mediamill, and its scores beside NumPy's on some rows."""
    X, Y, source = mediamill(data_home, small=small)
    some = slice(0, 400 if small else 3_000)
    fresh = CompactClassifier(CMLL(), feature_map=KernelMap())
    reference = sklearn.clone(fresh)
    cpu = on_two_cores(lambda: reference.fit(X[some], Y[some]), repeats=1)
    expected = reference.decision_function(X[some])

    def one(kind: str) -> dict[str, Any]:
        make, wait, device = kinds[kind]
        A, B = make(X), make(Y)
        model, part = sklearn.clone(fresh), sklearn.clone(fresh)
        with sklearn.config_context(array_api_dispatch=True):
            few = seconds(lambda: part.fit(A[some], B[some]), wait, 3)
            scores = part.decision_function(A[some])
            times = seconds(lambda: model.fit(A, B), wait, min(2, repeats), warm=0)
            scoring = seconds(lambda: model.decision_function(A), wait, 1, warm=0)
        assert type(scores) is type(A), type(scores)
        assert scores.device == A.device, scores.device
        return {
            "what": "exact kernel CMLL, fit",
            "library": kind,
            "device": device,
            "data": f"{source}, {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels",
            "components": model.embedding_.n_label_components_,
            "device_s": rounded(statistics.median(times)),
            "target_s": 60,
            "decision_function_s": rounded(scoring[0]),
            "score_difference": difference(scores, expected),
            "score_difference_rows": some.stop,
            "those_rows": {
                "cpu_cores": CORES,
                "cpu_s": rounded(cpu[0]),
                "device_s": rounded(statistics.median(few)),
                "times_faster": rounded(cpu[0] / statistics.median(few)),
            },
        }

    return [tried(one, kind) for kind in kinds]


def tried(part: Callable[..., dict[str, Any]], kind: str, *args: Any) -> dict[str, Any]:
    """What a part comes to; where it fails, what was said, so that others are still run."""
    try:
        row = part(kind, *args)
    except Exception as error:
        traceback.print_exc()
        row = {"library": kind, "error": f"{type(error).__name__}: {error}"}
    common_line(row)
    return row


def common_line(row: dict[str, Any]) -> None:
    print({name: value for name, value in row.items() if name != "data"}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home", type=Path)
    parser.add_argument("--out", type=Path, default=common.RESULTS / "gpu.json")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", choices=("delicious", "kernel"))
    parser.add_argument("--small", action="store_true", help="small drawn sets, to try the script")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    kinds = libraries(args.device)
    record: dict[str, Any] = {"machine": common.machine()}
    record["versions"] = {kind: sys.modules[kind].__version__ for kind in kinds}
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "delicious": lambda: linear_part(
            kinds, args.data_home, small=args.small, repeats=args.repeats
        ),
        "kernel": lambda: kernel_part(
            kinds, args.data_home, small=args.small, repeats=args.repeats
        ),
    }
    for name, part in parts.items():
        if args.only in (None, name):
            record[name] = part()
            common.write_json(args.out, record)
    if any("error" in row for name in parts for row in record.get(name, ())):
        raise SystemExit("some parts ended in errors, see above and the record")


if __name__ == "__main__":
    main()

"""How a fit on Dask gains from a second worker, what travels, and what a task costs.

    python bench/speed/dask_workers.py [--quick] [--out FILE] [--repeats N] [--folder DIR]

machine   seconds that one and two plain processes take to sum the same blocks, without Dask: what
          a second core of this machine brings at best
fit       seconds of a whole fit on one and on two worker processes of one thread each, in turn:
          reading the blocks, summing them, adding the sums up, and solving at the client, which no
          worker shortens
evaluate  the same of every metric on the same rows
bytes     what workers send each other, and what comes to the client, in one fit on two workers
tasks     seconds of a fit on very many tiny blocks, divided by their number

Blocks lie in memory-mapped files that every worker opens by name, so that no rows are shipped. A
ratio is one worker over two: 2 is perfect. Beside it stands what other processes took of the two
cores meanwhile: a worker that shares its core is slower for a reason that is not ours. Each run
waits a while for the others to be quiet; pairs in which they were not are in the record, and the
target is held against the median of those in which they were. Where cores were never free there is
a second figure, in seconds of the processor: those of this process, scheduler included, and of the
busier worker, one worker over two. It leaves out who waits for whom.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import common
import dask
import dask.array as da
import numpy as np
import psutil
import scipy.sparse
from distributed import Client, LocalCluster

from compactlearn import CMLLClassifier, Moments

TARGET = 1.7
# Rows, features, labels, blocks; of the sparse set, the share of cells that are not zero.
DENSE, QUICK_DENSE = (400_000, 400, 40, 64), (4_000, 40, 8, 8)
SPARSE, QUICK_SPARSE = (100_000, 1_000, 100, 16), (4_000, 100, 8, 8)
SHARE = 0.02
TINY_BLOCKS, QUICK_TINY_BLOCKS = 1_000, 50
QUIET = 0.15  # of a core that others may take in a pair that counts as quiet
PATIENCE = 40.0  # seconds that a run waits for others to be quiet

Row = dict[str, Any]
_patience = [PATIENCE]


def measurements(folder: Path, repeats: int, quick: bool) -> Iterator[Row]:
    """One row for each question."""
    with _cluster(1) as one, _cluster(2) as two, Client(one) as first, Client(two) as second:
        for kind, make, shape in (
            ("dense", _dense_rows, QUICK_DENSE if quick else DENSE),
            ("sparse", _sparse_rows, QUICK_SPARSE if quick else SPARSE),
        ):
            X, Y = make(folder / kind, shape)
            row = {"data": kind, "shape": list(shape[:3]), "blocks": shape[3]}
            fit = _fit(X, Y)
            if kind == "dense":
                with _Processes(folder / kind, shape[3]) as processes:
                    one, two = processes.of(1), processes.of(2)
                    yield row | {"group": "machine"} | _pairs(one, two, repeats) | {"met": None}
            one, two = _on(first, fit), _on(second, fit)
            yield row | {"group": "fit"} | _pairs(one, two, repeats)
            yield row | {"group": "bytes"} | _bytes(fit, second, shape)
            model = fit()
            evaluate = _evaluate(model, X, Y)
            one, two = _on(first, evaluate), _on(second, evaluate)
            yield row | {"group": "evaluate"} | _pairs(one, two, repeats)
        count = QUICK_TINY_BLOCKS if quick else TINY_BLOCKS
        yield _tasks(count, second)


def _cluster(workers: int) -> LocalCluster:
    # Dask sets one thread of the BLAS for each worker by itself.
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        dashboard_address=None,
        memory_limit=0,
    )


# ---- data ---------------------------------------------------------------------------------------


def _dense_rows(folder: Path, shape: tuple[int, int, int, int]) -> tuple[Any, Any]:
    n_rows, n_features, n_labels, n_blocks = shape
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(n_features, n_labels)) / np.sqrt(n_features)
    size = n_rows // n_blocks
    for number in range(n_blocks):
        X = rng.normal(size=(size, n_features))
        np.save(folder / f"x{number}.npy", X)
        np.save(folder / f"y{number}.npy", (X @ mixing > 1.2).astype(np.int8))
    return (
        _array(_mapped, folder, "x", n_blocks, (size, n_features), np.empty((0, 0))),
        _array(_mapped, folder, "y", n_blocks, (size, n_labels), np.empty((0, 0), np.int8)),
    )


def _sparse_rows(folder: Path, shape: tuple[int, int, int, int]) -> tuple[Any, Any]:
    n_rows, n_features, n_labels, n_blocks = shape
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(n_features, n_labels))
    size = n_rows // n_blocks
    for number in range(n_blocks):
        X = scipy.sparse.random_array(
            (size, n_features), density=SHARE, rng=rng, format="csr", dtype=np.float64
        )
        scipy.sparse.save_npz(folder / f"x{number}.npz", X, compressed=False)
        np.save(folder / f"y{number}.npy", (X @ mixing > 4.0).astype(np.int8))
    meta = scipy.sparse.csr_array((0, 0))
    return (
        _array(_loaded, folder, "x", n_blocks, (size, n_features), meta),
        _array(_mapped, folder, "y", n_blocks, (size, n_labels), np.empty((0, 0), np.int8)),
    )


def _array(
    read: Callable[..., Any],
    folder: Path,
    name: str,
    count: int,
    shape: tuple[int, int],
    meta: Any,
) -> Any:
    read_later = dask.delayed(read)
    parts = [
        da.from_delayed(read_later(str(folder), f"{name}{number}"), shape, meta=meta)
        for number in range(count)
    ]
    return da.concatenate(parts)


def _mapped(folder: str, name: str) -> np.ndarray:
    # As a plain array over the map: a memory map that travels is copied as a whole.
    return np.asarray(np.load(Path(folder) / f"{name}.npy", mmap_mode="r"))


def _loaded(folder: str, name: str) -> Any:
    return scipy.sparse.csr_array(scipy.sparse.load_npz(Path(folder) / f"{name}.npz"))


# ---- what is measured ---------------------------------------------------------------------------


def _fit(X: Any, Y: Any) -> Callable[[], CMLLClassifier]:
    return lambda: CMLLClassifier(solver="moments", threshold=0.5).fit(X, Y)


def _evaluate(model: CMLLClassifier, X: Any, Y: Any) -> Callable[[], dict[str, float]]:
    return lambda: model.evaluate(X, Y)


def _on(client: Client, work: Callable[[], object]) -> Callable[[], object]:
    """The work, on the workers of a client."""

    def done() -> object:
        with client.as_current():
            return work()

    return done


class _Processes:
    """Plain processes that sum the same blocks."""

    def __init__(self, folder: Path, n_blocks: int) -> None:
        self.folder, self.n_blocks, self.stack = folder, n_blocks, ExitStack()

    def __enter__(self) -> "_Processes":
        spawn = multiprocessing.get_context("spawn")
        self.pools = {count: self.stack.enter_context(spawn.Pool(count)) for count in (1, 2)}
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def of(self, count: int) -> Callable[[], Moments]:
        shares = [(str(self.folder), range(k, self.n_blocks, count)) for k in range(count)]
        return lambda: sum(self.pools[count].starmap(_summed, shares, chunksize=1))


def _summed(folder: str, numbers: range) -> Moments:
    blocks = ((_mapped(folder, f"x{k}"), _mapped(folder, f"y{k}")) for k in numbers)
    return Moments.from_blocks(blocks)


def _pairs(first: Callable[[], object], second: Callable[[], object], repeats: int) -> Row:
    """Seconds on one and on two workers, in turn, and what others took of the cores meanwhile."""
    first(), second()
    runs = [(_seconds(first), _seconds(second)) for _ in range(repeats)]
    ratios = np.array([one.seconds / two.seconds for one, two in runs])
    others = np.array([max(one.others, two.others) for one, two in runs])
    worked = np.array([one.longest / two.longest for one, two in runs])
    quiet = others <= QUIET
    row: Row = {
        "pairs": len(runs),
        "one_worker_s": _round(np.median([one.seconds for one, _ in runs])),
        "two_workers_s": _round(np.median([two.seconds for _, two in runs])),
        "ratio": _round(np.median(ratios)),
        "ratios": [_round(ratio) for ratio in ratios],
        "cores_of_others": [_round(share) for share in others],
        "quiet_pairs": int(quiet.sum()),
        "ratio_of_quiet_pairs": _round(np.median(ratios[quiet])) if quiet.any() else None,
        "one_worker_cpu_s": _round(np.median([one.longest for one, _ in runs])),
        "two_workers_cpu_s": _round(np.median([two.longest for _, two in runs])),
        "cpu_ratio": _round(np.median(worked)),
        "target": TARGET,
    }
    found = row["ratio_of_quiet_pairs"]
    return row | {"met": None if found is None else bool(found >= TARGET)}


@dataclass(frozen=True)
class _Run:
    """What one run took."""

    seconds: float
    others: float  # cores that other processes kept busy
    longest: float  # seconds of the processor: of this process, and of the busier worker


def _seconds(work: Callable[[], object]) -> _Run:
    _wait_for_quiet()
    return _watched(work)


def _wait_for_quiet() -> None:
    until = time.perf_counter() + _patience[0]
    while _watched(lambda: time.sleep(0.5)).others > QUIET and time.perf_counter() < until:
        time.sleep(0.5)


def _watched(work: Callable[[], object]) -> _Run:
    start, busy, own = time.perf_counter(), _busy(), _own()
    work()
    seconds, now = time.perf_counter() - start, _own()
    taken = {pid: now[pid] - own.get(pid, 0.0) for pid in now}
    here = taken.pop(os.getpid())
    others = _busy() - busy - here - sum(taken.values())
    return _Run(seconds, max(0.0, others) / seconds, here + max(taken.values(), default=0.0))


def _busy() -> float:
    """Seconds that all cores have worked since the machine began."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + getattr(times, "irq", 0.0)


def _own() -> dict[int, float]:
    """Those of this process and of each of its workers."""
    process = psutil.Process()
    found = {}
    for one in (process, *process.children(recursive=True)):
        times = one.cpu_times()
        found[one.pid] = times.user + times.system
    return found


def _bytes(fit: Callable[[], object], client: Client, shape: tuple[int, int, int, int]) -> Row:
    """What travels in one fit on two workers."""
    n_rows, n_features, n_labels, _ = shape
    before = _sent(client)
    with client.as_current():
        fit()
    return {
        "bytes_of_one_sum": 8 * (n_features + n_labels) ** 2,
        "bytes_between_workers_and_client": _sent(client) - before,
        "bytes_of_rows": 8 * n_rows * n_features,
    }


def _sent(client: Client) -> int:
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return int(sum(sent.values()))


def _tasks(n_blocks: int, client: Client) -> Row:
    """A fit of blocks so small that all it takes is what tasks cost."""
    rng = np.random.default_rng(0)
    X = da.from_array(rng.normal(size=(2 * n_blocks, 3)), chunks=(2, 3))
    Y = da.from_array(np.tile([[0, 1], [1, 0]], (n_blocks, 1)), chunks=(2, 2))
    with client.as_current():
        start = time.perf_counter()
        CMLLClassifier(solver="moments", threshold=0.5).fit(X, Y)
        seconds = time.perf_counter() - start
    return {
        "group": "tasks",
        "data": "tiny blocks",
        "blocks": n_blocks,
        "seconds": _round(seconds),
        "seconds_of_one_block": _round(seconds / n_blocks),
    }


def _round(value: Any) -> float:
    return float(f"{float(value):.4g}")


def _record(rows: list[Row]) -> dict[str, Any]:
    return {
        "what": "one and two Dask workers of one thread each",
        "date": common.today(),
        "machine": common.machine(),
        "dask": dask.__version__,
        "rows": rows,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--patience", type=float, default=PATIENCE)
    parser.add_argument("--folder", type=Path, help="where the blocks are written (2 GB)")
    given = parser.parse_args()
    _patience[0] = 0.0 if given.quick else given.patience
    out = given.out or (None if given.quick else common.RESULTS / "dask_workers.json")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        rows = []
        for row in measurements(Path(folder), 2 if given.quick else given.repeats, given.quick):
            print(json.dumps(row), flush=True)
            rows.append(row)
            if out is not None:  # after each row: a run on a busy machine may have to be cut short
                common.write_json(out, _record(rows))
    missed = [row for row in rows if row.get("met") is False]
    return 1 if missed and not given.quick else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())

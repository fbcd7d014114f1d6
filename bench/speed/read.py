"""Speed and memory of the file readers as ratios, on real data.

    python bench/speed/read.py --data-home DIR [--quick] [--out FILE]

sparse    a sparse ARFF file into a Dataset, against liac-arff: once against its fastest reading
          (a dictionary per row), once against its way to a SciPy matrix
dense     mediamill's dense ARFF file into a Dataset, against numpy.loadtxt on the same lines
memory    what reading adds at its peak, against three times the Dataset it returns

All files are unpacked first, so that no decompression is timed. A ratio is ours over theirs: below
1 is faster. Each is the median of interleaved pairs, after one untimed run of both.
"""

import argparse
import bz2
import json
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import arff
import common
import numpy as np
import scipy.sparse
from peak import matrix_bytes, memory_mark, reset_memory_mark
from timing import interleaved

from compactlearn.datasets import read_arff
from compactlearn.utils import human_bytes

# File, labels (a count, or an XML file beside it), the most a ratio may be.
SPARSE = {
    "delicious": ("delicious/delicious.arff.xz", "delicious/delicious.xml", 1 / 5),
    "imdb": ("imdb/Imdb.arff.bz2", 28, 1 / 5),
}
DENSE = {"mediamill": ("mediamill/converted-mediamill.arff.xz", -101, 1.3)}
QUICK_SPARSE = {"enron": ("enron/enron.arff.xz", -53, None)}
QUICK_DENSE = {"emotions": ("emotions/emotions.arff.xz", -6, None)}

Row = dict[str, Any]


def measurements(home: Path, quick: bool) -> Iterator[Row]:
    """One row for each ratio."""
    pairs = 3 if quick else 7
    with tempfile.TemporaryDirectory() as folder:
        for name, (path, labels, target) in (QUICK_SPARSE if quick else SPARSE).items():
            file, labels = _unpacked(home, path, labels, Path(folder))
            ours = partial(read_arff, file, labels)
            for against, theirs in (
                ("liac-arff, dictionaries", _liac_rows),
                ("liac-arff, to a matrix", _liac_matrix),
            ):
                times = interleaved(ours, partial(theirs, file), pairs=pairs)
                row = {"group": "sparse", "data": name, "against": against}
                yield _judged(row | times.summary(), target)
            yield _memory(name, file, labels, quick)
        for name, (path, labels, target) in (QUICK_DENSE if quick else DENSE).items():
            file, labels = _unpacked(home, path, labels, Path(folder))
            times = interleaved(
                partial(read_arff, file, labels), partial(_loadtxt, file), pairs=pairs
            )
            row = {"group": "dense", "data": name, "against": "numpy.loadtxt"}
            yield _judged(row | times.summary(), target)
            yield _memory(name, file, labels, quick)


def _unpacked(home: Path, path: str, labels: str | int, folder: Path) -> tuple[Path, Any]:
    file = folder / (Path(path).name.partition(".")[0] + ".arff")
    unpack = {".xz": lzma, ".bz2": bz2}[Path(path).suffix].open
    with unpack(home / path) as stream:
        file.write_bytes(stream.read())
    return file, home / labels if isinstance(labels, str) else labels


def _liac_rows(file: Path) -> object:
    with file.open(encoding="utf-8") as stream:
        return arff.load(stream, return_type=arff.LOD)


def _liac_matrix(file: Path) -> object:
    with file.open(encoding="utf-8") as stream:
        loaded = arff.load(stream, return_type=arff.COO)
    data, rows, columns = loaded["data"]
    shape = max(rows) + 1, len(loaded["attributes"])
    return scipy.sparse.csr_array((np.array(data, float), (rows, columns)), shape=shape)


def _loadtxt(file: Path) -> object:
    with file.open(encoding="utf-8") as stream:
        for line in stream:
            if line.strip().lower() == "@data":
                break
        return np.loadtxt(stream, delimiter=",", comments=None)


def _judged(row: Row, target: float | None) -> Row:
    met = None if target is None else bool(row["ratio"] <= target)
    return row | {"target": target, "met": met}


# ------------------------------------------------------------------------------ memory


def _memory(name: str, file: Path, labels: Path | int, quick: bool) -> Row:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    answer = subprocess.run(
        [sys.executable, __file__, "--child", str(file), str(labels)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    report = json.loads(answer.stdout)
    ratio = round(report["increase_bytes"] / report["bound_bytes"], 4)
    row = {"group": "memory", "data": name, "against": "3 x the result"}
    return _judged(row | report | {"ratio": ratio}, None if quick else 1.0)


def _child(file: str, labels: str) -> None:
    small = Path(file).with_name("small.arff")
    for body in ("1,2\n0,3\n", "{0 1,1 2}\n{}\n" * 9):  # imports and the like are not counted
        small.write_text(f"@relation r\n@attribute p {{0,1}}\n@attribute x numeric\n@data\n{body}")
        read_arff(small, 1)
    method = "VmHWM after clear_refs" if reset_memory_mark() else "getrusage without a reset"
    before = memory_mark()
    data = read_arff(file, int(labels) if labels.lstrip("-").isdecimal() else labels)
    after = memory_mark()
    size = matrix_bytes(data.X) + matrix_bytes(data.Y)
    report = {
        "increase_bytes": after - before,
        "bound_bytes": 3 * size,
        "data_bytes": size,
        "read_by": method,
    }
    print(json.dumps(report))


# ------------------------------------------------------------------------------ command line


def main(arguments: list[str] | None = None) -> int:
    """Measure, show, write; 0 if every target is met, 1 if not, 2 if data are missing."""
    options = _options(arguments)
    if options.child:
        _child(*options.child)
        return 0
    files = [*QUICK_SPARSE.values(), *QUICK_DENSE.values()]
    files = files if options.quick else [*SPARSE.values(), *DENSE.values()]
    missing = [path for path, *_ in files if not (options.data_home / path).is_file()]
    if missing:
        print(f"No files {', '.join(missing)}; name their folder by --data-home.")
        return 2
    rows = []
    for row in measurements(options.data_home, options.quick):
        print("  ".join(_cells(row)), file=sys.stderr, flush=True)
        rows.append(row)
    common.show_table("ratio = ours / theirs", _HEADER, [_cells(row) for row in rows])
    if options.out is not None:
        setting = common.machine()
        setting["versions"]["liac-arff"] = version("liac-arff")
        record = {"date": common.today(), "machine": setting, "quick": options.quick}
        common.write_json(options.out, record | {"measurements": rows})
    return 1 if any(row["met"] is False for row in rows) else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-home", type=Path, default=Path(), help="folder of the data sets")
    parser.add_argument("--quick", action="store_true", help="a smoke test on small data")
    parser.add_argument("--out", type=Path, help="the record (default: results/read.json)")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.out is None and not options.quick:
        options.out = common.RESULTS / "read.json"
    return options


_HEADER = ("group", "data", "against", "ours", "theirs", "ratio", "quartiles", "target", "met")


def _cells(row: Row) -> tuple[str, ...]:
    if row["group"] == "memory":
        mine, other = human_bytes(row["increase_bytes"]), human_bytes(row["bound_bytes"])
        quartiles = ""
    else:
        mine, other = (f"{1000 * row[side]:.1f} ms" for side in ("ours_s", "theirs_s"))
        quartiles = "{:.3g} .. {:.3g}".format(*row["ratio_quartiles"])
    target = "" if row["target"] is None else f"<= {row['target']:.3g}"
    judgement = {True: "yes", False: "NO", None: ""}[row["met"]]
    return (
        row["group"], row["data"], row["against"], mine, other, f"{row['ratio']:.3g}", quartiles,
        target, judgement,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())

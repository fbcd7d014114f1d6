"""Model files with something wrong in them and right digests: what a careful forger would write.

As a program it loads many of them and predicts with what is loaded, in a process of its own, since
compiled code that believes a wrong index does not raise but ends the interpreter:

    python -m tests.io.mutations FOLDER FIRST_SEED COUNT
"""

import copy
import hashlib
import json
import resource
import signal
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import compactlearn
from compactlearn.core._tensor_file import NAMES, TYPES

EXTREMES = (-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 1000, 2**31 - 1, 2**31, 2**40, 2**63, 10**30)
VALUES = (
    *EXTREMES, 0.5, -1e300, None, True, "", "auto", "csr_array", [], {}, [0], {"float": "nan"},
    {"tuple": []}, {"tuple": [1, 2]}, {"dict": []}, {"scalar": ["int64", 5]}, {"dtype": "float16"},
    {"range": [0, 10**12, 1]}, {"dtype": "str32000000000"}, {"float": "inf"}, {"thing": 10**9},
    "filename", "file", "/dev/zero", r"(\w+\s?)+$", {"set": [2**61 - 1, 0]}, {"tuple": [1, 10**9]},
    ["\ud800"], {"type": "float64"}, "pandas", {"dict": [["transform", "x"]]},
    {"text array": ["0", [1], 9**9]},
)  # fmt: skip


def split_file(content):
    """Header texts, arrays by name and the description of a whole file."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    about = header.pop("__metadata__")
    data = content[8 + length :]
    arrays = {
        name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }
    return about, arrays, json.loads(arrays["description"][2])


def put_together(about, arrays, description=None, header_length=None):
    """A file of these parts, in which every digest is right."""
    if description is not None:
        text = json.dumps(description).encode()
        arrays = {**arrays, "description": ("U8", [len(text)], text)}
    header, end = {}, 0
    for name, (dtype, shape, part) in arrays.items():
        offsets = [end, end := end + len(part)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
    return sealed(header, about, b"".join(part for _, _, part in arrays.values()), arrays)


def sealed(header, about, data, arrays):
    """The bytes of a file with this header, whose digests are made right."""
    digests = {name: hashlib.sha256(part).hexdigest() for name, (_, _, part) in arrays.items()}
    about = {**about, "digests": json.dumps(digests), "header_digest": "0" * 64}
    text = json.dumps({"__metadata__": about, **header}).encode()
    text += b" " * (-(8 + len(text)) % 64)
    text = text.replace(b"0" * 64, hashlib.sha256(text).hexdigest().encode(), 1)
    return len(text).to_bytes(8, "little") + text + data


def places(value, path=()):
    """The paths of all values within a value."""
    yield path
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in items:
            yield from places(part, (*path, key))


def at(value, path):
    for key in path:
        value = value[key]
    return value


def mutated(content, rng):
    """A file with one to three things wrong in it."""
    about, arrays, description = split_file(content)
    arrays = dict(arrays)
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.5:
            _change_description(description, arrays, rng)
        else:
            _change_array(arrays, rng)
    return put_together(about, arrays, description)


def _change_description(description, arrays, rng):
    paths = [path for path in places(description) if path]
    path = paths[rng.integers(len(paths))]
    holder, key = at(description, path[:-1]), path[-1]
    old, kind = holder[key], rng.integers(6)
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1:
        holder[key] = copy.deepcopy(at(description, paths[rng.integers(len(paths))]))
    elif kind == 2 and type(old) is int:
        holder[key] = old + int(rng.integers(-2, 3))
    elif kind == 3 and isinstance(old, str):
        holder[key] = list(arrays)[rng.integers(len(arrays))]
    elif kind == 4:
        holder[key] = {"array": list(arrays)[rng.integers(len(arrays))]}
    else:
        holder[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])


def _change_array(arrays, rng):
    names = [name for name in arrays if name != "description" and arrays[name][2]]
    name = names[rng.integers(len(names))]
    dtype, shape, part = arrays[name]
    values = np.frombuffer(part, TYPES[dtype]).copy()
    kind = rng.integers(6)
    if kind == 0:
        raw = values.view(np.uint8)
        raw[rng.integers(raw.size)] ^= np.uint8(1 << rng.integers(8))
    elif kind == 1:
        with np.errstate(all="ignore"):
            extreme = EXTREMES[rng.integers(len(EXTREMES) - 1)]
            values[rng.integers(values.size)] = np.array(extreme % 2**64, np.uint64).astype(
                values.dtype
            )
    elif kind == 2:
        shape = shape[::-1]
    elif kind == 3:
        values, shape = values[:-1], [values.size - 1]
    elif kind == 4:
        other = list(TYPES)[rng.integers(len(TYPES))]
        size = TYPES[other].itemsize
        values = values.view(np.uint8)[: values.nbytes // size * size].view(TYPES[other])
        shape = [values.size]
    else:
        rng.shuffle(values)
    arrays[name] = (NAMES[values.dtype], [int(n) for n in shape], values.tobytes())


def _write_new(path, content):
    """A disk is slow to write over a file, and quick to write a new one."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def main(folder, first, count):
    """Load, and predict with what is loaded; print how often which happened."""
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
    folder = Path(folder)
    originals = [
        (path.read_bytes(), np.load(path.with_suffix(".npy"), allow_pickle=False), path.stem)
        for path in sorted(folder.glob("*.model"))
    ]
    found = {"refused": 0, "predicted": 0, "raised": 0}
    target = folder / "mutated"
    np.seterr(all="ignore")
    for seed in range(first, first + count):
        _write_new(folder / "seed", b"%d" % seed)  # of the one that ends the process, should it
        content, rows, name = originals[seed % len(originals)]
        rng = np.random.default_rng(seed)
        _write_new(target, mutated(content, rng))
        signal.setitimer(signal.ITIMER_VIRTUAL, 60)  # of the processor: machines may be busy
        try:
            model = compactlearn.load_model(target, memory_map=bool(seed % 3 == 0))
        except compactlearn.ModelFileError:
            found["refused"] += 1
            continue
        given = (rows.tolist(),) if rows.dtype.kind == "U" else (rows, sp.csr_array(rows))
        if name == "columns":  # an encoder reads no sparse rows
            given = (rows,)
        try:
            for part in given:
                model.predict(part)
                model.decision_function(part)
            found["predicted"] += 1
        except Exception as error:
            found["raised"] += 1
            if "--show" in sys.argv:
                print(seed, repr(error)[:150], file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

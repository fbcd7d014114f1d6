"""What is read of an ARFF file stays in proportion to its bytes, however it declares its values."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from compactlearn.datasets import read_arff
from compactlearn.datasets._formats.arff_text import parse_header
from compactlearn.datasets._parsing.unpacking import Lines

N = 5_000
MANY = "{" + ",".join(f"v{j}" for j in range(N)) + "}"
LABEL = "@attribute y {0,1}"


def write(path, attributes, rows):
    lines = ["@relation r", *attributes, LABEL, "@data", *rows]
    path.write_text("\n".join(lines) + "\n")
    return path.stat().st_size


def peak_of(path):
    """The most bytes that were held at a time, and the data set or its refusal."""
    tracemalloc.start()
    try:
        found = read_arff(path, -1)
    except ValueError as error:
        found = error
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak, found


FILES = {
    "a value for each row": ([f"@attribute c {MANY}"], [f"v{j},1" for j in range(N)]),
    "the same value in each row": ([f"@attribute c {MANY}"], ["v0,1"] * N),
    "two such attributes": (
        [f"@attribute c {MANY}", f"@attribute d {MANY}"],
        [f"v{j},v{N - 1 - j},1" for j in range(N)],
    ),
    "many attributes": (
        [f"@attribute c{j} {{a{j},b{j},c{j}}}" for j in range(1000)],
        [",".join(f"b{j}" for j in range(1000)) + ",1"] * 5,
    ),
}


@pytest.mark.parametrize("attributes_and_rows", FILES.values(), ids=FILES)
def test_memory_is_linear_in_the_file(tmp_path, attributes_and_rows):
    path = tmp_path / "toy.arff"
    size = write(path, *attributes_and_rows)
    peak, data = peak_of(path)
    assert peak < 150 * size, f"{peak} bytes for a file of {size}: {data!r}"
    hot = len(attributes_and_rows[0])
    np.testing.assert_array_equal(data.X.sum(axis=1), hot)


BOMBS = {
    "missing values": ([f"@attribute c {MANY}"], ["?,1"] * N, "filled by missing values"),
    "values declared first": (
        [f"@attribute c{j} {{a,b,c}}" for j in range(3000)],
        ["{}"] * 3000,
        "9000000 by values declared first",
    ),
    "values left out": (
        [f"@attribute c{j} {{1,2,3}}" for j in range(3000)],
        ["{}"] * 3000,
        "3000 nominal attributes, whose first value is not 0",
    ),
    "a long name": (
        ["@attribute " + "n" * 50_000 + " " + MANY],
        ["v1,1"],
        "a name of 50000 characters, would be repeated for each of its 5000 values",
    ),
}


@pytest.mark.parametrize(("attributes", "rows", "words"), BOMBS.values(), ids=BOMBS)
def test_what_would_grow_without_bound_is_refused(tmp_path, attributes, rows, words):
    path = tmp_path / "toy.arff"
    write(path, attributes, rows)
    peak, error = peak_of(path)
    assert words in str(error)
    assert isinstance(error, ValueError)
    assert peak < 150e6, f"{peak} bytes were held before it was refused"


COLOURS = ("red", "green", "blue")


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*COLOURS, "?"]),
            st.sampled_from(["0", "1.5", "?"]),
            st.sampled_from(["k0", "k1", "k2", "k3", "?"]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_indicators_are_those_that_one_would_write_by_hand(tmp_path_factory, rows, is_sparse):
    path = tmp_path_factory.mktemp("arff") / "toy.arff"
    attributes = [
        "@attribute c {red,green,blue}",
        "@attribute x numeric",
        "@attribute k {k0,k1,k2,k3}",
    ]

    def line(row):
        if not is_sparse:
            return ",".join([*row, "1"])
        left_out = ("red", "0", "k0")
        told = [
            f"{j} {v}" for j, (v, out) in enumerate(zip(row, left_out, strict=True)) if v != out
        ]
        return "{" + ",".join([*told, "3 1"]) + "}"

    write(path, attributes, [line(row) for row in rows])

    def indicators(value, values):
        return [np.nan if value == "?" else float(value == other) for other in values]

    wanted = [
        [
            *indicators(c, COLOURS),
            np.nan if x == "?" else float(x),
            *indicators(k, ("k0", "k1", "k2", "k3")),
        ]
        for c, x, k in rows
    ]
    found = read_arff(path, -1)
    np.testing.assert_array_equal(sparse.csr_array(found.X).toarray(), wanted)
    assert found.feature_names[0] == "c=red"


def test_long_lists_of_values_are_not_kept_after_reading(tmp_path):
    """Nor looked up in a table that is as long as they are, once for each cell."""
    path = tmp_path / "toy.arff"
    write(path, [f"@attribute c {MANY}"], ["v1,1"])
    with Lines(path) as lines:
        attribute = parse_header(lines).attributes[0]
    assert attribute.numbers is attribute.numbers
    tracemalloc.start()
    try:
        for number in range(5):
            values = "{" + ",".join(f"w{number}x{j}" for j in range(N)) + "}"
            write(path, [f"@attribute c {values}"], ["?,1"])
            read_arff(path, -1)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1e6

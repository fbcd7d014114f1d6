"""Texts in Parquet obey the limits, however their repetitions are stored."""

import random
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compactlearn.datasets import DataFileError, read_texts
from compactlearn.datasets._formats.texts import read_columns
from compactlearn.datasets._parsing.lines import Limits

LONG = 100_000


def dictionary(values, places):
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(values))


BOMBS = {
    "dictionary type": lambda n: dictionary(["a" * LONG], [0] * n),
    "plain type": lambda n: pa.array(["a" * LONG] * n),
    "large strings": lambda n: pa.array(["a" * LONG] * n, pa.large_string()),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_repeated_texts_are_counted_before_they_are_repeated(kind, tmp_path):
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"body": BOMBS[kind](500)}), path, compression="zstd")
    assert path.stat().st_size < 5000
    tracemalloc.start()
    try:
        with pytest.raises(DataFileError, match=r"expand to more than .* beyond the limits"):
            read_texts(path, "body", limits=Limits(ratio=100, free=1 << 20))
        with pytest.raises(DataFileError, match="beyond the limits"):
            read_columns(path, ["body"], limits=Limits(total=1 << 20, free=1 << 20))
        assert tracemalloc.get_traced_memory()[1] < 10 * LONG  # of 500 * LONG
    finally:
        tracemalloc.stop()
    assert len(read_texts(path, "body", limits=Limits(ratio=10**6)).texts) == 500


def test_repeated_tags_are_counted_too(tmp_path):
    path = tmp_path / "bomb.parquet"
    offsets = pa.array(range(0, 20_010, 10), pa.int32())
    tags = pa.ListArray.from_arrays(offsets, pa.array(["a" * 10_000] * 20_000))
    pq.write_table(pa.table({"body": ["x"] * 2000, "tags": tags}), path, compression="zstd")
    with pytest.raises(DataFileError, match="beyond the limits"):
        read_texts(path, "body", "tags", limits=Limits(ratio=100, free=1 << 20))
    found = read_texts(path, "body", limits=Limits(ratio=100, free=1 << 20))  # not asked for
    assert len(found.texts) == 2000


@pytest.mark.parametrize("seed", range(3))
def test_texts_are_those_that_were_written(seed, tmp_path):
    rng = random.Random(seed)
    texts = ["".join(rng.choices("abcä \n", k=rng.randint(0, 30))) for _ in range(9000)]
    tags = [rng.choices(["x", "y", "z"], k=rng.randint(0, 3)) or None for _ in texts]
    table = pa.table({"body": texts, "kind": dictionary(["p", "q"], [0, 1, 1] * 3000), "t": tags})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=4000)
    found = read_texts(tmp_path / "t.parquet", "body", "t")
    assert list(found.texts) == texts
    assert [set(row) for row in found.tags] == [set(row or ()) for row in tags]
    assert read_columns(tmp_path / "t.parquet", ["kind"])["kind"] == ["p", "q", "q"] * 3000

"""Packed files from strangers: how far they may expand, and what that costs to find out."""

import lzma
import re
import subprocess
import sys

import pytest
from bench.tests.makers import record

from compactlearn_bench.records import Growth, RecordError, open_records

MIB = 1 << 20
LINE = f"{record().to_json()}\n".encode()


def bomb(path, piece, n_pieces):
    """Many streams behind one another are one xz file: a bomb that is quickly made."""
    path.write_bytes(lzma.compress(piece) * n_pieces)
    return path


@pytest.mark.parametrize(
    "piece",
    [b" " * (16 * MIB), LINE * (16 * MIB // len(LINE))],
    ids=["one line without end", "records without end"],
)
def test_a_bomb_is_refused_before_it_takes_memory(tmp_path, piece):
    """Half a gigabyte; the peak is that of a fresh process, whatever this one has done before."""
    path = bomb(tmp_path / "bomb.jsonl.xz", piece, 32)
    assert path.stat().st_size < MIB
    script = """
import resource, sys
from compactlearn_bench.records import RecordError, open_records
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    found = list(open_records(sys.argv[1]))
except RecordError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    grown, _, output = ended.stdout.strip().partition(" ")
    assert int(grown) * 1024 < 100 * MIB
    assert "bomb.jsonl.xz" in output
    assert re.search(r"may expand to 250 times its size .* limits=Growth", output)
    assert not re.search(r"[.] [A-Z]", output), "it is one sentence"


def test_a_limit_is_a_callers_to_set_and_whole_files_stay_below_the_usual_one(tmp_path):
    path = bomb(tmp_path / "a.xz", LINE * 1000, 1)
    assert len(list(open_records(path))) == 1000
    strict = Growth(ratio=2, free=100)
    with pytest.raises(RecordError, match="may expand to 2 times its size"):
        list(open_records(path, limits=strict))
    with pytest.raises(RecordError, match="may expand to"):
        list(open_records(path, limits=Growth(total=1000, free=100)))

"""Packed files of records from strangers: a file that expands without end is refused."""

import lzma

import pytest
from bench.tests.makers import record

from compactlearn_bench.records import RecordError, open_records, packed

LINE = f"{record().to_json()}\n".encode()


@pytest.mark.parametrize("piece", [b" " * 20_000, LINE * (20_000 // len(LINE))])
def test_a_file_that_expands_too_far_is_refused_before_its_first_record(
    tmp_path, monkeypatch, piece
):
    path = tmp_path / "bomb.jsonl.xz"
    path.write_bytes(lzma.compress(piece) * 10)  # several streams are one file
    monkeypatch.setattr(packed, "MOST_BYTES", 100_000)
    monkeypatch.setattr(packed, "_CHUNK", 1_000)
    monkeypatch.setattr(packed, "_record", lambda *_: pytest.fail("a record was made"))
    with pytest.raises(RecordError, match=r"may expand to .*bomb\.jsonl\.xz"):
        list(open_records(path))


def test_whole_files_stay_below_the_limit(tmp_path):
    path = tmp_path / "records.jsonl.xz"
    path.write_bytes(lzma.compress(LINE * 1000))
    assert len(list(open_records(path))) == 1000

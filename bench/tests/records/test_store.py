"""A folder of records: whole files, corrupt ones set aside, one run at a time writes."""

import errno
import json
import lzma
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from compactlearn_bench.records import Cell, Record, RecordError, Store, StoreError, open_records


def cell(fold=0, method="ORI"):
    return Cell("enron", method, "paper", fold, settings={"alpha": [0.1, 1.0]})


def record(fold=0, status="done", method="ORI"):
    return Record(
        cell(fold, method),
        status,
        metrics=["average_precision"],
        configurations=[{"alpha": 0.1}, {"alpha": 1.0}],
        values=np.array([[0.5], [np.nan]]),
        sizes=[3, 3],
        circumstances={"written": f"now {fold}"},
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_what_is_written_is_read(store):
    assert store.read(cell()) is store.status(cell()) is None
    assert not store.folder.exists()  # asking writes nothing
    store.write(record(1))
    store.write(record(0, "failed"))
    assert store.read(cell(1)).to_json() == record(1).to_json()
    assert store.status(cell(0)) == "failed"
    assert [r.cell.fold for r in store.records()] == [0, 1]
    store.write(record(0))
    assert store.status(cell(0)) == "done"
    assert sorted(os.listdir(store.cells)) == [f"{cell(0).name}.json", f"{cell(1).name}.json"]


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: "", "not JSON"),
        (lambda text: text.replace('"version":1', '"version":9'), "its version is 9"),
        (lambda text: text.replace('"fold":0', '"fold":1'), "answers another question"),
        (lambda text: text.replace("0.1", "0.2"), "answers another question"),
        (lambda text: text.replace('"enron"', "5"), "missing or wrong"),
        (lambda text: text.replace("0.1", "NaN"), "NaN is no number"),
        (lambda text: text.replace("0.5", "1e999"), "not finite"),
        (lambda text: text.replace("[3,3]", "[1e999,3]"), "missing or wrong"),
        (lambda text: "[" * 100_000, "not JSON"),
    ],
)
def test_a_corrupt_record_is_set_aside_and_not_done(store, damage, words):
    store.write(record(0))
    path = store.path(cell(0))
    for number in (1, 2):  # twice: the second must not replace the first
        bad = damage(record(0).to_json())
        path.write_text(bad)
        with pytest.warns(UserWarning, match=words) as said:
            assert store.read(cell(0)) is None
        aside = store.quarantine / f"{path.stem}.{number}.json"
        assert str(aside) in str(said[0].message)
        assert aside.read_text() == bad
        assert not path.exists()
    assert list(store.records()) == []
    store.write(record(0))
    assert store.status(cell(0)) == "done"


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("before", [False, True])
def test_a_full_disk_leaves_what_was_there(store, call, before, monkeypatch):
    if before:
        store.write(record(0, "failed"))

    def full(*_args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(StoreError, match=r"No space left on device\); make room") as raised:
        store.write(record(0))
    assert raised.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert store.status(cell(0)) == ("failed" if before else None)
    assert len(os.listdir(store.cells)) == before


HOLD = """
import sys
from compactlearn_bench.records import Store
with Store(sys.argv[1]).locked():
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["kill", "end"])
def test_one_run_at_a_time_writes_to_a_folder(store, how):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "locked\n"
    words = r"Only one run at a time .* at .*store; wait until it has ended, or name another folder"
    with pytest.raises(StoreError, match=words), store.locked():
        raise AssertionError("it is not ours")
    if how == "kill":
        process.send_signal(signal.SIGKILL)
    process.stdin.close()
    process.wait()
    process.stdout.close()
    for _ in range(2):
        with store.locked():
            pass


def test_what_killed_runs_left_is_cleared_away(store):
    store.write(record(0))
    (store.cells / f".{cell(1).name}.json.x.part").write_text("half")
    with store.locked():
        assert os.listdir(store.cells) == [f"{cell(0).name}.json"]


def test_packed_bytes_depend_on_the_records_alone(store, tmp_path):
    other = Store(tmp_path / "other")
    for fold in range(4):
        store.write(record(fold))
        other.write(record(3 - fold))
    assert store.pack(tmp_path / "a.xz") == other.pack(tmp_path / "b.xz") == 4
    assert (tmp_path / "a.xz").read_bytes() == (tmp_path / "b.xz").read_bytes()
    lines = lzma.decompress((tmp_path / "a.xz").read_bytes()).splitlines()
    assert [json.loads(line)["cell"]["fold"] for line in lines] == [0, 1, 2, 3]


def test_a_packed_file_is_read_and_unpacked(store, tmp_path):
    for fold in range(3):
        store.write(record(fold))
    store.pack(tmp_path / "a.xz")
    texts = [r.to_json() for r in store.records()]
    assert [r.to_json() for r in open_records(tmp_path / "a.xz")] == texts
    assert [r.to_json() for r in open_records(store.folder)] == texts
    other = Store(tmp_path / "other")
    other.write(record(1, "failed"))
    other.write(record(2))
    assert other.unpack(tmp_path / "a.xz") == 2
    assert other.unpack(tmp_path / "a.xz") == 0
    assert [r.to_json() for r in other.records()] == texts
    third = Store(tmp_path / "third")
    third.write(record(0, "failed"))
    third.pack(tmp_path / "failed.xz")
    assert other.unpack(tmp_path / "failed.xz") == 0  # a failure replaces no record


def test_nothing_is_unpacked_from_a_file_whose_end_is_damaged(store, tmp_path):
    """The checksum is at the end: before it is reached, no line can be believed."""
    store.write(record(0))
    store.pack(tmp_path / "a.xz")
    whole = (tmp_path / "a.xz").read_bytes()
    (tmp_path / "line.xz").write_bytes(lzma.compress(lzma.decompress(whole) + b"{}\n"))
    (tmp_path / "cut.xz").write_bytes(whole[:-12])
    (tmp_path / "text.xz").write_bytes(b"records")
    other = Store(tmp_path / "other")
    for name, words in (
        ("line.xz", r"Line 2 of .*line.xz is not a record"),
        ("cut.xz", "cut.xz is not a whole packed file"),
        ("text.xz", "text.xz is not a whole packed file"),
    ):
        with pytest.raises(RecordError, match=words):
            other.unpack(tmp_path / name)
    assert list(other.records()) == []


@pytest.mark.parametrize(("code", "remedy"), [(errno.ENOSPC, "make room"), (errno.EACCES, "check")])
def test_a_folder_that_cannot_be_written_is_a_sentence(store, code, remedy, monkeypatch):
    def refuse(*_args, **_more):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(type(store.folder), "open", refuse)
    words = f"Nothing can be written to .*{remedy}"
    with pytest.raises(StoreError, match=words) as raised, store.locked():
        raise AssertionError("it is not ours")
    assert raised.value.errno == code


def test_a_corrupt_record_on_a_medium_that_cannot_be_written_stays(store, monkeypatch):
    store.write(record(0))
    store.path(cell(0)).write_text("no")

    def refuse(*_args):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.warns(UserWarning, match="it was left where it is"):
        assert store.read(cell(0)) is None
    assert store.path(cell(0)).read_text() == "no"


BUSY = """
import sys, warnings
import numpy as np
from compactlearn_bench.records import Cell, Record, Store
warnings.simplefilter("error")
store, own = Store(sys.argv[1]), sys.argv[2]
for turn in range(25):
    for fold in range(3):
        cell = Cell("enron", "ORI", "paper", fold)
        store.write(Record(cell, "done", None, ["x"], [{}], np.array([[0.5]]),
                           details={"who": own * 2000}))
        found = store.read(cell)
        assert found.status == "done" and len(set(found.details["who"])) == 1
    assert sum(1 for _ in store.records()) == 3
"""


def test_processes_that_write_the_same_cells_leave_whole_records(store):
    """Neither ever sees a part of what the other writes, and there is no warning."""
    for fold in range(3):
        store.write(Record(Cell("enron", "ORI", "paper", fold), "done"))
    started = [
        subprocess.Popen(
            [sys.executable, "-c", BUSY, str(store.folder), own], stderr=subprocess.PIPE, text=True
        )
        for own in "ab"
    ]
    errors = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], errors
    assert not store.quarantine.exists()
    assert len(os.listdir(store.cells)) == 3

"""A file appears whole, or what was there stays."""

import os
import stat

import pytest

from compactlearn.core.atomic import atomic


def test_a_file_appears_when_the_block_ends(tmp_path):
    path = tmp_path / "a.bin"
    with atomic(path) as stream:
        stream.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def half():
        with atomic(path) as stream:
            stream.write(b"half")
            raise error("stop")

    with pytest.raises(error, match="stop"):
        half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_the_umask_of_the_process_is_not_touched(tmp_path, monkeypatch):
    """Learning it means setting it, and what other threads make meanwhile all may write."""
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("the umask was set"))
    with atomic(tmp_path / "a.bin") as stream:
        stream.write(b"new")
    assert (tmp_path / "a.bin").read_bytes() == b"new"

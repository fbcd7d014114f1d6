"""A file appears whole, or what was there stays."""

import os
import stat

import pytest

from compactlearn.core._atomic import atomic


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


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o400])
def test_a_replaced_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic(path) as stream:
        (part,) = tmp_path.glob(".*.part")
        assert stat.S_IMODE(part.stat().st_mode) == mode, "others could read it meanwhile"
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_check_sees_all_bytes_and_can_prevent_the_replacement(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def check(part):
        assert part.read_bytes() == b"new"
        assert path.read_bytes() == b"old"
        raise ValueError("not good")

    with pytest.raises(ValueError, match="not good"), atomic(path, check=check) as stream:
        stream.write(b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]


@pytest.mark.skipif(os.name != "posix", reason="there are no such files")
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_only_a_regular_file_is_replaced(tmp_path, make):
    make(tmp_path / "other")
    kind = stat.S_IFMT((tmp_path / "other").stat().st_mode)
    with pytest.raises(OSError, match="other"), atomic(tmp_path / "other"):
        pytest.fail("nothing is written")
    assert stat.S_IFMT((tmp_path / "other").stat().st_mode) == kind
    assert os.listdir(tmp_path) == ["other"]

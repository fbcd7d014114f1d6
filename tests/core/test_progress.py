"""The bar changes nothing about the work, whatever happens to the bar."""

import contextlib
import io
import sys
from collections.abc import Iterator

import pytest

from compactlearn.core import _progress as progress
from compactlearn.core._progress import track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def terminal() -> Iterator[Terminal]:
    # Not a fixture: pytest puts its own stderr back between set-up and call.
    with pytest.MonkeyPatch.context() as patch:
        stream = Terminal()
        patch.setattr(sys, "stderr", stream)
        patch.setenv("TERM", "xterm")
        yield stream


def test_without_a_terminal_nothing_is_written(capsys):
    assert list(track(range(4), description="work")) == [0, 1, 2, 3]
    assert capsys.readouterr() == ("", "")


def test_at_a_terminal_the_description_is_shown_and_then_erased():
    with terminal() as stream:
        assert list(track(range(4), description="counting")) == [0, 1, 2, 3]
    assert "counting" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")


def test_disable_silences_a_terminal():
    with terminal() as stream:
        assert list(track(range(2), description="work", disable=True)) == [0, 1]
    assert stream.getvalue() == ""


def test_a_generator_has_no_length_and_still_runs():
    with terminal() as stream:
        assert list(track((n for n in range(3)), description="some")) == [0, 1, 2]
        assert list(track(iter("ab"), description="known", total=2)) == ["a", "b"]
    assert "some" in stream.getvalue()
    assert "known" in stream.getvalue()


def test_without_rich_the_work_goes_on(monkeypatch):
    def absent(*_args, **_kwargs):
        raise ImportError("no rich")

    monkeypatch.setattr(progress, "require", absent)
    with terminal() as stream:
        assert list(track(range(2), description="work")) == [0, 1]
    assert stream.getvalue() == ""


def test_a_bar_that_breaks_midway_does_not_stop_the_work(monkeypatch):
    calls = []

    class Broken:
        task_ids = (0,)

        def advance(self, _task):
            calls.append("advance")
            raise RuntimeError("lost the terminal")

        stop = advance

    monkeypatch.setattr(progress, "_start", lambda *_args: Broken())
    with terminal():
        assert list(track(range(3), description="work")) == [0, 1, 2]
    assert calls == ["advance"]


def test_items_may_count_by_their_size(monkeypatch):
    steps = []

    class Bar:
        task_ids = (0,)

        def advance(self, _task, step=1):
            steps.append(step)

        def stop(self):
            pass

    monkeypatch.setattr(progress, "_start", lambda *_args: Bar())
    with terminal():
        assert list(track(["ab", "c"], description="bytes", total=3, size=len)) == ["ab", "c"]
        assert list(track("xy", description="items")) == ["x", "y"]
    assert steps == [2, 1, 1, 1]

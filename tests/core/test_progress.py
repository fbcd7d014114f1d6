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


class Bar:
    """A bar that notes its steps, and may break."""

    task_ids = (0,)

    def __init__(self, *, breaks=False):
        self.steps, self.breaks = [], breaks

    def update(self, _task, **what):
        self.steps.append(what["advance"])
        if self.breaks:
            raise RuntimeError("lost the terminal")

    def stop(self):
        assert not self.breaks, "nothing is asked of a broken bar"


@pytest.mark.parametrize("breaks", [False, True])
def test_items_may_count_by_their_size_and_a_broken_bar_is_left_alone(monkeypatch, breaks):
    bar = Bar(breaks=breaks)
    monkeypatch.setattr(progress, "_start", lambda *_args: bar)
    with terminal():
        assert list(track(["ab", "c"], description="bytes", total=3, size=len)) == ["ab", "c"]
        assert list(track("xy", description="items")) == ["x", "y"]
    assert bar.steps == ([2, 1] if breaks else [2, 1, 1, 1])

"""Silence is one thread's own, and leaves the process as it was."""

import re
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sklearn.utils.parallel import Parallel, delayed

import compactlearn
from compactlearn.cli import main
from compactlearn.core._warn import silence


def say(text, category=UserWarning):
    warnings.warn(text, category, stacklevel=1)


def heard_while(action):
    """The texts of all warnings that are shown while `action` runs."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        action()
        assert list(warnings.filters) == before
    return [str(warning.message) for warning in caught]


def test_what_this_thread_says_is_not_shown():
    def action():
        say("before")
        with silence():
            say("inside")
            with silence():
                say("deep inside")
            say("still inside")
        say("after")

    assert heard_while(action) == ["before", "after"]


def test_other_categories_are_shown():
    def action():
        with silence(DeprecationWarning):
            say("silent", DeprecationWarning)
            say("heard")
            with silence(UserWarning):
                say("silent")
                say("silent", DeprecationWarning)

    assert heard_while(action) == ["heard"]


def test_other_threads_are_heard():
    def action():
        with silence(), ThreadPoolExecutor(1) as other:
            other.submit(say, "from elsewhere").result()
            say("from here")

    assert heard_while(action) == ["from elsewhere"]


@pytest.mark.parametrize("first_out", [0, 1])
def test_threads_that_overlap_put_everything_back(first_out):
    """Whichever leaves first: the other stays silent, and in the end no filter is left."""
    entered, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def silent(place):
        with silence():
            entered.wait(10)
            leave[place].wait(10)
            say(f"from {place}")

    def action():
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(silent, place) for place in (0, 1)]
            entered.wait(10)
            say("from outside")
            for place in (first_out, 1 - first_out):
                leave[place].set()
                futures[place].result()

    assert heard_while(action) == ["from outside"]


@pytest.mark.parametrize("backend", ["sequential", "loky"])
def test_workers_of_scikit_learn_are_as_quiet_as_who_started_them(backend):
    """They are given a copy of the filters, in a form of scikit-learn's own."""

    def action():
        with silence():
            jobs = (delayed(warnings.warn)("from a worker") for _ in range(2))
            Parallel(n_jobs=2, backend=backend)(jobs)

    assert heard_while(action) == []


def test_workers_of_another_thread_are_heard():
    def work():
        Parallel(n_jobs=1)(delayed(say)("from elsewhere") for _ in range(2))

    def action():
        with silence(), ThreadPoolExecutor(1) as other:
            other.submit(work).result()

    assert heard_while(action) == ["from elsewhere"] * 2


def test_an_error_inside_ends_the_silence():
    def action():
        with pytest.raises(KeyError), silence():
            raise KeyError
        say("heard")

    assert heard_while(action) == ["heard"]


def users_of(pattern):
    """Files of what reads, runs and commands in which a pattern occurs."""
    source = Path(compactlearn.__file__).parent
    return {
        path.relative_to(source).as_posix()
        for folder in ("datasets", "cli")
        for path in (source / folder).rglob("*.py")
        if re.search(pattern, path.read_text(encoding="utf-8"))
    }


def test_no_reader_and_no_command_changes_the_filters_of_the_process():
    assert users_of(r"catch_warnings|simplefilter|filterwarnings|np\.seterr") == set()


def test_the_program_alone_decides_how_warnings_look(capsys):
    assert users_of(r"showwarning\b") == {"cli/__init__.py"}
    before = warnings.showwarning, list(warnings.filters)
    assert main(["no-such-command"]) == 2
    assert (warnings.showwarning, list(warnings.filters)) == before
    assert "no-such-command" in capsys.readouterr().err

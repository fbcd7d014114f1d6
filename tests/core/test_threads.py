"""The number of BLAS threads during a fit: lowered on a busy machine, shared, and given back."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from threadpoolctl import ThreadpoolController, threadpool_limits

from compactlearn import CompactClassifier
from compactlearn.core import _threads as threads
from compactlearn.core._threads import VARIABLES, blas_threads, free_cores

BLAS = ThreadpoolController().select(user_api="blas").lib_controllers
rng = np.random.default_rng(0)
X, Y = rng.standard_normal((60, 5)), rng.random((60, 4)) < 0.4


def numbers():
    return [library.get_num_threads() for library in BLAS]


def set_one(library, number):
    library.set_num_threads(number)
    getattr(library, "clear_controlling_thread", bool)()


def set_all(number):
    for library in BLAS:
        set_one(library, number)


@pytest.fixture
def undecided(monkeypatch):
    """A process with four threads and four cores to itself, whose user has said nothing."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "own_cores", lambda: 4)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(threads, "_others_running", lambda: 0)
    before = numbers()
    set_all(4)
    yield
    for library, number in zip(BLAS, before, strict=True):
        set_one(library, number)


class Watching(RegressorMixin, BaseEstimator):
    """A learner that notes the number of threads it is fitted with."""

    seen: list = []  # noqa: RUF012, shared by clones on purpose

    def fit(self, X, y):
        type(self).seen.append(numbers())
        self.width_ = np.ndim(y) == 2 and y.shape[1]
        return self

    def predict(self, X):
        return np.zeros((len(X), self.width_) if self.width_ else len(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def threads_of_a_fit():
    Watching.seen.clear()
    CompactClassifier(regressor=Watching()).fit(X, Y)
    (seen,) = Watching.seen
    return seen


@pytest.mark.parametrize(("others", "expected"), [(0, 4), (1, 3), (3, 1), (9, 1)])
def test_a_fit_takes_the_cores_that_are_free(others, expected, undecided, monkeypatch):
    monkeypatch.setattr(threads, "_others_running", lambda: others)
    assert threads_of_a_fit() == [expected] * len(BLAS)
    assert numbers() == [4] * len(BLAS)


@pytest.mark.parametrize("name", VARIABLES[:2])
def test_what_the_user_has_set_is_left_alone(name, undecided, monkeypatch):
    monkeypatch.setattr(threads, "_others_running", lambda: 9)
    monkeypatch.setenv(name, "4")
    assert threads_of_a_fit() == [4] * len(BLAS)


def test_a_limit_that_the_user_holds_is_never_raised_in_any_thread(undecided):
    with threadpool_limits(2, user_api="blas"):
        assert threads_of_a_fit() == [2] * len(BLAS)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(threads_of_a_fit).result() == [2] * len(BLAS)
        assert numbers() == [2] * len(BLAS)
    assert numbers() == [4] * len(BLAS)


def limited_to_one():
    with threadpool_limits(1, user_api="blas"):
        return numbers()


def test_others_may_set_the_number_afterwards_from_any_thread(undecided, monkeypatch):
    """threadpoolctl leaves the say with the thread that was first to set it."""
    monkeypatch.setattr(threads, "_others_running", lambda: 2)
    with ThreadPoolExecutor(1) as one:
        one.submit(threads_of_a_fit).result()
    threads_of_a_fit()
    with ThreadPoolExecutor(1) as other:
        assert other.submit(limited_to_one).result() == [1] * len(BLAS)


def test_a_number_that_someone_else_sets_meanwhile_stays(undecided):
    with blas_threads(2):
        set_all(3)
    assert numbers() == [3] * len(BLAS)
    with pytest.raises(ZeroDivisionError), blas_threads(1):
        raise ZeroDivisionError
    assert numbers() == [3] * len(BLAS)


def test_blocks_that_overlap_share_the_cores_and_the_last_one_gives_them_back(undecided):
    """Begun first, ended first: with a saved number each, the second would restore the first's."""
    first_in, second_in, first_out = (threading.Event() for _ in range(3))
    during = []

    def first():
        with blas_threads(1):
            first_in.set()
            second_in.wait(10)
        first_out.set()

    def second():
        first_in.wait(10)
        with blas_threads():
            during.append(numbers())
            second_in.set()
            first_out.wait(10)
            during.append(numbers())

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    assert during == [[1] * len(BLAS), [4] * len(BLAS)]
    assert numbers() == [4] * len(BLAS)


def test_two_computations_have_half_the_cores_each_and_an_inner_block_is_none(undecided):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with blas_threads():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with blas_threads(), blas_threads():
        assert numbers() == [4] * len(BLAS)
        thread.start()
        entered.wait(10)
        assert numbers() == [2] * len(BLAS)
        leave.set()
        thread.join()
        with blas_threads(1):
            assert numbers() == [1] * len(BLAS)
        assert numbers() == [4] * len(BLAS)
    assert numbers() == [4] * len(BLAS)


FORKED = """
import os, threading
from threadpoolctl import ThreadpoolController, threadpool_info
import compactlearn
from compactlearn.core._threads import blas_threads

def numbers():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

for one in ThreadpoolController().select(user_api="blas").lib_controllers:
    one.set_num_threads(3)
    getattr(one, "clear_controlling_thread", bool)()
inside, done = threading.Event(), threading.Event()
def other():
    with blas_threads(1):
        inside.set()
        done.wait()
thread = threading.Thread(target=other)
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    ok = numbers() == {3}
    with blas_threads(1):
        ok = ok and numbers() == {1}
    os._exit(0 if ok and numbers() == {3} else 1)
status = os.waitpid(child, 0)[1]
done.set()
thread.join()
assert status == 0, status
assert numbers() == {3}
"""


def unset():
    return {name: value for name, value in os.environ.items() if name not in VARIABLES}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_nothing_under_way():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=unset(),
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/loadavg"), reason="only Linux says what is running")
def test_processes_that_keep_the_cores_busy_are_seen():
    hogs = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        until = time.monotonic() + 30
        while free_cores() > 1 and time.monotonic() < until:
            time.sleep(0.05)  # they are starting
        assert free_cores() == 1
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def test_tasks_of_this_process_are_no_others(monkeypatch, tmp_path):
    (tmp_path / "loadavg").write_text("0.0 0.0 0.0 5/100 1234\n")
    states = {"1": "R", "2": "S", "3": "R"}
    for task, state in states.items():
        folder = tmp_path / "self" / "task" / task
        folder.mkdir(parents=True)
        (folder / "stat").write_text(f"{task} (odd) name R) {state} 0 0\n")
    monkeypatch.setattr(threads, "_PROC", str(tmp_path))
    assert threads._others_running() == 3
    seen = iter([3, 0])
    with monkeypatch.context() as patch:  # what runs for a moment does not count
        patch.setattr(threads, "_others_running", lambda: next(seen))
        patch.setattr(os, "cpu_count", lambda: 4)
        patch.setattr(threads, "own_cores", lambda: 4)
        assert free_cores() == 4
    (tmp_path / "loadavg").unlink()
    assert threads._others_running() == 0, "a system that does not say"


# --- looking again -------------------------------------------------------------------------------


def test_a_long_loop_looks_again(undecided, monkeypatch):
    """A neighbour that begins in the middle takes cores away, and gives them back."""
    monkeypatch.setattr(threads, "PAUSE", 0.0)
    busy = [0]
    monkeypatch.setattr(threads, "_others_running", lambda: busy[0])
    with blas_threads():
        for others, left in ((0, 4), (3, 1), (2, 2), (0, 4)):
            busy[0] = others
            threads.look_again()
            assert numbers() == [left] * len(BLAS)
        busy[0] = 3
        threads.look_again()
    assert numbers() == [4] * len(BLAS)


def test_looking_again_changes_nothing_that_was_decided(undecided, monkeypatch):
    monkeypatch.setattr(threads, "PAUSE", 0.0)
    threads.look_again()
    with blas_threads(2):
        monkeypatch.setattr(threads, "_others_running", lambda: 3)
        threads.look_again()
        assert numbers() == [2] * len(BLAS)


def test_it_does_not_look_all_the_time(undecided, monkeypatch):
    with blas_threads():
        monkeypatch.setattr(threads, "_others_running", lambda: 3)
        threads.look_again()
        assert numbers() == [4] * len(BLAS)

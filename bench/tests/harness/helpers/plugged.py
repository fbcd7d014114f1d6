"""Methods of a user's own, for specs: they take no time, log each execution, or misbehave.

The log is not a setting: settings are part of a cell, and the same cells must be comparable
between runs that log to different files.
"""

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
from sklearn import set_config
from sklearn.linear_model import RidgeClassifier
from threadpoolctl import threadpool_info

from compactlearn_bench import Answer


def note(task):
    """One line, appended in one step, for each execution."""
    path = os.environ.get("PLUGGED_LOG")
    if path:
        line = f"{os.getpid()} {task.selection} {task.seed}\n"
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(handle, line.encode())
        os.close(handle)


class Method:
    """Any score that depends on the rows, on the seed and on the common generator."""

    def settings(self, given):
        return {"pause": 0.01} | dict(given)

    def misbehave(self, task):
        pass

    def answer(self, task):
        note(task)
        self.misbehave(task)
        time.sleep(task.settings["pause"])
        score = float(task.X_train.sum()) % 1 + float(task.Y_test.sum())
        score += np.random.rand()  # noqa: NPY002, methods that draw so must be repeatable too
        values = np.full((2, len(task.metrics)), score)
        values[1] += task.seed % 97
        n = 1 if task.selection == "nested" else 2
        tried, sizes = [{"a": 1}, {"a": 2}], [1, 2]
        return Answer(tried[:n], values[:n], sizes[:n], 0.0, 0.0, {"seed": task.seed})


class Placed(Method):
    """Says where it was asked to compute."""

    def answer(self, task):
        return replace(super().answer(task), details={"device": task.device})


class Failing(Method):
    def misbehave(self, task):
        if not os.environ.get("PLUGGED_WELL"):
            raise ValueError("the matrix is blue")


class Slow(Method):
    def misbehave(self, task):
        if not os.environ.get("PLUGGED_WELL"):
            time.sleep(60)


class Greedy(Method):
    def misbehave(self, task):
        memory = [np.ones(2**22) for _ in range(20)]  # 32 MiB each
        time.sleep(60)
        del memory


class Delegating(Method):
    """Holds little itself."""

    def misbehave(self, task):
        hold = "memory = b'1' * (640 << 20); import time; time.sleep(60)"
        subprocess.run([sys.executable, "-c", hold], check=False)


class Exhausted(Method):
    def misbehave(self, task):
        raise MemoryError("ten terabytes were asked for")


class Dying(Method):
    def misbehave(self, task):
        os.kill(os.getpid(), signal.SIGKILL)


class Loud(Method):
    def misbehave(self, task):
        print("hello from the method", flush=True)


class Forking(Method):
    """Its child shares whatever it holds, the lock of its cell included."""

    def misbehave(self, task):
        child = os.fork()
        if not child:
            time.sleep(60)
            os._exit(0)
        with open(os.environ["PLUGGED_FILE"], "a") as stream:
            print(child, file=stream)
        time.sleep(60)


class Crying(Method):
    """Its last words; the first fold ends well."""

    def misbehave(self, task):
        path = os.environ["PLUGGED_FILE"]
        if os.path.exists(path):
            print("farewell", flush=True)
            os._exit(3)
        with open(path, "w"):
            print("hello, and much more than the last words", flush=True)


class Careless(Method):
    """Changes what belongs to all, and the cell itself."""

    def misbehave(self, task):
        task.settings["more"] = 1
        os.chdir("/")
        np.seterr(all="raise")
        set_config(enable_metadata_routing=True)
        for number in range(9):
            warnings.warn(f"number {number // 2}", stacklevel=1)


class Drawing(Method):
    """A score of everything that can be drawn from without a seed of one's own."""

    def answer(self, task):
        threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
        values = np.full((1, len(task.metrics)), random.random() + np.random.rand())  # noqa: NPY002
        return Answer([{"threads": threads}], values, [1], 0.0, 0.0)


class Odd:
    """Whatever it is given as an answer."""

    def __init__(self, configurations, values, sizes):
        self.parts = configurations, values, sizes, 0.0, 0.0

    def settings(self, given):
        return {}

    def answer(self, task):
        return Answer(*self.parts)


class Misshapen(Method):
    def answer(self, task):
        return Answer([{}], np.zeros((2, 1)), [1], 0.0, 0.0)


method, placed, failing, slow, greedy = Method(), Placed(), Failing(), Slow(), Greedy()
exhausted, dying, loud, misshapen = Exhausted(), Dying(), Loud(), Misshapen()
forking, crying, careless = Forking(), Crying(), Careless()
drawing, delegating = Drawing(), Delegating()

ONE = np.zeros((1, 1))
odd_none = Odd([], np.zeros((0, 1)), [])
odd_two = Odd([{"a": 1}, {"a": 2}], np.zeros((2, 1)), [])
odd_number = Odd([{"a": np.int64(1)}], ONE, [])


odd_infinite = Odd([{"a": 1}], ONE + np.inf, [])


odd_sizes = Odd([{"a": 1}], ONE, [1, 2])


def ridge():
    """A classifier, with a grid."""
    return RidgeClassifier()


ridge.grid = {"alpha": [1e-3, 1e3]}


def misspelt():
    """A classifier, with a grid of a parameter that it does not have."""
    return RidgeClassifier()


misspelt.grid = {"alhpa": [1.0]}


class Lost(Method):
    def settings(self, given):
        raise KeyError("colour")


lost = Lost()

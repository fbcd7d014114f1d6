"""Methods of a user's own, for specs: they take no time, log each execution, or misbehave.

The log is not a setting: settings are part of a cell, and the same cells must be comparable
between runs that log to different files.
"""

import os
import signal
import time

import numpy as np
from sklearn.linear_model import RidgeClassifier

from compactlearn.bench import Answer


def note(task):
    """One line, appended in one step, for each execution."""
    path = os.environ.get("PLUGGED_LOG")
    if path:
        line = f"{os.getpid()} {task.selection} {task.seed}\n"
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(handle, line.encode())
        os.close(handle)


class Method:
    """Any figure that depends on the rows, on the seed and on the common generator."""

    def settings(self, given):
        return {"pause": 0.01} | dict(given)

    def misbehave(self, task):
        pass

    def answer(self, task):
        note(task)
        self.misbehave(task)
        time.sleep(task.settings["pause"])
        figure = float(task.X_train.sum()) % 1 + float(task.Y_test.sum())
        figure += np.random.rand()  # noqa: NPY002, methods that draw so must be repeatable too
        values = np.full((2, len(task.metrics)), figure)
        values[1] += task.seed % 97
        return Answer([{"a": 1}, {"a": 2}], values, [1, 2], 0.0, 0.0, {"seed": task.seed})


class Failing(Method):
    def misbehave(self, task):
        if not os.environ.get("PLUGGED_WELL"):
            raise ValueError("the matrix is blue")


class Slow(Method):
    def misbehave(self, task):
        time.sleep(60)


class Greedy(Method):
    def misbehave(self, task):
        held = [np.ones(2**22) for _ in range(20)]  # 32 MiB each
        time.sleep(60)
        del held


class Exhausted(Method):
    def misbehave(self, task):
        raise MemoryError("ten terabytes were asked for")


class Dying(Method):
    def misbehave(self, task):
        os.kill(os.getpid(), signal.SIGKILL)


class Loud(Method):
    def misbehave(self, task):
        print("hello from the method", flush=True)


class Misshapen(Method):
    def answer(self, task):
        return Answer([{}], np.zeros((2, 1)), [1], 0.0, 0.0)


method, failing, slow, greedy = Method(), Failing(), Slow(), Greedy()
exhausted, dying, loud, misshapen = Exhausted(), Dying(), Loud(), Misshapen()


def ridge():
    """A classifier, with a grid."""
    return RidgeClassifier()


ridge.grid = {"alpha": [1e-3, 1e3]}

not_a_method = 7

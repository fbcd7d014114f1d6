"""A process that has imported the package and forks others, so that these start at once.

A fresh interpreter takes seconds to import the package, and more with PyTorch.
"""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

MOTHER = """
import json, os, sys, traceback
before, program = sys.argv[1:]
space = {"__name__": "__main__"}
exec(before, space)
print("ready", flush=True)
for line in sys.stdin:
    output, words = json.loads(line)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
            os.dup2(1, 2)
            sys.argv = ["forked", *words]
            exec(program, space)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Mother:
    """A process that runs ``before`` once and then a program repeatedly, each time in a fork.

    Use it as a context manager. ``before`` must start no threads.
    """

    def __init__(self, before, program, environment):
        words = [sys.executable, "-c", MOTHER, before, program]
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def __enter__(self):
        assert self.process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *_):
        with self.process:
            self.process.stdin.close()
        self.folder.cleanup()

    def start(self, *arguments):
        """Start the program with these arguments and return the running process."""
        output = Path(self.folder.name, "output")
        line = json.dumps([str(output), [str(argument) for argument in arguments]])
        self.process.stdin.write(f"{line}\n".encode())
        return Child(self.process.stdout, output)

    def run(self, *arguments):
        """Run the program to its end without an error and return its output."""
        child = self.start(*arguments)
        status = child.wait()
        text = child.output.read_text()
        assert status == 0, text
        return text


class Child:
    """A subset of `subprocess.Popen`; ``output`` is the file that the process writes to."""

    def __init__(self, news, output):
        self.news, self.output, self.returncode = news, output, None
        self.pid = int(news.readline())

    def poll(self):
        ended = self.returncode is None and select.select([self.news], [], [], 0)[0]
        return self.wait() if ended else self.returncode

    def wait(self):
        if self.returncode is None:
            self.returncode = int(self.news.readline())
        return self.returncode

    def kill(self):
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

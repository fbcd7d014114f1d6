"""A command that is interrupted by Ctrl-C leaves no file."""

import os
import signal
import subprocess
import sys
import time

import pytest

from compactlearn.cli import _fit as fit
from compactlearn.cli import main
from tests.makers import heed_ctrl_c

READY = """
import sys
from compactlearn.cli import _fit, main
print("ready", flush=True)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("method", "seconds"), [("auto", 2.0), ("cmll-cv", 0.3)])
def test_ctrl_c_is_status_130_and_leaves_no_file(method, seconds, tmp_path):
    """The real command, interrupted as a terminal does it, while it reads or computes."""
    words = ["fit", "enron", "--output", "e.model", "--method", method]
    process = subprocess.Popen(
        [sys.executable, "-c", READY, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_a_search_that_was_interrupted_writes_nothing(tmp_path, monkeypatch, capsys):
    """The search itself keeps what it has tried so far; the command writes no file."""

    def interrupted(model, _data, _columns):
        model.interrupted_ = True
        return model

    monkeypatch.setattr(fit, "fit_to", interrupted)
    assert main(["fit", "emotions", "-o", str(tmp_path / "e.model")]) == 130
    assert capsys.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []

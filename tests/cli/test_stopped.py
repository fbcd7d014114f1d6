"""A command that is stopped: Ctrl-C leaves nothing, a kill the old file or the new one."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from compactlearn import CMLLClassifier, load_model
from compactlearn.cli import _fit as fit
from compactlearn.cli import main
from compactlearn.datasets import Dataset, write_parquet
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


def fit_for_ever(monkeypatch, data, model_file, models):
    """Write one model after the other by the real command, whose fits are done already."""
    done = iter(range(10**9))

    def ready(model, _data, _columns):
        vars(model).update(vars(models[next(done) % len(models)]))
        return model

    monkeypatch.setattr(fit, "fit_to", ready)
    while True:
        main(["fit", str(data), "-o", str(model_file), "--method", "cmll", "--force"])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork of a process that is ready")
def test_a_kill_at_any_moment_leaves_one_whole_file(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 1500))
    Y = (rng.random((40, 300)) < 0.1).astype(np.int64)
    write_parquet(Dataset(X=X[:, :3], Y=Y[:, :2]), tmp_path / "small.parquet")
    target = tmp_path / "m.model"
    models, known = [], set()
    for alpha in (1.0, 100.0):
        model = CMLLClassifier(n_feature_components=None, n_label_components=20, alpha=alpha).fit(
            X, Y
        )
        model.save(target)
        known.add(target.read_bytes())
        models.append(model)
    assert len(known) == 2
    seen, torn = set(), 0
    moments = random.Random(1)
    for _ in range(30):
        child = os.fork()
        if not child:
            try:
                with open(os.devnull, "w") as nowhere:
                    os.dup2(nowhere.fileno(), 1)
                    fit_for_ever(monkeypatch, tmp_path / "small.parquet", target, models)
            finally:
                os._exit(3)
        time.sleep(moments.uniform(0.0, 0.4))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        content = target.read_bytes()
        assert content in known
        load_model(target, verify=True)
        seen.add(content)
        parts = list(tmp_path.glob(".m.model.*.part"))
        torn += bool(parts)
        for part in parts:
            part.unlink()
    assert seen == known  # models were written meanwhile
    assert torn  # and some kills came while they were

"""On a real cluster of two worker processes: the same models, whatever happens to a worker."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from compactlearn import CMLLClassifier, ShortlistClassifier
from compactlearn.scale.dask._running import SchedulerLost
from tests.scale.on_dask.collections import COLLECTIONS, SIZES, array, dense, make_data

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def processes(client):
    return set(client.run(os.getpid).values())


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_a_model_on_a_cluster_is_the_model_in_memory(client, kind):
    X, Y = make_data()
    rows, labels = COLLECTIONS[kind](X, Y)
    model = CMLLClassifier(threshold=0.5)
    expected, other = clone(model).fit(X, Y), clone(model).fit(rows, labels)
    scores = other.decision_function(rows)
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), expected.decision_function(X), rtol=0, atol=1e-8)
    assert np.array_equal(other.predict(rows).compute(), expected.predict(X))
    figures = expected.evaluate(X, Y)
    if not kind.startswith("frame"):
        assert other.evaluate(rows, labels) == pytest.approx(figures, abs=1e-9)


def test_blocks_are_summed_by_both_workers(client, tmp_path):
    X, Y = make_data()
    folder = str(tmp_path)

    def noted(block):
        Path(folder, str(os.getpid())).touch()
        time.sleep(0.05)
        return block

    rows = array(X, *[10] * 9).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    CMLLClassifier(threshold=0.5).fit(rows, Y)
    assert {int(path.name) for path in tmp_path.iterdir()} == processes(client)
    assert os.getpid() not in processes(client)


def test_a_shortlist_divides_its_labels_among_workers(client):
    X, Y = make_data(n=150, n_features=10, n_labels=6)
    model = ShortlistClassifier(random_state=0).fit(X, Y)
    other = ShortlistClassifier(random_state=0).fit(array(X, 100, 50), Y)
    assert np.array_equal(dense(other.decision_function(X)), dense(model.decision_function(X)))


def test_nothing_of_a_fit_stays_on_the_cluster(client):
    X, Y = make_data()
    CMLLClassifier(threshold=0.5).fit(array(X, *SIZES), array(Y, *SIZES))
    for _ in range(50):  # workers delete their values a moment later
        stored = [key for keys in client.has_what().values() for key in keys]
        if not stored:
            break
        time.sleep(0.1)
    assert stored == []


def killing(marker):
    """Return a function that kills the first worker that calls it."""
    path = str(marker)

    def kill_once(block):  # inside, so that it travels by value: workers have not this module
        try:
            Path(path).touch(exist_ok=False)
        except FileExistsError:
            return block
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("unreachable")

    return kill_once


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_worker_that_dies_in_a_fit_changes_nothing(client, tmp_path, sparse):
    X, Y = make_data()
    before, marker = processes(client), tmp_path / "killed"
    rows = array(X, *[10] * 9, sparse=sparse)
    dying = rows.map_blocks(killing(marker), dtype=float, meta=rows._meta)
    expected = CMLLClassifier(threshold=0.5).fit(rows, Y)
    found = CMLLClassifier(threshold=0.5).fit(dying, Y)
    assert marker.exists()
    np.testing.assert_allclose(
        found.decision_function(X), expected.decision_function(X), rtol=0, atol=1e-10
    )
    client.wait_for_workers(2, timeout=120)
    assert processes(client) != before


def test_the_model_is_sent_again_after_a_worker_dies(client, tmp_path):
    X, Y = make_data()
    model = CMLLClassifier(threshold=0.5).fit(X, Y)
    rows = array(X, *[10] * 9).map_blocks(
        killing(tmp_path / "killed"), dtype=float, meta=np.empty((0, 0))
    )
    scores = model.decision_function(rows).compute()
    assert (tmp_path / "killed").exists()
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=0, atol=1e-10)
    client.wait_for_workers(2, timeout=120)


def test_a_file_that_a_task_does_not_find_is_its_own_error(client):
    X, Y = make_data()

    def absent(block):
        raise FileNotFoundError("no such block")

    rows = array(X, *SIZES).map_blocks(absent, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(FileNotFoundError, match="no such block"):
        CMLLClassifier().fit(rows, Y)


def test_a_lost_scheduler_raises_and_the_model_is_unchanged(tmp_path):
    """A scheduler of its own, killed by the first block that is read."""
    X, Y = make_data()
    model = CMLLClassifier(threshold=0.5).fit(X, Y)
    before = dict(vars(model))
    address = tmp_path / "scheduler.json"
    common = ("--scheduler-file", str(address), "--no-dashboard")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def start(module, *options):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *common, *options]
        return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    scheduler = start("dask_scheduler", "--port", "0", "--host", "127.0.0.1")
    worker = None
    try:
        for _ in range(200):
            if address.exists() and address.read_text():
                break
            time.sleep(0.1)
        worker = start("dask_worker", "--nthreads", "1", "--no-nanny")
        number = scheduler.pid

        def fatal(block):
            os.kill(number, signal.SIGKILL)
            time.sleep(60)
            return block

        rows = array(X, *SIZES).map_blocks(fatal, dtype=float, meta=np.empty((0, 0)))
        with distributed.Client(scheduler_file=str(address), timeout=8) as client:
            client.wait_for_workers(1, timeout=30)
            with pytest.raises(
                SchedulerLost, match=r"\(scheduler-connection-lost\); the model is as it"
            ):
                model.fit(rows, Y)
            assert vars(model) == before
    finally:
        for process in (worker, scheduler):
            if process is not None:
                process.kill()
                process.wait()

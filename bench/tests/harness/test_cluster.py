"""Cells on a Dask cluster: the same records, written by the client."""

import os
import sys
from contextlib import ExitStack

import pytest

from compactlearn_bench import ClusterError, cells_of
from compactlearn_bench.records import Store

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster(monkeypatch, helpers):
    # One Dask worker within this process: below it cells have processes of their own anyway.
    made = distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    )
    yield made.scheduler_address
    made.close()


def answers(store):
    return {record.cell.name: record.answer() for record in store.records()}


@pytest.mark.slow
def test_a_cluster_gives_the_same_records(cluster, run, spec, store, tmp_path, log, expected):
    methods = [
        {"name": name, "estimator": f"plugged:{name}"} for name in ("method", "failing", "ridge")
    ]
    asked = spec(methods=methods)
    run(asked, store)
    log()
    other, events = Store(tmp_path / "other"), []
    with ExitStack() as claims:
        claims.enter_context(other.claim(cells_of(asked)[0]))

        def on_event(event):
            events.append(event.kind)
            if events.count("ended") == 11:
                claims.close()

        summary = run(asked, other, scheduler=cluster, on_event=on_event)
    assert events.count("put back") >= 1
    assert summary.computed == 12
    assert summary.statuses == {"done": 8, "failed": 4}
    ran = set(log())
    assert ran < set(expected(asked))  # the ridge does not log
    mine, theirs = answers(store), answers(other)
    assert mine.keys() == theirs.keys()
    for name in mine:
        if mine[name]["status"] == "done":
            assert mine[name] == theirs[name]
        assert mine[name]["reason"] == theirs[name]["reason"]
    assert os.listdir(other.claims) == []
    assert run(asked, other, scheduler=cluster).computed == 0

    # Budgets hold there too, and a process that dies takes nothing with it.
    methods = [
        {"name": name, "estimator": f"plugged:{name}"} for name in ("slow", "dying", "method")
    ]
    asked = spec(methods=methods, selections=["paper"], budget={"seconds": 0.5})
    summary = run(asked, Store(tmp_path / "third"), scheduler=cluster)
    assert summary.statuses == {"timeout": 2, "failed": 2, "done": 2}


def test_no_scheduler_is_a_sentence(run, spec, store):
    with pytest.raises(ClusterError, match=r"No Dask scheduler answers at nonsense"):
        run(spec(), store, scheduler="nonsense")


def test_without_dask_it_says_what_to_install(run, spec, store, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'compactlearn\[dask\]'"):
        run(spec(), store, scheduler="tcp://127.0.0.1:1")

"""The clock of the speed benchmarks: turns are taken, and slow pairs are repeated less."""

import importlib.util
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "speed" / "timing.py"
if not SOURCE.exists():
    pytest.skip("the benchmarks are not part of this copy", allow_module_level=True)
_spec = importlib.util.spec_from_file_location("speed_timing", SOURCE)
timing = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(timing)


@pytest.fixture
def clock(monkeypatch):
    """Functions that take a set time on an invented clock, and the order of their calls."""
    now, calls = [0.0], []
    monkeypatch.setattr(timing.time, "perf_counter", lambda: now[0])

    def lasting(name, seconds):
        def call():
            calls.append(name)
            now[0] += seconds

        return call

    return lasting, calls


def test_turns_are_taken_after_one_untimed_run_of_each(clock):
    lasting, calls = clock
    pairs = timing.interleaved(lasting("ours", 1.0), lasting("theirs", 2.0), pairs=3)
    assert calls == ["ours", "theirs"] * 4
    assert pairs.ours == (1.0,) * 3
    assert pairs.theirs == (2.0,) * 3


def test_a_slow_pair_is_repeated_within_the_budget(clock):
    lasting, _ = clock
    slow = lasting("theirs", 39.0)
    assert len(timing.interleaved(lasting("ours", 1.0), slow, budget_s=120).ours) == 3
    assert len(timing.interleaved(lasting("ours", 1.0), slow, budget_s=10).ours) == 1


def test_a_short_call_is_repeated_within_a_measurement(clock):
    lasting, calls = clock
    pairs = timing.interleaved(lasting("ours", 0.01), lasting("theirs", 0.1), pairs=1)
    assert calls == ["ours", "theirs"] + ["ours"] * 5 + ["theirs"]
    assert pairs.ours == pytest.approx((0.01,))


def test_the_ratio_is_the_median_over_pairs():
    summary = timing.Pairs(ours=(1.0, 2.0, 9.0), theirs=(2.0, 2.0, 3.0)).summary()
    assert summary["ratio"] == 1.0
    assert summary["ratio_quartiles"] == [0.75, 2.0]
    assert (summary["pairs"], summary["ours_s"], summary["theirs_s"]) == (3, 2.0, 2.0)

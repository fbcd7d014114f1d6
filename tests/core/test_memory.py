"""The smallest known bound counts, and a refusal names estimate, room and remedy."""

from pathlib import Path

import pytest

from compactlearn.core import _memory as memory

GIB = 2**30


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A function that writes files of an invented /proc and /sys/fs/cgroup."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "cgroup")

    def write(files: dict[str, object]) -> None:
        for name, content in files.items():
            path = Path(tmp_path / name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")

    return write


MEMINFO = {"proc/meminfo": f"MemTotal: 99 kB\nMemAvailable: {8 * GIB // 1024} kB"}
OWN_V2 = {"proc/self/cgroup": "0::/box"}
OUTSIDE = {"proc/self/cgroup": "0::/../../elsewhere"}
OWN_V1 = {"proc/self/cgroup": "9:cpu,cpuacct:/other\n4:memory:/box"}


def v2(folder, limit, usage, inactive=0):
    return {
        f"cgroup/{folder}memory.max": limit,
        f"cgroup/{folder}memory.current": usage,
        f"cgroup/{folder}memory.stat": f"anon 5\ninactive_file {inactive}\nactive_file 3",
    }


def v1(folder, limit, usage, inactive=0):
    return {
        f"cgroup/memory/{folder}memory.limit_in_bytes": limit,
        f"cgroup/memory/{folder}memory.usage_in_bytes": usage,
        f"cgroup/memory/{folder}memory.stat": f"inactive_file 1\ntotal_inactive_file {inactive}",
    }


ROOMS = {
    "bare machine": (MEMINFO, 8 * GIB),
    "v2 file cache": (MEMINFO | OWN_V2 | v2("box/", 4 * GIB, 3 * GIB, 2 * GIB), 3 * GIB),
    "v2 parent": (MEMINFO | OWN_V2 | v2("", 2 * GIB, GIB) | v2("box/", "max", GIB), GIB),
    "v2 unlimited": (MEMINFO | OWN_V2 | v2("box/", "max", GIB), 8 * GIB),
    "over the limit": (OWN_V2 | v2("box/", GIB, 2 * GIB), 0),
    "outside the mount": (OUTSIDE | v2("", 2 * GIB, GIB), GIB),
    "v1 file cache": (MEMINFO | OWN_V1 | v1("box/", 4 * GIB, 3 * GIB, GIB), 2 * GIB),
    "v1 unlimited": (MEMINFO | OWN_V1 | v1("box/", 9223372036854771712, GIB), 8 * GIB),
    "unknown": ({}, None),
}


@pytest.mark.parametrize(("files", "expected"), ROOMS.values(), ids=ROOMS.keys())
def test_available_bytes_is_the_smallest_known_room(system, files, expected):
    system(files)
    assert memory.available_bytes() == expected


def test_a_refusal_says_estimate_room_and_remedy(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 3 * GIB)
    with pytest.raises(MemoryError) as caught:
        memory.require_memory(
            int(9.8 * GIB), what="The dual route on 35000 rows", remedy="Use solver='krylov'."
        )
    assert str(caught.value) == (
        "The dual route on 35000 rows needs about 9.8 GiB of memory, but only 3.0 GiB are "
        "available. Use solver='krylov'."
    )


@pytest.mark.parametrize("free", [None, 100])
def test_what_fits_or_cannot_be_judged_passes(monkeypatch, free):
    monkeypatch.setattr(memory, "available_bytes", lambda: free)
    memory.require_memory(100, what="Everything", remedy="Nothing.")

"""On what a cell was computed: versions, the class of machine, memory."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from compactlearn.utils import host

try:
    import resource
except ImportError:  # Windows
    resource = None

__all__ = ["accelerator", "forget_peak", "host", "now", "peak_bytes", "resident_bytes", "versions"]

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "compactlearn",
    "torch",
    "lightgbm",
    "scikit-multilearn-ng",
)


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that scores depend on.

    Whether torch is *installed*, not whether it is loaded: the latter depends on what else the
    process has computed before.
    """
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def accelerator() -> dict[str, str]:
    """Return the CUDA device on which memory was used since `forget_peak`, or None."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized() or not torch.cuda.max_memory_allocated():
        return {}
    return {"device": torch.cuda.get_device_name()}


def now() -> str:
    """Return universal time to the microsecond, which also identifies a record of a cell."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can (Linux), and that of a device."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.reset_peak_memory_stats()


def peak_bytes() -> int:
    """Return the peak memory of this process since `forget_peak`, or since its start."""
    peak = _kilobytes("/proc/self/status", "VmHWM:")
    if peak:
        return peak * 1024
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_bytes(pid: int) -> int:
    """Memory that another process and all that it has started hold now; 0 where it has ended.

    Pages that several of them share, as after a fork, count once (on Linux; elsewhere in each).
    """
    if not Path("/proc/self/statm").exists():
        return _resident_elsewhere(pid)
    family = _family(pid)
    if len(family) == 1:
        return _resident(pid)
    # The share of each page; slower to ask for, so only where there is somebody to share with.
    shares = {one: _kilobytes(f"/proc/{one}/smaps_rollup", "Pss:") * 1024 for one in family}
    return sum(share or _resident(one) for one, share in shares.items())


def _resident(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _resident_elsewhere(pid: int) -> int:
    """`resident_bytes` where there is no /proc."""
    total = 0
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):  # it has ended in the meantime
                total += one.memory_info().rss
    return total


def _family(pid: int) -> list[int]:
    """The process and its descendants; without /proc's lists of children the process alone."""
    found = [pid]
    for parent in found:  # grows while it is walked
        with suppress(OSError):
            for thread in Path(f"/proc/{parent}/task").iterdir():
                with suppress(OSError):  # it has ended in the meantime
                    children = (thread / "children").read_text(encoding="ascii")
                    found += map(int, children.split())
    return found


def _kilobytes(path: str, key: str) -> int:
    """Return the value in a line of a file of /proc, or 0 if there is none."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith(key):
                return int(line.split()[1])
    return 0

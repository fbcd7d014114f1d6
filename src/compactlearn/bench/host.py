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
from typing import Any

from compactlearn.core.optional import require

try:
    import resource
except ImportError:  # Windows
    resource = None

__all__ = ["accelerator", "forget_peak", "host", "now", "peak_bytes", "resident_bytes", "versions"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "compactlearn", "torch")


@cache
def versions() -> dict[str, str]:
    """Of Python and the packages that decide figures.

    Whether torch is *installed*, not whether it is loaded: the latter depends on what else the
    process has computed before.
    """
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@cache
def host() -> dict[str, Any]:
    """The class of machine, never which one."""
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "cpu": _cpu_model(),
        "cores": len(affinity(0)) if affinity else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def accelerator() -> dict[str, str]:
    """The CUDA device on which memory was held since `forget_peak`, if any."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized() or not torch.cuda.max_memory_allocated():
        return {}
    return {"device": torch.cuda.get_device_name()}


def now() -> str:
    """Universal time, to the microsecond: it also tells one record of a cell from the next."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can (Linux), and that of a device."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.reset_peak_memory_stats()


def peak_bytes() -> int:
    """The most memory this process has held since `forget_peak`, or ever."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_bytes(pid: int) -> int:
    """Memory that another process holds now; 0 where it has ended."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        if Path("/proc/self/statm").exists():
            return 0
    psutil = require("psutil", extra="bench", purpose="a memory budget on this system")
    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return 0


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"

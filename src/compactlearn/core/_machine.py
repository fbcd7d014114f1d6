"""Class of machine, packages, threads and devices that this program runs with."""

import os
import platform
import re
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from compactlearn.core._optional import require
from compactlearn.core._threads import VARIABLES, own_cores

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
_DEVELOPMENT = ("test", "dev")


@cache
def host() -> dict[str, Any]:
    """Return the class of machine, never which one."""
    affinity = getattr(os, "sched_getaffinity", None)
    return {
        "cpu": _cpu_model(),
        "cores": len(affinity(0)) if affinity else os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def required_packages() -> dict[str, str | None]:
    """Return the packages that compactlearn needs, with their versions; None where one is absent.

    >>> required_packages()["numpy"] is not None
    True
    """
    return {name: _version(name) for name, extra in _requirements() if extra is None}


def optional_packages() -> dict[str, dict[str, str | None]]:
    """Return the packages of each extra with their versions; None where one is absent.

    >>> sorted(optional_packages()["cli"])
    ['rich', 'typer']
    """
    found: dict[str, dict[str, str | None]] = {}
    for name, extra in _requirements():
        if extra is not None and extra not in _DEVELOPMENT:
            found.setdefault(extra, {})[name] = _version(name)
    return found


# What an extra brings, for those who do not have it.
BRINGS = {
    "cli": "the command line",
    "data": "Parquet and Arrow files",
    "frame": "explanations as data frames",
    "plot": "figures",
    "deep": "C2AE and other networks",
    "arrays": "PyTorch and CuPy arrays",
    "onnx": "ONNX graphs",
    "dask": "Dask collections",
    "fast": "fits of large shortlists in a half to three quarters of the time",
}


def threads() -> dict[str, Any]:
    """Return the libraries that compute with threads, with their numbers."""
    pools = [
        {
            "library": " ".join(
                str(pool[key]) for key in ("internal_api", "version") if pool.get(key)
            ),
            "for": pool.get("user_api"),
            "threads": pool.get("num_threads"),
        }
        for pool in threadpool_info()
    ]
    variables = {name: os.environ[name] for name in VARIABLES if os.environ.get(name)}
    return {"own_cores": own_cores(), "libraries": pools, "variables": variables}


def devices() -> dict[str, Any]:
    """Return what PyTorch can compute on; nothing where it is not installed."""
    if _version("torch") is None:
        return {}
    try:
        torch = require("torch", extra="deep", purpose="devices")
        names = [torch.cuda.get_device_name(j) for j in range(torch.cuda.device_count())]
        return {"torch": torch.__version__, "cuda": torch.version.cuda, "cuda devices": names}
    except Exception as error:  # an installation that is broken is what is asked about
        return {"torch": f"cannot be loaded ({type(error).__name__}: {error})"}


def _requirements() -> list[tuple[str, str | None]]:
    """Return names that the installed package asks for, each with its extra."""
    try:
        lines = requires("compactlearn") or []
    except PackageNotFoundError:
        return []
    found = []
    for line in lines:
        name, extra = _REQUIREMENT.match(line), _EXTRA.search(line)
        if name is not None and name[1] != "compactlearn":
            found.append((name[1], None if extra is None else extra[1]))
    return found


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"

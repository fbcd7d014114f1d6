"""Free memory, and a MemoryError before a computation would exhaust it.

Inside a container the machine's own number is too large, so the limits of the control groups of
this process (version 2 or 1, its own group and every group above it) are read as well, and the
smallest counts. File cache that the kernel would drop on demand is free memory.
"""

from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_NO_LIMIT = 2**60  # version 1 writes a huge number where there is no limit


def available_bytes() -> int | None:
    """Return the bytes this process may still use, or None where the system does not say."""
    known = [*_cgroup_rooms(), *_meminfo_rooms()]
    return max(0, min(known)) if known else None


def require_memory(needed: int, *, what: str, remedy: str, free: int | None = None) -> None:
    """Raise MemoryError if ``what`` (the subject of a sentence) needs more than what is free."""
    free = available_bytes() if free is None else free
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} needs about {human_bytes(needed)} of memory, but only {human_bytes(free)} "
            f"are available. {remedy}"
        )


def human_bytes(count: float) -> str:
    """Return a count of bytes in the unit a person would use.

    >>> human_bytes(512), human_bytes(3 * 2**20), human_bytes(9.8 * 2**30)
    ('512 B', '3.0 MiB', '9.8 GiB')
    """
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} TiB"


def _cgroup_rooms() -> Iterator[int]:
    for version, group in _own_groups():
        base = _CGROUPS if version == 2 else _CGROUPS / "memory"
        names = (
            ("memory.max", "memory.current", "inactive_file")
            if version == 2
            else ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        )
        folder = base / group
        # Inside a container the listed path often does not exist below the mount: its own group
        # is then mounted at the root, which the walk upwards reaches.
        for place in [folder, *folder.parents]:
            room = _room(place, *names)
            if room is not None:
                yield room
            if place == base:
                break


def _own_groups() -> Iterator[tuple[int, str]]:
    for line in _text(_PROC / "self" / "cgroup").splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3 and (parts[1] == "" or "memory" in parts[1].split(",")):
            path = parts[2].strip("/")
            yield (2 if parts[1] == "" else 1), "" if ".." in path.split("/") else path


def _room(folder: Path, limit: str, usage: str, reclaimable: str) -> int | None:
    bound = _whole(_text(folder / limit))
    if bound is None or bound >= _NO_LIMIT:  # each further file costs as much as a small fit's step
        return None
    used = _whole(_text(folder / usage))
    if used is None:
        return None
    return bound - used + _field(_text(folder / "memory.stat"), reclaimable)


def _meminfo_rooms() -> Iterator[int]:
    kilobytes = _field(_text(_PROC / "meminfo"), "MemAvailable:")
    if kilobytes:
        yield kilobytes * 1024


def _text(path: Path) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _whole(text: str) -> int | None:
    return int(text) if text.strip().isdigit() else None


def _field(text: str, name: str) -> int:
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return 0

"""The oldest versions that pyproject.toml allows, one requirement to a line.

``python tools/oldest.py cli data test`` prints the base dependencies and those of the extras named,
each with ``==`` in place of ``>=``, so that `make test-oldest` needs no second list. What is pinned
(PyTorch, to the version that is tested) stays as it is.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Tests that want these are skipped without them: napkinXC is compiled where it has no wheel, and a
# browser shows the same with every version of ours.
LEFT_OUT = ("napkinxc", "selenium")


def oldest(project: dict, extras: list[str]) -> list[str]:
    """Requirements of a project table and its extras, at their minimum."""
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    wanted = [line for line in wanted if not line.startswith(LEFT_OUT)]
    unbounded = [line for line in wanted if ">=" not in line and "==" not in line]
    if unbounded:
        raise ValueError(
            f"Every requirement needs a minimum (>=) to be tested at, and {unbounded} have none; "
            "give each the oldest version that is known to work."
        )
    return sorted({line.replace(">=", "==") for line in wanted})


if __name__ == "__main__":
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(oldest(content["project"], sys.argv[1:])))

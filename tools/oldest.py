"""The oldest versions that pyproject.toml allows, one requirement to a line.

``python tools/oldest.py cli data test`` prints the base dependencies and those of the extras named,
each with ``==`` in place of ``>=``, so that `make test-oldest` needs no second list.
"""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What the tests want for a few comparisons, and skip where it is absent: PyTorch is large, napkinXC is
# compiled where it has no wheel, and a browser looks the same with every version of ours.
LEFT_OUT = ("torch", "napkinxc", "selenium")


def oldest(project: dict, extras: list[str]) -> list[str]:
    """Requirements of a project table and its extras, at their minimum."""
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    unbounded = [line for line in wanted if ">=" not in line and not line.startswith(LEFT_OUT)]
    if unbounded:
        raise ValueError(
            f"Every requirement needs a minimum (>=) to be tested at, and {unbounded} have none; "
            "give each the oldest version that is known to work."
        )
    return sorted({line.replace(">=", "==") for line in wanted if not line.startswith(LEFT_OUT)})


if __name__ == "__main__":
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(oldest(content["project"], sys.argv[1:])))

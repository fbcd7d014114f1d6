"""A cell together with where its parts lie, as it is sent to the process that computes it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from compactlearn_bench.records import Cell
from compactlearn_bench.spec.datasets import OwnFile

__all__ = ["Job"]


@dataclass(frozen=True)
class Job:
    """A cell and its limits as sent to a worker; only the cell determines the result."""

    cell: Cell
    data_home: str | None = None  # where the data sets lie
    folder: str | None = None  # where modules of the user's own lie
    file: OwnFile | None = None  # where the data set is read from, if not from where its name says
    device: str | None = None  # where grids are solved, by its name in PyTorch; None: by NumPy

    def to_json(self) -> str:
        """As text, for a pipe."""
        return json.dumps(asdict(self) | {"cell": self.cell.as_dict()})

    @classmethod
    def from_json(cls, text: str | bytes) -> Job:
        """Return the job that `to_json` wrote."""
        found: dict[str, Any] = json.loads(text)
        file = found["file"] if found["file"] is None else OwnFile.from_dict(found["file"])
        return cls(**found | {"cell": Cell(**found["cell"]), "file": file})

"""A cell together with where its parts lie, as it is sent to the process that computes it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from compactlearn_bench.records import Cell, Record
from compactlearn_bench.spec.datasets import OwnFile

__all__ = ["Job", "written"]


@dataclass(frozen=True)
class Job:
    """What a worker is told.

    Parameters
    ----------
    cell : Cell
    data_home, folder : str or None
        Where the data sets lie, and modules of the user's own.
    store : str or None
        Where the worker writes the record; None: it sends the record back.
    stale : str or None
        When the record was written that is to be replaced; any other is left alone.
    file : OwnFile or None
        Where the data set is read from, if not from where its name says. It is no part of the cell:
        the data are, wherever they lie.
    device : str or None
        Where grids are solved, by its name in PyTorch; None: on the CPU, by NumPy. It is no part of
        the cell either: figures are the same but for rounding.
    """

    cell: Cell
    data_home: str | None = None
    folder: str | None = None
    store: str | None = None
    stale: str | None = None
    file: OwnFile | None = None
    device: str | None = None

    def to_json(self) -> str:
        """As text, for a pipe."""
        return json.dumps(asdict(self) | {"cell": self.cell.as_dict()})

    @classmethod
    def from_json(cls, text: str | bytes) -> Job:
        """What `to_json` wrote."""
        found: dict[str, Any] = json.loads(text)
        file = found["file"] if found["file"] is None else OwnFile.from_dict(found["file"])
        return cls(**found | {"cell": Cell(**found["cell"]), "file": file})


def written(record: Record) -> str:
    """When a record was written."""
    return str(record.circumstances.get("written", ""))

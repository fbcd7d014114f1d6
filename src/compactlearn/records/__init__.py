"""What a finished cell of a benchmark is, how it is stored, and what many of them say together."""

from compactlearn.records.record import (
    SELECTIONS,
    Cell,
    Record,
    RecordError,
    Selection,
    Status,
    seed_for,
)

__all__ = [
    "SELECTIONS",
    "Cell",
    "Record",
    "RecordError",
    "Selection",
    "Status",
    "seed_for",
]

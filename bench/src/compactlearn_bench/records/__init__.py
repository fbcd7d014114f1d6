"""What a finished cell of a benchmark is, how it is stored, and what many of them say together."""

from compactlearn_bench.records.aggregate import LOSSES, Figure, Gap, Grid, Results, aggregate
from compactlearn_bench.records.packed import Growth
from compactlearn_bench.records.record import (
    SELECTIONS,
    Cell,
    Record,
    RecordError,
    Selection,
    Status,
    seed_for,
)
from compactlearn_bench.records.store import Store, StoreError, open_records

__all__ = [
    "LOSSES",
    "SELECTIONS",
    "Cell",
    "Figure",
    "Gap",
    "Grid",
    "Growth",
    "Record",
    "RecordError",
    "Results",
    "Selection",
    "Status",
    "Store",
    "StoreError",
    "aggregate",
    "open_records",
    "seed_for",
]

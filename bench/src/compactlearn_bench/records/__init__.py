"""Records of finished cells of a benchmark: their format, their storage, their statistics."""

from compactlearn_bench.records.aggregate import LOSSES, Gap, Grid, Results, Score, aggregate
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
    "Gap",
    "Grid",
    "Record",
    "RecordError",
    "Results",
    "Score",
    "Selection",
    "Status",
    "Store",
    "StoreError",
    "aggregate",
    "open_records",
    "seed_for",
]

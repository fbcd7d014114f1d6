"""Experiments: what was asked, on which folds, and what came out."""

from compactlearn.bench.cluster import ClusterError
from compactlearn.bench.comparison import (
    FULL,
    METRICS,
    PUBLISHED,
    QUICK,
    Comparison,
    Figure,
    Grid,
    Row,
    compare,
)
from compactlearn.bench.entry import Answer, Entry, Task
from compactlearn.bench.events import Event, RunError, Summary
from compactlearn.bench.generic import ClassifierEntry
from compactlearn.bench.plan import cells_of
from compactlearn.bench.registry import entry_names
from compactlearn.bench.run import run
from compactlearn.bench.spec import Spec, SpecError, parse_spec, read_spec

__all__ = [
    "FULL",
    "METRICS",
    "PUBLISHED",
    "QUICK",
    "Answer",
    "ClassifierEntry",
    "ClusterError",
    "Comparison",
    "Entry",
    "Event",
    "Figure",
    "Grid",
    "Row",
    "RunError",
    "Spec",
    "SpecError",
    "Summary",
    "Task",
    "cells_of",
    "compare",
    "entry_names",
    "parse_spec",
    "read_spec",
    "run",
]

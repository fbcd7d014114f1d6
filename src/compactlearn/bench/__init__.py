"""Experiments: what was asked, on which folds, and what came out."""

from compactlearn.bench.cluster import ClusterError
from compactlearn.bench.entry import Answer, Entry, Task
from compactlearn.bench.events import Event, RunError, Summary
from compactlearn.bench.generic import ClassifierEntry
from compactlearn.bench.plan import cells_of
from compactlearn.bench.registry import entry_names
from compactlearn.bench.run import run
from compactlearn.bench.spec import Spec, SpecError, parse_spec, read_spec

__all__ = [
    "Answer",
    "ClassifierEntry",
    "ClusterError",
    "Entry",
    "Event",
    "RunError",
    "Spec",
    "SpecError",
    "Summary",
    "Task",
    "cells_of",
    "entry_names",
    "parse_spec",
    "read_spec",
    "run",
]

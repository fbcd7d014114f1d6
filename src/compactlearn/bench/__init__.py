"""Experiments: what was asked, on which folds, and what came out."""

from compactlearn.bench.harness.cluster import ClusterError
from compactlearn.bench.harness.events import Event, RunError, Summary
from compactlearn.bench.harness.run import run
from compactlearn.bench.methods.classifier_entry import ClassifierEntry
from compactlearn.bench.methods.entry import Answer, Entry, Task
from compactlearn.bench.methods.finding import entry_names
from compactlearn.bench.spec.cells import cells_of
from compactlearn.bench.spec.reading import Spec, SpecError, parse_spec, read_spec

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

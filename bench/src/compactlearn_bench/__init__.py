"""Experiments: what was asked, on which folds, and what came out."""

from compactlearn_bench.harness.events import Event, RunError, Summary
from compactlearn_bench.harness.run import run
from compactlearn_bench.methods.classifier_entry import ClassifierEntry
from compactlearn_bench.methods.completions import PaperCMLL, PaperMDDM
from compactlearn_bench.methods.entry import Answer, Entry, Task
from compactlearn_bench.methods.finding import entry_names
from compactlearn_bench.methods.printed import as_printed
from compactlearn_bench.spec.cells import cells_of
from compactlearn_bench.spec.reading import Spec, SpecError, parse_spec, read_spec

__all__ = [
    "Answer",
    "ClassifierEntry",
    "Entry",
    "Event",
    "PaperCMLL",
    "PaperMDDM",
    "RunError",
    "Spec",
    "SpecError",
    "Summary",
    "Task",
    "as_printed",
    "cells_of",
    "entry_names",
    "parse_spec",
    "read_spec",
    "run",
]

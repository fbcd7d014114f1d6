"""Experiments: what was asked, on which folds, and what came out."""

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

__all__ = [
    "FULL",
    "METRICS",
    "PUBLISHED",
    "QUICK",
    "Comparison",
    "Figure",
    "Grid",
    "Row",
    "compare",
]

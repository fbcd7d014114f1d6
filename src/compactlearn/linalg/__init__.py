"""Numerical tools over two blocks of columns, left (features) and right (labels)."""

from compactlearn.linalg._eigen import leading_eigenpairs
from compactlearn.linalg._moments import Moments
from compactlearn.linalg._row_source import RowSource

__all__ = ["Moments", "RowSource", "leading_eigenpairs"]

"""Numerical tools over two blocks of columns, left (features) and right (labels)."""

from compactlearn.linalg._moments import Moments

__all__ = ["Moments"]

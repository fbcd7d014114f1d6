"""Numerical tools over two blocks of columns, left and right; nothing here knows about labels."""

from compactlearn.linalg.moments import Moments

__all__ = ["Moments"]

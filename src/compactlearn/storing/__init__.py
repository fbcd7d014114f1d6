"""Trees of plain values and arrays in one file: written whole, checked when read, never executed.

What may be in such a tree is a table (:mod:`compactlearn.storing.kinds`), to which the owners of a
type add it. Nothing here knows a model.
"""

from compactlearn.storing.errors import ModelFileError

__all__ = ["ModelFileError"]

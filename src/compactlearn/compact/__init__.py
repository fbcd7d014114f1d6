"""Compact models: prepare rows, embed, regress, decode.

What people use is found in :mod:`compactlearn`; here is what published tables need beside that.
"""

from typing import TYPE_CHECKING

from compactlearn.core._lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn.compact._paper import PaperClassifier

__getattr__, __dir__ = names_on_demand(__name__, {"_paper": ("PaperClassifier",)})

__all__ = ["PaperClassifier"]

"""The one error of model files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model that cannot be stored, or a file that is no whole and known model file."""

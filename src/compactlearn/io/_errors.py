"""The one error of model files, and the advice that ends many of its messages."""

from __future__ import annotations

ADVICE = (
    "use parts of compactlearn, or those of scikit-learn that docs/guide/storing.md lists, or keep "
    "the model with skops or joblib"
)


class ModelFileError(ValueError):
    """A model that cannot be stored, or a file that is no whole and known model file."""

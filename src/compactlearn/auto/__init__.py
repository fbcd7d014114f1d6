"""The automatic search for the best model."""

from typing import TYPE_CHECKING

from compactlearn.core._lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn.auto._classifier import AutoCompactClassifier
    from compactlearn.auto._texts import FieldVectorizer, TextVectorizer, text_classifier

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "_classifier": ("AutoCompactClassifier",),
        "_texts": (
            "FieldVectorizer",
            "TextVectorizer",
            "text_classifier",
        ),
    },
)

__all__ = [
    "AutoCompactClassifier",
    "FieldVectorizer",
    "TextVectorizer",
    "text_classifier",
]

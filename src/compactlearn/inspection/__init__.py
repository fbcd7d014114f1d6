"""Explanations of fitted models, and one page about a model."""

from typing import TYPE_CHECKING

from compactlearn.core._lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn.inspection._model_report import inspect_model, model_report

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "_model_report": (
            "inspect_model",
            "model_report",
        ),
    },
)

__all__ = [
    "inspect_model",
    "model_report",
]

"""Compact learning for multi-label classification.

The names below are loaded when they are first asked for, so that ``import compactlearn`` takes a
moment only; type checkers and the import contract read where they come from in the block that is
never run.
"""

from typing import TYPE_CHECKING

from compactlearn.core.lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn.embeddings import CMLL, CPLST, DMLR, MDDM, PLST, FaIE, Original
    from compactlearn.estimators import (
        METHODS,
        C2AEClassifier,
        CMLLClassifier,
        CompactClassifier,
        KernelMap,
        KernelRegressor,
        POPClassifier,
        ShortlistClassifier,
        ThresholdTuner,
        evaluate,
        explain,
        fit_path,
        label_neighbours,
        load_model,
        method,
        predict_labels,
        predict_topk,
        save_model,
    )
    from compactlearn.export import to_onnx
    from compactlearn.linalg import Moments
    from compactlearn.model_selection import (
        AutoCompactClassifier,
        CMLLClassifierCV,
        text_classifier,
    )
    from compactlearn.storing import ModelFileError

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "embeddings": ("CMLL", "CPLST", "DMLR", "MDDM", "PLST", "FaIE", "Original"),
        "estimators": (
            "METHODS",
            "C2AEClassifier",
            "CMLLClassifier",
            "CompactClassifier",
            "KernelMap",
            "KernelRegressor",
            "KernelRegressor",
            "POPClassifier",
            "ShortlistClassifier",
            "ThresholdTuner",
            "evaluate",
            "fit_path",
            "method",
            "predict_topk",
            "explain",
            "label_neighbours",
            "load_model",
            "predict_labels",
            "save_model",
        ),
        "export": ("to_onnx",),
        "linalg": ("Moments",),
        "model_selection": ("AutoCompactClassifier", "CMLLClassifierCV", "text_classifier"),
        "storing": ("ModelFileError",),
    },
    parts=(
        "bench",
        "datasets",
        "inspection",
        "metrics",
        "model_selection",
        "plots",
        "records",
        "related",
        "report",
    ),
)

__version__ = "0.1.0"

__all__ = [
    "CMLL",
    "CPLST",
    "DMLR",
    "MDDM",
    "METHODS",
    "PLST",
    "AutoCompactClassifier",
    "C2AEClassifier",
    "CMLLClassifier",
    "CMLLClassifierCV",
    "CompactClassifier",
    "FaIE",
    "KernelMap",
    "KernelRegressor",
    "ModelFileError",
    "Moments",
    "Original",
    "POPClassifier",
    "ShortlistClassifier",
    "ThresholdTuner",
    "__version__",
    "evaluate",
    "explain",
    "fit_path",
    "label_neighbours",
    "load_model",
    "method",
    "predict_labels",
    "predict_topk",
    "save_model",
    "text_classifier",
    "to_onnx",
]

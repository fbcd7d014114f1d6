"""Compact learning for multi-label classification.

The names below are imported when they are first used, so that ``import compactlearn`` takes a
moment only. Type checkers and the import contract read their homes in the block that never runs.
"""

from typing import TYPE_CHECKING

from compactlearn.core._lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn._methods import METHODS, method
    from compactlearn.auto._classifier import AutoCompactClassifier
    from compactlearn.auto._texts import text_classifier
    from compactlearn.compact._any_classifier import evaluate, predict_labels, predict_topk
    from compactlearn.compact._classifier import CompactClassifier
    from compactlearn.compact._cmll import CMLLClassifier
    from compactlearn.compact._kernel_map import KernelMap
    from compactlearn.compact._threshold_tuner import ThresholdTuner
    from compactlearn.core._tensor_file import ModelFileError
    from compactlearn.embeddings import CMLL, CPLST, DMLR, MDDM, PLST, FaIE, Original
    from compactlearn.inspection._explain import explain, label_neighbours
    from compactlearn.io._model_file import load_model, save_model
    from compactlearn.io.onnx import to_onnx
    from compactlearn.linalg._moments import Moments
    from compactlearn.model_selection import CMLLClassifierCV
    from compactlearn.related._c2ae import C2AEClassifier
    from compactlearn.related._pop import POPClassifier
    from compactlearn.shortlist._classifier import ShortlistClassifier

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "_methods": ("METHODS", "method"),
        "auto._classifier": ("AutoCompactClassifier",),
        "auto._texts": ("text_classifier",),
        "compact._any_classifier": ("evaluate", "predict_labels", "predict_topk"),
        "compact._classifier": ("CompactClassifier",),
        "compact._cmll": ("CMLLClassifier",),
        "compact._kernel_map": ("KernelMap",),
        "compact._threshold_tuner": ("ThresholdTuner",),
        "core._tensor_file": ("ModelFileError",),
        "embeddings": ("CMLL", "CPLST", "DMLR", "MDDM", "PLST", "FaIE", "Original"),
        "inspection._explain": ("explain", "label_neighbours"),
        "io._model_file": ("load_model", "save_model"),
        "io.onnx": ("to_onnx",),
        "linalg._moments": ("Moments",),
        "model_selection": ("CMLLClassifierCV",),
        "related._c2ae": ("C2AEClassifier",),
        "related._pop": ("POPClassifier",),
        "shortlist._classifier": ("ShortlistClassifier",),
    },
    parts=("auto", "datasets", "inspection", "metrics", "model_selection", "plots", "related"),
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
    "ModelFileError",
    "Moments",
    "Original",
    "POPClassifier",
    "ShortlistClassifier",
    "ThresholdTuner",
    "__version__",
    "evaluate",
    "explain",
    "label_neighbours",
    "load_model",
    "method",
    "predict_labels",
    "predict_topk",
    "save_model",
    "text_classifier",
    "to_onnx",
]

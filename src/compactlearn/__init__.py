"""Compact learning for multi-label classification."""

from compactlearn.embeddings import CMLL, CPLST, DMLR, MDDM, PLST, FaIE, Original
from compactlearn.estimators import (
    METHODS,
    C2AEClassifier,
    CMLLClassifier,
    CompactClassifier,
    KernelMap,
    POPClassifier,
    ShortlistClassifier,
    ThresholdTuner,
    evaluate,
    fit_path,
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
    "fit_path",
    "load_model",
    "method",
    "predict_labels",
    "predict_topk",
    "save_model",
    "text_classifier",
    "to_onnx",
]

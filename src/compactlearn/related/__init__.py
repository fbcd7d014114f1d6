"""Methods of the related work, which compact learning is compared with.

``compactlearn.method`` builds each by its name; docs/methods/related.md compares them.
"""

from typing import TYPE_CHECKING

from compactlearn.core._lazy import names_on_demand

if TYPE_CHECKING:
    from compactlearn.related._bmlpl import TopicClassifier
    from compactlearn.related._boolean import BooleanClassifier
    from compactlearn.related._c2ae import C2AEClassifier
    from compactlearn.related._compressed_sensing import CompressedSensingClassifier
    from compactlearn.related._cssp import CSSP
    from compactlearn.related._deep_cmll import DeepCMLLClassifier
    from compactlearn.related._grople import GroPLE
    from compactlearn.related._kernel_labels import KernelLabelSpace
    from compactlearn.related._leml import LEML
    from compactlearn.related._maniac import ManiacClassifier
    from compactlearn.related._mifs import MIFS
    from compactlearn.related._near_rows import LPP, NPE
    from compactlearn.related._output_codes import OutputCodesClassifier
    from compactlearn.related._pop import POPClassifier
    from compactlearn.related._projected import CCA, MLSI, OPLS, PCA
    from compactlearn.related._projection_forest import ProjectionForestClassifier
    from compactlearn.related._rembrandt import Rembrandt
    from compactlearn.related._sleec import SLEECClassifier
    from compactlearn.related._slrm import SLRM

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "_bmlpl": ("TopicClassifier",),
        "_boolean": ("BooleanClassifier",),
        "_c2ae": ("C2AEClassifier",),
        "_compressed_sensing": ("CompressedSensingClassifier",),
        "_cssp": ("CSSP",),
        "_deep_cmll": ("DeepCMLLClassifier",),
        "_grople": ("GroPLE",),
        "_kernel_labels": ("KernelLabelSpace",),
        "_leml": ("LEML",),
        "_maniac": ("ManiacClassifier",),
        "_mifs": ("MIFS",),
        "_near_rows": ("LPP", "NPE"),
        "_output_codes": ("OutputCodesClassifier",),
        "_pop": ("POPClassifier",),
        "_projected": ("CCA", "MLSI", "OPLS", "PCA"),
        "_projection_forest": ("ProjectionForestClassifier",),
        "_rembrandt": ("Rembrandt",),
        "_sleec": ("SLEECClassifier",),
        "_slrm": ("SLRM",),
    },
)

__all__ = [
    "CCA",
    "CSSP",
    "LEML",
    "LPP",
    "MIFS",
    "MLSI",
    "NPE",
    "OPLS",
    "PCA",
    "SLRM",
    "BooleanClassifier",
    "C2AEClassifier",
    "CompressedSensingClassifier",
    "DeepCMLLClassifier",
    "GroPLE",
    "KernelLabelSpace",
    "ManiacClassifier",
    "OutputCodesClassifier",
    "POPClassifier",
    "ProjectionForestClassifier",
    "Rembrandt",
    "SLEECClassifier",
    "TopicClassifier",
]

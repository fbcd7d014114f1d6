"""The table of methods: what makes the method of a name, and the paper's parameters of it.

A row names what makes the method and imports nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compactlearn.core._lazy import load

__all__ = ["NOT_HERE", "ROWS", "MethodRow"]


@dataclass(frozen=True, eq=False)
class MethodRow:
    """A method by its name in the paper's tables or in its related work.

    Parameters
    ----------
    name : str
    made_by : str
        "package.module:object" of an embedding or a classifier.
    paper : mapping
        Parameters for which the paper, or the program that it used, differs from our defaults.
    fixed : mapping
        Parameters that are part of the method's definition.
    kernel : bool
        Whether a ``KernelMap`` precedes the method.
    """

    name: str
    made_by: str
    paper: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    kernel: bool = False

    def maker(self) -> Any:
        """Return the object that `made_by` names."""
        module, _, name = self.made_by.partition(":")
        return getattr(load(module), name)


_PAPER = {"beta": 1.0, "offset": "none"}
# What the authors' program does; but it keeps the epoch of the best micro-F1 + macro-F1 on
# validation rows, here it is that of the best micro-F1.
_PROGRAM_OF_C2AE = {
    "n_components": 0.8,
    "alpha": 2.0,
    "batch_size": 500,
    "max_epochs": 50,
    "learning_rate": 1e-4,
    "scoring": "micro_f1",
    "patience": None,
}
# As ML-FSDR and MLC_toolbox have them.
_PROGRAMS = {"ridge": 1.0, "unit_columns": True}

_LINEAR = {
    row.name: row
    for row in (
        MethodRow("ORI", "compactlearn.embeddings:Original"),
        MethodRow("PLST", "compactlearn.embeddings:PLST"),
        MethodRow("CPLST", "compactlearn.embeddings:CPLST"),
        MethodRow("DMLR", "compactlearn.embeddings:DMLR", paper=_PAPER),
        MethodRow("FaIE", "compactlearn.embeddings:FaIE", paper=_PAPER),
        MethodRow(
            "CMLL_y",
            "compactlearn.embeddings:CMLL",
            paper=_PAPER,
            fixed={"n_feature_components": None},
        ),
        MethodRow("MDDM", "compactlearn.embeddings:MDDM"),
        MethodRow("POP", "compactlearn.related._pop:POPClassifier"),
        MethodRow("CMLL", "compactlearn.embeddings:CMLL", paper=_PAPER),
    )
}


def _with_kernel(name: str) -> MethodRow:
    return replace(_LINEAR[name], name=f"k-{name}", kernel=True)


_WITH_KERNEL = (
    *map(_with_kernel, ("ORI", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM")),
    MethodRow("C2AE", "compactlearn.related._c2ae:C2AEClassifier", paper=_PROGRAM_OF_C2AE),
    _with_kernel("CMLL"),
)

# Methods of the related work: what compresses labels, what compresses features, and models of
# their own.
_RELATED = (
    MethodRow(
        "CSSP", "compactlearn.related:CSSP", paper={"selection": "sampled", "coding": "binary"}
    ),
    MethodRow("Rembrandt", "compactlearn.related:Rembrandt", paper={"offset": "none"}),
    MethodRow("CS", "compactlearn.related:CompressedSensingClassifier"),
    MethodRow("CCA-OC", "compactlearn.related:OutputCodesClassifier"),
    MethodRow("MLC-BMaD", "compactlearn.related:BooleanClassifier", paper={"scores": "binary"}),
    MethodRow("GroPLE", "compactlearn.related:GroPLE", paper={"coding": "signed"}),
    MethodRow("KLST", "compactlearn.related:KernelLabelSpace", paper={"joined": True}),
    MethodRow("CCA", "compactlearn.related:CCA", paper=_PROGRAMS),
    MethodRow("OPLS", "compactlearn.related:OPLS", paper=_PROGRAMS),
    MethodRow("MLSI", "compactlearn.related:MLSI", paper=_PROGRAMS),
    MethodRow("PCA", "compactlearn.related:PCA"),
    MethodRow("LPP", "compactlearn.related:LPP", paper={"width": 1.0, "unit_columns": True}),
    MethodRow("NPE", "compactlearn.related:NPE", paper={"unit_columns": True}),
    MethodRow("MIFS", "compactlearn.related:MIFS", paper={"width": 1.0}),
    MethodRow("LEML", "compactlearn.related:LEML"),
    MethodRow("SLRM", "compactlearn.related:SLRM"),
    MethodRow(
        "Projection forest", "compactlearn.related._projection_forest:ProjectionForestClassifier"
    ),
    MethodRow("BMLPL", "compactlearn.related._bmlpl:TopicClassifier"),
    MethodRow("SLEEC", "compactlearn.related._sleec:SLEECClassifier"),
    MethodRow("MANIAC", "compactlearn.related._maniac:ManiacClassifier"),
    MethodRow("DeepCMLL", "compactlearn.related._deep_cmll:DeepCMLLClassifier"),
)

#: Methods of the related work that are not in the library, since their objectives or algorithms
#: are in no source available to us (docs/methods/related.md), and what is close to them.
NOT_HERE = {"CoH": "SLEEC", "MOPLMS": "CSSP", "REML": "ShortlistClassifier"}

#: Every method by its name, in the order of the paper's tables and then of its related work.
ROWS: dict[str, MethodRow] = {
    row.name: row for row in (*_LINEAR.values(), *_WITH_KERNEL, *_RELATED)
}

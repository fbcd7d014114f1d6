"""From a method's name in the paper's tables to an estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from compactlearn.core.params import nearest
from compactlearn.embeddings import CMLL, CPLST, DMLR, MDDM, PLST, FaIE, Original
from compactlearn.embeddings.base import Embedding
from compactlearn.estimators.c2ae import C2AEClassifier
from compactlearn.estimators.cmll import CMLLClassifier
from compactlearn.estimators.compact import CompactClassifier
from compactlearn.estimators.kernel_map import KernelMap
from compactlearn.estimators.pop import POPClassifier

_PAPER = {"beta": 1.0, "offset": "none"}
# What the authors' program does; but it keeps the epoch of the best micro-F1 + macro-F1 on
# validation rows, here it is that of the best micro-F1.
_C2AE_PROGRAM: dict[str, Any] = {
    "n_components": 0.8,
    "alpha": 2.0,
    "batch_size": 500,
    "max_epochs": 50,
    "learning_rate": 1e-4,
    "scoring": "micro_f1",
    "patience": None,
}


@dataclass(frozen=True)
class _Recipe:
    """What a name stands for."""

    embedding: type[Embedding]
    fixed: dict[str, Any] = field(default_factory=dict)  # part of the method's definition
    paper: dict[str, Any] = field(default_factory=dict)  # where the paper differs from our defaults
    kernel: bool = False


_LINEAR = {
    "ORI": _Recipe(Original),
    "PLST": _Recipe(PLST),
    "CPLST": _Recipe(CPLST),
    "DMLR": _Recipe(DMLR, paper=_PAPER),
    "FaIE": _Recipe(FaIE, paper=_PAPER),
    "CMLL_y": _Recipe(CMLL, fixed={"n_feature_components": None}, paper=_PAPER),
    "MDDM": _Recipe(MDDM),
    "CMLL": _Recipe(CMLL, paper=_PAPER),
}
_KERNEL = ("ORI", "CPLST", "DMLR", "FaIE", "CMLL_y", "MDDM", "CMLL")
_RECIPES = _LINEAR | {
    f"k-{name}": _Recipe(
        _LINEAR[name].embedding, _LINEAR[name].fixed, _LINEAR[name].paper, kernel=True
    )
    for name in _KERNEL
}

#: The names of the methods in the paper's tables, in their order: linear, then kernel.
METHODS = (
    "ORI",
    "PLST",
    "CPLST",
    "DMLR",
    "FaIE",
    "CMLL_y",
    "MDDM",
    "POP",
    "CMLL",
    "k-ORI",
    "k-CPLST",
    "k-DMLR",
    "k-FaIE",
    "k-CMLL_y",
    "k-MDDM",
    "C2AE",
    "k-CMLL",
)


def method(name: str, *, protocol: str = "paper", **params: Any) -> Any:
    """Return an unfitted estimator by its name in the paper's tables.

    Parameters
    ----------
    name : str
        One of ``METHODS``: the linear methods, and with "k-" in front the kernel versions, which
        put ``KernelMap()`` (RBF, exact) before the same method.
    protocol : {"paper", "recommended"}, default="paper"
        "paper": no offset in the decoder, a balance of 1.0, threshold 0.5, the linear decoder;
        for C2AE the settings of its authors' program.
        "recommended": this library's defaults.
    **params
        Parameters of the estimator, of its embedding and, for a kernel version, of its
        ``KernelMap``, by their plain names; they come before the protocol's.

    Examples
    --------
    >>> from compactlearn import method
    >>> method("CPLST", n_label_components=10, alpha=0.1)
    CompactClassifier(alpha=0.1, embedding=CPLST(n_label_components=10),
                      threshold=0.5)
    >>> method("k-MDDM", gamma=0.5)
    CompactClassifier(embedding=MDDM(), feature_map=KernelMap(gamma=0.5),
                      threshold=0.5)
    >>> method("CPLTS")
    Traceback (most recent call last):
        ...
    ValueError: There is no method 'CPLTS'; ... Did you mean 'CPLST'?
    """
    if name not in METHODS:
        known = ", ".join(METHODS)
        raise ValueError(
            f"There is no method {name!r}; the names are {known}.{nearest(str(name), METHODS)}"
        )
    if protocol not in ("paper", "recommended"):
        raise ValueError(
            f"protocol must be 'paper' or 'recommended', and is {protocol!r}."
            f"{nearest(str(protocol), ('paper', 'recommended'))}"
        )
    if name == "POP":
        _refuse_strangers(name, params, POPClassifier().get_params())
        return POPClassifier(**params)
    if name == "C2AE":
        _refuse_strangers(name, params, C2AEClassifier().get_params())
        return C2AEClassifier(**(_C2AE_PROGRAM if protocol == "paper" else {}) | params)
    return _assemble(name, _RECIPES[name], protocol, params)


def _assemble(name: str, recipe: _Recipe, protocol: str, params: dict[str, Any]) -> Any:
    together = recipe.embedding is CMLL  # CMLLClassifier has both sets of parameters
    outer = set((CMLLClassifier if together else CompactClassifier)().get_params(deep=False)) - {
        "embedding"
    }
    inner = set(recipe.embedding().get_params())
    mapping = set(KernelMap().get_params()) if recipe.kernel else set()
    _refuse_strangers(name, params, outer | inner | mapping)
    for given, value in recipe.fixed.items():
        if params.get(given, value) is not value:
            raise ValueError(
                f"{name} means {given}={value!r}, and {params[given]!r} was given; leave it out, "
                f"or use method({name.removesuffix('_y')!r}, {given}={params[given]!r})."
            )
    paper: dict[str, Any] = {"threshold": 0.5} | recipe.paper
    chosen = recipe.fixed | (paper if protocol == "paper" else {}) | params
    clash = sorted((mapping - outer - inner) & set(params))
    if clash and "feature_map" in params:
        raise TypeError(
            f"method({name!r}) was given a feature_map and {', '.join(clash)} besides; set these "
            "on the feature_map itself."
        )
    if recipe.kernel and "feature_map" not in params:
        ours = {key: value for key, value in chosen.items() if key in mapping}
        chosen = {k: v for k, v in chosen.items() if k not in mapping or k in outer | inner}
        chosen["feature_map"] = KernelMap(**ours)
    if together:
        return CMLLClassifier(**chosen)
    embedded = {key: value for key, value in chosen.items() if key in inner}
    others = {key: value for key, value in chosen.items() if key not in inner or key in outer}
    return CompactClassifier(recipe.embedding(**embedded), **others)


def _refuse_strangers(name: str, params: dict[str, Any], known: Any) -> None:
    for parameter in params:
        if parameter not in known:
            raise TypeError(
                f"method({name!r}) has no parameter {parameter!r}; it takes "
                f"{', '.join(sorted(known))}.{nearest(parameter, known)}"
            )

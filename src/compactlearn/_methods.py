"""From a method's name in the paper, its tables or its related work, to an estimator."""

from __future__ import annotations

from typing import Any

from compactlearn._method_table import NOT_HERE, ROWS, MethodRow
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.core._params import nearest
from compactlearn.embeddings._base import Embedding

#: The names of the methods in the paper's tables, in their order: linear, then kernel; after them
#: those of its related work.
METHODS = tuple(ROWS)

_PROTOCOLS = ("paper", "recommended")


def method(name: str, *, protocol: str = "paper", **params: Any) -> Any:
    """Return an unfitted estimator by its name in the paper's tables or in its related work.

    Parameters
    ----------
    name : str
        One of ``METHODS``: the linear methods, with "k-" in front the kernel versions, which put
        ``KernelMap()`` (RBF, exact) before the same method, and those of the related work.
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
    if isinstance(name, str) and name in NOT_HERE:
        raise ValueError(
            f"{name} is not in the library: its objective or its algorithm is in no source "
            f"available to us (docs/methods/related.md); close to it is {NOT_HERE[name]}."
        )
    row = ROWS.get(name) if isinstance(name, str) else None
    if row is None:
        known = ", ".join(METHODS)
        raise ValueError(
            f"There is no method {name!r}; the names are {known}.{nearest(str(name), METHODS)}"
        )
    if protocol not in _PROTOCOLS:
        raise ValueError(
            f"protocol must be 'paper' or 'recommended', and is {protocol!r}."
            f"{nearest(str(protocol), _PROTOCOLS)}"
        )
    made_by = row.maker()
    if issubclass(made_by, Embedding):
        return _assemble(row, made_by, protocol, params)
    _refuse_strangers(name, params, made_by().get_params())
    return made_by(**{**({} if protocol == "recommended" else row.paper), **params})


def _assemble(
    row: MethodRow, embedding: type[Embedding], protocol: str, params: dict[str, Any]
) -> Any:
    name = row.name
    outer = set(CompactClassifier().get_params(deep=False)) - {"embedding"}
    inner = set(embedding().get_params())
    mapping = set(KernelMap().get_params()) if row.kernel else set()
    _refuse_strangers(name, params, outer | inner | mapping)
    for given, value in row.fixed.items():
        if params.get(given, value) is not value:
            raise ValueError(
                f"{name} means {given}={value!r}, and {params[given]!r} was given; leave it out, "
                f"or use method({name.removesuffix('_y')!r}, {given}={params[given]!r})."
            )
    preset = {} if protocol == "recommended" else {"threshold": 0.5, **row.paper}
    chosen: dict[str, Any] = {**row.fixed, **preset, **params}
    clash = sorted((mapping - outer - inner) & set(params))
    if clash and "feature_map" in params:
        raise TypeError(
            f"method({name!r}) was given a feature_map and {', '.join(clash)} besides; set these "
            "on the feature_map itself."
        )
    if row.kernel and "feature_map" not in params:
        ours = {key: value for key, value in chosen.items() if key in mapping}
        chosen = {k: v for k, v in chosen.items() if k not in mapping or k in outer | inner}
        chosen["feature_map"] = KernelMap(**ours)
    embedded = {key: value for key, value in chosen.items() if key in inner}
    others = {key: value for key, value in chosen.items() if key not in inner or key in outer}
    return CompactClassifier(embedding(**embedded), **others)


def _refuse_strangers(name: str, params: dict[str, Any], known: Any) -> None:
    for parameter in params:
        if parameter not in known:
            raise TypeError(
                f"method({name!r}) has no parameter {parameter!r}; it takes "
                f"{', '.join(sorted(known))}.{nearest(parameter, known)}"
            )

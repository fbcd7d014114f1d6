"""Settings of a search, sorted by what can be shared.

What one solution serves (label and feature sizes, the learner's and the decoder's ridge) is
*inner*; everything else is *outer*, and each combination of outer values is one group, with an
eigenproblem of its own on every fold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._noisy_labels import is_corrected
from compactlearn.core._params import check_own_parameters
from compactlearn.embeddings._base import Embedding
from compactlearn.model_selection._engine import Wanted

_SIZES = ("n_label_components", "n_feature_components", "label_ridge")


@dataclass
class Group:
    """Settings that share one solution on each fold."""

    model: CompactClassifier
    embedding: Embedding
    holding: tuple[Any, ...]  # groups with the same hold the data in the same way
    own: Mapping[str, Any]  # what the embedding and the learner have where nothing else is given
    shares_penalty: bool = False  # so that every penalty is a group of its own
    wanted: list[Wanted] = field(default_factory=list)


@dataclass(frozen=True)
class Single:
    """A setting that has to be fitted by itself."""

    index: int
    model: CompactClassifier


def sort_candidates(
    estimator: CompactClassifier,
    candidates: Sequence[Mapping[str, Any]],
    shape: tuple[int, int, int],
    *,
    needs_labels: bool,
    vector: bool = False,
    partial: bool = False,
) -> tuple[list[Group], list[Single]]:
    """The groups that the engine takes, and the settings that it cannot.

    ``vector``: of a vector y "auto" is a threshold of 0.5, and need not be found by a fit.
    ``partial``: where labels are unknown, a ridge of the labels themselves on all the features
    completes them for its own penalty, and shares nothing. Every
    value is checked here, against the ``shape`` (N, D, M) of the data, before any work.
    """
    own = "n_label_components" in estimator.get_params(deep=False)
    prefix = "" if own else "embedding__"
    names = {prefix + name: name for name in _SIZES} | {"alpha": "alpha"}
    groups: dict[Any, Group] = {}
    singles: list[Single] = []
    checked: set[Any] = set()
    for index, params in enumerate(candidates):
        inner = {names[key]: value for key, value in params.items() if key in names}
        outer = {key: value for key, value in params.items() if key not in names}
        key = tuple((name, _mark(outer[name])) for name in sorted(outer))
        group = groups.get(key)
        if group is None:
            group = groups[key] = _group(estimator, outer, inner)
        if group.shares_penalty and "alpha" in inner:
            key = (*key, ("alpha", repr(inner["alpha"])))
            if key not in groups:
                groups[key] = _group(estimator, {**outer, "alpha": inner["alpha"]}, inner)
            group = groups[key]
        _check(group, inner, shape, checked, key)
        takes = _engine_takes(group, needs_labels=needs_labels, vector=vector)
        if takes and not _needs_own_fit(group, inner, shape, partial):
            group.wanted.append(_wanted(group, inner, index))
        else:
            singles.append(Single(index, clone(estimator).set_params(**params)))
    return [group for group in groups.values() if group.wanted], singles


def _group(
    estimator: CompactClassifier, outer: Mapping[str, Any], inner: Mapping[str, Any]
) -> Group:
    model = clone(estimator).set_params(**outer)
    asked = model.make_embedding()
    embedding = asked if model.alpha == "auto" else asked.sharing(model.alpha)
    for name in inner:  # a name that the method does not have
        if name != "alpha" and name not in embedding.get_params():
            raise ValueError(
                f"{type(embedding).__name__} has no parameter {name}, and a search over it was "
                "asked for; leave it out of the grid."
            )
    maps = [(name, _mark(outer[name])) for name in sorted(outer) if name.startswith("feature_map")]
    traits = embedding.traits
    way = (model.scale, repr(model.random_state), traits.regime, traits.needs_rows)
    holding = (*maps, *way)
    own = {**embedding.get_params(), "alpha": model.alpha}
    return Group(model, embedding, holding, own, asked.traits.shares_penalty)


def _mark(value: Any) -> Any:
    """Alike only for values that are: plain ones by type and value, others by identity.

    Texts would not do, since those of arrays and of long estimators are cut.
    """
    plain = value is None or isinstance(value, bool | int | float | str)
    return (type(value).__name__, value) if plain else id(value)


def _engine_takes(group: Group, *, needs_labels: bool, vector: bool) -> bool:
    model = group.model
    tunes = isinstance(model.threshold, str) and not (vector and model.threshold == "auto")
    return (
        model.regressor is None
        and model.bias in ("free", "none")
        and model.decoder == "linear"
        and not is_corrected(model)
        and not (needs_labels and tunes)
        and not group.embedding.traits.solved_alone
        and not group.embedding.traits.shares_penalty  # "auto", which is another on each fold
    )


def _needs_own_fit(
    group: Group, inner: Mapping[str, Any], shape: tuple[int, int, int], partial: bool
) -> bool:
    """Return whether a ridge of the labels themselves on all the features completes them first."""
    if not partial:
        return False
    sizes = {name: value for name, value in inner.items() if name != "alpha"}
    n_rows, n_features, n_labels = shape
    mapped = n_features if group.model.feature_map is None else n_rows  # at most
    plan = clone(group.embedding).set_params(**sizes).plan(mapped, n_labels, n_features)
    return plan.keeps_features and plan.components == 0


def _wanted(group: Group, inner: Mapping[str, Any], index: int) -> Wanted:
    given = {**group.own, **inner}
    return Wanted(
        index,
        given.get("n_label_components"),
        given.get("n_feature_components"),
        given["alpha"],
        float(given.get("label_ridge", 0.0)),
    )


def _check(
    group: Group,
    inner: Mapping[str, Any],
    shape: tuple[int, int, int],
    checked: set[Any],
    key: Any,
) -> None:
    """Refuse what ``fit`` would refuse; each combination once."""
    sizes = {name: value for name, value in inner.items() if name != "alpha"}
    for what in (sizes, {k: v for k, v in inner.items() if k == "alpha"}):
        mark = (key, *((name, repr(value)) for name, value in what.items()))
        if mark in checked or not what:
            continue
        checked.add(mark)
        if "alpha" in what:
            check_own_parameters(clone(group.model).set_params(**what), only="alpha")
            continue
        embedding = clone(group.embedding).set_params(**what)
        check_own_parameters(embedding)
        if group.model.feature_map is None:
            _, n_features, n_labels = shape
            embedding.plan(n_features, n_labels, n_features)

"""Settings of a search, sorted by the work that they share.

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

_SIZES = ("n_label_components", "n_feature_components", "label_ridge")

Shape = tuple[int, int, int]  # rows, features, labels
Single = tuple[int, CompactClassifier]  # a setting that has to be fitted separately


@dataclass(frozen=True)
class Wanted:
    """Setting of the parameters that one solution serves; a size is None for the whole space."""

    index: int
    label_size: Any
    feature_size: Any
    alpha: Any  # "auto" becomes a number on each fold
    label_ridge: float = 0.0


@dataclass
class Group:
    """Settings that share one solution on each fold."""

    model: CompactClassifier
    embedding: Embedding
    fold_key: tuple[Any, ...]  # groups with equal keys share their folds
    shares_penalty: bool = False  # so that every penalty is a group of its own
    wanted: list[Wanted] = field(default_factory=list)

    @classmethod
    def of(cls, estimator: CompactClassifier, outer: Mapping[str, Any]) -> Group:
        """Return the group of some outer values, without any setting."""
        model = clone(estimator).set_params(**outer)
        asked = model.make_embedding()
        embedding = asked if model.alpha == "auto" else asked.sharing(model.alpha)
        maps = {name: value for name, value in outer.items() if name.startswith("feature_map")}
        traits = embedding.traits
        key = (model.scale, repr(model.random_state), traits.solver, traits.needs_rows)
        return cls(model, embedding, (_marked(maps), *key), asked.traits.shares_penalty)

    def add(self, index: int, inner: Mapping[str, Any]) -> None:
        """Add a setting."""
        given = {**self.embedding.get_params(), "alpha": self.model.alpha, **inner}
        label_size, feature_size, label_ridge = (given.get(name) for name in _SIZES)
        wanted = Wanted(index, label_size, feature_size, given["alpha"], float(label_ridge or 0.0))
        self.wanted.append(wanted)

    def check(self, sizes: Mapping[str, Any], shape: Shape) -> None:
        """Raise ValueError for sizes that ``fit`` would refuse."""
        known = self.embedding.get_params()
        for name in sizes:
            if name not in known:
                raise ValueError(
                    f"{type(self.embedding).__name__} has no parameter {name}, and a search over "
                    "it was asked for; leave it out of the grid."
                )
        embedding = clone(self.embedding).set_params(**sizes)
        check_own_parameters(embedding)
        if self.model.feature_map is None:
            _, n_features, n_labels = shape
            embedding.plan(n_features, n_labels, n_features)

    def is_shared(self, sizes: Mapping[str, Any], shape: Shape, *, partial: bool) -> bool:
        """Return whether the engine takes a setting of these sizes.

        Not where labels are ``partial``, and a ridge of the labels themselves on all the features
        completes them first, for its own penalty.
        """
        model, traits = self.model, self.embedding.traits
        if model.regressor is not None or model.decoder != "linear" or is_corrected(model):
            return False
        # A shared penalty is still "auto" here, which has a different value on each fold.
        if traits.shares_penalty:
            return False
        if not partial:
            return True
        n_rows, n_features, n_labels = shape
        mapped = n_features if model.feature_map is None else n_rows  # at most
        plan = clone(self.embedding).set_params(**sizes).plan(mapped, n_labels, n_features)
        return not plan.keeps_features or plan.components > 0


def sort_candidates(
    estimator: CompactClassifier,
    candidates: Sequence[Mapping[str, Any]],
    shape: Shape,
    *,
    needs_labels: bool,
    vector: bool = False,
    partial: bool = False,
) -> tuple[list[Group], list[Single]]:
    """Return the groups that the engine takes, and the settings that it cannot.

    ``vector``: of a vector y "auto" is a threshold of 0.5, and need not be found by a fit. Every
    value is checked here, against the ``shape`` of the data, before any work.
    """
    own = "n_label_components" in estimator.get_params(deep=False)
    prefix = "" if own else "embedding__"
    names = {prefix + name: name for name in _SIZES} | {"alpha": "alpha"}
    groups: dict[Any, Group] = {}
    singles: list[Single] = []
    checked: set[Any] = set()

    def group_of(outer: Mapping[str, Any]) -> Group:
        key = _marked(outer)
        if key not in groups:
            groups[key] = Group.of(estimator, outer)
        return groups[key]

    for index, params in enumerate(candidates):
        inner = {names[key]: value for key, value in params.items() if key in names}
        outer = {key: value for key, value in params.items() if key not in names}
        group = group_of(outer)
        if group.shares_penalty and "alpha" in inner:
            group = group_of({**outer, "alpha": inner["alpha"]})
        sizes = {name: value for name, value in inner.items() if name != "alpha"}
        for what in (sizes, inner.get("alpha")):  # each value once: clones cost time
            mark = id(group), repr(what)
            if what is None or mark in checked or (what is sizes and not sizes):
                continue
            checked.add(mark)
            if what is sizes:
                group.check(sizes, shape)
            else:
                check_own_parameters(clone(group.model).set_params(alpha=what), only="alpha")
        threshold = group.model.threshold
        tunes = isinstance(threshold, str) and not (vector and threshold == "auto")
        if group.is_shared(sizes, shape, partial=partial) and not (needs_labels and tunes):
            group.add(index, inner)
        else:
            singles.append((index, clone(estimator).set_params(**params)))
    return [group for group in groups.values() if group.wanted], singles


def sharing_folds(groups: Sequence[Group]) -> list[list[Group]]:
    """Return the groups in lists whose members share their folds."""
    together: dict[Any, list[Group]] = {}
    for group in groups:
        together.setdefault(group.fold_key, []).append(group)
    return list(together.values())


def largest_of(groups: Sequence[Group], n_labels: int) -> Embedding:
    """Return an embedding that asks for as much as any of the settings."""
    embedding = clone(groups[0].embedding)
    wanted = [w for group in groups for w in group.wanted]
    known = embedding.get_params()
    if "n_label_components" in known and wanted[0].label_size is not None:
        embedding.set_params(n_label_components=n_labels)
    if "n_feature_components" in known and any(w.feature_size is None for w in wanted):
        embedding.set_params(n_feature_components=None)
    return embedding


def _marked(values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a key of values: plain ones count by type and value, others by identity.

    Texts would not do, since those of arrays and of long estimators are cut.
    """
    plain = bool | int | float | str | None
    return tuple(
        (name, type(value), value if isinstance(value, plain) else id(value))
        for name, value in sorted(values.items())
    )

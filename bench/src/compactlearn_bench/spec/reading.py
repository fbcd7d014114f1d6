"""Specifications of benchmarks in TOML; docs/reference/benchmark.md lists the keys.

Whether the names and values mean something is found here, before anything runs. Settings of a
method are the method's own affair: `cells.py` has its entry judge them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from compactlearn.datasets import describe, list_datasets
from compactlearn.metrics import get_metric
from compactlearn.utils import Integer, Real, nearest
from compactlearn_bench.methods.grids import RIDGES
from compactlearn_bench.records import SELECTIONS, Selection
from compactlearn_bench.spec.datasets import FILE_KEYS, SpecDataset, file_data
from compactlearn_bench.spec.values import (
    SpecError,
    bytes_of,
    check_text,
    checked,
    known_keys,
    list_of,
    words_of,
)

__all__ = [
    "Budget",
    "Override",
    "Spec",
    "SpecDataset",
    "SpecError",
    "SpecMethod",
    "parse_spec",
    "read_spec",
]

_PAPER = (  # the metrics of the paper's tables
    "average_precision",
    "micro_f1",
    "ranking_loss",
    "one_error",
    "precision_at_3",
    "ndcg_at_3",
)
_LONGEST = 100
_KEYS = (
    "name",
    "seed",
    "folds",
    "selections",
    "inner_folds",
    "metrics",
    "ridge",
    "workers",
    "datasets",
    "methods",
    "overrides",
    "budget",
)


@dataclass(frozen=True)
class Budget:
    """Limits of one cell; None is no limit."""

    seconds: float | None = None  # from the moment at which its data are loaded
    memory: int | None = None  # bytes of its process, Python and the data included


@dataclass(frozen=True)
class SpecMethod:
    """A method that takes part."""

    name: str  # of its entry; for a classifier of the user's own what the spec calls it
    shown: str  # as the tables call it; no two methods are shown alike
    settings: Mapping[str, Any] = field(default_factory=dict)
    estimator: str | None = None  # "package.module:object" of the user's own


@dataclass(frozen=True)
class Override:
    """Settings for some methods, some data sets, or some on the others; None is every one."""

    settings: Mapping[str, Any]
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None

    def applies(self, dataset: str, method: str) -> bool:
        """Whether it is meant for this pair."""
        return (self.datasets is None or dataset in self.datasets) and (
            self.methods is None or method in self.methods
        )


@dataclass(frozen=True)
class Spec:
    """A whole benchmark; see docs/reference/benchmark.md."""

    name: str
    datasets: tuple[SpecDataset, ...]
    methods: tuple[SpecMethod, ...]
    seed: int = 0
    folds: int = 5
    selections: tuple[Selection, ...] = ("paper", "nested")
    inner_folds: int = 5
    metrics: tuple[str, ...] = _PAPER
    ridge: str | None = None
    workers: int = 1
    budget: Budget = Budget()
    overrides: tuple[Override, ...] = ()
    folder: Path | None = None  # of the file: where a user's own modules may lie


def read_spec(path: Path, data_home: Path | None = None) -> Spec:
    """The benchmark that a TOML file asks for.

    Data files that it names are read, since nothing is worth starting if one of them cannot be.
    `data_home` is where sets that the user has given names to lie.

    Parameters
    ----------
    path : path
        A TOML file.
    data_home : path, optional
        The folder of the data sets.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise SpecError(f"The spec {path} cannot be read ({reason}); check the path.") from error
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits
        raise SpecError(f"The spec {path} is not TOML: {error}; correct it.") from error
    return parse_spec(found, folder=path.resolve().parent, data_home=data_home)


def parse_spec(
    found: Mapping[str, Any], *, folder: Path | None = None, data_home: Path | None = None
) -> Spec:
    """The benchmark that plain values ask for, or a `SpecError`.

    Data files that it names lie in `folder`, where their paths are not absolute.

    Parameters
    ----------
    found : mapping
        A spec as TOML has it: names, and what they stand for.
    folder : path, optional
        What paths of data files are relative to.
    data_home : path, optional
        The folder of the data sets.
    """
    known_keys(found, _KEYS, "the spec")
    for key in ("name", "datasets", "methods"):
        if key not in found:
            raise SpecError(f"A spec must have the key {key!r}, and this one has not; add it.")
    methods = tuple(_method(item) for item in list_of(found, "methods"))
    shown = [method.shown for method in methods]
    for name in shown:
        if shown.count(name) > 1:
            raise SpecError(
                f"The method {name!r} is in the spec more than once; give each a name of its "
                "own by 'as'."
            )
    datasets = tuple(
        _data(item, shown, folder or Path(), data_home) for item in list_of(found, "datasets")
    )
    _check_one_meaning(datasets)
    defaults = Spec("", (), ())
    selections = words_of(found, "selections", SELECTIONS, defaults.selections)
    return Spec(
        name=_name(found["name"]),
        datasets=datasets,
        methods=methods,
        seed=checked(found, "seed", Integer(0), defaults.seed),
        folds=checked(found, "folds", Integer(2), defaults.folds),
        selections=cast(tuple[Selection, ...], selections),
        inner_folds=checked(found, "inner_folds", Integer(2), defaults.inner_folds),
        metrics=_metrics(found),
        ridge=_ridge(found),
        workers=checked(found, "workers", Integer(1), defaults.workers),
        budget=_budget(found.get("budget", {})),
        overrides=tuple(
            _override(item, {data.name for data in datasets}, shown)
            for item in list_of(found, "overrides", required=False)
        ),
        folder=folder,
    )


def _name(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", value):
        raise SpecError(
            "The name of a spec must be of letters, digits, '.', '_' and '-', since a folder may "
            f"be called after it; got {value!r}. Choose such a name."
        )
    return value


def _metrics(found: Mapping[str, Any]) -> tuple[str, ...]:
    names = list_of(found, "metrics") if "metrics" in found else list(_PAPER)
    for name in names:
        try:
            get_metric(name)
        except ValueError as error:
            raise SpecError(f"The key 'metrics' is wrong: {error}") from error
    return tuple(dict.fromkeys(names))


def _ridge(found: Mapping[str, Any]) -> str | None:
    value = found.get("ridge")
    if value is not None and value not in tuple(RIDGES):
        raise SpecError(
            f"The key 'ridge' must be {' or '.join(map(repr, RIDGES))}, the penalties that are "
            f"tried; got {value!r}. Use one of these.{nearest(str(value), RIDGES)}"
        )
    return value


def _budget(found: Any) -> Budget:
    known_keys(found, ("seconds", "memory"), "the table [budget]", _KEYS)
    seconds = checked(found, "seconds", Real(0, open_low=True), None)
    return Budget(seconds, bytes_of(found["memory"]) if "memory" in found else None)


def _data(item: Any, shown: list[str], folder: Path, data_home: Path | None) -> SpecDataset:
    found = {"name": item} if isinstance(item, str) else item
    known_keys(found, ("name", "rows", "folds", "only", "without", *FILE_KEYS), "a data set")
    if "path" in found:
        named = file_data(found, folder)
    else:
        without_path = [key for key in FILE_KEYS if key in found]
        if without_path:
            raise SpecError(
                f"The key {without_path[0]!r} of a data set says how to read a file, which the key "
                f"'path' must name; got {found!r}. Add the path, or leave the key out."
            )
        named = _named_data(found.get("name"), data_home)
    return replace(
        named,
        rows=checked(found, "rows", Integer(2), None),
        folds=checked(found, "folds", Integer(2), None),
        only=words_of(found, "only", shown, None) if "only" in found else None,
        without=words_of(found, "without", shown, ()),
    )


def _named_data(name: Any, data_home: Path | None) -> SpecDataset:
    try:
        entry = describe(name, data_home)
    except (ValueError, TypeError, AttributeError) as error:
        if isinstance(name, str) and name.lower() in list_datasets(data_home):
            raise SpecError(str(error)) from error  # it is there, and damaged
        raise SpecError(
            "A data set must be one of those that 'compactlearn datasets list' shows, or have a "
            f'path, as in {{name = "mine", path = "mine.csv", labels = -3}}; got {name!r}. Use one '
            f"of these names, or name a file.{nearest(str(name), list_datasets(data_home))}"
        ) from error
    return SpecDataset(entry.name, content=entry.content or None, samples=entry.expected.samples)


def _check_one_meaning(datasets: Iterable[SpecDataset]) -> None:
    """Check that a name means one set; the same set may be in a spec twice."""
    known: dict[str, SpecDataset] = {}
    for data in datasets:
        other = known.setdefault(data.name, data)
        if other.content != data.content:
            raise SpecError(
                f"The name {data.name!r} must mean one data set, and in this spec it means two "
                "that differ; give one of them another name."
            )


def _method(item: Any) -> SpecMethod:
    found = {"name": item} if isinstance(item, str) else item
    if not isinstance(found, Mapping) or not isinstance(found.get("name"), str):
        raise SpecError(
            f"A method must be a name, or a table with the key 'name'; got {item!r}. Write "
            '"CMLL", or {name = "CMLL", ...}.'
        )
    rest = {key: value for key, value in found.items() if key not in ("name", "as", "estimator")}
    shown, estimator = found.get("as", found["name"]), found.get("estimator")
    fits_file = f"a name to show, of at most {_LONGEST} characters"  # it is part of file names
    check_text(shown, "as", lambda text: 0 < len(text.strip()) <= len(text) <= _LONGEST, fits_file)
    if estimator is not None:
        fits = re.compile(r"[\w.]+:[\w.]+").fullmatch
        check_text(estimator, "estimator", lambda text: bool(fits(text)), "'package.module:object'")
    return SpecMethod(found["name"], shown, rest, estimator)


def _override(item: Any, datasets: Iterable[str], shown: Iterable[str]) -> Override:
    if not isinstance(item, Mapping):
        raise SpecError(f"An override must be a table; got {item!r}. Write it as [[overrides]].")
    settings = {key: value for key, value in item.items() if key not in ("dataset", "method")}
    return Override(
        settings, _meant(item, "dataset", list(datasets)), _meant(item, "method", list(shown))
    )


def _meant(item: Mapping[str, Any], key: str, known: list[str]) -> tuple[str, ...] | None:
    """The names that an override gives: none, one, or a list of them."""
    if key not in item:
        return None
    names = item[key] if isinstance(item[key], list) else [item[key]]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise SpecError(
                f"The {key} of an override must be one of the spec's own ({', '.join(known)}), or "
                f"a list of them with each once; got {name!r}. Use these names."
                f"{nearest(str(name), known)}"
            )
    if not names:
        raise SpecError(
            f"The {key} of an override must be a name or a list of at least one; got []. Leave the "
            "key out for every one."
        )
    return tuple(names)

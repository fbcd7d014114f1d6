"""From a spec to cells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from compactlearn_bench.methods.entry import Entry
from compactlearn_bench.methods.finding import entry, own_entry
from compactlearn_bench.records import Cell
from compactlearn_bench.spec.datasets import SpecDataset
from compactlearn_bench.spec.reading import Spec, SpecError, SpecMethod

__all__ = ["cells_of"]

# Written by the harness into every cell's settings, so they are no setting of a method.
_RESERVED = ("metrics", "entry", "estimator", "data_sha256")


def cells_of(spec: Spec) -> list[Cell]:
    """Every cell of a benchmark, in the order in which to run them.

    One data set after the other, so that each is read once by each process; in it fold by fold,
    so that a method which fails shows early and whatever is there can be compared.

    Parameters
    ----------
    spec : Spec
        What was asked for.

    Raises
    ------
    SpecError
        If a method is not known or refuses its settings.
    """
    for data in spec.datasets:
        _check_rows(data, data.folds or spec.folds)
    _check_use(spec)
    found = {method.shown: _entry(method, spec) for method in spec.methods}
    settings = {
        (data, method.shown): _settings(found[method.shown], method, data, spec)
        for data in spec.datasets
        for method in spec.methods
        if data.takes(method.shown)
    }
    cells = [
        Cell(
            data.name,
            method.shown,
            selection,
            fold,
            data.folds or spec.folds,
            spec.seed,
            data.rows,
            _for_selection(settings[data, method.shown], selection),
        )
        for data in spec.datasets
        for fold in range(data.folds or spec.folds)
        for method in spec.methods
        if (data, method.shown) in settings
        for selection in spec.selections
    ]
    # The same set may be in a spec twice, once for some of the methods.
    return list({cell.digest: cell for cell in cells}.values())


def _check_rows(data: SpecDataset, folds: int) -> None:
    there = data.samples
    if there is not None and (data.rows or 0) > there:
        raise SpecError(
            f"The rows of {data.name} must be at most {there}, which is all there are; got "
            f"{data.rows}. Leave the key out to use all."
        )
    used = data.rows or there
    if used is not None and folds > used:
        raise SpecError(
            f"The folds must be at most as many as rows, and {data.name} has {used}; got {folds}. "
            "Use fewer folds."
        )


def _check_use(spec: Spec) -> None:
    """Refuse what would have no effect, since it will have been meant to have one."""
    pairs = [(d.name, m.shown) for d in spec.datasets for m in spec.methods if d.takes(m.shown)]
    for data in spec.datasets:
        if not any(data.takes(method.shown) for method in spec.methods):
            raise SpecError(
                f"Each data set must have a method that runs on it, and 'only' and 'without' leave "
                f"none for {data.name}; change them, or leave the set out."
            )
    for override in spec.overrides:
        met = [pair for pair in pairs if override.applies(*pair)]
        idle = [name for name in override.datasets or () if name not in (pair[0] for pair in met)]
        idle += [name for name in override.methods or () if name not in (pair[1] for pair in met)]
        if idle:
            raise SpecError(
                "An override must be about methods on sets that they run on, and that of "
                f"{' and '.join(map(repr, idle))} meets none; leave it out there."
            )


def _entry(method: SpecMethod, spec: Spec) -> Entry:
    try:
        if method.estimator is not None:
            return own_entry(method.estimator, spec.folder)
        return entry(method.name)
    except (ValueError, TypeError) as error:
        raise SpecError(str(error)) from error


def _settings(found: Entry, method: SpecMethod, data: SpecDataset, spec: Spec) -> dict[str, Any]:
    given: dict[str, Any] = {"inner_folds": spec.inner_folds}
    if spec.ridge is not None:
        given["ridge"] = spec.ridge
    given |= method.settings
    for override in spec.overrides:
        if override.applies(data.name, method.shown):
            given |= override.settings
    for name in _RESERVED:
        if name in given:
            raise SpecError(
                f"The setting {name!r} of the method {method.shown!r} is the harness's own; say it "
                "for the whole spec instead."
            )
    try:
        completed = dict(found.settings(given))  # ours: the entry may keep its own
    except (ValueError, TypeError) as error:
        raise SpecError(
            f"The settings of the method {method.shown!r} on {data.name} are wrong: {error}"
        ) from error
    except Exception as error:  # the code of a plug-in may do anything
        raise SpecError(
            f"The method {method.shown!r} cannot say what its settings on {data.name} are "
            f"({type(error).__name__}: {error}); correct it."
        ) from error
    try:
        json.dumps(completed, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"The settings of the method {method.shown!r} must be finite numbers, texts, true or "
            f"false, lists and tables ({error}); got {completed!r}. Write them so."
        ) from error
    completed["metrics"] = list(spec.metrics)
    if data.content is not None:  # a changed file makes new cells
        completed["data_sha256"] = data.content
    if method.estimator is not None:
        completed["estimator"] = method.estimator
    elif method.name != method.shown:
        completed["entry"] = method.name
    return completed


def _for_selection(settings: Mapping[str, Any], selection: str) -> dict[str, Any]:
    """A cell names only what decides its answer: inner folds have no part in "paper"."""
    unused = ("inner_folds",) if selection == "paper" else ()
    return {name: value for name, value in settings.items() if name not in unused}

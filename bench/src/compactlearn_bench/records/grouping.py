"""Which records belong together, and which must not be compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from compactlearn_bench.records.record import Record, Selection

__all__ = ["grouped", "incomplete"]

_NAMED = 20  # so many missing folds are named
_CONTENT = "data_sha256"  # in the settings of a cell about data of the user's own
_STOPPED = {
    "failed": "failed",
    "timeout": "ran out of time",
    "memory": "ran out of memory",
    "absent": "was not run",
}


def grouped(records: Iterable[Record], selection: Selection) -> dict[tuple[str, str], list[Record]]:
    """Records by data set and method, in the order of their folds, each fold once."""
    found: dict[tuple[str, str], dict[int, Record]] = {}
    for record in records:
        cell = record.cell
        if cell.selection != selection:
            continue
        folds = found.setdefault((cell.dataset, cell.method), {})
        if folds:
            _check_same_question(next(iter(folds.values())), record)
        folds[cell.fold] = _one_answer(folds.get(cell.fold), record)
    groups = {key: [found[key][fold] for fold in sorted(found[key])] for key in sorted(found)}
    _check_same_folds(groups)
    return groups


def _check_same_question(known: Record, new: Record) -> None:
    first, second = (_question(record) for record in (known, new))
    if first != second:
        differing = [name for name in first if first[name] != second[name]]
        raise ValueError(
            f"A table has room for one run of {new.cell.method} on {new.cell.dataset} under "
            f"{new.cell.selection!r}, and the records hold two that differ in "
            f"{', '.join(differing)}. Report on each alone: keep the records of one of them in "
            "the store."
        )


def _question(record: Record) -> dict[str, str]:
    """Return the parts that must be the same in all folds."""
    whole = record.cell.as_dict()
    parts = {name: whole[name] for name in ("n_folds", "seed", "rows")}
    text = {name: json.dumps(value, sort_keys=True) for name, value in parts.items()}
    settings = {k: v for k, v in whole["settings"].items() if k != _CONTENT}
    text["the data themselves"] = str(whole["settings"].get(_CONTENT))
    return text | {"settings": json.dumps(settings, sort_keys=True)}


def _one_answer(known: Record | None, new: Record) -> Record:
    """Return the finished one of two records of one cell, or either if they are equal."""
    if known is None or (known.status != "done" and new.status == "done"):
        return new
    if new.status == "done" and known.answer() != new.answer():
        raise ValueError(
            f"A cell has one answer, and the records hold two for {new.cell.name}, which differ. "
            "Remove one of them from the store."
        )
    return known


def _check_same_folds(groups: Mapping[tuple[str, str], Sequence[Record]]) -> None:
    """Pairs of scores are only pairs if all methods met the same rows."""
    first: dict[str, Record] = {}
    for (dataset, method), group in groups.items():
        known = first.setdefault(dataset, group[0])
        if known.cell.settings.get(_CONTENT) != group[0].cell.settings.get(_CONTENT):
            raise ValueError(
                f"Methods are compared on the same data, and the file of {dataset} was another for "
                f"{method} than for {known.cell.method}. Report on each alone: keep the records of "
                "one of them in the store."
            )
        if known.cell.split_seed != group[0].cell.split_seed:
            raise ValueError(
                f"Methods are compared on the same folds, and on {dataset} those of {method} and "
                f"{known.cell.method} differ (folds, seed and rows are "
                f"{_split(group[0])} and {_split(known)}). Report on each run alone."
            )


def _split(record: Record) -> tuple[int, int, int | str]:
    cell = record.cell
    return cell.n_folds, cell.seed, "all" if cell.rows is None else cell.rows


def incomplete(group: Sequence[Record]) -> str | None:
    """Why the folds cannot be averaged, or None if they can."""
    n_folds = group[0].cell.n_folds
    wanted = range(n_folds)  # may be any number: what is not recorded is never counted up
    done = {r.cell.fold for r in group if r.status == "done" and r.cell.fold in wanted}
    if len(done) == n_folds:
        return None
    known = {record.cell.fold for record in group if record.cell.fold in wanted}
    parts = [
        f"fold {record.cell.fold} {_STOPPED[record.status]}"
        + (f" ({record.reason.rstrip('.')})" if record.reason else "")
        for record in group
        if record.status != "done"
    ]
    n_missing = n_folds - len(known)
    if n_missing:
        first = islice((fold for fold in wanted if fold not in known), _NAMED)
        more = f" and {n_missing - _NAMED} more" if n_missing > _NAMED else ""
        parts.append(f"no record of fold {', '.join(map(str, first))}{more}")
    return f"{len(done)} of {n_folds} folds: {'; '.join(parts)}"

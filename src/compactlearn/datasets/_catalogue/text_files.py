"""The parts of a set of texts that the registry knows, with the counts it must have."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compactlearn.datasets._catalogue.from_files import check_counts
from compactlearn.datasets._catalogue.known_sets import Entry
from compactlearn.datasets._formats.texts import Texts, read_columns, tags_of
from compactlearn.datasets._parsing.assemble import stem
from compactlearn.datasets._parsing.lines import opened


def read_text_files(entry: Entry, paths: Sequence[Path], fields: Sequence[str]) -> dict[str, Texts]:
    """Read the files of an entry, given in the order of `entry.files`: texts by part."""
    roles = [file.role for file in entry.files]
    with opened(paths[roles.index("label names")]) as stream:
        names = {code: about["label"] for code, about in json.loads(stream.read()).items()}
    parts = [
        _part(path, fields, entry.tags, names)
        for role, path in zip(roles, paths, strict=True)
        if role == "rows"
    ]
    check_counts(entry, _TextCounts.of(parts))
    return {part.name: part for part in parts}


def _part(path: Path, fields: Sequence[str], tags: str, names: Mapping[str, str]) -> Texts:
    columns = read_columns(path, [*dict.fromkeys(fields), tags])
    rows = zip(*(columns[field] for field in fields), strict=True)
    codes = (tags_of(path, cell, tags, ";", None) for cell in columns[tags])
    return Texts(
        tuple("\n".join(row) for row in rows),
        tuple(tuple(names[code] for code in row) for row in codes),
        stem(path),
        str(path),
    )


@dataclass(frozen=True)
class _TextCounts:
    """Counts of a set of texts, as `Expected` compares them; texts have no features."""

    n_samples: int
    n_labels: int
    n_label_sets: int
    cardinality: float
    source: str
    n_features: int = 0

    @classmethod
    def of(cls, parts: Sequence[Texts]) -> "_TextCounts":
        rows = [frozenset(tags) for part in parts for tags in part.tags or ()]
        return cls(
            n_samples=len(rows),
            n_labels=len(frozenset[str]().union(*rows)),
            n_label_sets=len(set(rows)),
            cardinality=sum(map(len, rows)) / len(rows),
            source=", ".join(part.source for part in parts),
        )

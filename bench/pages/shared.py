"""Parts that the tables of all pages share: pages with marks, records, Markdown, formats."""

import inspect
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from compactlearn_bench import records
from compactlearn_bench.records import Results, aggregate, open_records

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
PAPER = ROOT / "bench" / "paper" / "records.jsonl.xz"
MARKED = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)

Record = dict[str, Any]
Parts = Iterable[list[str] | str]  # lines of tables, the first of each its head, and paragraphs


TABLES: dict[str, Callable[..., Parts]] = {}


def table(maker: Callable[..., Parts]) -> Callable[..., Parts]:
    """Register a function for the table that pages mark by the function's name.

    Its parameter is the record of that name; without one, it finds its records by itself.
    """
    TABLES[maker.__name__] = maker
    return maker


def made(name: str) -> str:
    """Return a table as Markdown."""
    maker = TABLES[name]
    needs_record = inspect.signature(maker).parameters
    return markdown(maker(measured(name)) if needs_record else maker())


def rendered(text: str) -> str:
    """Return the text of a page with every marked table made anew."""
    unknown = sorted(set(MARKED.findall(text)) - set(TABLES))
    if unknown:
        raise SystemExit(f"no function makes the tables {unknown}; see bench/pages")
    form = "<!-- table: {0} -->\n{1}\n<!-- end -->"
    return MARKED.sub(lambda m: form.format(m[1], made(m[1])), text)


def markdown(parts: Parts) -> str:
    """Lines that follow each other as one table; blank lines around it and between paragraphs.

    >>> print(markdown([["data", "score"], ["enron", "0.7"], "Means of 5 folds."]))
    | data | score |
    |---|---|
    | enron | 0.7 |
    <BLANKLINE>
    Means of 5 folds.
    """
    if isinstance(parts, str):
        return parts
    found: list[str] = []
    for kind, group in groupby(parts, type):
        if kind is str:
            found += group
        else:
            head, *body = group
            top, *rows = (f"| {' | '.join(line)} |" for line in (head, *body))
            found.append("\n".join([top, "|---" * len(head) + "|", *rows]))
    return "\n\n".join(found)


def measured(name: str) -> Record:
    """The record of a script."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


@cache
def packed_records(path: Path) -> tuple[records.Record, ...]:
    """Return all records of a packed file, read once for all the tables that are made of them."""
    return tuple(open_records(path))


@cache
def paper_results(protocol: str) -> Results:
    """The records of the paper's benchmark under "paper" or "nested"."""
    return aggregate(packed_records(PAPER), protocol)


def by_place(given: Iterable[records.Record]) -> dict[tuple[str, str], list[records.Record]]:
    """Return the records of each data set and method."""
    found: dict[tuple[str, str], list[records.Record]] = {}
    for record in given:
        found.setdefault((record.cell.dataset, record.cell.method), []).append(record)
    return found


def hosts_of(given: Iterable[records.Record]) -> str:
    """Return the classes of machine that records name."""
    hosts = (record.circumstances["host"] for record in given)
    return " and ".join(sorted({f"{host['cores']} cores ({host['cpu']})" for host in hosts}))


def formatted(row: Record, *keys: str, form: str = ".3f") -> list[str]:
    """Some values of a row, all in one form."""
    return [f"{row[key]:{form}}" for key in keys]


def times(row: Record, *keys: str) -> list[str]:
    """Some times of a row."""
    return [seconds(row[key]) for key in keys]


def seconds(value: float) -> str:
    """A time, in seconds or milliseconds."""
    return f"{value:.1f} s" if value >= 1 else f"{1000 * value:.1f} ms"


def class_of(record: Record, *more: str) -> str:
    """The class of machine, further circumstances, and the date."""
    machine = record["machine"]
    count = machine["cores"]
    where = f"{count} core{'s' * (count > 1)} ({machine['cpu']})"
    return f"{', '.join([where, *more])}; {record['date']}."

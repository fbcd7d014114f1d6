"""The benchmark of the related work: its specs, its records and the tables made of them agree."""

import importlib
from collections import Counter
from pathlib import Path

import pytest

from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.methods.table import ROWS
from compactlearn_bench.records import open_records

BENCHMARKS = Path(__file__).resolve().parents[1]
SELECTIONS = ("nested", "paper")
RELATED = [name for name, row in ROWS.items() if row.family == "related"]

with pytest.MonkeyPatch.context() as patch:  # the folder of scripts is not for other tests
    patch.syspath_prepend(BENCHMARKS)
    related_tables = importlib.import_module("pages.related")


@pytest.fixture(scope="module")
def records():
    return list(open_records(related_tables.PACK))


def spec_of(selection):
    return read_spec(BENCHMARKS / "related" / f"{selection}.toml")


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_spec_asks_for_every_method_of_the_related_work(selection):
    spec = spec_of(selection)
    shown = [method.shown for method in spec.methods if method.shown != "yardstick"]
    assert shown == RELATED
    asked = Counter((cell.dataset, cell.method) for cell in cells_of(spec))
    assert set(asked.values()) == {5}
    assert {cell.selection for cell in cells_of(spec)} == {selection}


@pytest.mark.parametrize(("selection", "papers"), [("nested", "nested"), ("paper", "linear")])
def test_rows_and_folds_are_those_of_the_papers_methods(selection, papers):
    theirs = read_spec(BENCHMARKS / "paper" / f"{papers}.toml")
    known = {(c.dataset, c.fold): (c.split_seed, c.rows) for c in cells_of(theirs)}
    for cell in cells_of(spec_of(selection)):
        assert known[cell.dataset, cell.fold] == (cell.split_seed, cell.rows)


def test_records_belong_to_cells_and_a_set_is_there_as_a_whole(records):
    """A run may be stopped between sets; a table never mixes what is complete with what is not."""
    cells = [cell for selection in SELECTIONS for cell in cells_of(spec_of(selection))]
    asked = Counter((cell.selection, cell.dataset) for cell in cells)
    there = Counter((record.cell.selection, record.cell.dataset) for record in records)
    assert {record.cell.name for record in records} <= {cell.name for cell in cells}
    assert there == {place: asked[place] for place in there}
    assert {record.status for record in records} == {"done"}


@pytest.mark.parametrize("selection", SELECTIONS)
def test_every_place_of_a_table_has_a_score(selection):
    found = related_tables.comparison(selection)
    titles = related_tables.REFERENCES[selection]
    names = [*titles, *RELATED]
    for metric in related_tables.TITLES:
        lines = related_tables.markdown(found.table(metric)).splitlines()[2:]
        assert len(lines) == len(names)
        for line, name in zip(lines, names, strict=True):
            assert line.startswith(f"| {titles.get(name, name)} |")
            shown = [cell.strip() for cell in line.strip("|").split("|")]
            assert all(0.0 <= float(cell.split()[0].rstrip("†")) <= 1.0 for cell in shown[1:-1])
            for data, cell in zip(found.datasets, shown[1:-1], strict=True):
                assert cell.startswith(f"{found.found.score(data, name, metric).mean:.3f}")
            if name != "ORI":  # how often a method is below ridge, and how often above
                assert shown[-1] == f"{line.count('●')}, {line.count('○')}"

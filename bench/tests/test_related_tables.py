"""The benchmark of the related work: its specs, its records and the tables made of them agree."""

import importlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compactlearn_bench import cells_of, read_spec
from compactlearn_bench.methods.table import ROWS
from compactlearn_bench.records import Figure, open_records

BENCHMARKS = Path(__file__).resolve().parents[1]
SELECTIONS = ("nested", "paper")
RELATED = [name for name, row in ROWS.items() if row.family == "related"]

with pytest.MonkeyPatch.context() as patch:  # the folder of scripts is not for other tests
    patch.syspath_prepend(BENCHMARKS)
    related_tables = importlib.import_module("related_tables")


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
def test_a_page_says_which_sets_are_not_there(selection):
    found = related_tables.beside(selection)
    assert "plant" in found.datasets
    left = [data.name for data in found.spec.datasets if data.name not in found.datasets]
    assert found.waiting == (f" Not run yet, and left out: {', '.join(left)}." if left else "")
    without = replace(
        found, records={k: v for k, v in found.records.items() if k != ("plant", "CS")}
    )
    assert "plant" not in without.datasets
    assert "plant" in without.waiting


@pytest.mark.parametrize("selection", SELECTIONS)
def test_every_place_of_a_table_has_a_figure(selection):
    found = related_tables.beside(selection)
    titles = related_tables.REFERENCES[selection]
    names = [*titles, *RELATED]
    for metric in related_tables.TITLES:
        lines = found.table(metric).splitlines()[2:]
        assert len(lines) == len(names)
        for line, name in zip(lines, names, strict=True):
            assert line.startswith(f"| {titles.get(name, name)} |")
            shown = [cell.strip() for cell in line.strip("|").split("|")]
            assert all(0.0 <= float(cell.split()[0].rstrip("†")) <= 1.0 for cell in shown[1:-1])
            for data, cell in zip(found.datasets, shown[1:-1], strict=True):
                assert cell.startswith(f"{found.found.figure(data, name, metric).mean:.3f}")
            if name != "ORI":  # how often a method is below ridge, and how often above
                assert shown[-1] == f"{line.count('●')}, {line.count('○')}"


def figure(*values):
    return Figure("nested", "plant", "any", "average_precision", values, ())


def test_a_mark_says_who_is_better():
    ridge = figure(0.50, 0.52, 0.51)
    assert related_tables.sign(ridge, figure(0.60, 0.63, 0.61)) == "○"
    assert related_tables.sign(ridge, figure(0.40, 0.43, 0.41)) == "●"
    assert related_tables.sign(ridge, ridge) == ""
    assert related_tables.sign(ridge, None) == ""


def test_a_single_configuration_is_marked(records):
    """Where nothing was chosen the page says so."""
    found = related_tables.beside("nested")
    line = next(line for line in found.table("average_precision").splitlines() if "| CSSP" in line)
    assert "†" not in line
    single = {
        (record.cell.dataset, record.cell.method)
        for record in records
        if record.cell.selection == "nested"
        and record.cell.method != "yardstick"
        and record.details["n_tried"] == 1
    }
    assert found.table("average_precision").count("†") == len(single) > 0


def line_of(table, method):
    line = next(line for line in table.splitlines() if line.startswith(f"| {method} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_costs_are_shortest_folds_beside_the_yardsticks(records):
    found = related_tables.beside("nested")

    def shortest(data, method, parts):
        return min(
            sum(record.circumstances["seconds"][part] for part in parts)
            for record in records
            if (record.cell.dataset, record.cell.method) == (data, method)
            and record.cell.selection == "nested"
        )

    shown = line_of(found.cost(), "SLEEC")
    for place, parts in enumerate((["fit"], ["search", "fit"], ["predict"])):
        ratios = [
            shortest(data, "SLEEC", parts) / shortest(data, "yardstick", parts[-1:])
            for data in found.datasets
        ]
        expected = np.exp(np.mean(np.log(ratios)))
        assert shown[place] == f"{float(f'{expected:.1g}'):,g}"


def test_rare_labels_are_those_of_fewest_rows_that_are_no_handful():
    found = related_tables.beside("nested")
    table = found.rare()
    assert "| llog, 1-9 rows |" in table
    bands = found.found.by_frequency["llog", "CS"]
    place = [cell.strip() for cell in table.splitlines()[0].split("|")].index("llog, 1-9 rows")
    assert line_of(table, "CS")[place - 2] == f"{bands['1-9']['label_average_precision']:.3f}"
    # Plant has twelve labels, of which fewer than ten are in any band of rare ones.
    assert found.found.by_frequency["plant", "ORI"].get("1-9", {}).get("n_labels", 0) < 10
    assert "plant, 1-9" not in table


def test_ratios_are_printed_as_roughly_as_they_are_known():
    assert [related_tables._times(x) for x in (0.714, 7.14, 714.0, 7140.0, None)] == [
        "0.7",
        "7",
        "700",
        "7,000",
        "",
    ]
    assert related_tables._ratio([(1.0, 2.0), (0.0, 1.0), (8.0, 1.0)]) == pytest.approx(2.0)
    assert related_tables._ratio([(0.0, 1.0)]) is None

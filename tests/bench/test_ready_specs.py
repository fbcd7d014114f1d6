"""The specs in benchmarks/paper say what can be said, about methods that exist."""

from pathlib import Path

import pytest

from compactlearn import METHODS
from compactlearn.bench import cells_of, entry_names, read_spec
from compactlearn.bench.methods.grids import configurations
from compactlearn.bench.methods.library_entries import ENTRIES
from compactlearn.bench.methods.model_numbers import TaskShape, within
from compactlearn.datasets import describe
from compactlearn.datasets.catalogue.embedded import EMBEDDED

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "paper"
SPECS = sorted(FOLDER.glob("*.toml"))


@pytest.mark.parametrize("path", SPECS, ids=[path.stem for path in SPECS])
def test_a_ready_spec_can_be_read(path):
    spec = read_spec(path)
    assert spec.name == path.stem
    assert {method.name for method in spec.methods} <= set(entry_names())
    cells = cells_of(spec)
    assert len({cell.name for cell in cells}) == len(cells) > 0
    assert {cell.dataset for cell in cells} == {data.name for data in spec.datasets}


def test_the_tables_have_all_methods_of_the_paper():
    linear, kernel, fair, fair_kernel = (
        {m.name for m in read_spec(FOLDER / f"{name}.toml").methods}
        for name in ("linear", "kernel", "nested", "kernel_nested")
    )
    assert fair | fair_kernel == set(METHODS)
    assert (linear - {"CMLL/random"}, kernel) == (fair, fair_kernel)


def test_the_two_protocols_have_specs_of_their_own():
    for names, selection in (
        (("linear", "kernel", "figures"), "paper"),
        (("nested", "kernel_nested", "ours", "quick"), "nested"),
    ):
        for name in names:
            assert read_spec(FOLDER / f"{name}.toml").selections == (selection,)


def test_those_that_the_documents_name_are_there():
    assert {"figures", "kernel", "kernel_nested", "linear", "nested", "ours", "quick"} <= {
        path.stem for path in SPECS
    }


def test_the_quick_one_shows_compact_learning_beside_rivals_and_needs_no_files():
    spec = read_spec(FOLDER / "quick.toml")
    assert {data.name for data in spec.datasets} <= set(EMBEDDED)
    methods = {method.name for method in spec.methods}
    assert {"CMLL", "CMLL+logistic"} <= methods, "with either decoder"
    assert {"ORI", "BR-logistic"} <= methods, "and what others would use"
    alphas = {tuple(c.settings["alphas"]) for c in cells_of(spec) if c.method in ("ORI", "CMLL")}
    assert len(alphas) == 1, "a rival's penalty is tuned as ours is"


def test_controls_of_equal_size_may_have_exactly_as_many_numbers():
    """And no more; a control that may only have fewer would lose for that reason alone."""
    spec = read_spec(FOLDER / "ours.toml")
    aliases = {method.shown: method.name for method in spec.methods}
    largest: dict[str, dict[str, int]] = {}
    for cell in cells_of(spec):
        if not cell.method.endswith(", CMLL's size") or cell.fold:
            continue
        data = describe(cell.dataset).expected
        shape = TaskShape(data.features, data.labels, data.samples, None)
        entry = ENTRIES[aliases[cell.method]]
        bound = cell.settings["n_numbers"]
        grid = within(cell.method, configurations(cell.settings, entry.axes), shape, bound)
        sizes = largest.setdefault(cell.dataset, {})
        sizes[cell.method] = max(map(shape.of_configuration, grid))
        if bound == "cmll":
            bound = shape.of_configuration({"n_label_components": "auto"})
        assert sizes[cell.method] == bound < shape.of_configuration({}), cell.name
    assert set(largest) == {data.name for data in spec.datasets}
    assert all(len(sizes) == 5 for sizes in largest.values())

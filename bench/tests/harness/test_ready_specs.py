"""The specs in benchmarks say what can be said, about methods that exist."""

from pathlib import Path

import pytest

from compactlearn import METHODS
from compactlearn.datasets import describe
from compactlearn_bench import cells_of, entry_names, read_spec
from compactlearn_bench.methods.grids import configurations
from compactlearn_bench.methods.library_entries import ENTRIES
from compactlearn_bench.methods.model_numbers import TaskShape, within
from compactlearn_bench.methods.table import ROWS

FOLDER = Path(__file__).resolve().parents[2] / "paper"
AUTO = FOLDER.parent / "auto"
SPECS = sorted([*FOLDER.glob("*.toml"), *AUTO.glob("*.toml")])


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
    assert fair | fair_kernel == {m for m in METHODS if ROWS[m].family in ("linear", "kernel")}
    assert (linear - {"CMLL/random"}, kernel) == (fair, fair_kernel)


def test_the_quick_one_shows_compact_learning_and_baselines_and_needs_no_files():
    spec = read_spec(FOLDER / "quick.toml")
    assert {data.name for data in spec.datasets} <= {"emotions", "enron"}
    methods = {method.name for method in spec.methods}
    assert {"CMLL", "CMLL+logistic"} <= methods, "with either decoder"
    assert {"ORI", "BR-logistic"} <= methods, "and what others would use"
    alphas = {tuple(c.settings["alphas"]) for c in cells_of(spec) if c.method in ("ORI", "CMLL")}
    assert len(alphas) == 1, "a baseline's penalty is tuned as ours is"


def test_baselines_are_tuned_alike_on_every_set_at_hand():
    spec = read_spec(AUTO / "auto.toml")
    assert spec.selections == ("nested",)
    assert len(spec.datasets) == 17
    assert all(describe(data.name).expected.samples >= 100 for data in spec.datasets)
    cells = cells_of(spec)
    assert {(cell.dataset, cell.method) for cell in cells} == {
        (data.name, method.shown) for data in spec.datasets for method in spec.methods
    }
    own = [cell for cell in cells if cell.method == "Auto"]
    assert all(set(cell.settings) == {"inner_folds", "metrics"} for cell in own), "no argument"
    for names, setting, count in (
        (("One-vs-rest", "One-vs-rest, lbfgs", "Linear SVM", "Chains"), "Cs", 6),
        (("Ridge", "Kernel ridge"), "alphas", 10),
        (("ML-kNN",), "neighbours", 3),
    ):
        tried = {tuple(c.settings[setting]) for c in cells if c.method in names}
        assert [len(values) for values in tried] == [count]


def test_bounds_on_the_size_are_on_the_rows_and_folds_of_the_baselines():
    """Ridge is computed once, and scores are comparable."""
    baselines, bounded = (cells_of(read_spec(AUTO / f"{name}.toml")) for name in ("auto", "sizes"))
    known = {cell.name for cell in baselines}
    for cell in bounded:
        assert describe(cell.dataset).expected.labels >= 50
        if cell.method in ("Ridge", "Auto"):
            assert cell.name in known
    missing = {data.name for data in read_spec(AUTO / "auto.toml").datasets}
    missing -= {cell.dataset for cell in bounded}
    assert all(describe(name).expected.labels < 50 for name in missing)
    bounds = {cell.settings.get("size_budget") for cell in bounded}
    assert bounds == {None, 0.02, 0.05, 0.1, 0.2, 0.5}


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

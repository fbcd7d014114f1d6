"""The specs in benchmarks/paper say what can be said, about methods that exist."""

from pathlib import Path

import pytest

from compactlearn import METHODS
from compactlearn.bench import cells_of, entry_names, read_spec

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
        (("nested", "kernel_nested", "ours"), "nested"),
    ):
        for name in names:
            assert read_spec(FOLDER / f"{name}.toml").selections == (selection,)


def test_those_that_the_documents_name_are_there():
    assert {"figures", "kernel", "kernel_nested", "linear", "nested", "ours", "quick"} <= {
        path.stem for path in SPECS
    }

"""Settings: completed, refused in sentences, and not the same for every method."""

import numpy as np
import pytest

from compactlearn_bench.methods.grids import AXES, RIDGES, SETTINGS, configurations
from compactlearn_bench.methods.library_entries import ENTRIES


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_completed_settings_are_plain_and_complete(name):
    entry = ENTRIES[name]
    found = entry.settings({})
    assert set(found) <= set(SETTINGS)
    assert entry.settings(found) == found  # completing twice changes nothing
    for value in found.values():
        parts = value if isinstance(value, list) else [value]
        assert all(part is None or isinstance(part, bool | int | float | str) for part in parts)
    grid = configurations(found, entry.axes)
    assert len({str(c) for c in grid}) == len(grid) >= 1
    assert {key for c in grid for key in c} <= set(AXES.values())


def test_the_papers_grids():
    found = ENTRIES["CMLL"].settings({})
    assert found["alphas"] == [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    assert found["betas"] == pytest.approx(np.logspace(-5, 5, 11))
    assert found["label_ridges"] == [0.0, 1e-3, 1e-1]
    assert found["label_ratios"] == found["feature_ratios"] == [k / 10 for k in range(1, 11)]
    assert len(configurations(found, ENTRIES["CMLL"].axes)) == 16500
    assert found["completion"] == "variance"
    assert ENTRIES["FaIE"].settings({})["hat_ridge"] == 0.1


def test_what_another_method_takes_is_left_out():
    given = {"betas": [1.0], "ridge": "wide", "gamma": 0.5}
    found = ENTRIES["ORI"].settings(given)
    assert "betas" not in found
    assert "gamma" not in found
    assert found["alphas"] == list(RIDGES["wide"])
    assert ENTRIES["k-CMLL"].settings(given)["gamma"] == 0.5


def test_a_quiet_setting_is_part_of_a_cell_only_where_it_is_given():
    entry = ENTRIES["C2AE"]
    assert "balances" not in entry.settings({"latent": [3]})
    given = entry.settings({"latent": [3], "balances": [0.2, 2.0]})
    assert given["balances"] == [0.2, 2.0]
    assert {**given, "balances": None} == {**entry.settings({"latent": [3]}), "balances": None}
    assert "balances" not in ENTRIES["CMLL"].settings({"balances": [0.2]})
    with pytest.raises(ValueError, match=r"got 0.0 in it"):
        entry.settings({"balances": [0.0]})


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("CMLL", {"beta": [1.0]}, r"no setting 'beta'; CMLL takes .*Did you mean 'betas'\?"),
        ("CMLL", {"betas": 1.0}, r"must be a list of at least one item.*got 1.0"),
        ("CMLL", {"betas": []}, r"must be a list of at least one item"),
        ("CMLL", {"betas": [1.0, "atuo"]}, r"got 'atuo' in it.*Did you mean 'auto'\?"),
        ("CMLL", {"betas": [1.0, 1.0]}, r"must not hold a value twice"),
        ("CMLL", {"label_ratios": [0.5, 1.5]}, r"each item is .* got 1.5"),
        ("CMLL", {"ridge": "papre"}, r"must be 'paper' or 'wide'; got 'papre'.*mean 'paper'\?"),
        ("CMLL", {"search": "coordinates"}, r"Did you mean 'coordinate'\?"),
        ("CMLL", {"centre": [0.5]}, r"a list of 2 items"),
        ("CMLL", {"search": "coordinate", "centre": [0.45, 0.5]}, r"0.45 is not among the feat"),
        ("CMLL", {"search": "coordinate", "n_numbers": 9}, r"use search='grid'"),
        ("CMLL", {"trace": True, "betas": ["auto"]}, r"leave out 'auto'"),
        ("CMLL", {"inner_folds": 1}, r"must be an integer >= 2; got 1"),
        ("CMLL", {"completion": "variances"}, r"Did you mean 'variance'\?"),
        ("ORI", {"protocol": "papre"}, r"Did you mean 'paper'\?"),
        ("ORI", {"kernel_method": "exakt"}, r"Did you mean 'exact'\?"),
        ("POP", {"tolerance": -1}, r"must be a finite number >= 0; got -1"),
        ("BR-logistic", {"Cs": [0.0]}, r"got 0.0 in it"),
    ],
)
def test_refusals(name, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        ENTRIES[name].settings(given)


def test_alphas_come_before_the_name_of_a_list():
    assert ENTRIES["ORI"].settings({"ridge": "wide", "alphas": [3.0]})["alphas"] == [3.0]
    assert len(ENTRIES["ORI"].settings({"ridge": "wide"})["alphas"]) == 10

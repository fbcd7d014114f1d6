"""The type that the numbers of a model are stored in."""

import numpy as np
import pytest
import scipy.sparse as sp

from compactlearn import AutoCompactClassifier, load_model
from compactlearn.auto import _classifier as auto_classifier
from compactlearn.auto._budgets import SizeBudget
from compactlearn.cli import main
from compactlearn.compact import _compression as compressing
from compactlearn.compact._compression import AGREEMENT, lightened
from compactlearn.core._weight import bytes_in
from compactlearn.datasets import load
from compactlearn.shortlist._classifier import ShortlistClassifier

QUICK = {"time_budget": 0.01, "random_state": 0, "cv": 2}


@pytest.fixture(scope="module")
def rows():
    data = load("enron")
    return sp.csr_array(data.X[:300, :200]), sp.csr_array(data.Y)[:300, :8].toarray().astype(int)


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(compressing, "LARGE", 10)


@pytest.mark.parametrize("seed", range(20))
def test_the_smallest_type_is_chosen_within_which_scores_agree(monkeypatch, seed):
    """Whatever arrays a model has, and however large or small it may be."""
    rng = np.random.default_rng(seed)
    whole = {"weights": rng.standard_normal((9, 7)) * 10.0 ** rng.uniform(-3, 3)}
    X = rng.standard_normal((5, 9)) * 10.0 ** rng.uniform(-6, 3)
    large, huge = rng.choice([10, 300, 10_000], 2)
    monkeypatch.setattr(compressing, "LARGE", large)
    monkeypatch.setattr(compressing, "HUGE", max(large, huge))

    def scores(part):
        return X @ part["weights"]

    found = lightened(whole, scores)
    apart = np.abs(scores(found) - scores(whole)).max()
    if bytes_in(whole) <= large:
        assert found is whole
    rounded = found is not whole
    assert not rounded or apart <= max(AGREEMENT.values())
    nearest = np.abs(X @ whole["weights"].astype(np.float32) - scores(whole)).max()
    assert rounded == (bytes_in(whole) > large and nearest <= AGREEMENT["float32"])


def test_a_number_that_is_too_large_for_a_type_keeps_float64(everything_is_large):
    whole = {"weights": np.array([1e300, 1.0])}
    assert lightened(whole, lambda part: np.zeros(1)) is whole


def test_a_large_model_is_stored_in_half_the_bytes(rows, everything_is_large):
    X, Y = rows
    whole = AutoCompactClassifier(dtype="float64", **QUICK).fit(X, Y)
    small = AutoCompactClassifier(**QUICK).fit(X, Y)
    assert small.nbytes_ <= 0.55 * whole.nbytes_
    apart = np.abs(small.predict_proba(X) - whole.predict_proba(X)).max()
    assert 0 < apart <= AGREEMENT["float32"]


@pytest.mark.parametrize(("dtype", "share"), [("float32", 0.55), ("float16", 0.35)])
def test_a_type_that_is_asked_for_is_the_one_of_the_file(rows, dtype, share):
    X, Y = rows
    whole = AutoCompactClassifier(dtype="float64", **QUICK).fit(X, Y)
    small = AutoCompactClassifier(dtype=dtype, **QUICK).fit(X, Y)
    assert small.nbytes_ <= share * whole.nbytes_


def test_a_model_that_is_still_large_is_announced(rows, monkeypatch):
    X, Y = rows
    monkeypatch.setattr(auto_classifier, "HUGE", 1000)
    with pytest.warns(UserWarning, match=r"The model takes \d+ MB"):
        AutoCompactClassifier(**QUICK).fit(X, Y)


@pytest.mark.parametrize("share", [0.3, 0.7, 0.9, 1.1])
def test_a_shortlist_is_within_its_bytes_or_not_accepted(rows, share):
    X, Y = rows
    model = ShortlistClassifier(random_state=0, threshold=0.5).fit(X, Y)
    size = bytes_in(model)
    budget = SizeBudget.of(f"{int(share * size)} B", X.shape[1], Y.shape[1])
    accepted = budget.accepts(model, model.n_parameters_)
    stored = compressing.compressed_parts(model, budget.type_for(model))
    assert accepted == (bytes_in(stored) <= share * size)
    assert accepted or share < 0.8
    assert not accepted or share > 0.5


# ---- in the shell --------------------------------------------------------------------------------


@pytest.fixture
def table(rows, tmp_path):
    X, Y = rows
    path = tmp_path / "table.csv"
    names = [f"x{k}" for k in range(40)] + [f"label {k}" for k in range(4)]
    values = np.hstack([X.toarray()[:120, :40], Y[:120, :4]])
    lines = [",".join(names), *(",".join(f"{v:g}" for v in row) for row in values)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def fitted_in_the_shell(table, tmp_path, *words):
    out = tmp_path / "model"
    status = main(["fit", str(table), "--labels", "4", "-o", str(out), "--force", *words])
    return status, load_model(out) if out.exists() else None


@pytest.mark.parametrize("method", ["cmll", "shortlist", "auto"])
def test_fit_stores_numbers_in_the_type_of_dtype(table, tmp_path, method):
    words = ["--method", method, *(["--time-budget", "0.01"] if method == "auto" else [])]
    X = np.loadtxt(table, delimiter=",", skiprows=1)[:, :40]
    sizes, scores = {}, {}
    for dtype in ("auto", "float64", "float32", "float16"):
        status, model = fitted_in_the_shell(table, tmp_path, *words, "--dtype", dtype)
        assert status == 0
        sizes[dtype] = model.nbytes_
        found = model.decision_function(X)
        scores[dtype] = found.toarray() if sp.issparse(found) else found
    assert sizes["float64"] > sizes["float32"] > sizes["float16"]
    np.testing.assert_allclose(scores["auto"], scores["float64"], atol=1e-9)  # it is small
    np.testing.assert_allclose(scores["float32"], scores["float64"], atol=1e-3)
    if method != "shortlist":  # its first step reads scores between bounds that lie close together
        np.testing.assert_allclose(scores["float16"], scores["float64"], atol=0.1)

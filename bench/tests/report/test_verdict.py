"""The verdict at the top of the page: who is best, is it significant, what to use."""

import re

import numpy as np
import pytest
from bench.tests.makers import record
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn_bench.methods.library_entries import ENTRIES
from compactlearn_bench.report import collect, render_html
from compactlearn_bench.report.words.legend import describe, is_compact, legend
from compactlearn_bench.report.words.verdict import verdict

NOISE = (0.0, 0.01, -0.01, 0.005, -0.005)


def run(means, selection="nested", metric="average_precision", n_folds=5, sizes=None, wobble=0.0):
    """Records of {data set: {method: mean}}; folds differ alike for all, and by `wobble` apart."""
    return [
        record(
            dataset,
            method,
            selection,
            fold,
            [[mean + NOISE[fold] + wobble * np.sin(7 * fold + 13 * len(method))]],
            (metric,),
            n_folds=n_folds,
            sizes=[(sizes or {}).get(method, 100)],
        )
        for dataset, methods in means.items()
        for method, mean in methods.items()
        for fold in range(n_folds)
    ]


def said(records):
    return verdict(collect(records))


def test_the_best_is_named_with_its_data_sets_and_recommended():
    means = {d: {"ORI": 0.4, "CMLL": 0.5, "CMLL+logistic": 0.6} for d in ("enron", "plant")}
    who, difference, advice = said(run(means, wobble=0.001))
    assert "the best of 3 methods is CMLL+logistic on all 2 data sets" in who
    assert "compact learning is best on 2 of 2" in who
    assert "CMLL, the reference, CMLL+logistic is significantly better on 2 of 2" in difference
    assert advice.startswith("For data like these use CMLL+logistic; than ORI, the best that is")
    assert advice.endswith("it is significantly better on 2 of 2.")


def test_where_compact_learning_loses_it_is_said():
    means = {d: {"ORI": 0.4, "CMLL": 0.5, "BR-logistic": 0.6} for d in ("enron", "plant")}
    who, difference, advice = said(run(means, wobble=0.001))
    assert "BR-logistic on all 2 data sets; compact learning is best on none of 2." in who
    assert "BR-logistic is significantly better on 2 of 2" in difference
    assert advice == "For data like these use BR-logistic."


def test_a_lead_that_is_not_significant_is_no_advice():
    means = {"enron": {"ORI": 0.501, "CMLL": 0.5}, "plant": {"ORI": 0.5, "CMLL": 0.501}}
    _, difference, advice = said(run(means, sizes={"ORI": 100, "CMLL": 50}, wobble=0.03))
    assert "does not differ significantly on any of the 2 data sets" in difference
    assert advice == "Either will do for data like these; CMLL makes the smaller model."
    _, _, advice = said(run(means, wobble=0.03))
    assert "simpler or quicker" in advice


def test_better_here_and_worse_there_is_reported_as_it_is():
    means = {
        "a": {"CMLL": 0.5, "BR-logistic": 0.6},
        "b": {"CMLL": 0.5, "BR-logistic": 0.6},
        "c": {"CMLL": 0.6, "BR-logistic": 0.5},
    }
    who, difference, advice = said(run(means, wobble=0.001))
    assert "BR-logistic on 2 of 3 data sets and CMLL on c" in who
    assert "better on 2 and worse on 1 of 3 data sets" in difference
    assert advice.startswith("Neither is better everywhere: try BR-logistic and CMLL")


@pytest.mark.parametrize(
    "records",
    [
        [],
        run({"enron": {"CMLL": 0.5, "ORI": 0.4}}, selection="paper"),
        run({"enron": {"CMLL": 0.5}}),
        run({"enron": {"CMLL": 0.5}, "plant": {"ORI": 0.5}}),
        [record(status="failed", reason="No.", n_folds=1), record(method="ORI", n_folds=1)],
    ],
    ids=["nothing", "chosen on the test folds", "one method", "no pair", "one failed"],
)
def test_where_nothing_can_be_said_nothing_is(records):
    assert said(records) == []
    assert "What this says" not in render_html(records)


def test_without_reference_or_folds_there_is_no_test_and_no_advice():
    assert len(said(run({"enron": {"mine": 0.5, "ORI": 0.4}}))) == 1
    assert len(said(run({"enron": {"CMLL": 0.5, "ORI": 0.4}}, n_folds=1))) == 1


NAMES = st.sampled_from(["CMLL", "k-CMLL", "ORI", "BR-logistic", "CMLL+logistic", "mine", "RRR"])
MEANS = st.dictionaries(
    st.sampled_from(["enron", "plant", "own"]),
    st.dictionaries(NAMES, st.sampled_from([0.3, 0.4, 0.400001, 0.5]), max_size=5),
)


@settings(max_examples=60)
@given(MEANS, st.integers(1, 5), st.sampled_from([0.0, 0.001, 0.1]))
def test_at_most_three_sentences_and_the_same_in_any_order(means, n_folds, wobble):
    records = run(means, n_folds=n_folds, wobble=wobble)
    sentences = said(records)
    assert len(sentences) <= 3
    assert all(re.fullmatch(r"[A-Z][^.]*\.", re.sub(r"\d\.\d", "", s)) for s in sentences)
    assert said(list(reversed(records))) == sentences


# ---- the legend ----------------------------------------------------------------------------------


def test_every_method_of_the_benchmark_has_a_line():
    for name in ENTRIES:
        line = describe(name)
        assert line is not None, name
        assert re.fullmatch(r"[A-Z].{20,180}\.", line), name
    assert "decoder" in describe("CMLL")
    assert "decoder" in describe("CMLL+logistic")
    assert all("kernel" in describe(name) for name in ENTRIES if name.startswith("k-"))
    for name in ("RRR", "PCA+ridge", "Random P", "MDDM+CMLL_y"):
        assert describe(name).startswith("Control: ")
    assert {name for name in ENTRIES if is_compact(name)} == {
        name for name in ENTRIES if re.match(r"(k-)?CMLL($|[+/])", name)
    }


def test_a_strangers_method_gets_no_line_and_a_variant_its_words():
    assert legend(["mine", "k-mine", "mine, too", "CMLL", "ORI", "CMLL, own", "k-ORI/own"]) == [
        ("ORI", describe("ORI")),
        ("CMLL, own", "A variant of CMLL: own."),
        ("k-ORI/own", "A variant of k-ORI: own."),
        ("CMLL", describe("CMLL")),
    ]


def test_the_page_explains_the_methods_that_it_shows_and_no_others():
    text = render_html(run({"enron": {"mine": 0.5, "CMLL": 0.4, "CMLL+logistic": 0.5}}))
    block = re.search(r'<details class="legend".*?</details>', text)[0]
    assert re.findall("<dt>(.*?)</dt>", block) == ["CMLL+logistic", "CMLL"]
    assert "title=" in re.search(r'<th scope="col"[^>]*class="ref"[^>]*>', text)[0]
    assert "<dt>" not in render_html(run({"enron": {"mine": 0.5, "yours": 0.4}}))

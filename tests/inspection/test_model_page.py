"""The page on a fitted model: it shows the values that it is given, and a browser can use it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from compactlearn.inspection._model_facts import LabelFacts, Misjudged, ModelFacts
from compactlearn.inspection._model_page import model_page, says
from compactlearn.metrics._reliability import ReliabilityTable
from tests.browsing import complaints, open_afresh, open_browser, requests


def in_bins(found):
    """A table of ten bins, of which some have a number of pairs, sum of probabilities, hits."""
    columns = np.zeros((3, 10))
    for place, values in found.items():
        columns[:, place] = values
    return ReliabilityTable(*columns)


LABELS = (
    LabelFacts("boats", 40, 20, 10, ("ship", "sea"), ("harbours",)),
    LabelFacts("bread <b>", 12, 12, 12, ("butter",), ("boats",)),
    LabelFacts("harbours", 3, 0, 0, (), ("boats",)),
    LabelFacts("never", 0, 0, 0),
)
FACTS = ModelFacts(
    "CMLLClassifier",
    {"decoder": "'logistic'"},
    100,
    1000,
    4,
    28511,
    2_500_000,
    {"average_precision": 0.7123, "one_error": 0.25, "micro_f1": 0.61},
    LABELS,
    (
        Misjudged(7, "boats", True, 2.5, ("ship",), ("bread",), "a ship of <bread>"),
        Misjudged(9, "harbours", False, -1.25),
    ),
    tuple(
        {"name": name, "score": score, "deviation": deviation, "n_parameters": n}
        for name, score, deviation, n in [("CMLL", 0.7, 0.01, 100), ("forest", 0.6, None, 5000)]
    ),
    "average_precision",
    {
        "predicted labels": in_bins({1: (90, 9.0, 11), 9: (10, 9.0, 8)}),
        "first label of each row": in_bins({5: (8, 4.4, 4)}),
    },
    30,
)


def text_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_the_page_shows_its_values():
    page = model_page(FACTS)
    assert model_page(FACTS) == page
    text = text_of(page[page.index("<body>") :])
    for said in (
        "evaluated on 100 rows. It has 28,511 parameters.",
        "0.7123",
        "2.50 MB",
        "boats 40 20 0.33 0.50 0.25 ship, sea harbours",
        "harbours 3 0 0.00 0.00 boats",
        "boats predicted, but wrong 7 +2.500 ship bread a ship of &lt;bread&gt;",
        "harbours missed 9 -1.250",
        "over at most 30 rows that have it",
        "decoder &#x27;logistic&#x27;",
        "CMLL 0.7000 0.0100 100",
        "forest 0.6000 5,000",
        "predicted labels all 100 0.180 0.190 -0.010",
        "predicted labels 0.90 to 1.00 10 0.900 0.800 +0.100",
        "first label of each row 0.50 to 0.60 8 0.550 0.500 +0.050",
    ):
        assert said in text, said


def test_the_most_frequent_label_comes_first():
    names = re.findall(r'<tr><th scope="row">(.*?)</th>', model_page(FACTS))
    assert names[:4] == ["boats", "bread &lt;b&gt;", "harbours", "never"]


def test_sentences():
    assert says(FACTS) == [
        "In 75 % of the rows the label with the highest score is correct.",
        "69 % of the predicted labels are correct, and 40 % of the true labels are predicted.",
        "1 of the 3 labels that occur in these rows are never predicted.",
    ]
    many = tuple(LabelFacts(f"label {k}", 20, 20, k) for k in range(8))
    sentences = says(replace(FACTS, labels=many))
    assert (
        "Among the labels of 10 rows or more, F1 is highest for label 7, label 6 and label 5, and "
        "lowest for label 0, label 1 and label 2." in sentences
    )
    for hits, word in ((40, "high"), (95, "low"), (70, "")):
        bins = in_bins({4: (40, 18.0, 0), 9: (60, 57.0, hits)})
        sentences = says(replace(FACTS, suggested={"predicted labels": bins}))
        sentence = f"The probabilities are too {word}: the predicted labels have a mean probability"
        assert any(one.startswith(sentence) for one in sentences) == bool(word)
    silent = tuple(replace(label, n_given=0, n_right=0) for label in LABELS)
    assert "No label is predicted for any of these rows" in " ".join(
        says(replace(FACTS, labels=silent))
    )


def test_what_there_is_nothing_to_say_about_is_left_out():
    bare = replace(
        FACTS,
        labels=tuple(replace(label, words=(), near=()) for label in LABELS[:1]),
        settings={},
        mistakes=(),
        tried=(),
        suggested={},
        n_parameters=None,
        n_bytes=None,
        unexplained="Nobody knows why.",
    )
    page = model_page(bare)
    for absent in (
        "errors",
        "Settings",
        "Models that were tried",
        "Probabilities",
        "Similar labels",
        "MB",
        "It has",
    ):
        assert absent not in text_of(page[page.index("<body>") : page.index("<script>")]), absent
    assert "Nobody knows why." in page


# ---- in a browser --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = open_browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()


@pytest.fixture
def page(browser, tmp_path):
    path = tmp_path / "model.html"
    path.write_text(model_page(FACTS), encoding="utf-8")
    return open_afresh(browser, path.as_uri())


def find(page, selector):
    return page.find_element("css selector", selector)


def names(page, table="label-table"):
    script = """return Array.from(document.getElementById(arguments[0]).tBodies[0].rows)
        .filter(row => !row.hidden).map(row => row.cells[0].innerText);"""
    return page.execute_script(script, table)


@pytest.mark.slow
def test_it_opens_without_a_complaint_and_asks_for_nothing(page):
    assert complaints(page) == []
    asked = requests(page)
    assert [url for url in asked if not url.startswith(("data:", "file:"))] == []


@pytest.mark.slow
def test_labels_are_found_by_name_and_sorted_by_figures(page):
    find(page, "#label-table-filter").send_keys("ha")
    assert names(page) == ["harbours"]
    find(page, "#label-table-filter").clear()
    find(page, "#label-table-filter").send_keys(" ")
    assert len(names(page)) == 4
    find(page, "#label-table thead th:nth-child(4) button").click()
    assert names(page) == ["harbours", "boats", "bread <b>", "never"]  # by F1; none comes last
    find(page, "#mistake-table-filter").send_keys("boats")
    assert names(page, "mistake-table") == ["boats"]

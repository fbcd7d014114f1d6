"""HTML, CSV, LaTeX and Markdown: the same numbers, safe text, the same bytes every time."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from bench.tests.makers import record
from hypothesis import given, settings
from hypothesis import strategies as st

from compactlearn_bench.records import Record, RecordError, aggregate
from compactlearn_bench.report import (
    collect,
    render_html,
    summary_markdown,
    to_csv,
    to_latex,
    to_svg,
)

BAD = "<script>alert('x')</script>"
EVIL = '"><img src=x onerror=alert(1)>'


class Tags(HTMLParser):
    """All tags with their attributes, and whether they close in order."""

    VOID = ("meta", "link", "input", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.broken = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)


@pytest.fixture(scope="module")
def html(small):
    return render_html(small)


def hostile():
    return [
        record(
            dataset=BAD,
            method=method,
            fold=k,
            values=[[0.4 + 0.1 * k, 0.5]],
            metrics=("average_precision", EVIL),
            n_folds=2,
            configurations=[{EVIL: BAD, "n_label_components": 0.5}],
            details={"by_frequency": {g: {"average_precision": 0.1} for g in (BAD, EVIL)}},
            versions={BAD: EVIL},
        )
        for method in (EVIL, "CMLL", "ORI")
        for k in range(2)
    ] + [record(dataset=BAD, method="POP", status="failed", reason=BAD, n_folds=2)]


def test_the_page_is_well_formed(html):
    tags = Tags(html)
    assert not tags.broken
    assert not tags.open


def test_ids_are_unique_and_labels_lead_somewhere(html):
    tags = Tags(html)
    ids = [attributes["id"] for _, attributes in tags.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in tags.found:
        if tag == "label":
            assert attributes["for"] in ids
        if tag == "a":
            assert attributes["href"][1:] in ids
        if tag == "input":
            assert attributes["data-filter"] in ids


def test_nothing_on_the_page_leads_out(html):
    for tag, attributes in Tags(html).found:
        for name in ("src", "href", "action", "data", "srcset", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:,")), (tag, value)
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"fetch\(|XMLHttp|import\(", html)


def test_the_same_records_give_the_same_bytes(small, html):
    assert render_html(list(reversed(small))) == html
    assert to_csv(reversed(small)) == to_csv(small)


def test_without_times_two_runs_give_the_same_bytes(small):
    again = [replace(r, circumstances={"seconds": {"fit": 99.0}, "host": "b"}) for r in small]
    assert render_html(small) != render_html(again)
    assert render_html(small, times=False) == render_html(again, times=False)
    assert to_csv(small, times=False) == to_csv(again, times=False)
    assert to_svg(small, times=False) == to_svg(again, times=False)


def test_one_selection_can_be_asked_for(small):
    only = render_html(small, selections=["nested"])
    assert "Chosen by inner folds" in only
    assert "as in the paper" not in only
    assert [r.selection for r in collect(small)] == ["paper", "nested"]


def test_names_from_strangers_stay_text():
    text = render_html(hostile(), heading=BAD)
    tags = Tags(text)
    assert not tags.broken
    assert sum(tag == "script" for tag, _ in tags.found) == 1
    assert not any(tag == "img" for tag, _ in tags.found)
    assert not any(name.startswith("on") for _, a in tags.found for name in a)
    assert "alert(&#x27;x&#x27;)" in text


@settings(max_examples=25)
@given(st.text(min_size=1), st.text(min_size=1))
def test_any_name_at_all_makes_a_whole_page(dataset, method):
    records = [record(dataset, m, fold=k, n_folds=2) for m in (method, "CMLL") for k in range(2)]
    tags = Tags(render_html(records).encode(errors="replace").decode())
    assert not tags.broken
    assert not tags.open
    for svg in to_svg(records).values():
        ElementTree.fromstring(svg)


def test_csv_has_every_cell(small):
    rows = list(csv.DictReader(io.StringIO(to_csv(small))))
    assert len(rows) == 2 * 3 * 7 * 2
    (row,) = [
        r for r in rows
        if (r["selection"], r["dataset"], r["method"], r["metric"])
        == ("paper", "enron", "CMLL", "average_precision")
    ]  # fmt: skip
    score = aggregate(small, "paper").score("enron", "CMLL", "average_precision")
    assert float(row["mean"]) == pytest.approx(score.mean, abs=1e-6)
    assert float(row["published_mean"]) == 0.6965
    assert float(row["distance"]) == pytest.approx((score.mean - 0.6965) / 0.0153, abs=0.01)
    assert row["fit_seconds"]
    assert "fit_seconds" not in to_csv(small, times=False)


def test_latex_has_the_papers_form():
    records = [
        record(method=m, fold=k, values=[[v + 0.01 * k]], n_folds=2, dataset="a_b")
        for m, v in (("ORI", 0.3), ("CMLL_y", 0.31), ("CMLL", 0.5))
        for k in range(2)
    ]
    text = to_latex(records)
    assert r"a\_b & 0.3050$\pm$0.0071$\bullet$" in text
    assert r"\textbf{0.5050$\pm$0.0071} \\" in text
    assert r" & ORI & CMLL\_y & CMLL \\" in text
    assert r"Average precision $\uparrow$" in text
    assert text.count("{") == text.count("}")


def test_latex_and_markdown_of_strangers_names():
    latex = to_latex([record(dataset=r"\input{x}", method="a&b%", n_folds=1)])
    assert r"\textbackslash{}input\{x\}" in latex
    assert r"a\&b\%" in latex
    text = summary_markdown(hostile())
    assert "<script" not in text
    assert "<img" not in text


def test_the_summary_says_what_is_near_and_who_is_first():
    published, std = 0.6965, 0.0153
    records = [
        record(method=m, fold=k, values=[[v + 0.001 * k]], n_folds=2, selection="paper")
        for m, v in (("CMLL", published), ("ORI", published + 5 * std))
        for k in range(2)
    ]
    text = summary_markdown(records)
    assert "Of the 884 published cells, 2 are covered; 1 of these (50%) lie within 2" in text
    assert "| Average precision | enron | ORI | 0.7735 ± 0.0007 | 0.5039 ± 0.0111 | +24.3 |" in text
    assert (
        "CMLL has the highest mean on 0 of 1 data sets; not on enron (ORI) [paper: CMLL]." in text
    )
    assert "worse in 1 by the paper's paired t-test" in text
    assert re.search(r"\| enron \| \*\*0\.77[34]\*\* ○ \| 0\.697 \|", text)


def test_what_is_incomplete_is_named_with_its_reason():
    two = ("average_precision", "one_error")
    records = [
        record(fold=0, values=[[0.5, 0.1]], metrics=two, n_folds=2),
        record(fold=1, values=[[0.5]], n_folds=2),
        record(method="ORI", status="timeout", n_folds=2, reason="It took 10 s of 5."),
    ]
    for text in (render_html(records), summary_markdown(records)):
        assert "(One error): not every fold has recorded this metric." in text
        assert "fold 0 ran out of time (It took 10 s of 5)" in text
        assert "no record of fold 1" in text
    assert ">incomplete<" in render_html(records)
    failed = record(status="failed", reason="It was Monday.", n_folds=1)
    for text in (render_html([failed]), to_csv([failed]), summary_markdown([failed])):
        assert "It was Monday" in text
    assert "incomplete" in to_latex([failed])


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", " =1"])
def test_no_name_becomes_a_formula_in_a_spreadsheet(name):
    records = [record(dataset=name, method=name, n_folds=1, status="failed", reason=name)]
    records.append(record(dataset=name, method="ORI", n_folds=1))
    (_, first) = csv.DictReader(io.StringIO(to_csv(records)))
    assert first["dataset"] == first["method"] == "'" + name.strip()
    assert not any(value.startswith(("=", "+", "-", "@")) for value in first.values())


def blank(method, **more):
    return [
        record(dataset, method, fold=k, values=[[0.4 + 0.1 * k]], n_folds=2, **more)
        for dataset in ("enron", "own")
        for k in range(2)
    ]


def test_what_the_records_do_not_say_is_left_out():
    """Two methods without a reference, under the fair selection: nothing to count or to mark."""
    records = blank("ORI", sizes=[]) + blank("PLST", sizes=[])
    text = render_html(records)
    body = text.split("</style>")[1]
    assert "of 0<" not in body
    assert 'class="tile' not in body
    assert "with a reference" not in body
    assert "arXiv" not in body
    heads = re.search(r'<table id="nested-all".*?</thead>', text)[0]
    assert re.findall(r"<button[^>]*>(.*?)</button>", heads) == [
        "Metric",
        "Data set",
        "Method",
        "Mean",
        "Deviation",
        "Best",
        "Configuration",
    ]
    summary = summary_markdown(records)
    assert "Who is first" not in summary
    assert "What the marks can bear" not in summary
    assert "reference" not in summary


ODD = [None, True, -1, 0.5, 1e308, 1e-320, 10**400, "", "\ud800", [], {}, [[1]], {"a": {}}]


def places(value, path=()):
    """Every part of a text in JSON, by the names that lead to it."""
    if path:
        yield path
    named = dict(enumerate(value)) if isinstance(value, list) else value
    for name, part in named.items() if isinstance(named, dict) else ():
        yield from places(part, (*path, name))


def plain_record(fold):
    found = record(
        fold=fold,
        n_folds=2,
        settings={"metrics": ["average_precision"]},
        details={"by_frequency": {"rare": {"label_average_precision": 0.5}}, "more": [1.0]},
        circumstances={"seconds": {"fit": 1.0}},
        versions={"numpy": "2"},
    )
    return json.loads(found.to_json())


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(places(plain_record(0)))), st.sampled_from(ODD))
def test_whatever_is_in_a_record_there_is_a_page_or_a_sentence(path, odd):
    changed = plain_record(0)
    part = changed
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = odd
    try:
        records = [Record.from_json(json.dumps(r)) for r in (changed, plain_record(1))]
    except RecordError:
        return
    records += [record(method="ORI", fold=k, n_folds=2) for k in range(2)]
    try:
        collect(records)
    except ValueError as error:  # two questions in one table: a sentence, and no page
        message = str(error)
        assert re.search("one run|one answer|same folds", message), message
        return
    assert render_html(records).endswith("</html>\n")
    assert all(form(records) for form in (summary_markdown, to_csv, to_latex))

"""The page in a real browser: what the page on a model, of the same parts, does not have."""

import base64

import pytest
from bench.tests.report.factory import synthetic_records
from bench.tests.report.test_outputs import hostile

from compactlearn_bench.records import aggregate
from compactlearn_bench.report import render_html
from tests.browsing import complaints, contrasts, open_afresh, requests

DATASETS = ("enron", "llog", "plant")
TABLE = "paper-t0"
pytestmark = pytest.mark.slow


def opened(browser, folder, records):
    path = folder / "report.html"
    path.write_text(render_html(records), encoding="utf-8")
    return open_afresh(browser, path.as_uri())


@pytest.fixture
def fresh(browser, small, tmp_path):
    return opened(browser, tmp_path, small)


@pytest.fixture
def page(fresh):
    """The page with the paper's selection, which has more to show, in sight."""
    find(fresh, '#view button[data-key="paper"]').click()
    return fresh


def find(page, selector):
    return page.find_element("css selector", selector)


def column(page, place=1, table=TABLE):
    """Visible texts of a column, row by row."""
    script = """
        return Array.from(document.getElementById(arguments[0]).tBodies[0].rows)
            .filter(row => !row.hidden).map(row => row.cells[arguments[1]].innerText);
    """
    return page.execute_script(script, table, place)


def sort_by(page, table, place):
    button = find(page, f"#{table} thead th:nth-child({place + 1}) button")
    page.execute_script("arguments[0].click()", button)


def test_it_opens_on_the_fair_selection_and_shows_one_at_a_time(fresh, small):
    page = fresh
    assert complaints(page) == []
    assert len(requests(page)) == 1

    def shown():
        panels = page.find_elements("css selector", '.panel[data-of="view"]')
        return [panel.get_attribute("data-key") for panel in panels if panel.is_displayed()]

    assert shown() == ["nested"]
    assert find(page, '#view button[data-key="nested"]').get_attribute("aria-pressed") == "true"
    score = aggregate(small, "nested").score("plant", "CMLL", "average_precision")
    assert column(page, 1, "nested-t0")[0].startswith(f"{score.mean:.4f}")
    find(page, '#view button[data-key="paper"]').click()
    assert shown() == ["paper"]


def test_words_narrow_the_list_of_all_cells(page):
    field = find(page, "#paper-all-filter")
    field.send_keys("enron cmll one")
    assert set(column(page, 1, "paper-all")) == {"enron"}
    assert set(column(page, 2, "paper-all")) == {"CMLL", "k-CMLL"}
    assert find(page, "#paper-all-filter-count").text == "2 of 42 rows"


def test_a_rank_in_focus_shows_its_value(page):
    mark = find(page, '.panel[data-of="paper-rank"]:not([hidden]) figure svg .pt')
    page.execute_script("arguments[0].focus()", mark)
    tip = find(page, "#tip")
    assert tip.is_displayed()
    assert tip.text == mark.get_attribute("aria-label")
    assert "average rank" in tip.text


def test_every_text_can_be_read_against_its_ground(page):
    """At least 4.5 : 1, the usual bound, for a sample of each kind of text in both themes."""
    kinds = (
        "h1 .lede td .sd .pub figcaption p_a .tile_span td.ref_.pub th_button .tools_output "
        'footer_p .chooser_button[aria-pressed="true"]'
    )
    kinds = [kind.replace("_", " ") for kind in kinds.split()]
    for _ in range(2):
        ratios = contrasts(page, kinds)
        assert all(ratio >= 4.5 for ratio in ratios), dict(zip(kinds, ratios, strict=True))
        find(page, "#theme").click()


def test_it_prints_with_all_that_is_put_away_on_the_screen(page):
    printed = page.execute_cdp_cmd(
        "Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True}
    )
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        panels = page.find_elements("css selector", ".panel")
        assert all(panel.is_displayed() for panel in panels)
        assert not find(page, ".bar").is_displayed()
        assert not find(page, f"#{TABLE}-filter").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_names_from_strangers_do_nothing(browser, tmp_path):
    page = opened(browser, tmp_path, hostile())
    assert complaints(page) == []
    assert "<script>alert('x')</script>" in find(page, "#main").text


def test_what_is_missing_comes_last_either_way(browser, small, tmp_path):
    cut = [
        r
        for r in small
        if (r.cell.dataset, r.cell.method, r.cell.fold) != ("enron", "ORI", 0)
        and r.cell.selection == "paper"
    ]
    page = opened(browser, tmp_path, cut)
    for _ in range(2):
        sort_by(page, TABLE, 2)  # ORI follows the reference
        assert column(page, 2)[-1].startswith("incomplete")


@pytest.fixture(params=[1400, 390])
def screen(browser, request):
    """A screen of so many pixels; below 500 a window cannot be made, but a telephone be played."""
    size = {"width": request.param, "height": 900, "deviceScaleFactor": 1}
    phone = {"mobile": request.param < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | phone)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_reference_stays_in_sight_next_to_the_names(screen, tmp_path):
    """With more methods than any screen has room for, and nothing wider than the screen."""
    crowded = synthetic_records(
        DATASETS,
        ("ORI", "PLST", "CMLL", "CMLL+logistic", *(f"method {k:02d}" for k in range(24))),
        selections=("nested",),
        metrics=("average_precision",),
    )
    page = opened(screen, tmp_path, crowded)
    assert page.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
    places = """
        const table = document.getElementById("nested-t0"), frame = table.closest(".wide");
        table.scrollIntoView({block: "center"});
        frame.scrollLeft = arguments[0];
        const seen = (cell) => {
            const box = cell.getBoundingClientRect();
            const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
            const seen = cell.contains(document.elementFromPoint(x, y));
            return {left: box.left, right: box.right, seen};
        };
        const inner = frame.getBoundingClientRect();
        return {
            room: frame.scrollWidth - frame.clientWidth, left: inner.left, right: inner.right,
            rows: [table.tHead, table.tBodies[0], table.tFoot].map((part) =>
                [seen(part.rows[0].cells[0]), seen(part.rows[0].cells[1])]),
        };
    """
    for far in (0, 10**6):
        found = page.execute_script(places, far)
        assert found["room"] > 300, "the table must be too wide for the test to say anything"
        for name, reference in found["rows"]:
            assert name["seen"], far
            assert reference["seen"], far
            assert abs(name["left"] - found["left"]) <= 2
            assert abs(reference["left"] - name["right"]) <= 1
            assert reference["right"] <= found["right"]

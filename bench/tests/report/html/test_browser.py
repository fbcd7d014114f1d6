"""The page in a real browser: it asks for nothing, and what can be clicked works."""

import base64
import io
import struct
import zlib

import pytest
from bench.tests.report.factory import synthetic_records

from compactlearn_bench.records import aggregate
from compactlearn_bench.report import render_html
from tests.browsing import complaints, contrasts, open_afresh, requests

DATASETS = ("enron", "llog", "plant")
TABLE = "paper-t0"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def records():
    return synthetic_records(
        DATASETS,
        ("ORI", "PLST", "MDDM", "CMLL", "k-ORI", "C2AE", "k-CMLL"),
        metrics=("average_precision", "one_error"),
    )


@pytest.fixture(scope="module")
def address(records, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_html(records), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def fresh(browser, address):
    """The page, opened afresh; nothing of the opening before is in the logs."""
    return open_afresh(browser, address)


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


def head(page, place, table=TABLE):
    return find(page, f"#{table} thead th:nth-child({place + 1})")


def point_at(page, element):
    from selenium.webdriver.common.action_chains import ActionChains

    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    ActionChains(page).move_to_element(element).perform()


def press(page, *keys):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(page).send_keys(*keys).perform()


def pixels(png):
    """Different colours of a picture: enough of PNG's form for what a screenshot is."""
    stream, packed, wide, depth = io.BytesIO(png), b"", 0, 0
    stream.read(8)
    while chunk := stream.read(8):
        size, name = struct.unpack(">I4s", chunk)
        data = stream.read(size)
        stream.read(4)
        if name == b"IHDR":
            wide, _, _, kind = struct.unpack(">IIBB", data[:10])
            depth = {2: 3, 6: 4}[kind]
        packed += data if name == b"IDAT" else b""
    raw, step = zlib.decompress(packed), wide * depth + 1
    # Filtered rows are not colours, but a blank picture has next to no different bytes.
    return {raw[k : k + depth] for row in range(0, len(raw), step * 7)
            for k in range(row + 1, min(row + step, len(raw)), depth)}  # fmt: skip


def test_it_opens_without_a_complaint_and_asks_for_nothing(page, address):
    assert complaints(page) == []
    assert requests(page) == [address]
    assert page.title == "Multi-label benchmark"


def test_a_click_on_a_heading_sorts_and_another_turns_the_order(page):
    before = [float(text.split()[0]) for text in column(page)]
    button = find(page, f"#{TABLE} thead th:nth-child(2) button")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    assert [float(text.split()[0]) for text in column(page)] == sorted(before)
    assert head(page, 1).get_attribute("aria-sort") == "ascending"
    button.click()
    assert [float(text.split()[0]) for text in column(page)] == sorted(before, reverse=True)
    assert head(page, 1).get_attribute("aria-sort") == "descending"
    assert head(page, 2).get_attribute("aria-sort") == "none"


def test_the_keyboard_sorts_too(page):
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.getElementById(arguments[0]).focus()", f"{TABLE}-filter")
    press(page, Keys.TAB, Keys.TAB, Keys.TAB)  # the table's frame, its first heading, the second
    focused = page.switch_to.active_element
    assert focused.text == "CMLL"
    assert page.execute_script(
        "return arguments[0].matches(':focus-visible')"
        " && getComputedStyle(arguments[0]).outlineStyle !== 'none'",
        focused,
    )
    before = [float(text.split()[0]) for text in column(page)]
    press(page, Keys.ENTER)
    assert [float(text.split()[0]) for text in column(page)] == sorted(before)
    assert head(page, 1).get_attribute("aria-sort") == "ascending"


def test_words_narrow_a_table(page):
    field = find(page, "#paper-all-filter")
    field.send_keys("enron cmll one")
    assert set(column(page, 1, "paper-all")) == {"enron"}
    assert set(column(page, 2, "paper-all")) == {"CMLL", "k-CMLL"}
    assert find(page, "#paper-all-filter-count").text == "2 of 42 rows"
    for words, kept in (("(nowhere[", 0), ("no@where_ −1-", 0), ("CMLL_Y", 0), ("beta=1 k-cm", 6)):
        field.clear()
        field.send_keys(words)
        assert len(column(page, 1, "paper-all")) == kept


def test_it_opens_on_the_fair_selection_and_shows_one_at_a_time(fresh, records):
    page = fresh

    def shown():
        panels = page.find_elements("css selector", '.panel[data-of="view"]')
        return [panel.get_attribute("data-key") for panel in panels if panel.is_displayed()]

    assert shown() == ["nested"]
    assert find(page, '#view button[data-key="nested"]').get_attribute("aria-pressed") == "true"
    figure = aggregate(records, "nested").figure("plant", "CMLL", "average_precision")
    assert column(page, 1, "nested-t0")[0].startswith(f"{figure.mean:.4f}")
    find(page, '#view button[data-key="paper"]').click()
    assert shown() == ["paper"]


def test_pointing_at_a_mark_tells_its_values(page):
    svg = find(page, '.panel[data-of="paper-figure"]:not([hidden]) figure svg')
    marks = svg.find_elements("css selector", ".pt")
    wanted = marks[2].get_attribute("aria-label")
    point_at(page, marks[2])
    tip = find(page, "#tip")
    assert tip.is_displayed()
    assert tip.text == wanted
    assert wanted.startswith("β = 0.01: 0.")
    assert "±" in wanted
    point_at(page, find(page, "h1"))
    assert not tip.is_displayed()


def test_the_arrows_go_from_mark_to_mark(page):
    from selenium.webdriver.common.keys import Keys

    svg = find(page, '.panel[data-of="paper-figure"]:not([hidden]) figure svg')
    marks = svg.find_elements("css selector", ".pt")
    assert [mark.get_attribute("tabindex") for mark in marks[:3]] == ["0", "-1", "-1"]
    page.execute_script("arguments[0].focus()", marks[0])
    assert find(page, "#tip").text == marks[0].get_attribute("aria-label")
    press(page, Keys.ARROW_RIGHT)
    assert find(page, "#tip").text == marks[1].get_attribute("aria-label")
    press(page, Keys.ESCAPE)
    assert not find(page, "#tip").is_displayed()


def test_the_page_is_drawn_in_light_and_in_dark(page):
    light = page.get_screenshot_as_png()
    assert len(pixels(light)) > 50
    back = "return getComputedStyle(document.body).backgroundColor"
    before = page.execute_script(back)
    find(page, "#theme").click()
    assert page.execute_script(back) != before
    assert page.get_screenshot_as_png() != light


def test_it_fits_a_narrow_screen(page):
    size = page.get_window_size()
    page.set_window_size(500, 900)
    wide = page.execute_script("return document.documentElement.scrollWidth - innerWidth")
    page.set_window_size(size["width"], size["height"])
    assert wide <= 0


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
    content = base64.b64decode(printed["data"])
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") > 5
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        panels = page.find_elements("css selector", ".panel")
        assert all(panel.is_displayed() for panel in panels)
        assert not find(page, ".bar").is_displayed()
        page.set_window_size(1032, 900)  # the inside of A4, lying
        wide = "return document.documentElement.scrollWidth - innerWidth"
        assert page.execute_script(wide) <= 0
        assert not find(page, f"#{TABLE}-filter").is_displayed()
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        page.set_window_size(1400, 1000)


def test_names_from_strangers_do_nothing(browser, tmp_path):
    from bench.tests.report.test_outputs import hostile

    path = tmp_path / "report.html"
    path.write_text(render_html(hostile()), encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert complaints(browser) == []
    assert "<script>alert('x')</script>" in find(browser, "#main").text


def sort_by(page, table, place):
    button = find(page, f"#{table} thead th:nth-child({place + 1}) button")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    page.execute_script("arguments[0].click()", button)


def opened(browser, tmp_path, found):
    path = tmp_path / "report.html"
    path.write_text(render_html(found), encoding="utf-8")
    browser.get(path.as_uri())
    return browser


def test_what_is_missing_comes_last_either_way(browser, records, tmp_path):
    cut = [
        r
        for r in records
        if (r.cell.dataset, r.cell.method, r.cell.fold) != ("enron", "ORI", 0)
        and r.cell.selection == "paper"
    ]
    page = opened(browser, tmp_path, cut)
    for _ in range(2):
        sort_by(page, TABLE, 2)  # ORI stands behind the reference
        assert column(page, 2)[-1].startswith("incomplete")
    for _ in range(2):  # words may be missing as well
        sort_by(page, "paper-all", 5)
        words = column(page, 5, "paper-all")
        assert words == sorted(words, reverse=True)
        assert words[0] == "best"


@pytest.fixture(scope="module")
def crowded():
    """More methods than any screen has room for."""
    return synthetic_records(
        DATASETS,
        ("ORI", "PLST", "CMLL", "CMLL+logistic", *(f"method {k:02d}" for k in range(24))),
        selections=("nested",),
        metrics=("average_precision",),
    )


@pytest.fixture(params=[1400, 390])
def screen(browser, request):
    """A screen of so many pixels; below 500 a window cannot be made, but a telephone be played."""
    size = {"width": request.param, "height": 900, "deviceScaleFactor": 1}
    phone = {"mobile": request.param < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | phone)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_reference_stays_in_sight_beside_the_names(screen, crowded, tmp_path):
    page = opened(screen, tmp_path, crowded)
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


def test_a_table_that_scrolls_sideways_says_so(screen, crowded, records, tmp_path):
    state = """
        const frame = document.getElementById(arguments[0]).closest(".frame");
        const inside = frame.querySelector(".wide");
        inside.scrollLeft = arguments[1];
        return new Promise((done) => setTimeout(() => done({
            cue: frame.querySelector(".cue").checkVisibility(),
            shade: getComputedStyle(frame, "::after").opacity !== "0",
            wide: inside.scrollWidth > inside.clientWidth + 1,
        }), 400));
    """
    page = opened(screen, tmp_path, crowded)
    assert page.execute_script(state, "nested-t0", 0) == {"cue": True, "shade": True, "wide": True}
    # At the end there is nothing more to come, but still much to go back to.
    end = page.execute_script(state, "nested-t0", 10**6)
    assert end == {"cue": True, "shade": False, "wide": True}
    few = [r for r in records if r.cell.method in ("CMLL", "ORI")]
    page = opened(screen, tmp_path, few)
    found = page.execute_script(state, "nested-t0", 0)
    assert found["cue"] == found["shade"] == found["wide"]


def test_what_it_says_and_what_the_methods_are_fit_the_screen(screen, crowded, tmp_path):
    page = opened(screen, tmp_path, crowded)
    assert page.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
    says = find(page, ".says")
    assert says.is_displayed()
    assert 0 < says.location["y"] < 400
    assert says.size["width"] <= page.execute_script("return innerWidth")
    legend = find(page, "#legend")
    assert "one logistic regression for each label as the decoder" in legend.text

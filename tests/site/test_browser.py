"""The main pages of the site in a browser: no complaint, no request, in the dark and on a phone."""

import pytest

from tests.browsing import complaints, contrasts, open_afresh, requests

PAGES = (
    "index.html",
    "tutorials/ten-minutes.html",
    "explanation/theory.html",
    "methods/index.html",
    "methods/cmll.html",
    "how-to/probabilities.html",
    "results/index.html",
    "gallery.html",
    "gallery/size.html",
    "gallery/parameters.html",
    "api/index.html",
    "api/generated/compactlearn.metrics.html",
    "api/generated/compactlearn/CMLLClassifier.html",
    "reference/changelog.html",
)
pytestmark = pytest.mark.slow
every_page = pytest.mark.parametrize("name", PAGES)


@pytest.fixture
def phone(browser):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@every_page
def test_it_opens_without_a_complaint_and_asks_for_nothing_from_elsewhere(name, browser, site):
    page = open_afresh(browser, (site.folder / name).as_uri())
    assert complaints(page) == []
    asked = requests(page)
    assert asked
    assert [url for url in asked if not url.startswith(site.folder.as_uri())] == []


@every_page
def test_it_fits_a_phone(name, phone, site):
    page = open_afresh(phone, (site.folder / name).as_uri())
    assert page.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0


def theme(page, name):
    page.execute_script("document.body.dataset.theme = arguments[0]", name)


def test_text_can_be_read_in_light_and_in_dark(browser, site):
    """At least 4.5 : 1, the usual bound."""
    page = open_afresh(browser, (site.folder / "methods" / "cmll.html").as_uri())
    kinds = ["h1", "article p", "article p a", "article td", "pre", ".sidebar-tree a", "p code"]
    grounds = set()
    for name in ("light", "dark"):
        theme(page, name)
        ratios = dict(zip(kinds, contrasts(page, kinds), strict=True))
        assert all(ratio >= 4.5 for ratio in ratios.values()), (name, ratios)
        script = "return getComputedStyle(document.querySelector('.content')).color"
        grounds.add(page.execute_script(script))
    assert len(grounds) == 2


def test_figures_are_drawn_and_follow_the_theme(browser, site):
    page = open_afresh(browser, (site.folder / "gallery" / "size.html").as_uri())
    lines = "return document.querySelectorAll('.plot .scatterlayer .trace').length"
    assert page.execute_script(lines) == 3
    colour = """
        const title = document.querySelector('.plot .xtitle');
        return new Promise((done) => setTimeout(() => done(getComputedStyle(title).fill), 500));
    """
    found = []
    for name in ("light", "dark"):
        theme(page, name)
        found.append(page.execute_script(colour))
    assert found[0] != found[1]
    assert complaints(page) == []


def test_every_page_opens_without_a_complaint(browser, site):
    """Pages that are written for a single name of the reference have one template: one of them."""
    pages = [page for page in site.pages if "generated" not in page.parts]
    generated = [page for page in site.pages if "generated" in page.parts]
    assert len(pages) > 50
    found = {}
    for path in [*pages, *generated[:1]]:
        said = complaints(open_afresh(browser, path.as_uri()))
        if said:
            found[path.relative_to(site.folder).as_posix()] = said
    assert found == {}


def test_the_search_finds_pages_without_a_server(browser, site):
    from selenium.webdriver.support.ui import WebDriverWait

    page = open_afresh(browser, (site.folder / "search.html").as_uri() + "?q=threshold")
    WebDriverWait(page, 20).until(
        lambda page: page.find_elements("css selector", "#search-results li a")
    )
    assert complaints(page) == []


def test_a_formula_has_a_size(browser, site):
    """In a browser that does not know MathML the parts of a formula would lie in one line."""
    page = open_afresh(browser, (site.folder / "methods" / "cmll.html").as_uri())
    script = """
        const [base, raised] = document.querySelector('.formula msup').children;
        const [b, r] = [base.getBoundingClientRect(), raised.getBoundingClientRect()];
        return {higher: r.top < b.top, right: r.left >= b.right - 3, wide: b.width};
    """
    found = page.execute_script(script)
    assert found["higher"]
    assert found["right"]
    assert found["wide"] > 3

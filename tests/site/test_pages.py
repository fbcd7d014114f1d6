"""The documentation site: it builds, everything public is in it, and its links lead somewhere."""

import importlib
import json
import re
from functools import cache
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from tests.site.conftest import DOCS
from tests.test_docstrings import PACKAGES

pytestmark = pytest.mark.slow
METHOD_PAGES = [
    page
    for page in sorted((DOCS / "methods").glob("*.md"))
    if page.stem not in ("index", "related")
]


class Reader(HTMLParser):
    """Where a page leads, what it loads, and the places that others may point to."""

    def __init__(self):
        super().__init__()
        self.links, self.loaded, self.places = [], [], {""}

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.places |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag == "link" and "stylesheet" in (found.get("rel") or "") + (found.get("as") or ""):
            self.loaded.append(found["href"])
        elif tag in ("script", "img", "iframe", "source") and found.get("src"):
            self.loaded.append(found["src"])


@cache
def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def test_it_builds_without_a_warning(site):
    assert (site.status, site.said) == (0, "")


def test_every_source_has_a_page(site):
    sources = [*DOCS.rglob("*.md"), *DOCS.glob("gallery/*.py"), *DOCS.rglob("*.rst")]
    assert len(sources) > 40
    for source in sources:
        assert (site.folder / source.relative_to(DOCS)).with_suffix(".html").is_file(), source


def test_links_inside_lead_to_pages_and_places(site):
    followed = 0
    for page in site.pages:
        for link in read(page).links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file(), f"{page.name}: {link}"
            if target.suffix == ".html" and parts.fragment:
                assert unquote(parts.fragment) in read(target).places, f"{page.name}: {link}"
            followed += 1
    assert followed > 1000


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.pages:
        for link in read(page).loaded:
            parts = urlsplit(link)
            assert not parts.scheme, f"{page.name} loads {link}"
            assert not parts.netloc, f"{page.name} loads {link}"
            assert (page.parent / parts.path).is_file(), f"{page.name} loads {link}"
    styles = [path.read_text(encoding="utf-8") for path in site.folder.rglob("*.css")]
    assert styles
    for style in styles:
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", style)


def test_everything_public_is_in_the_reference(site):
    from sphinx.util.inventory import InventoryFile

    with (site.folder / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    modules = {package: importlib.import_module(package) for package in PACKAGES}
    for module in modules.values():
        for name in module.__all__:
            thing = getattr(module, name)
            homes = [
                package
                for package, other in modules.items()
                if getattr(other, name, None) is thing and f"{package}.{name}" in known
            ]
            assert homes, f"{module.__name__}.{name}"
    assert "compactlearn.CMLLClassifier.predict_topk" in known
    assert "compactlearn.CMLLClassifier.get_params" not in known


def test_formulas_are_drawn_and_not_spelt(site):
    for page in METHOD_PAGES:
        shown = site.text(f"methods/{page.stem}.html")
        assert 'display="block"' in shown
        article = re.sub(r"<pre>.*?</pre>", "", shown, flags=re.DOTALL)
        assert "$" not in article
        assert "\\" not in re.sub(r"<script.*?</script>", "", article, flags=re.DOTALL)


def test_every_method_page_has_the_same_parts():
    wanted = ["Objective", "Algorithm", "When to use it", "Parameters", "Example", "Reference"]
    assert len(METHOD_PAGES) == 12
    for page in METHOD_PAGES:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == wanted, page.name


def test_the_gallery_shows_what_its_scripts_draw(site):
    for script in sorted((DOCS / "gallery").glob("*.py")):
        shown = site.text(f"gallery/{script.stem}.html")
        figures = re.findall(
            r'<div class="plot"><script type="application/json">(.*?)</script>', shown
        )
        assert len(figures) == script.read_text(encoding="utf-8").count("figure.show()") > 0
        for figure in figures:
            assert json.loads(figure)["data"]
        assert "plotly.min.js" in shown
    assert "plotly.min.js" not in site.text("tutorials/ten-minutes.html")


def test_it_can_be_searched(site):
    assert "threshold" in site.text("searchindex.js")

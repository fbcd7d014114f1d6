"""A real browser without a window, for pages."""

import pytest

from tests.browsing import open_browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = open_browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()

"""Fixtures of all tests, of the library and of the workshop."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.browsing import open_browser

# A busy machine makes single examples slow without making the code wrong. Continuous integration
# uses the same examples each time; on other machines every run draws new ones.
settings.register_profile(
    "compactlearn", deadline=None, max_examples=50, derandomize="CI" in os.environ
)
settings.load_profile("compactlearn")


@pytest.fixture(autouse=True)
def array_api(request, monkeypatch):
    """scikit-learn leaves its checks of other libraries' arrays out where this is not set."""
    if "check_array_api" in request.node.name:
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.fixture(scope="session")
def shared_datasets() -> Path:
    """The folder of real data sets beside the repository; they are not ours to redistribute."""
    folder = Path(__file__).resolve().parents[1] / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(f"needs the real data sets, which are not in {folder}")
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A real browser without a window."""
    found = open_browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()

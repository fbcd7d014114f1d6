"""Fixtures for every test: where the real data sets lie, and how long hypothesis may think."""

from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine makes single examples slow without making the code wrong.
settings.register_profile("compactlearn", deadline=None, max_examples=50)
settings.load_profile("compactlearn")


@pytest.fixture(autouse=True)
def array_api(request, monkeypatch):
    """scikit-learn leaves its checks of other libraries' arrays out where this is not set."""
    if "check_array_api" in request.node.name:
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")


@pytest.fixture(scope="session")
def shared_datasets() -> Path:
    """The folder of real data sets beside the repository; they are not ours to redistribute."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "datasets"
    if not folder.is_dir():
        pytest.skip(f"needs the real data sets, which are not in {folder}")
    return folder

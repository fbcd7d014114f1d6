"""Arrays of other libraries are worked on as such within scikit-learn's switch."""

import pytest
import sklearn

from tests.devices.places import PLACES


@pytest.fixture(params=PLACES, ids=lambda place: place.name)
def place(request):
    return request.param


@pytest.fixture
def switched_on(monkeypatch):
    """scikit-learn looks at the variable when it is switched on; SciPy has long been imported."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield

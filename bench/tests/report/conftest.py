"""Records that several tests look at."""

import pytest
from bench.tests.report.factory import synthetic_records


@pytest.fixture(scope="session")
def small():
    """Three data sets, both tables, both selections, two metrics."""
    methods = ("ORI", "PLST", "MDDM", "CMLL", "k-ORI", "C2AE", "k-CMLL")
    return synthetic_records(("enron", "llog", "plant"), methods)

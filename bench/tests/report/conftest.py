"""Records that several tests look at."""

import pytest
from bench.tests.report.factory import KERNEL, LINEAR, synthetic_records


@pytest.fixture(scope="session")
def small():
    """Three data sets, both tables, both selections, two metrics."""
    return synthetic_records(
        ("enron", "llog", "plant"),
        ("ORI", "PLST", "MDDM", "CMLL", "k-ORI", "C2AE", "k-CMLL"),
        metrics=("average_precision", "one_error"),
    )


@pytest.fixture(scope="session")
def whole():
    """All that the paper's tables have, on seven data sets."""
    return synthetic_records(methods=LINEAR + KERNEL)

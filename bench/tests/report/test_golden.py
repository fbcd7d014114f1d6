"""The same records give the same reports, to the byte, in every version of this package.

The digests are of reports of the committed records, without times, and of pages without their style
and script. Where a report is changed on purpose: ``python bench/tests/report/test_golden.py``.
"""

import hashlib
import re
from pathlib import Path

import pytest

from compactlearn_bench.records import open_records
from compactlearn_bench.report import render_html, summary_markdown, to_csv

BENCH = Path(__file__).resolve().parents[2]
DIGESTS = {
    "related/records.jsonl.xz": {
        "html": "6f1987f90dd664ce",
        "csv": "0f3a3ab9b001c175",
        "markdown": "d4c60ec1f0e3e031",
    },
    "auto/records.jsonl.xz": {
        "html": "3f5eaaee0390ba63",
        "csv": "dc2e4d435e47b2e3",
        "markdown": "33863eff7acc9025",
    },
}


def reports(source):
    """Every form of the report, as text."""
    records = list(open_records(BENCH / source))
    page = render_html(records, times=False)
    yield "html", re.sub(r"<meta http-equiv.*?>|<(style|script)>.*?</\1>", "", page, flags=re.S)
    yield "csv", to_csv(records, times=False)
    yield "markdown", summary_markdown(records)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("source", DIGESTS)
def test_the_bytes_of_a_report(source):
    assert {form: digest(text) for form, text in reports(source)} == DIGESTS[source]


if __name__ == "__main__":
    for source in DIGESTS:
        print(source, {form: digest(text) for form, text in reports(source)})

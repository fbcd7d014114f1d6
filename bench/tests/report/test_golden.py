"""The same records give the same reports, to the byte, in every version of this package.

The digests are of reports of the committed records, without times, and of pages without their style
and script. Where a report is changed on purpose: ``python bench/tests/report/test_golden.py``.
"""

import hashlib
import re
from pathlib import Path

import pytest

from compactlearn_bench.records import open_records
from compactlearn_bench.report import render_html, summary_markdown, to_csv, to_latex, to_svg

BENCH = Path(__file__).resolve().parents[2]
DIGESTS = {
    "related/records.jsonl.xz": {
        "html": "bc29b0eb88a0f944",
        "csv": "0f3a3ab9b001c175",
        "latex": "26b7ecf5afc3b653",
        "markdown": "25665e8dde2a2130",
        "svg": "0e5ea015702e7cfa",
    },
    "auto/records.jsonl.xz": {
        "html": "441cb787d9cc3f6a",
        "csv": "dc2e4d435e47b2e3",
        "latex": "daf520f5c65bc78a",
        "markdown": "542880cc0364e7e0",
        "svg": "053cfeb2fc18876c",
    },
    "paper/figures.jsonl.xz": {
        "html": "efe5e2a8db24c362",
        "csv": "25a4a8dbe9d1b28c",
        "latex": "ba0274454c587813",
        "markdown": "83820048d544c5e8",
        "svg": "e449a16d938479e8",
    },
    "paper/printed.jsonl.xz": {
        "html": "15a6e89d31a480e5",
        "csv": "f1eb88883932f7c3",
        "latex": "b4f20d1e266f260e",
        "markdown": "b9559bad54dc42a0",
        "svg": "c51c52133418f336",
    },
}


def reports(source):
    """Every form of the report, as text."""
    records = list(open_records(BENCH / source))
    page = render_html(records, times=False)
    yield "html", re.sub(r"<meta http-equiv.*?>|<(style|script)>.*?</\1>", "", page, flags=re.S)
    yield "csv", to_csv(records, times=False)
    yield "latex", to_latex(records)
    yield "markdown", summary_markdown(records)
    yield "svg", "".join(f"{n}{svg}" for n, svg in sorted(to_svg(records, times=False).items()))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("source", DIGESTS)
def test_the_bytes_of_a_report(source):
    assert {form: digest(text) for form, text in reports(source)} == DIGESTS[source]


if __name__ == "__main__":
    for source in DIGESTS:
        print(source, {form: digest(text) for form, text in reports(source)})

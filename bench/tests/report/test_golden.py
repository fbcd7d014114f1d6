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
        "html": "63662e69d6083b5c",
        "csv": "0f3a3ab9b001c175",
        "latex": "26b7ecf5afc3b653",
        "markdown": "25665e8dde2a2130",
        "svg": "0330c539d12801d5",
    },
    "auto/records.jsonl.xz": {
        "html": "0d84bbe4188481cb",
        "csv": "dc2e4d435e47b2e3",
        "latex": "daf520f5c65bc78a",
        "markdown": "542880cc0364e7e0",
        "svg": "96ac66e23b871d1b",
    },
    "paper/figures.jsonl.xz": {
        "html": "03363d773954cbb4",
        "csv": "25a4a8dbe9d1b28c",
        "latex": "ba0274454c587813",
        "markdown": "83820048d544c5e8",
        "svg": "3e0f530a1e7802c6",
    },
    "paper/printed.jsonl.xz": {
        "html": "018dd7a126b575df",
        "csv": "f1eb88883932f7c3",
        "latex": "b4f20d1e266f260e",
        "markdown": "b9559bad54dc42a0",
        "svg": "d907d7bddab766fb",
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

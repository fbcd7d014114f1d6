"""Write the tables of the docs from the records in this folder.

    python bench/tables.py            # rewrites the documents between their markers
    python bench/tables.py --check    # status 1 where a document and the records differ

A figure in them is thus always one that a committed script has measured. The folder ``pages`` has a
module for each page, whose functions make its tables.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

sys.path.insert(0, str(Path(__file__).resolve().parent))

import pages
from pages.shared import rendered

for found in iter_modules(pages.__path__):
    import_module(f"pages.{found.name}")

DOCS = Path(__file__).resolve().parents[1] / "docs"


def main(arguments: list[str] | None = None) -> int:
    """Write, or only compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if stale")
    options = parser.parse_args(arguments)
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    made = {path: rendered(text) for path, text in texts.items()}
    stale = {path: text for path, text in made.items() if text != texts[path]}
    if options.check:
        return int(bool(stale))
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

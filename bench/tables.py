"""Write the tables of the docs from the records beside this file.

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

MODULES = [import_module(f"pages.{found.name}") for found in iter_modules(pages.__path__)]
PAGES = [module.page for module in MODULES if hasattr(module, "page")]


def main(arguments: list[str] | None = None) -> int:
    """Write, or only compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; status 1 if stale")
    options = parser.parse_args(arguments)
    stale = {
        page.path: text
        for page in PAGES
        if (text := page.rendered()) != page.path.read_text(encoding="utf-8")
    }
    if options.check:
        return int(bool(stale))
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

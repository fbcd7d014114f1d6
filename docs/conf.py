"""Sphinx configuration of the documentation site (`make docs`)."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "site"), str(HERE.parent / "src")]

import compactlearn  # noqa: E402

project = "compactlearn"
author = "compactlearn developers"
copyright = "compactlearn developers, BSD-3-Clause"
version = release = compactlearn.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    # Ours, in docs/site.
    "docstrings",
    "formulas",
    "gallery_pages",
    "overviews",
    "reference",
]
exclude_patterns = ["conf.py", "site"]

# Markdown: what repository hosts understand too, and nothing else.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

# Docstrings.
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"

smartquotes = False  # "auto" is a value, and is typed with straight quotes
highlight_language = "text"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "compactlearn"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_search_summary = False  # it would fetch pages, which browsers refuse for files on disk
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#8f3b1b",
        "color-brand-content": "#8f3b1b",
        "color-brand-visited": "#7a4a6e",
        "color-sidebar-link-text": "#33373d",
        "color-sidebar-link-text--top-level": "#33373d",
    },
    "dark_css_variables": {
        "color-brand-primary": "#f0a07c",
        "color-brand-content": "#f0a07c",
        "color-brand-visited": "#d3a6c9",
        "color-sidebar-link-text": "#cfd3d9",
        "color-sidebar-link-text--top-level": "#cfd3d9",
    },
}

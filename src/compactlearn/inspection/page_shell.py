"""The shell of every page: style, script, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources

__all__ = ["whole_page"]


def whole_page(heading: str, header: str, bar: str, main: str, footer: str) -> str:
    """One file that needs nothing else: no network, no other file, no framework.

    Parameters
    ----------
    heading : str
        The title, escaped here; all other parts are markup.
    header, bar, main, footer : str
        Below the title, in the bar that stays in sight, the content, and the last lines.
    """
    style, script = (_asset(name) for name in ("page.css", "page.js"))
    # The script is named by its digest: should any text ever slip through unescaped, no browser
    # would run it; and nothing may be fetched from anywhere.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<title>{escape(heading)}</title><link rel="icon" href="data:,">',
            f"<style>{style}</style></head><body>",
            '<a class="skip" href="#main">To the results</a>',
            f"<header><h1>{escape(heading)}</h1>{header}</header>",
            '<nav class="bar" aria-label="View"><div>',
            bar,
            '<button type="button" class="plain push" id="theme" hidden>Light or dark</button>',
            "</div></nav>",
            f'<main id="main">{main}</main>',
            f"<footer>{footer}</footer>",
            '<div id="tip" role="tooltip" hidden></div>',
            f"<script>{script}</script></body></html>\n",
        ]
    )


def _asset(name: str) -> str:
    return resources.files("compactlearn.inspection").joinpath(name).read_text("utf-8")

"""Lines of CSV that every program reads in the same way, and that no spreadsheet executes."""

import contextlib
from collections.abc import Iterable

_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")


def csv_line(cells: Iterable[object], delimiter: str = ",", *, raw: bool = False) -> str:
    r"""Return one line of CSV with its line end.

    Cells that contain the delimiter, a quote, a line end or a carriage return are quoted.

    Parameters
    ----------
    cells : iterable
        Strings are texts; numbers are written as ``str`` writes them.
    delimiter : str
        Separator of the cells.
    raw : bool
        Whether texts that a spreadsheet would take for formulas are written as they are.

    Examples
    --------
    >>> csv_line(["car\rriage", "=1+1", -1.5])
    '"car\rriage",\'=1+1,-1.5\n'
    """
    texts = (no_formula(c) if isinstance(c, str) and not raw else str(c) for c in cells)
    return delimiter.join(_quoted(text, delimiter) for text in texts) + "\n"


def no_formula(text: str) -> str:
    """Return a text with an apostrophe in front if a spreadsheet would take it for a formula.

    >>> no_formula("@SUM(A1)"), no_formula("-1.5"), no_formula("pasta")
    ("'@SUM(A1)", '-1.5', 'pasta')
    """
    return f"'{text}" if text.startswith(_BEGINNINGS) and not _is_number(text) else text


def _quoted(text: str, delimiter: str) -> str:
    if any(sign in text for sign in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _is_number(text: str) -> bool:
    if text.strip() == text and text.isascii() and "_" not in text:
        with contextlib.suppress(ValueError):
            float(text)
            return True
    return False

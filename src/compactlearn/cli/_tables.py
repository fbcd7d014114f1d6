"""Tables that show all they hold, however narrow the terminal is.

Rich cuts what does not fit. Here cells are broken between words, headings at underscores too, and a
table that is too wide even so is continued below, with its first column again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from compactlearn.core._shown import shown

__all__ = ["console", "fitted"]

_FRAME = 3  # a bar and two blanks for each column
_UNBOUNDED = 100_000

Cell = str | Text


def console(stream: TextIO | None = None) -> Console:
    """Standard output, or a stream. Names are no markup.

    What is not a terminal has lines of any length.
    """
    piped = stream is not None or (not os.isatty(1) and "COLUMNS" not in os.environ)
    width = _UNBOUNDED if piped else None
    return _SafeConsole(file=stream, highlight=False, markup=False, emoji=False, width=width)


class _SafeConsole(Console):
    """A console that prints the control characters of texts as escapes."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as `Console` does; tables and the like have been made safe before."""
        safe = [shown(one, keep="\n") if isinstance(one, str) else one for one in objects]
        super().print(*safe, **options)


def fitted(headings: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[Table]:
    """One table, or several below each other, of at most this width; the first column is left."""
    safe = [[shown(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    columns = list(zip(map(shown, headings), *safe, strict=True))
    natural = [max(cell_len(str(cell)) for cell in column) for column in columns]
    least = [
        max(_longest_word(heading, r"[\s_]"), *(_longest_word(str(cell), r"\s") for cell in cells))
        for heading, *cells in columns
    ]
    room = max(width - 1, _FRAME + 1)
    tables = []
    for chosen in _blocks(least, room):
        widths = _widened([least[j] for j in chosen], [natural[j] for j in chosen], room)
        tables.append(_table([columns[j] for j in chosen], widths))
    return tables


def _longest_word(text: str, between: str) -> int:
    # An underscore at which a heading is broken stays at the end of its line.
    return max(1, *(cell_len(word) for word in re.split(f"(?<={between})", text)))


def _blocks(least: Sequence[int], room: int) -> list[list[int]]:
    """Positions of the columns of each table; the first is in all of them."""
    blocks: list[list[int]] = [[0]]
    used = least[0] + _FRAME
    for column, width in islice(enumerate(least), 1, None):
        if used + width + _FRAME > room and len(blocks[-1]) > 1:
            blocks.append([0])
            used = least[0] + _FRAME
        blocks[-1].append(column)
        used += width + _FRAME
    return blocks


def _widened(least: Sequence[int], natural: Sequence[int], room: int) -> list[int]:
    """As wide as the cells are, as far as there is room; a single word too long is broken."""
    widths = list(least)
    spare = room - sum(widths) - _FRAME * len(widths)
    for column, wanted in enumerate(natural):
        more = max(0, min(spare, wanted - widths[column]))
        widths[column] += more
        spare -= more
    while sum(widths) + _FRAME * len(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return widths


def _table(columns: Sequence[Sequence[Cell]], widths: Sequence[int]) -> Table:
    table = Table()
    for place, ((heading, *_), width) in enumerate(zip(columns, widths, strict=True)):
        justify = "left" if place == 0 else "right"
        table.add_column(
            _broken(str(heading), width), justify=justify, width=width, overflow="fold"
        )
    for row in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*row)
    return table


def _broken(heading: str, width: int) -> str:
    """The heading in lines, broken after blanks and underscores where it must be."""
    lines = [""]
    for word in re.split(r"(?<=[\s_])", heading):
        if lines[-1] and cell_len(lines[-1] + word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.rstrip() for line in lines)

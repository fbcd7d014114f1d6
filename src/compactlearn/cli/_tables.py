"""Tables that show all cells, however narrow the terminal is.

Rich truncates cells that do not fit. Here cells are broken between words, and a table that is still
too wide is continued below, with its first column repeated.
"""

import os
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from compactlearn.core._shown import shown

__all__ = ["console", "fitted"]

_FRAME = 3  # a bar and two blanks for each column
_UNBOUNDED = 100_000

Cell = str | Text


def console() -> Console:
    """Return a console on standard output, without markup.

    Lines have any length unless the output is a terminal.
    """
    piped = not os.isatty(1) and "COLUMNS" not in os.environ
    width = _UNBOUNDED if piped else None
    return _SafeConsole(highlight=False, markup=False, emoji=False, width=width)


class _SafeConsole(Console):
    """A console that prints the control characters of texts as escapes."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as `Console` does, with texts escaped; tables are escaped by `fitted`."""
        safe = [shown(one, keep="\n") if isinstance(one, str) else one for one in objects]
        super().print(*safe, **options)


def fitted(headings: Sequence[str], rows: Sequence[Sequence[Cell]], width: int) -> list[Table]:
    """Return one table, or several to print below each other, of at most ``width``."""
    safe = [[shown(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    columns = list(zip(map(shown, headings), *safe, strict=True))
    least = [max(cell_len(w) for c in column for w in [*str(c).split(), " "]) for column in columns]
    room = max(width - 1, _FRAME + 1)
    blocks: list[list[int]] = [[0]]
    for column in range(1, len(columns)):
        used = sum(least[j] + _FRAME for j in [*blocks[-1], column])
        if used > room and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(column)
    return [
        _table([columns[j] for j in block], [least[j] for j in block], room) for block in blocks
    ]


def _table(columns: Sequence[Sequence[Cell]], least: Sequence[int], room: int) -> Table:
    """Return a table whose columns are as wide as their cells, within ``room``."""
    table = Table()
    spare = room - sum(least) - _FRAME * len(least)
    for place, ((heading, *cells), width) in enumerate(zip(columns, least, strict=True)):
        natural = max(cell_len(str(cell)) for cell in [heading, *cells])
        # Where a single word is too long, the table is as narrow as it can be.
        more = max(0, min(spare, natural - width)) if spare >= 0 else max(spare, 1 - width)
        spare -= more
        justify = "right" if place else "left"
        table.add_column(str(heading), justify=justify, width=width + more, overflow="fold")
    for row in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*row)
    return table

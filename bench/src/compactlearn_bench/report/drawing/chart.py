"""A figure of the report: a drawing with its heading and the sentence below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compactlearn_bench.records import Selection
from compactlearn_bench.report.tables.names import slug
from compactlearn_bench.report.tables.published import REFERENCES, family_of, method_order

__all__ = ["Chart", "style_of"]


@dataclass(frozen=True)
class Chart:
    """A drawing.

    Parameters
    ----------
    kind : str
        What it shows: "balance", "ratio", "surface", "ranks", "agreement", "size", "time",
        "frequency".
    dataset : str or None
        None: it is about all of them.
    name : str
        For a file.
    """

    kind: str
    selection: Selection
    dataset: str | None
    name: str
    title: str
    caption: str
    svg: str

    @classmethod
    def of(
        cls,
        kind: str,
        selection: Selection,
        dataset: str | None,
        parts: Sequence[str],
        title: str,
        caption: str,
        draw: Callable[[str], str],
    ) -> Chart:
        """A chart drawn under its own title.

        Its name is made of `selection`, `kind`, `dataset` and `parts`.

        Parameters
        ----------
        kind : str
            Which kind of figure it is.
        selection : "paper" or "nested"
            Of the results that it shows.
        dataset : str or None
            None where it shows several.
        parts : sequence of str
            What else its name needs.
        title, caption : str
            The words above and below it.
        draw : callable
            Takes the title and returns the SVG.
        """
        where = [selection, kind, *([dataset] if dataset else []), *parts]
        return cls(kind, selection, dataset, slug(*where), title, caption.strip(), draw(title))


def style_of(method: str, methods: Sequence[str]) -> int:
    """Colour and marker of a method, the same in every figure; the reference has the first."""
    family = family_of(method)
    if method == REFERENCES[family]:
        return 0
    others = [m for m in methods if family_of(m) == family and m != REFERENCES[family]]
    return 1 + sorted(others, key=method_order).index(method)

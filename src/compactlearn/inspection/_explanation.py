"""Results of ``explain``: for each row and label, the terms that add up to its score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from compactlearn.core._optional import require
from compactlearn.core._shown import shown

_SHOWN = 20  # pairs of a row and a label that a repr has room for
_COLUMNS = ("row", "label", "score", "name", "kind", "value", "weight", "contribution")


@dataclass(frozen=True)
class Term:
    """One term of a score.

    Attributes
    ----------
    name : str
        Name of a feature (a column of X, a word), a label, or a part of the model.
    contribution : float
        The amount that the term adds to the score: positive for the label, negative against it.
    value : float or None
        Value of the feature in this row, or probability of the label; None if there is none.
    kind : str
        "feature", "label", "direction", or the part of the model that the term comes from.
    """

    name: str
    contribution: float
    value: float | None = None
    kind: str = "feature"

    @property
    def weight(self) -> float | None:
        """The contribution divided by the value; None if the value is 0 or absent."""
        return None if not self.value else self.contribution / self.value

    @property
    def title(self) -> str:
        """The name, with the kind in brackets unless the term is a feature."""
        return self.name if self.kind == "feature" else f"{self.name} ({self.kind})"


@dataclass(frozen=True)
class Neighbour:
    """A training row that voted for a label, because it is similar to the row.

    Attributes
    ----------
    row : int
        Index of the row in the data of ``fit``; the first of equal rows with equal labels.
    share : float
        Share of the votes of all neighbours.
    """

    row: int
    share: float


@dataclass(frozen=True)
class Reasons:
    """The terms of the score of one label in one row.

    ``score`` is ``base`` plus the contributions of ``terms`` plus ``rest``.

    Attributes
    ----------
    row : int
        Index of the row in X.
    label : str
        The label's name.
    score : float
        Score of ``decision_function``, times -1 for the first of two classes.
    predicted : bool
        Whether ``predict`` gives the row this label.
    base : float
        Score before any term is added.
    terms : tuple of Term
        The strongest terms, strongest first.
    rest : float
        Sum of all other terms, and of rounding errors.
    n_rest : int
        Number of other terms.
    neighbours : tuple of Neighbour
        Training rows that voted for the label, largest share first; empty for models without
        neighbours, such as linear ones.
    """

    row: int
    label: str
    score: float
    predicted: bool
    base: float
    terms: tuple[Term, ...]
    rest: float
    n_rest: int
    neighbours: tuple[Neighbour, ...] = ()

    @property
    def speaks_for(self) -> tuple[Term, ...]:
        """The terms above 0, strongest first."""
        return tuple(term for term in self.terms if term.contribution > 0)

    @property
    def speaks_against(self) -> tuple[Term, ...]:
        """The terms below 0, strongest first."""
        return tuple(term for term in self.terms if term.contribution < 0)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        terms = [{**asdict(term), "weight": term.weight} for term in self.terms]
        return {**asdict(self), "terms": terms, "neighbours": list(map(asdict, self.neighbours))}

    def __repr__(self) -> str:
        said = "predicted" if self.predicted else "not predicted"
        lines = [f"row {self.row}, {shown(self.label)}: {self.score:.3f} ({said})"]
        listed = [(shown(term.title), term.value, term.contribution) for term in self.terms]
        listed.append(("base", None, self.base))
        if self.n_rest:
            listed.append((f"{self.n_rest} more", None, self.rest))
        width = min(48, max(len(title) for title, *_ in listed))
        for title, value, contribution in listed:
            at = "" if value is None else f"  at {value:.4g}"
            lines.append(f"  {contribution:+9.3f}  {title[:width]:<{width}}{at}".rstrip())
        if self.neighbours:
            votes = ", ".join(f"{one.row} ({100 * one.share:.0f} %)" for one in self.neighbours)
            lines.append(f"  votes of training rows: {votes}")
        return "\n".join(lines)


class Explanation(tuple[Reasons, ...]):
    """Reasons of the explained rows and labels, row by row.

    A tuple: ``explanation[0]`` are the reasons of the first row's first label. The strongest terms
    are listed and the others are summed, so that everything adds up to the score.

    Examples
    --------
    >>> term = Term("price", 1.5, value=3.0)
    >>> Explanation([Reasons(0, "finance", 2.0, True, 0.25, (term,), 0.25, 4)])
    row 0, finance: 2.000 (predicted)
         +1.500  price   at 3
         +0.250  base
         +0.250  4 more
    """

    __slots__ = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values for each pair of a row and a label."""
        return [one.to_dict() for one in self]

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each term.

        Base and rest are rows too, so that the contributions of a row and label add up to its
        score.
        """
        pandas = require("pandas", extra="frame", purpose="an explanation as a frame")
        return pandas.DataFrame(list(self._lines()), columns=list(_COLUMNS))

    def _lines(self) -> Iterator[tuple[Any, ...]]:
        for one in self:
            start = (one.row, one.label, one.score)
            for term in one.terms:
                yield *start, term.name, term.kind, term.value, term.weight, term.contribution
            yield *start, "base", "base", None, None, one.base
            yield *start, f"{one.n_rest} more", "rest", None, None, one.rest

    def __repr__(self) -> str:
        if not self:
            return "Explanation of no rows"
        parts = [repr(one) for one in self[:_SHOWN]]
        if len(self) > _SHOWN:
            parts.append(f"... and {len(self) - _SHOWN} more pairs of a row and a label")
        return "\n\n".join(parts)

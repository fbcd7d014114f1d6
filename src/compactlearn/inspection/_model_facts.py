"""What a page on a fitted model is made of: plain values, gathered by whoever knows the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Bin", "LabelFacts", "Misjudged", "ModelFacts", "Suggested", "Tried"]


@dataclass(frozen=True)
class LabelFacts:
    """One label on the held-out rows.

    Parameters
    ----------
    name : str
    n_present, n_given, n_right : int
        Rows that have the label, rows that the model gives it, and rows of both.
    words : tuple of str
        The features that speak for it most; empty where the model cannot be explained.
    near : tuple of str
        Labels that the model takes for similar.
    """

    name: str
    n_present: int
    n_given: int
    n_right: int
    words: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def precision(self) -> float | None:
        """Of the rows that it was given, how many have it; None of none."""
        return self.n_right / self.n_given if self.n_given else None

    @property
    def recall(self) -> float | None:
        """Of the rows that have it, how many it was given; None of none."""
        return self.n_right / self.n_present if self.n_present else None

    @property
    def f1(self) -> float | None:
        """Of both; None where nothing has it and nothing was given it."""
        both = self.n_given + self.n_present
        return 2 * self.n_right / both if both else None


@dataclass(frozen=True)
class Misjudged:
    """A label that the model was sure about and wrong.

    Parameters
    ----------
    row : int
        The place of the row among the held-out ones.
    label : str
    given : bool
        True: it was given and is not there; False: it is there and was not given.
    margin : float
        The score above the threshold.
    speaks_for, speaks_against : tuple of str
        Names of terms, strongest first.
    text : str
        What the row says, where it is a text.
    """

    row: int
    label: str
    given: bool
    margin: float
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Tried:
    """A model that a search has tried: how many parameters it keeps, and how good it was."""

    name: str
    n_parameters: int
    score: float
    deviation: float | None
    taken: bool


@dataclass(frozen=True)
class Bin:
    """Suggested labels of similar probability.

    Parameters
    ----------
    low, high : float
        Bounds of the probabilities.
    count : int
        Number of suggestions.
    mean_probability : float
    precision : float
        Share of the suggestions that are right.
    """

    low: float
    high: float
    count: int
    mean_probability: float
    precision: float

    @property
    def gap(self) -> float:
        """Mean probability minus precision."""
        return self.mean_probability - self.precision


@dataclass(frozen=True)
class Suggested:
    """Reliability of the labels that a model suggests.

    Parameters
    ----------
    name : str
        Which labels: those predicted, or the best k of each row.
    bins : tuple of Bin
        Those that are not empty, in order.
    """

    name: str
    bins: tuple[Bin, ...]

    @property
    def whole(self) -> Bin:
        """All suggestions in one bin."""
        count = sum(one.count for one in self.bins)
        means = [
            sum(one.count * value for one, value in zip(self.bins, values, strict=True)) / count
            for values in (
                [one.mean_probability for one in self.bins],
                [one.precision for one in self.bins],
            )
        ]
        return Bin(0.0, 1.0, count, *means)


@dataclass(frozen=True)
class ModelFacts:
    """All that the page says.

    Parameters
    ----------
    kind : str
        The name of the model's class.
    settings : mapping of str to str
        Parameters that are not the usual ones, as they are written.
    n_rows, n_features, n_labels : int
        Of the held-out rows.
    n_parameters, n_bytes : int or None
        What the model keeps.
    metrics : mapping of str to float
        On the held-out rows.
    labels : tuple of LabelFacts
    mistakes : tuple of Misjudged
        The surest first.
    tried : tuple of Tried
        What a search has tried, judged by ``tried_by``.
    suggested : tuple of Suggested
        Empty where the model has no probabilities.
    n_rows_of_words : int
        From how many rows of a label its words are, at most.
    unexplained : str
        Why there are no words; empty where there are.
    """

    kind: str
    settings: Mapping[str, str]
    n_rows: int
    n_features: int
    n_labels: int
    n_parameters: int | None
    n_bytes: int | None
    metrics: Mapping[str, float]
    labels: tuple[LabelFacts, ...]
    mistakes: tuple[Misjudged, ...] = ()
    tried: tuple[Tried, ...] = ()
    tried_by: str = ""
    suggested: tuple[Suggested, ...] = ()
    n_rows_of_words: int = 0
    unexplained: str = ""

    @property
    def n_present(self) -> int:
        """Labels that are there, over all rows."""
        return sum(label.n_present for label in self.labels)

    @property
    def n_given(self) -> int:
        """Labels that were given."""
        return sum(label.n_given for label in self.labels)

    @property
    def n_right(self) -> int:
        """Labels that were given and are there."""
        return sum(label.n_right for label in self.labels)

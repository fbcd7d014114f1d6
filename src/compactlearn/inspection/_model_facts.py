"""Contents of a page about a fitted model, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compactlearn.metrics._reliability import ReliabilityTable


@dataclass(frozen=True)
class LabelFacts:
    """One label on the held-out rows."""

    name: str
    n_present: int  # rows that have the label
    n_given: int  # rows that the model gives it
    n_right: int  # rows of both
    words: tuple[str, ...] = ()  # features that speak for it most, if the model can be explained
    near: tuple[str, ...] = ()  # labels that the model takes for similar

    @property
    def precision(self) -> float | None:
        """The share of right ones among the rows that it was given; None of none."""
        return self.n_right / self.n_given if self.n_given else None

    @property
    def recall(self) -> float | None:
        """The share of rows with the label that it was given; None of none."""
        return self.n_right / self.n_present if self.n_present else None

    @property
    def f1(self) -> float | None:
        """F1; None if no row has the label and none was given it."""
        both = self.n_given + self.n_present
        return 2 * self.n_right / both if both else None


@dataclass(frozen=True)
class Misjudged:
    """A label that the model was sure about and wrong."""

    row: int  # its place among the held-out rows
    label: str
    given: bool  # True: given and not there; False: there and not given
    margin: float  # the score above the threshold
    speaks_for: tuple[str, ...] = ()  # names of terms, strongest first
    speaks_against: tuple[str, ...] = ()
    text: str = ""  # what the row says, where it is a text


@dataclass(frozen=True)
class ModelFacts:
    """All that the page says."""

    kind: str  # the name of the model's class
    settings: Mapping[str, str]  # parameters that do not have their default values
    n_rows: int  # held-out rows
    n_features: int
    n_labels: int
    n_parameters: int | None
    n_bytes: int | None
    metrics: Mapping[str, float]  # on the held-out rows
    labels: tuple[LabelFacts, ...]
    mistakes: tuple[Misjudged, ...] = ()  # the surest first
    tried: Sequence[Mapping[str, Any]] = ()  # rows of ``leaderboard_``, of the metric ``tried_by``
    tried_by: str = ""
    # Of predicted labels, and of the best few of each row; empty without probabilities.
    suggested: Mapping[str, ReliabilityTable] = field(default_factory=dict)
    n_rows_of_words: int = 0  # from how many rows of a label its words are, at most
    unexplained: str = ""  # why there are no words

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

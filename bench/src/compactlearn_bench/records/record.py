"""A cell is a question, a record its answer; both are plain values that JSON can hold.

A cell says everything that decides the answer, and nothing else, so that its digest names the
answer: a record found under that name need not be computed again. What differs from run to run
without being an answer (seconds, bytes, the machine) is kept separately, under "circumstances".
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

__all__ = ["SELECTIONS", "Cell", "Record", "RecordError", "Selection", "Status", "seed_for"]

FORMAT = "compactlearn record"
VERSION = 1

#: "paper": every configuration meets the test rows, and the best mean over the folds is reported;
#: "nested": one configuration, chosen by inner folds of the training rows. Never to be mixed.
Selection = Literal["paper", "nested"]
SELECTIONS: tuple[str, ...] = get_args(Selection)

#: "timeout" and "memory": the cell went over its budget and was stopped; "absent": a package that
#: its method needs is not installed.
Status = Literal["done", "failed", "timeout", "memory", "absent"]
STATUSES: tuple[str, ...] = get_args(Status)

_DIGITS = 7  # significant digits of a value: more than any table shows, fewer than rounding blurs


#: What reading a part of the wrong kind, or one that is not there, may raise.
_WRONG_PARTS = (
    LookupError,
    TypeError,
    ValueError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)


class RecordError(ValueError):
    """A text that is not a record, with the reason."""


def seed_for(*parts: object) -> int:
    """A seed from names: the same for the same names, on every machine and in every process.

    Parameters
    ----------
    *parts : object
        Names and numbers; their order matters.

    Examples
    --------
    >>> seed_for("enron", 0) == seed_for("enron", 0), seed_for("enron", 0) == seed_for("enron", 1)
    (True, False)
    """
    # A name may hold half a surrogate pair: JSON can say it, and plain UTF-8 cannot.
    text = "\x1f".join(str(part) for part in parts).encode(errors="surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") % (2**31 - 1)


@dataclass(frozen=True)
class Cell:
    """One data set, one method, one fold, one way of choosing the configuration.

    Parameters
    ----------
    dataset, method : str
        As the tables name them.
    selection : "paper" or "nested"
    fold, n_folds : int
    seed : int
        Of the whole run. The folds depend on it and on the data set, see ``split_seed``; so all
        methods see the same ones.
    rows : int or None
        How many rows of the data set are used; None is all.
    settings : mapping
        Whatever else decides the answer, in plain values: metrics, the grid, inner folds,
        parameters.
    """

    dataset: str
    method: str
    selection: Selection
    fold: int
    n_folds: int = 5
    seed: int = 0
    rows: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def split_seed(self) -> int:
        """Draws the rows and the folds."""
        return seed_for("folds", self.dataset, self.rows, self.n_folds, self.seed)

    @property
    def inner_seed(self) -> int:
        """Draws the inner folds of the fold, the same for all methods."""
        return seed_for("inner folds", self.split_seed, self.fold)

    @property
    def method_seed(self) -> int:
        """For whatever the method draws."""
        return seed_for("method", self.dataset, self.method, self.fold, self.seed)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, in a fixed order."""
        return {
            "dataset": self.dataset,
            "method": self.method,
            "selection": self.selection,
            "fold": self.fold,
            "n_folds": self.n_folds,
            "seed": self.seed,
            "rows": self.rows,
            "settings": dict(self.settings),
        }

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits of the question."""
        text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """A file name that people can read and no two questions share.

        >>> Cell("enron", "k-CMLL", "nested", 3).name.rpartition("--")[0]
        'enron--k-CMLL--nested--3'
        """
        parts = [self.dataset, self.method, self.selection, str(self.fold), self.digest]
        return "--".join(re.sub(r"[^A-Za-z0-9_.+-]", "_", part) for part in parts)


@dataclass(frozen=True, eq=False)  # holds an array
class Record:
    """Result of a cell.

    Parameters
    ----------
    cell : Cell
    status : "done", "failed", "timeout", "memory" or "absent"
    reason : str or None
        Why it is not "done", in a sentence.
    metrics : sequence of str
        Names as in `compactlearn.metrics.METRICS`, "precision_at_3" and the like included.
    configurations : sequence of mappings
        The parameters tried on the test rows: one for "nested", every one for "paper".
    values : ndarray of shape (n_configurations, n_metrics)
        On the test rows, in the metric's own direction; NaN where a metric is not defined.
    sizes : sequence of int
        Number of parameters of the model of each configuration.
    details : mapping
        Anything more, in plain values: what inner folds said, results by label frequency,
        dependence and recovery of each configuration.
    versions : mapping
        Of the packages that matter.
    circumstances : mapping
        What is not an answer: "seconds" ("search" of "nested", "fit", "predict", "total"),
        "memory" (peak bytes), "model_bytes" (of the model, pickled), "host", "written".
    """

    cell: Cell
    status: Status
    reason: str | None = None
    metrics: Sequence[str] = ()
    configurations: Sequence[Mapping[str, Any]] = ()
    values: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    sizes: Sequence[int] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    circumstances: Mapping[str, Any] = field(default_factory=dict)

    def value(self, metric: str, configuration: int = 0) -> float:
        """One score.

        Parameters
        ----------
        metric : str
            Its name.
        configuration : int
            Its place among the configurations.
        """
        return float(self.values[configuration, list(self.metrics).index(metric)])

    def answer(self) -> dict[str, Any]:
        """All that does not differ between two runs of the same cell."""
        axes, places = _as_grid(self.configurations)
        return {
            "format": FORMAT,
            "version": VERSION,
            "cell": self.cell.as_dict(),
            "status": self.status,
            "reason": self.reason,
            "metrics": list(self.metrics),
            "axes": axes,
            "places": places,
            "values": [[_short(value) for value in row] for row in self.values.tolist()],
            "sizes": [int(size) for size in self.sizes],
            "details": _shortened(self.details),
            "versions": dict(self.versions),
        }

    def to_json(self) -> str:
        """The record as text: one line, nothing that JSON does not know."""
        whole = self.answer() | {"circumstances": _shortened(self.circumstances)}
        return json.dumps(whole, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Record:
        """Read a record, or say why the text is none.

        Parameters
        ----------
        text : str
            What `to_json` has made.
        """
        try:
            found = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"it is not JSON ({error})") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RecordError("it does not call itself a compactlearn record")
        if found.get("version") != VERSION:
            raise RecordError(
                f"its version is {found.get('version')!r}, and this program reads {VERSION}"
            )
        try:
            return cls._from_dict(found)
        except _WRONG_PARTS as error:
            raise RecordError(
                f"a part is missing or wrong ({type(error).__name__}: {error})"
            ) from error

    @classmethod
    def _from_dict(cls, found: dict[str, Any]) -> Record:
        cell, status = Cell(**found["cell"]), found["status"]
        if cell.selection not in SELECTIONS or status not in STATUSES:
            raise ValueError(f"selection {cell.selection!r}, status {status!r}")
        _check_kinds(cell, found["reason"])
        metrics = [str(name) for name in found["metrics"]]
        configurations = _from_grid(found["axes"], found["places"])
        rows = [[np.nan if value is None else value for value in row] for row in found["values"]]
        if [len(row) for row in rows] != [len(metrics)] * len(configurations):
            raise ValueError("not one row of values for each configuration, or not one metric each")
        values = np.array(rows, dtype=np.float64).reshape(len(configurations), len(metrics))
        if np.isinf(values).any():
            raise ValueError("a value is not finite")
        sizes = [int(size) for size in found["sizes"]]
        if sizes and len(sizes) != len(configurations):
            raise ValueError(f"{len(sizes)} sizes of {len(configurations)} configurations")
        np.array(sizes, dtype=np.int64)  # raises if one is larger than any model
        return cls(
            cell,
            cast(Status, status),
            found["reason"],
            metrics,
            configurations,
            values,
            sizes,
            dict(found["details"]),
            dict(found["versions"]),
            dict(found["circumstances"]),
        )


def _check_kinds(cell: Cell, reason: object) -> None:
    """Raise if a part is not of the kind that everybody who reads a record relies on."""
    _ = cell.name  # raises by itself where names are no text
    if not type(cell.fold) is type(cell.n_folds) is int:
        raise TypeError(f"fold {cell.fold!r} of {cell.n_folds!r}")
    if type(cell.seed) is not int or type(cell.rows) not in (int, type(None)):
        raise TypeError(f"seed {cell.seed!r}, rows {cell.rows!r}")
    if not isinstance(cell.settings, dict) or not isinstance(reason, str | None):
        raise TypeError("the settings are no table, or the reason is no text")


def _as_grid(
    configurations: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, list[Any]], list[list[int]]]:
    """Parameters as columns of a few values each: (values by name, places among them).

    A grid of thousands repeats a dozen values; -1 is a parameter that a configuration lacks.
    """
    axes: dict[str, list[Any]] = {}
    seen: dict[str, dict[str, int]] = {}
    for configuration in configurations:
        for name, value in configuration.items():
            known = seen.setdefault(name, {})
            if known.setdefault(json.dumps(value), len(known)) == len(axes.setdefault(name, [])):
                axes[name].append(value)
    places = [
        [seen[name][json.dumps(c[name])] if name in c else -1 for name in axes]
        for c in configurations
    ]
    return axes, places


def _from_grid(axes: dict[str, list[Any]], places: list[list[int]]) -> list[dict[str, Any]]:
    return list(_configurations(json.dumps([axes, places])))


@lru_cache(maxsize=64)  # folds, and most data sets, tried the same: thousands of them, kept once
def _configurations(text: str) -> list[dict[str, Any]]:
    axes, places = json.loads(text)
    return [
        {name: axes[name][k] for name, k in zip(axes, row, strict=True) if k >= 0} for row in places
    ]


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number that JSON knows")


def _short(value: float) -> float | None:
    """A number of few digits; None where it is not a number, which JSON cannot say."""
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None


def _shortened(value: Any) -> Any:
    """Plain values all the way down."""
    if isinstance(value, Mapping):
        return {str(key): _shortened(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return _shortened(value.tolist())
    if isinstance(value, list | tuple):
        return [_shortened(part) for part in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return _short(float(value))
    return value if value is None else str(value)

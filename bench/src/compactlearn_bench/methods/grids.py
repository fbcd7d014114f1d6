"""The settings a spec may give to the entries, and the configurations they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

from compactlearn.utils import Choice, Constraint, Flag, Integer, Nothing, Real, Text, nearest

__all__ = [
    "AXES",
    "OF_THE_ROWS",
    "PRINTED_HAT_RIDGE",
    "PRINTED_RIDGES",
    "RIDGES",
    "SETTINGS",
    "Setting",
    "complete_settings",
    "configurations",
]

DECILES = tuple(round(0.1 * k, 1) for k in range(1, 11))
RIDGES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "paper": tuple(10.0**k for k in range(-5, 0)),
        # Up to where every data set at hand is over-regularised: the best penalty of plain ridge
        # on raw counts is about 100 (docs/results/tuning.md).
        "wide": tuple(10.0**k for k in range(-5, 5)),
    }
)

#: The penalty of "as printed", which is that of the public program of PLST and CPLST.
PRINTED_RIDGES = (0.1,)
#: And of FaIE's hat matrix, in the first version of its public program.
PRINTED_HAT_RIDGE = 1e-6

#: Settings about the rows of a fold, which every entry of the library's own takes.
OF_THE_ROWS = ("scaling", "train_rows", "left_out_labels", "empty_rows")

_RATIO = (Real(0, 1, open_low=True), Integer(1))


@dataclass(frozen=True)
class Setting:
    """The accepted values of one setting."""

    default: Any  # where neither the spec nor the entry says anything else
    allowed: tuple[Constraint, ...]  # one of them must hold; of every item, where `listed`
    listed: bool = False
    length: int | None = None  # how many items; None is any number
    quiet: bool = False  # left out of cells that do not give it: older records keep their names


SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "protocol": Setting("paper", (Choice("paper", "as printed", "recommended"),)),
        "threshold": Setting(0.5, (Real(), Choice("f1", "per-label", "cardinality"))),
        "inner_folds": Setting(3, (Integer(2),)),
        # grids
        "ridge": Setting("paper", (Choice(*RIDGES),)),  # a name for alphas
        "alphas": Setting(RIDGES["paper"], (Real(0),), listed=True),
        "betas": Setting(
            tuple(10.0**k for k in range(-5, 6)), (Real(0), Choice("auto")), listed=True
        ),
        "label_ridges": Setting((0.0, 1e-3, 1e-1), (Real(0),), listed=True),
        "label_ratios": Setting(DECILES, _RATIO, listed=True),
        "feature_ratios": Setting(DECILES, _RATIO, listed=True),
        "Cs": Setting((0.01, 0.1, 1.0, 10.0), (Real(0, open_low=True),), listed=True),
        "neighbours": Setting((5, 10, 20), (Integer(1),), listed=True),
        "latent": Setting(DECILES, _RATIO, listed=True),
        "search": Setting("grid", (Choice("grid", "coordinate"),)),
        "centre": Setting((0.5, 0.5), _RATIO, listed=True, length=2),
        "n_numbers": Setting(None, (Nothing(), Integer(1), Choice("cmll"))),
        "finalists": Setting(3, (Integer(1),)),
        # of the rows, whatever the method: `rows.py`
        "scaling": Setting(None, (Nothing(), Choice("standard")), quiet=True),
        "train_rows": Setting(None, (Nothing(), Integer(1)), quiet=True),
        "left_out_labels": Setting(None, (Text(),), listed=True, quiet=True),
        "empty_rows": Setting(None, (Nothing(), Choice("counted")), quiet=True),
        # parameters
        "completion": Setting("variance", (Choice("variance", "random", "none", "krylov"),)),
        # Of CMLL where d < m. Its alternation stops at a millionth of this, so that 1.0 still is
        # ten times as strict as the paper's rule, and several times as fast as the default.
        "tol": Setting(1e-5, (Real(0),)),
        "hat_ridge": Setting(0.1, (Real(0), Choice("shared"))),
        "kernel_method": Setting("exact", (Choice("exact", "nystroem"),)),
        "n_components": Setting(None, (Nothing(), Integer(1))),
        "gamma": Setting("distance", (Choice("distance"), Real(0, open_low=True))),
        "trace": Setting(False, (Flag(),)),
        # C2AE's own; None is the protocol's
        "balances": Setting(None, (Real(0, open_low=True),), listed=True, quiet=True),
        "max_epochs": Setting(None, (Nothing(), Integer(1))),
        "learning_rate": Setting(None, (Nothing(), Real(0, open_low=True))),
        "batch_size": Setting(None, (Nothing(), Integer(1))),
        "device": Setting("cpu", (Choice("auto", "cpu", "cuda"),)),
        # POP's own
        "tolerance": Setting(0.1, (Real(0),)),
        "min_kept": Setting(50, (Integer(0),)),
        "kept_ratio": Setting(0.05, (Real(0, 1),)),
        "min_weight": Setting(0.01, (Real(0),)),
        "validation_fraction": Setting(0.2, (Real(0, 1, open_low=True, open_high=True),)),
        "base_loss": Setting(None, (Nothing(), Choice("logistic", "hinge")), quiet=True),
        # those of the related work; None is the protocol's
        # The next two and "loss" have a single value: the names of recorded cells depend on them.
        "measurement": Setting(None, (Nothing(),)),
        "recovery": Setting(None, (Nothing(),)),
        "tau": Setting(None, (Nothing(), Real(0, 1, open_low=True))),
        "n_similar": Setting(None, (Nothing(), Integer(1))),
        "n_neighbors": Setting(15, (Integer(1),)),
        "levels": Setting((4,), (Integer(1),), listed=True),
        "n_trees": Setting(100, (Integer(1),)),
        "loss": Setting("squared", (Choice("squared"),)),
        # of baselines, and of the estimator that selects a model by itself
        "solver": Setting(None, (Nothing(), Choice("liblinear", "lbfgs")), quiet=True),
        "trees": Setting(500, (Integer(1),)),
        "chains": Setting(5, (Integer(1),)),
        "size_budget": Setting(None, (Nothing(), Real(0, open_low=True)), quiet=True),
        "time_budget": Setting(None, (Nothing(), Real(0, open_low=True)), quiet=True),
    }
)

#: Settings that are axes of a grid, in the order in which they vary, and what a configuration calls
#: them.
AXES: Mapping[str, str] = MappingProxyType(
    {
        "betas": "beta",
        "label_ratios": "n_label_components",
        "feature_ratios": "n_feature_components",
        "alphas": "alpha",
        "label_ridges": "label_ridge",
        "Cs": "C",
        "neighbours": "k",
        "latent": "latent",
        "levels": "n_levels",
        "balances": "alpha",
    }
)


def complete_settings(
    owner: str,
    given: Mapping[str, Any],
    names: Iterable[str],
    defaults: Mapping[str, Any],
) -> dict[str, Any]:
    """The settings ``names`` of an entry, in plain values: as given, else by default.

    A spec gives the same settings to many methods: those that another entry knows and this one does
    not are left out, and so do not become part of its cell. Names that no entry knows are refused.
    ``ridge`` is a name for ``alphas``, and is replaced by them; ``alphas`` that are given count, as
    a spec's ``ridge`` is for all methods. Completing twice changes nothing.
    """
    for name in given:
        if name not in SETTINGS:
            raise ValueError(
                f"There is no setting {name!r}; {owner} takes {', '.join(names)}."
                f"{nearest(str(name), SETTINGS)}"
            )
        _check(owner, name, given[name])
    found = dict(defaults) | dict(given)
    if "ridge" in given and "alphas" not in given:
        found["alphas"] = RIDGES[given["ridge"]]
    return {
        name: _plain(found.get(name, SETTINGS[name].default))
        for name in names
        if name in found or not SETTINGS[name].quiet
    }


def configurations(settings: Mapping[str, Any], axes: Iterable[str]) -> list[dict[str, Any]]:
    """Every combination of the axes' values; with ``search="coordinate"`` only those of a cross.

    The cross is every feature ratio at the label ratio of ``centre`` and every label ratio at the
    feature ratio of ``centre``: 19 of the 100 pairs. It is the same on every fold, whatever the
    scores, because the best mean over the folds is taken of configurations that all folds have.
    """
    listed = [name for name in AXES if name in tuple(axes) and name in settings]
    grid = [
        dict(zip((AXES[name] for name in listed), values, strict=True))
        for values in product(*(settings[name] for name in listed))
    ]
    if settings.get("search", "grid") == "grid":
        return grid
    mu, nu = settings["centre"]
    return [c for c in grid if c["n_feature_components"] == mu or c["n_label_components"] == nu]


def _check(owner: str, name: str, value: Any) -> None:
    setting = SETTINGS[name]
    wanted = " or ".join(constraint.describe() for constraint in setting.allowed)
    if not setting.listed:
        if not _allowed(setting, value):
            hint = _hint(setting, value)
            raise ValueError(
                f"The setting {name!r} of {owner} must be {wanted}; got {value!r}.{hint}"
            )
        return
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    n_items = len(value) if is_list else 0
    number = "at least one item" if setting.length is None else f"{setting.length} items"
    if not n_items or n_items != (setting.length or n_items):
        raise ValueError(
            f"The setting {name!r} of {owner} must be a list of {number}, each {wanted}; got "
            f"{value!r}. Write it in square brackets."
        )
    for item in value:
        if not _allowed(setting, item):
            raise ValueError(
                f"The setting {name!r} of {owner} must be a list in which each item is {wanted}; "
                f"got {item!r} in it. Change that item.{_hint(setting, item)}"
            )
    if setting.length is None and len(set(map(repr, value))) < n_items:
        raise ValueError(
            f"The setting {name!r} of {owner} must not hold a value twice, and is {value!r}; "
            "leave out the second."
        )


def _allowed(setting: Setting, value: Any) -> bool:
    return any(constraint.accepts(value) for constraint in setting.allowed)


def _hint(setting: Setting, value: Any) -> str:
    options = [o for c in setting.allowed if isinstance(c, Choice) for o in c.options]
    return nearest(value, options) if isinstance(value, str) and options else ""


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | list) else value

"""The facts on a model in at most five sentences."""

from __future__ import annotations

from compactlearn.inspection._model_facts import ModelFacts

__all__ = ["says"]

_FREQUENT = 10  # held-out rows from which on the figures of a label say something
_NAMED = 3
_LARGE_GAP = 0.1  # between mean probability and precision


def says(facts: ModelFacts) -> list[str]:
    """The sentences."""
    found = []
    error = facts.metrics.get("one_error")
    if error is not None and error == error:
        found.append(
            f"In {_share(1 - error)} of the rows the label that the model ranks first is there."
        )
    if facts.n_given and facts.n_present:
        found.append(
            f"Of the labels that it gives, {_share(facts.n_right / facts.n_given)} are right, and "
            f"it finds {_share(facts.n_right / facts.n_present)} of those that are there."
        )
    elif facts.n_present:
        found.append("It gives no label to any of these rows; its threshold is too high for them.")
    found += [
        f"Its probabilities are too {'high' if whole.gap > 0 else 'low'}: the {one.name} have a "
        f"mean probability of {_share(whole.mean_probability)}, and {_share(whole.precision)} are "
        "right."
        for one in facts.suggested[:1]
        if abs((whole := one.whole).gap) > _LARGE_GAP and whole.count >= _FREQUENT
    ]
    judged = [(one.f1 or 0.0, one.name) for one in facts.labels if one.n_present >= _FREQUENT]
    if len(judged) > 2 * _NAMED:
        judged.sort()
        names = [name for _, name in judged]
        found.append(
            f"Of the labels in {_FREQUENT} rows or more it knows best "
            f"{_listed(names[: -_NAMED - 1 : -1])}, and least {_listed(names[:_NAMED])}."
        )
    occur = [one for one in facts.labels if one.n_present]
    never = sum(not one.n_given for one in occur)
    if never and facts.n_given:
        found.append(
            f"{never} of the {len(occur)} labels that occur in these rows are never given."
        )
    return found


def _share(value: float) -> str:
    return f"{100 * value:.0f} %"


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"

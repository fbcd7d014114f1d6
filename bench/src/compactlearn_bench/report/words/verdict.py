"""The verdict in three sentences: who is best, is it significant, what to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compactlearn.inspection.page_parts import counted, metric_order
from compactlearn_bench.records import Results, Score
from compactlearn_bench.records.significance import LEVEL, corrected_t_test, holm
from compactlearn_bench.report.tables.metric_tables import settled
from compactlearn_bench.report.tables.names import greater_is_better, title
from compactlearn_bench.report.tables.published import REFERENCES, dataset_order, method_order
from compactlearn_bench.report.words.legend import is_compact

__all__ = ["verdict"]

_NAMED = 3  # winners that the first sentence names; the tables have them all
_SMALLER = 0.9  # a model of at most this share of another's numbers is called smaller


@dataclass(frozen=True)
class _Field:
    """The scores of one metric, data set by data set, and who is best on each."""

    metric: str
    scores: Mapping[str, Mapping[str, Score]]  # by data set, then by method
    best: Mapping[str, tuple[str, ...]]

    def first_places(self, method: str) -> list[str]:
        return [dataset for dataset, names in self.best.items() if method in names]

    def mean_rank(self, method: str) -> float:
        """Over the data sets on which it has a score; ties share their ranks."""
        greater = greater_is_better(self.metric)
        ranks = []
        for known in self.scores.values():
            if method in known:
                means = [settled(score.mean) for score in known.values()]
                own = settled(known[method].mean)
                ahead = sum(mean > own if greater else mean < own for mean in means)
                ranks.append(ahead + (1 + means.count(own)) / 2)
        return sum(ranks) / len(ranks)

    def leaders(self) -> list[str]:
        """Methods, most first places first, then by rank; those that lack a data set come last."""
        methods = {method for known in self.scores.values() for method in known}
        return sorted(
            methods,
            key=lambda m: (
                not all(m in known for known in self.scores.values()),
                -len(self.first_places(m)),
                self.mean_rank(m),
                method_order(m),
            ),
        )


def verdict(found: Sequence[Results]) -> list[str]:
    """At most three sentences; none where nothing can be said of new data.

    They are of the fair selection alone, and of the first metric: a configuration that was chosen
    on the test folds says nothing about what to use.
    """
    fair = next((results for results in found if results.selection == "nested"), None)
    field = _field(fair) if fair is not None else None
    if field is None:
        return []
    leaders = field.leaders()
    leader = leaders[0]
    reference = next((m for m in dict.fromkeys(REFERENCES.values()) if m in leaders), None)
    sentences = [_who(field, leaders)]
    if reference is None:
        return sentences
    other = reference if leader != reference else leaders[1]
    shared = [d for d, known in field.scores.items() if leader in known and other in known]
    counts = _significant(field, leader, other)
    if counts is not None:
        role = ", the reference," if other == reference else ", the next best,"
        sentences.append(_difference(leader, f"{other}{role}", counts, len(shared)))
        rest = next((m for m in leaders if is_compact(m) != is_compact(leader)), None)
        remark = "" if rest is None or rest == other else _other_kind(field, leader, rest)
        sentences.append(f"{_advice(field, leader, other, counts, shared)}{remark}.")
    return sentences


def _field(results: Results) -> _Field | None:
    """The first metric that has something to compare."""
    for metric in metric_order(results.metrics):
        scores = {}
        for dataset in sorted(results.datasets, key=dataset_order):
            cells = {m: results.score(dataset, m, metric) for m in results.methods}
            known = {m: score for m, score in cells.items() if score is not None}
            if len(known) > 1:
                scores[dataset] = known
        if scores:
            return _Field(metric, scores, {d: _best(f, metric) for d, f in scores.items()})
    return None


def _best(known: Mapping[str, Score], metric: str) -> tuple[str, ...]:
    means = {method: settled(score.mean) for method, score in known.items()}
    top = (max if greater_is_better(metric) else min)(means.values())
    return tuple(sorted((m for m, mean in means.items() if mean == top), key=method_order))


def _who(field: _Field, leaders: Sequence[str]) -> str:
    """Who is best on how many data sets, and on how many of them compact learning is."""
    n_sets = len(field.scores)
    winners = [method for method in leaders if field.first_places(method)]
    winners.sort(key=lambda m: -len(field.first_places(m)))
    named = [f"{m} on {_sets(field.first_places(m), n_sets)}" for m in winners[:_NAMED]]
    if len(winners) > _NAMED:
        named.append(f"{counted(len(winners) - _NAMED, 'other')} on the rest")
    text = (
        f"By {title(field.metric)[:1].lower()}{title(field.metric)[1:]}, with every configuration "
        f"chosen by inner folds, the best of {counted(len(leaders), 'method')} is {_and(named)}"
    )
    if not any(map(is_compact, leaders)):
        return f"{text}."
    n_compact = sum(any(map(is_compact, names)) for names in field.best.values())
    share = f"{n_compact} of {n_sets}" if n_compact else f"none of {n_sets}"
    return f"{text}; compact learning is best on {share}."


def _significant(field: _Field, leader: str, other: str) -> tuple[int, int] | None:
    """On how many data sets the leader is better and worse; None where no test can be made."""
    tests = []
    for known in field.scores.values():
        ours, theirs = (known[m].values if m in known else () for m in (leader, other))
        if len(ours) == len(theirs) > 1:
            tests.append(
                corrected_t_test(
                    ours,
                    theirs,
                    n_train=len(ours) - 1,
                    n_test=1,
                    greater_is_better=greater_is_better(field.metric),
                )
            )
    if not tests:
        return None
    adjusted = holm([test.p_value for test in tests])
    kept = [test.gain for test, p in zip(tests, adjusted, strict=True) if p <= LEVEL]
    return sum(gain > 0 for gain in kept), sum(gain < 0 for gain in kept)


def _difference(leader: str, other: str, counts: tuple[int, int], n_sets: int) -> str:
    better, worse = counts
    test = f"(corrected resampled t-test with Holm's adjustment, {LEVEL:.0%})".replace("%", " %")
    if not better and not worse:
        where = "the data set" if n_sets == 1 else f"any of the {n_sets} data sets"
        return f"From {other} {leader} does not differ significantly on {where} {test}."
    parts = [f"better on {better}"] if better else []
    parts += [f"worse on {worse}"] if worse else []
    sets = counted(n_sets, "data set")
    return f"Against {other} {leader} is significantly {' and '.join(parts)} of {sets} {test}."


def _other_kind(field: _Field, leader: str, rest: str) -> str:
    """Whether the leader is better than the best of the other kind, compact or not."""
    counts = _significant(field, leader, rest)
    if counts is None:
        return ""
    kind = "not compact" if is_compact(leader) else "compact"
    whom = f"{rest}, the best that is {kind},"
    if counts == (0, 0):
        return f"; from {whom} it does not differ significantly"
    better, worse = counts
    less = f" and worse on {worse}" if worse else ""
    n_sets = sum(leader in known and rest in known for known in field.scores.values())
    return f"; than {whom} it is significantly better on {better}{less} of {n_sets}"


def _advice(
    field: _Field, leader: str, other: str, counts: tuple[int, int], shared: Sequence[str]
) -> str:
    """Return advice on what to use on data like these; without the full stop."""
    better, worse = counts
    if worse:
        return f"Neither is better everywhere: try {leader} and {other} on your own data"
    if better:
        return f"For data like these use {leader}"
    sizes = {m: [sum(field.scores[d][m].sizes) for d in shared] for m in (leader, other)}
    for small, large in ((leader, other), (other, leader)):
        pairs = list(zip(sizes[small], sizes[large], strict=True))
        if all(0 < own <= _SMALLER * theirs for own, theirs in pairs):
            return f"Either will do for data like these; {small} makes the smaller model"
    return "Either will do for data like these: take the one that is simpler or quicker for you"


def _sets(names: Sequence[str], n_sets: int) -> str:
    if len(names) == n_sets > 1:
        return f"all {n_sets} data sets"
    return names[0] if len(names) == 1 else f"{len(names)} of {n_sets} data sets"


def _and(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)

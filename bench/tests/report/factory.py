"""Records as a benchmark would leave them, made up: close to the published scores, and quick."""

import itertools

import numpy as np

from compactlearn_bench.records import Cell, Record, seed_for
from compactlearn_bench.report.tables.published import PUBLISHED, family_of

METRICS = ("average_precision", "one_error")
RATIOS = tuple(round(0.1 * k, 1) for k in range(1, 11))
BETAS = tuple(10.0**k for k in range(-4, 5))
LOSSES = ("ranking_loss", "one_error")


def grid_of(method, selection, rng):
    """Configurations as the method would have them."""
    name = method.removeprefix("k-")
    if selection == "nested":
        choice = rng.choice(RATIOS)
        return [{"alpha": 1.0, "n_label_components": float(choice)}]
    if name == "CMLL":
        pairs = [
            {"n_feature_components": mu, "n_label_components": nu, "beta": 1.0}
            for mu, nu in itertools.product(RATIOS, RATIOS)
        ]
        balances = [
            {"n_feature_components": 0.5, "n_label_components": 0.5, "beta": beta}
            for beta in BETAS
            if beta != 1.0
        ]
        return pairs + balances
    if name in ("ORI", "POP"):
        return [{"alpha": alpha} for alpha in (0.0, 0.001, 0.1)]
    key = "n_feature_components" if name == "MDDM" else "n_label_components"
    return [{key: ratio} for ratio in RATIOS]


def loss_of(configuration, dataset):
    """Return the distance of a configuration from the best one: a smooth valley."""
    best = 0.3 + 0.5 * (seed_for(dataset) % 7) / 7
    mu = configuration.get("n_feature_components", best)
    nu = configuration.get("n_label_components", 0.8)
    beta = np.log10(configuration.get("beta", 1.0))
    slope = 0.02 if beta < 0 else 0.06
    return 0.15 * (mu - best) ** 2 + 0.08 * (nu - 0.8) ** 2 + slope * beta**2 / 16


def synthetic_record(dataset, method, selection, fold, metrics):
    """A whole record near the published scores, with all the details a report can show."""
    rng = np.random.default_rng(seed_for(dataset, method, selection, fold))
    of_fold = np.random.default_rng(seed_for(dataset, fold)).normal()
    configurations = grid_of(method, selection, rng)
    values = np.empty((len(configurations), len(metrics)))
    for column, metric in enumerate(metrics):
        known = PUBLISHED.get((dataset, method, metric))
        mean, std = (known.mean, known.std) if known else (0.5, 0.01)
        shift = 0.0 if selection == "paper" else -0.5 * std
        centre = mean + 0.8 * std * of_fold + 0.35 * std * rng.normal() + 0.6 * std * _bias(method)
        sign = -1 if metric in LOSSES else 1
        for row, configuration in enumerate(configurations):
            values[row, column] = np.clip(
                centre + sign * (shift - loss_of(configuration, dataset)), 0, 1
            )
    balance = np.array([np.log10(c.get("beta", 1.0)) for c in configurations])
    groups = ("rare", "middle", "frequent")
    return Record(
        Cell(dataset, method, selection, fold, settings={"metrics": list(metrics)}),
        "done",
        None,
        metrics,
        configurations,
        values,
        [int(5000 * (1 + 10 * c.get("n_label_components", 1.0))) for c in configurations],
        {
            "dependence_between": (1 / (1 + np.exp(-1.5 * balance))).tolist(),
            "recovery_between": (1 / (1 + np.exp(1.2 * balance))).tolist(),
            "by_frequency": {
                name: {"average_precision": float(0.2 + 0.2 * k + 0.02 * rng.normal())}
                for k, name in enumerate(groups)
            },
        },
        {"numpy": "2.4.6", "compactlearn": "0.1.0"},
        {
            "seconds": {
                "fit": float(np.exp(rng.normal()) * (4 if family_of(method) == "kernel" else 1))
            }
        },
    )


def _bias(method):
    return (seed_for(method) % 5 - 2) / 2


def synthetic_records(datasets, methods, selections=("paper", "nested"), metrics=METRICS):
    """A benchmark: every fold of everything."""
    return [
        synthetic_record(dataset, method, selection, fold, metrics)
        for selection in selections
        for dataset in datasets
        for method in methods
        for fold in range(5)
    ]

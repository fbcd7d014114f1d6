"""A linear model, or a compact one of many labels, with a logistic decoder."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from compactlearn.auto._problem import Problem
from compactlearn.auto._trials import TrialResult, try_compact
from compactlearn.auto.candidates._base import (
    Candidate,
    Findings,
    at_size,
    linear_seconds,
    named,
    projects,
    shortlist_alone,
)
from compactlearn.auto.candidates._shortlist import shortlist_seconds
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._original import Original


def candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield one model; after a shortlist at size, if it takes at most twice as long."""
    worth = math.inf
    if at_size(problem):
        if shortlist_alone(problem):
            return
        worth = 2.0 * shortlist_seconds(problem)
    yield Candidate(
        "compact model, logistic decoder",
        linear_seconds(problem),
        lambda: _run(problem, findings),
        worth=worth,
    )


def _run(problem: Problem, findings: Findings) -> TrialResult:
    best = findings.linear
    keep = not projects(problem)
    size = best.params["n_label_components"]
    if keep and size == 1.0:
        name, embedding = "linear model", Original()
    else:
        name = "CMLL"
        embedding = CMLL(None, size) if keep else CMLL(n_label_components=size, completion="krylov")
    model = CompactClassifier(
        embedding, alpha=best.params["alpha"], decoder="logistic", threshold="f1"
    )
    one = try_compact(problem, named(name, best), best.preprocessing, model)
    findings.folds = np.unique(problem.fold[one.rows]).tolist()
    return one

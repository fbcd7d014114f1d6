"""A model behind an RBF kernel with a logistic decoder, exact or by landmarks."""

from __future__ import annotations

from collections.abc import Iterator

from compactlearn.auto._problem import Problem
from compactlearn.auto._searches import search_kernel
from compactlearn.auto._trials import TrialResult, try_compact
from compactlearn.auto.candidates._base import Candidate, Findings, named
from compactlearn.compact._classifier import CompactClassifier
from compactlearn.compact._kernel_map import KernelMap
from compactlearn.embeddings._cmll import CMLL
from compactlearn.embeddings._components import component_count, default_label_size
from compactlearn.embeddings._original import Original

EXACT_ROWS = 3_000  # a kernel of as many rows is used as such, a larger one by landmarks
LANDMARKS = 1_000
MOST_CODES = 256  # codes are targets of every refit


def candidates(problem: Problem, findings: Findings) -> Iterator[Candidate]:
    """Yield one model."""
    yield Candidate("kernel", _seconds(problem), lambda: _run(problem, findings))


def _run(problem: Problem, findings: Findings) -> TrialResult:
    linear, exact = findings.linear, problem.n_rows <= EXACT_ROWS
    found = search_kernel(problem, exact=exact)
    kernel = KernelMap(gamma=found.params["gamma"], random_state=problem.seed)
    if not exact:
        kernel.set_params(algorithm="nystroem", n_components=LANDMARKS)
    codes = component_count(
        linear.params["n_label_components"],
        problem.n_labels,
        "n_label_components",
        "labels",
        default_label_size,
    )
    all_codes = codes is None or codes == problem.n_labels <= MOST_CODES
    model = CompactClassifier(
        Original() if all_codes else CMLL(None, min(codes, MOST_CODES)),
        feature_map=kernel,
        alpha=found.params["alpha"],
        decoder="logistic",
        threshold="f1",
    )
    return try_compact(problem, named("kernel", found), found.preprocessing, model)


def _seconds(problem: Problem) -> float:
    n = min(problem.n_rows, EXACT_ROWS)
    codes = min(problem.n_labels, MOST_CODES)
    columns = n if problem.n_rows <= EXACT_ROWS else LANDMARKS
    decoder = 3e-8 * problem.n_rows * codes * problem.n_labels
    refits = 1e-9 * columns**3 + 1e-9 * problem.n_rows * columns**2
    return 1.0 + refits + min(decoder, 120.0)

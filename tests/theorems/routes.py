"""The table of routes: a name, and how a classifier is fitted along that route.

A faster solver is one more row here: every method is then compared with its literal version along
it, with and without weights (test_methods_agree.py).
"""

import numpy as np
import scipy.sparse as sp

from compactlearn import Moments, Original


def by_solver(solver, container=np.asarray):
    def fit(model, X, Y, weights=None):
        if not isinstance(model.embedding, Original):
            model.set_params(embedding__solver=solver)
        return model.fit(container(X), container(Y), sample_weight=weights)

    return fit


def parts(X, Y, weights, container):
    for rows in np.array_split(np.arange(len(X)), 3):
        part = None if weights is None else weights[rows]
        yield container(X[rows]), container(Y[rows]), part


def by_partial_fit(container):
    def fit(model, X, Y, weights=None):
        for x, y, part in parts(X, Y, weights, container):
            model.partial_fit(x, y, sample_weight=part)
        return model

    return fit


def by_moments(container):
    def fit(model, X, Y, weights=None):
        return model.fit_moments(Moments.from_blocks(parts(X, Y, weights, container)))

    return fit


def by_sum(model, X, Y, weights=None):
    return model.fit_moments(
        sum(Moments.from_arrays(*part) for part in parts(X, Y, weights, np.asarray))
    )


ROUTES = {
    "auto": by_solver("auto"),
    "moments": by_solver("moments"),
    "dual": by_solver("dual"),
    "krylov": by_solver("krylov"),
    "column-major": by_solver("auto", np.asfortranarray),
    "csr_array": by_solver("auto", sp.csr_array),
    "csc_matrix": by_solver("auto", sp.csc_matrix),
    "sparse moments": by_solver("moments", sp.csr_matrix),
    "sparse dual": by_solver("dual", sp.csc_array),
    "sparse krylov": by_solver("krylov", sp.csr_array),
    "partial_fit": by_partial_fit(np.asarray),
    "sparse partial_fit": by_partial_fit(sp.csr_array),
    "blocks": by_moments(np.asarray),
    "sparse blocks": by_moments(sp.csr_matrix),
    "sum": by_sum,
}

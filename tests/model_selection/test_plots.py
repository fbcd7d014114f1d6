"""Figures of searches: what they show is what was found."""

import numpy as np

from compactlearn.datasets import load
from compactlearn.model_selection import RatioSearchCV


def test_the_surface_as_a_heat_map():
    data = load("emotions")
    ratios = (0.2, 0.6, 1.0)
    search = RatioSearchCV(feature_ratios=ratios, label_ratios=ratios, starts=(0.6,), cv=2)
    search.fit(data.X, data.Y)
    surface, chosen = search.plot().data
    np.testing.assert_array_equal(np.asarray(surface.z, dtype=float), search.surface_)
    assert chosen.x[0] == search.best_params_["n_label_components"]
    assert chosen.y[0] == search.best_params_["n_feature_components"]
    place = (ratios.index(chosen.y[0]), ratios.index(chosen.x[0]))
    assert search.surface_[place] == np.nanmax(search.surface_)

"""PaperClassifier: the conventions of published tables that this library does not recommend."""

from __future__ import annotations

from compactlearn.compact._classifier import CompactClassifier


class PaperClassifier(CompactClassifier):
    """A :class:`CompactClassifier` whose ridge has no intercept, as in published programs.

    For comparisons with published tables; for other uses an intercept is better.

    Parameters
    ----------
    embedding, feature_map, scale, regressor, alpha, decoder, threshold, positive_unlabelled, \
propensities, label_noise, n_jobs, random_state, verbose
        As in :class:`CompactClassifier`.
    """

    bias = "none"

"""Helpers that several folders of tests share: data without ties, and a literal ridge."""

import signal

import numpy as np
import scipy.sparse
from hypothesis import HealthCheck, settings
from sklearn.feature_extraction.text import TfidfVectorizer

from compactlearn import CMLL, CompactClassifier
from compactlearn.compact import PaperClassifier

#: Few examples, the same ones on every machine: a theorem must not be flaky.
modest = settings(
    max_examples=20,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def maker(n, n_features, n_labels, **usual):
    """A function that calls `labelled` with these, unless it is given others."""

    def make_data(n=n, n_features=n_features, n_labels=n_labels, seed=0, **options):
        return labelled(n, n_features, n_labels, seed, **usual | options)

    return make_data


#: Forty rows with seven features and five labels, unless others are asked for.
make_data = maker(40, 7, 5)


def labelled(
    n,
    n_features,
    n_labels,
    seed,
    *,
    scale=False,
    mean=None,
    density=None,
    noise=1.0,
    share=0.6,
    dtype=float,
):
    """Features and labels that depend on them: generic, hence without ties.

    A label is 1 in the rows whose latent value is beyond the quantile `share`, one number or one
    for each label. Columns of different `scale` get a noise that grows with their number. The
    columns' `mean` is random where none is given; `density` makes features positive and sparse.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    if scale:
        X *= rng.uniform(0.5, 2, n_features)
        noise *= np.sqrt(n_features)
    X += rng.normal(size=n_features) if mean is None else mean
    if density is not None:
        X = np.where(rng.random(X.shape) < density, np.abs(X), 0.0)
    latent = (X - X.mean(axis=0)) @ rng.normal(size=(n_features, n_labels))
    latent += noise * rng.normal(size=latent.shape)
    shares = np.broadcast_to(share, n_labels)
    levels = [np.quantile(column, part) for column, part in zip(latent.T, shares, strict=True)]
    return X, (latent > levels).astype(dtype)


def cmll(*sizes, **params):
    """CMLL as a classifier, with the parameters of both by their plain names."""
    inner = [name for name in params if name in CMLL().get_params() and name != "random_state"]
    embedding = CMLL(*sizes, **{name: params.pop(name) for name in inner})
    return CompactClassifier(embedding, **params)


def literal_ridge(Z, T, alpha, weights=None, bias="free"):
    """Coefficients and intercept: least squares on [1 Z] with sqrt(alpha) I stacked below."""
    weights = np.ones(len(Z)) if weights is None else weights
    ones = np.full((len(Z), 1), float(bias == "free"))
    penalty = np.sqrt(alpha) * np.eye(1 + Z.shape[1])
    penalty[0, 0] = 0.0
    roots = np.sqrt(weights)[:, None]
    rows = np.vstack([roots * np.hstack([ones, Z]), penalty])
    targets = np.vstack([roots * T, np.zeros((len(penalty), T.shape[1]))])
    solution = np.linalg.lstsq(rows, targets, rcond=None)[0]
    return solution[1:], solution[0]


def ridge_scores(Z, T, alpha, Z_new, weights=None, bias="free"):
    """Return the predictions of :func:`literal_ridge` for new rows."""
    coefficients, intercept = literal_ridge(Z, T, alpha, weights, bias)
    return Z_new @ coefficients + intercept


def long_tailed_rows(seed, n_rows=60, n_features=90, *, unit=True):
    """Sparse rows, of unit length where asked, many of which have a feature of their own."""
    rng = np.random.default_rng(seed)
    frequency = np.minimum(1.5 / np.arange(1, n_features + 1) ** 0.8, 1.0)
    dense = rng.gamma(2.0, size=(n_rows, n_features))
    dense *= rng.random((n_rows, n_features)) < frequency
    if unit:
        lengths = np.linalg.norm(dense, axis=1, keepdims=True)
        dense /= np.where(lengths > 0, lengths, 1)
    return scipy.sparse.csr_array(dense)


def texts_of_topics(seed, n_train=400, n_test=600, n_labels=6, n_words=20_000, length=15):
    """Return TF-IDF rows and labels, for training and test, of texts with a long tail of words."""
    rng = np.random.default_rng(seed)
    probabilities = 1 / np.arange(1, n_words + 1)
    probabilities /= probabilities.sum()
    topics = rng.integers(20, 1_000, (n_labels, 30))
    Y = rng.random((n_train + n_test, n_labels)) < rng.uniform(0.1, 0.3, n_labels)
    texts = []
    for labels in Y:
        text = rng.choice(n_words, length, p=probabilities).tolist()
        for label in np.flatnonzero(labels):
            text += rng.choice(topics[label], 2).tolist()
        texts.append(" ".join(f"w{word}" for word in text))
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit(texts[:n_train])
    Y = Y.astype(int)
    train, test = vectorizer.transform(texts[:n_train]), vectorizer.transform(texts[n_train:])
    return train, Y[:n_train], test, Y[n_train:]


def untuned(embedding, **options):
    """A classifier for those who read scores alone: tuning a threshold is most of a small fit."""
    made_by = PaperClassifier if options.pop("bias", "free") == "none" else CompactClassifier
    return made_by(embedding, threshold=0.5, **options)


def as_dense(scores):
    """Scores as an array, whether the model stores all of them or only those of candidates."""
    return scores.toarray() if scipy.sparse.issparse(scores) else np.asarray(scores)


def heed_ctrl_c():
    """For a process about to start: a shell lets what it starts in the background ignore Ctrl-C,
    and whatever that starts in turn."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

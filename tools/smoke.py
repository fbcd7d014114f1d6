"""Checks of an installed compactlearn that has only its required packages.

Run by `make release-check` in an environment that has nothing else, from a folder that is not this
repository: ``python -I smoke.py VERSION``.
"""

import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import compactlearn
from compactlearn.datasets import load

# Extras must not be needed for any of this, and so they must not be here.
EXTRAS = ("pandas", "plotly", "psutil", "rich", "torch", "typer")


def main(version: str, *, alone: bool = True) -> None:
    assert compactlearn.__version__ == version, compactlearn.__version__
    if alone:
        assert importlib.metadata.version("compactlearn") == version
        assert "site-packages" in Path(compactlearn.__file__).parts, compactlearn.__file__
        found = [name for name in EXTRAS if importlib.util.find_spec(name)]
        assert not found, f"the environment is not empty: {found}"

    train, test = load("enron").split()
    model = compactlearn.CMLLClassifier(decoder="logistic").fit(train.X, train.Y)
    labels = model.predict(test.X)
    assert labels.shape == test.Y.shape
    probabilities = model.predict_proba(test.X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    best, _ = model.predict_topk(test.X, k=3)
    assert best.shape == (test.n_samples, 3)
    scores = model.evaluate(test.X, test.Y)
    assert scores["average_precision"] > 0.68, scores
    assert scores["micro_f1"] > 0.55, scores

    train, test = load("emotions").split()
    blocks = [(train.X[:200], train.Y[:200]), (train.X[200:], train.Y[200:])]
    sums = compactlearn.Moments.from_blocks(blocks)
    assert compactlearn.CMLLClassifier().fit_moments(sums).predict(test.X).shape == test.Y.shape
    print(f"compactlearn {version} works in {sys.prefix}")


if __name__ == "__main__":
    main(sys.argv[1])

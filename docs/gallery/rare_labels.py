"""Frequent labels, rare labels

A few labels are in most of the e-mails, and most labels are in a few. This script shows how
frequent each is, and how well labels of each frequency are found by a compact model and by a ridge
regression without compression.
"""

import numpy as np
import plotly.graph_objects as go
from sklearn.metrics import average_precision_score

from compactlearn import CMLLClassifier, CompactClassifier, Original
from compactlearn.datasets import load

train, test = load("enron").split()
counts = np.asarray(train.Y.sum(axis=0)).ravel()
order = np.argsort(-counts)
names = [train.label_names[label] for label in order]

figure = go.Figure(go.Bar(x=names, y=counts[order]))
figure.update_yaxes(title="training e-mails with the label", type="log")
figure.update_xaxes(tickfont_size=9)
figure.show()

# %%
# Two models with the same penalty, one of them with ten codes in place of 53 labels.

models = {
    "ridge": CompactClassifier(Original(), alpha=100.0, threshold=0.5),
    "CMLL, 10 codes": CMLLClassifier(n_label_components=10, alpha=100.0, threshold=0.5),
}
scores = {
    name: model.fit(train.X, train.Y).decision_function(test.X) for name, model in models.items()
}

# %%
# Each label is judged by itself: does its score rank the mails that have it above those that
# have not? Average precision of such a ranking is 1 at best, and about the label's share of
# mails for a blind guess. Labels are grouped by the number of training mails.

truth = test.Y.toarray()
groups = {
    "1 to 9": (1, 10),
    "10 to 49": (10, 50),
    "50 to 199": (50, 200),
    "200 or more": (200, 9999),
}
figure = go.Figure()
for name, found in scores.items():
    means = []
    for low, high in groups.values():
        kept = [j for j in np.flatnonzero((counts >= low) & (counts < high)) if truth[:, j].any()]
        means.append(np.mean([average_precision_score(truth[:, j], found[:, j]) for j in kept]))
    print(f"{name:15}", np.round(means, 3))
    figure.add_bar(x=list(groups), y=means, name=name)
figure.update_xaxes(title="training e-mails of the label")
figure.update_yaxes(title="average precision of a label, mean")
figure.show()

# %%
# A code is spent where it explains much, and a rare label explains little. That is the price of
# compression, and why `ShortlistClassifier` adds sparse classifiers to a compact model
# ([thousands of labels](../how-to/size-budget.md)).

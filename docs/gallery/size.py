"""Accuracy against size

A compact model of $m$ codes keeps about $m (D + M)$ numbers, where a plain linear model keeps
$D M$. This script draws accuracy against that size for three ways to choose codes, on the e-mails
that come with the package, compared with a ridge regression with all its parameters.
"""

import plotly.graph_objects as go

from compactlearn import CMLL, CPLST, PLST, CompactClassifier, Original
from compactlearn.datasets import load
from compactlearn.metrics import average_precision

train, test = load("enron").split()

# %%
# The penalty is the same for all, so that the figure shows nothing but the size; in earnest one
# would choose it for each ([choosing parameters](parameters.py)).

sizes = [1, 2, 3, 5, 8, 13, 20, 30, 42, 52]
embeddings = {"PLST": PLST(), "CPLST": CPLST(), "CMLL": CMLL(n_feature_components=None)}
curves = {}
for name, embedding in embeddings.items():
    curves[name] = []
    for size in sizes:
        embedding.set_params(n_label_components=size)
        model = CompactClassifier(embedding, alpha=100.0, threshold=0.5).fit(train.X, train.Y)
        reached = average_precision(test.Y, model.decision_function(test.X))
        curves[name].append((model.n_parameters_, reached))

ridge = CompactClassifier(Original(), alpha=100.0, threshold=0.5).fit(train.X, train.Y)
reached = average_precision(test.Y, ridge.decision_function(test.X))
print(f"ridge: {ridge.n_parameters_} numbers, average precision {reached:.3f}")

# %%
# CPLST looks for codes that can be predicted, and is ahead where there are few. With as many
# codes as there are labels in training (one of the 53 never occurs) the three end where ridge
# is.

figure = go.Figure()
for name, points in curves.items():
    figure.add_scatter(x=[p[0] for p in points], y=[p[1] for p in points], name=name)
figure.add_hline(y=reached, line_dash="dot", annotation_text="ridge, all numbers")
ticks = [1000, 2000, 5000, 10000, 20000, 50000]
figure.update_xaxes(title="numbers that the model keeps", type="log", tickvals=ticks)
figure.update_yaxes(title="average precision on new e-mails")
figure.show()

"""Learning block by block

Rows that arrive over time, or do not fit in memory together, are added block by block. For a
compact model with a ridge learner this is exact: what it keeps are sums, and sums do not mind in
which order they are made.
"""

import numpy as np
import plotly.graph_objects as go

from compactlearn import CMLLClassifier, Moments
from compactlearn.datasets import load
from compactlearn.metrics import average_precision

train, test = load("enron").split()
blocks = [slice(start, start + 125) for start in range(0, train.n_samples, 125)]

# %%
# `partial_fit` adds a block and solves again.

model = CMLLClassifier(n_label_components=20, alpha=30.0)
seen, reached = [], []
for block in blocks:
    model.partial_fit(train.X[block], train.Y[block])
    seen.append(min(block.stop, train.n_samples))
    reached.append(average_precision(test.Y, model.decision_function(test.X)))

figure = go.Figure(go.Scatter(x=seen, y=reached, mode="lines+markers"))
figure.update_xaxes(title="e-mails seen", rangemode="tozero")
figure.update_yaxes(title="average precision on new e-mails")
figure.show()

# %%
# At the end the scores are those of a single fit on all rows, to rounding.

whole = CMLLClassifier(n_label_components=20, alpha=30.0, threshold=0.5).fit(train.X, train.Y)
gap = np.abs(whole.decision_function(test.X) - model.decision_function(test.X)).max()
print(f"largest difference of a score: {gap:.0e}")

# %%
# The sums have a name, `Moments`. They add, wherever they were made, and subtract, so that rows
# can be forgotten: without the first block the model is the one that never met it.

sums = [Moments.from_blocks([(train.X[block], train.Y[block])]) for block in blocks]
total = sum(sums[1:], start=sums[0])
without = CMLLClassifier(n_label_components=20, alpha=30.0).fit_moments(total - sums[0])
never = CMLLClassifier(n_label_components=20, alpha=30.0, threshold=0.5)
never.fit(train.X[125:], train.Y[125:])
gap = np.abs(without.decision_function(test.X) - never.decision_function(test.X)).max()
print(f"largest difference of a score: {gap:.0e}")

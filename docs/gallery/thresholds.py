"""Where to cut: thresholds and what they decide

Scores become labels by a threshold. This script draws three measures against it, and marks the one
that the model has tuned for itself on held-out rows.
"""

import numpy as np
import plotly.graph_objects as go

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import macro_f1, micro_f1

train, test = load("enron").split()
model = CMLLClassifier(decoder="logistic", threshold="f1").fit(train.X, train.Y)
probabilities = model.predict_proba(test.X)

# %%
# The model's scores are log-odds, and so is its threshold. As a probability it is

tuned = 1 / (1 + np.exp(-model.threshold_))
print(f"{tuned:.3f}")

# %%
# Below one half, as the threshold of largest F1 is for probabilities that mean what they say: it
# is half of that F1. At one half fewer labels are predicted than there are.

cuts = np.linspace(0.02, 0.9, 45)
micro = [micro_f1(test.Y, probabilities > cut) for cut in cuts]
macro = [macro_f1(test.Y, probabilities > cut) for cut in cuts]
share = [(probabilities > cut).sum() / test.Y.sum() for cut in cuts]

figure = go.Figure()
figure.add_scatter(x=cuts, y=micro, name="micro-F1")
figure.add_scatter(x=cuts, y=macro, name="macro-F1")
figure.add_scatter(x=cuts, y=share, name="labels predicted, of those there are")
figure.add_vline(x=tuned, line_dash="dot", annotation_text="tuned")
figure.update_xaxes(title="threshold, as a probability")
figure.update_yaxes(range=[0, 1.5])
figure.show()

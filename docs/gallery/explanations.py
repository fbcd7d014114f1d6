"""Trust and reasons: are probabilities right, and why was a label predicted

A prediction is useful if its probability can be trusted and its reasons can be seen. This script
draws both for a model of e-mails.
"""

import plotly.graph_objects as go

from compactlearn import CMLLClassifier
from compactlearn.datasets import load
from compactlearn.metrics import reliability_table
from compactlearn.plots import plot_reliability

data = load("enron")
train, test = data.split()
model = CMLLClassifier(decoder="logistic").fit(train.X, train.Y)

# %%
# The precision of the five best labels of each e-mail, against their probability. On the diagonal
# probabilities are right; below it the model is overconfident.

table = reliability_table(test.Y, model.predict_proba(test.X), k=5)
print(f"largest gap: {table.largest_gap(min_count=50):.3f}")
figure = plot_reliability(model, test.X, test.Y, k=5)
figure.show()

# %%
# The words that speak most for and against the best label of the first e-mail. These terms, the
# base and all other words add up to the score.

(why,) = model.explain(test.X[:1], labels=6, k=8, feature_names=data.feature_names)
terms = sorted(why.terms, key=lambda term: term.contribution)

figure = go.Figure()
values, words = [term.contribution for term in terms], [term.name for term in terms]
figure.add_bar(x=values, y=words, orientation="h")
figure.update_xaxes(title=f"contribution to the score {why.score:.2f} of label 6")
figure.show()

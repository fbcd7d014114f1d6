"""Choosing penalty and size together

Penalty and number of codes depend on each other: many codes want more shrinkage than few.
`CMLLClassifierCV` tries them together by cross-validation, and shares its decompositions, so that
a whole grid costs little more than a few fits.
"""

import numpy as np
import plotly.graph_objects as go

from compactlearn import CMLLClassifierCV
from compactlearn.datasets import load

train, test = load("enron").split()
search = CMLLClassifierCV(
    betas=("auto",),
    alphas=np.logspace(0, 3, 7),
    n_label_components=(0.1, 0.25, 0.5, 0.75, 1.0),
    decoders=("linear",),
    threshold=0.5,
    random_state=0,
).fit(train.X, train.Y)
print(search.best_params_, round(search.best_score_, 3))

# %%
# One cell for each penalty and size, by the mean score of five folds.

results = search.cv_results_
alphas = sorted(set(results["param_alpha"]))
sizes = sorted(set(results["param_n_label_components"]))
grid = np.zeros((len(sizes), len(alphas)))
for alpha, size, score in zip(
    results["param_alpha"],
    results["param_n_label_components"],
    results["mean_test_score"],
    strict=True,
):
    grid[sizes.index(size), alphas.index(alpha)] = score

figure = go.Figure(
    go.Heatmap(
        z=grid,
        x=[f"{alpha:.3g}" for alpha in alphas],
        y=[f"{size:.0%}" for size in sizes],
        colorscale="Cividis",
        colorbar_title="score",
    )
)
figure.update_xaxes(title="ridge penalty", type="category")
figure.update_yaxes(title="codes, of 53 labels", type="category")
figure.show()

# %%
# The best setting is then fitted to all rows, and judged on e-mails that took no part in the
# choice.

print(round(search.evaluate(test.X, test.Y)["average_precision"], 3))

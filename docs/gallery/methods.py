"""Comparing methods by records

A benchmark is described by plain values, and every finished piece of it becomes a record on disk.
Tables and scores are made of the records and of nothing else, so that a comparison can be
stopped, continued, and looked at again.
"""

import tempfile
from pathlib import Path

import plotly.graph_objects as go

from compactlearn_bench import parse_spec, run
from compactlearn_bench.records import Store, aggregate, open_records

spec = parse_spec(
    {
        "name": "gallery",
        "datasets": ["emotions"],
        "methods": ["ORI", "PLST", "MDDM", "CMLL"],
        "folds": 3,
        "inner_folds": 2,
        "selections": ["nested"],
        "workers": 1,
        "overrides": [
            {
                "method": ["ORI", "PLST", "MDDM", "CMLL"],
                "protocol": "recommended",
                "alphas": [1.0, 10.0, 100.0],
                "betas": ["auto"],
                "label_ratios": [0.5, 1.0],
                "feature_ratios": [0.5, 1.0],
                "label_ridges": [0.0],
                "scaling": "standard",
            }
        ],
    }
)

# %%
# Each fold of each method is a cell. Its penalty and sizes are chosen by inner folds of the
# training rows ("nested"), so that the test fold is looked at once.

folder = Path(tempfile.mkdtemp())
run(spec, Store(folder))
records = list(open_records(folder))
print(len(records), "records:", {record.status for record in records})

# %%
# `aggregate` joins the folds, and refuses to where they are not comparable.

results = aggregate(records, "nested")
scores = {
    method: results.score("emotions", method, "average_precision") for method in results.methods
}
for method, found in scores.items():
    print(f"{method:5} {found.mean:.3f} ± {found.std:.3f}")

figure = go.Figure(
    go.Scatter(
        x=list(scores),
        y=[found.mean for found in scores.values()],
        error_y={"type": "data", "array": [found.std for found in scores.values()]},
        mode="markers",
        marker_size=10,
    )
)
figure.update_yaxes(title="average precision, mean and deviation of 3 folds")
figure.show()

# %%
# With six labels there is nothing to compress, and so no method is ahead of ORI, which
# compresses nothing. `compactlearn report` makes a whole page of the same records, with tests of
# significance ([comparing methods](../how-to/compare-methods.md)).

"""Writes the files of this version that later versions have to read, and what they have to answer.

    PYTHONPATH=src python -m tests.io.write_examples

They lie in a folder with the name of the version. A later version adds a folder of its own and
leaves the others alone: what a file of an older version says is a promise.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from compactlearn import CMLLClassifier, POPClassifier, save_model

HERE = Path(__file__).parent / "written_by_0_1"
ROWS = np.array([[i * j % 7 for j in (1, 2, 3, 5)] for i in range(24)], dtype=float)
LABELS = pd.DataFrame(
    {"ja": ROWS[:, 0] > 3, "nein": ROWS[:, 1] > 2, "später": ROWS[:, 2] + ROWS[:, 3] > 5}
).astype(int)
WORDS = np.array(["ant", "bee", "cat", "dog"])
TEXTS = [" ".join(np.repeat(WORDS, row.astype(int))) or "none" for row in ROWS]


def examples():
    """Names, fitted models, and the rows that they are asked about."""
    named = CMLLClassifier(decoder="logistic", threshold="f1").fit(ROWS, LABELS)
    yield "named", named, ROWS.tolist()
    yield (
        "half",
        CMLLClassifier(2, 2).fit(ROWS, LABELS.to_numpy()).compress("float16"),
        ROWS.tolist(),
    )
    texts = make_pipeline(TfidfVectorizer(), POPClassifier(random_state=0))
    yield "texts", texts.fit(TEXTS, LABELS.to_numpy()), TEXTS


def main():
    HERE.mkdir(exist_ok=True)
    answers = {}
    for name, model, rows in examples():
        save_model(model, HERE / f"{name}.model")
        answers[name] = {
            "rows": rows,
            "scores": model.decision_function(rows).tolist(),
            "labels": model.predict(rows).tolist(),
        }
    (HERE / "answers.json").write_text(json.dumps(answers) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

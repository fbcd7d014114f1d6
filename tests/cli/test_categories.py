"""Tables with categories and missing values: fitted, stored, and read again in the same way."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from compactlearn import CMLLClassifier, evaluate, load_model, predict_labels

NAMES = ("id", "colour", "wheels", "price", "is_old", "is_cheap")


def table(seed, n=60):
    """Rows whose labels depend on all columns; None is a missing value."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        colour = ["red", "green", "blue", None][rng.integers(4)]
        wheels = int(rng.integers(2, 6))
        price = None if rng.random() < 0.3 else round(float(rng.random() * 100), 2)
        old = int(colour == "red" or wheels == 2)
        rows.append((f"k{i}", colour, wheels, price, old, int(price is not None and price < 40)))
    return rows


def written(rows, path, names=NAMES):
    named = [dict(zip(names, row, strict=True)) for row in rows]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in named))
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(named), path)
    else:
        lines = [names, *rows] if names is not None else rows
        cells = [["" if cell is None else str(cell) for cell in line] for line in lines]
        path.write_text("\n".join(map(",".join, cells)) + "\n")
    return path.name


def fitted(run, source, *more):
    words = ["--labels", "is_", "--ignore", "id", "--categories", "auto", "--method", "cmll"]
    return run("fit", source, *words, "-o", "m.model", *more).out


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("seed", range(2))
def test_the_model_is_that_of_scikit_learns_steps(run, tmp_path, ending, seed):
    rows = table(seed)
    output = fitted(run, written(rows, tmp_path / f"t.{ending}"))
    X = np.array(
        [[c or "", d, np.nan if p is None else p] for _, c, d, p, *_ in rows], dtype=object
    )
    columns = ColumnTransformer([
        ("c", OneHotEncoder(handle_unknown="ignore"), [0]),
        ("n", SimpleImputer(strategy="median"), [1, 2]),
    ])  # fmt: skip
    ours = make_pipeline(columns, CMLLClassifier(random_state=0))
    ours.fit(X, np.array([row[4:] for row in rows]))
    stored = load_model("m.model")
    assert np.array_equal(stored.decision_function(X), ours.decision_function(X))
    # What became of the columns is said.
    n_colours, n_prices = sum(r[1] is None for r in rows), sum(r[3] is None for r in rows)
    median = np.nanmedian(np.array(X[:, 2], dtype=float))
    assert "Categories: colour (4 values)." in output
    assert f"Missing values: colour ({n_colours}, a category of their own)" in output
    assert f"price ({n_prices}, median {median:g})." in output
    found = run("predict", "m.model", f"t.{ending}", "--keep", "id", "--topk", 2, "--digits", 17)
    assert found.err == ""
    lines = list(csv.DictReader(io.StringIO(found.out)))
    assert [line["id"] for line in lines] == [row[0] for row in rows]
    best = [row[0] for row in predict_labels(stored, X, 2)]
    assert [(line["label_1"], float(line["score_1"])) for line in lines] == best
    measured = json.loads(run("evaluate", "m.model", f"t.{ending}", "--json").out)
    assert measured["metrics"] == evaluate(stored, X, np.array([row[4:] for row in rows]))


def test_new_tables_may_have_other_columns_orders_and_values(run, tmp_path):
    rows = table(0)
    fitted(run, written(rows, tmp_path / "t.csv"))
    model = load_model("m.model")
    new = [(r[3], "x", "never seen" if i % 2 else r[1], r[2]) for i, r in enumerate(rows[:10])]
    written(new, tmp_path / "new.csv", ("price", "more", "colour", "wheels"))
    words = ["predict", "m.model", "new.csv", "--topk", 2, "--format", "jsonl", "--digits", 17]
    found = run(*words)
    assert "Unknown categories are ignored: 5 of colour" in found.err
    X = np.array([[c or "", d, np.nan if p is None else p] for p, _, c, d in new], dtype=object)
    labels = [[(o["name"], o["score"]) for o in json.loads(line)["labels"]] for line in
            found.out.splitlines()]  # fmt: skip
    assert labels == [list(row) for row in predict_labels(model, X, 2)]
    encoded = model[0].transform(X)
    encoded = encoded.toarray() if hasattr(encoded, "toarray") else encoded
    assert not encoded[1::2, :4].any()  # a value that is not known has zeros
    shown = run("explain", "m.model", "t.csv", "--rows", "0", "--label", "is_old").out
    assert f"colour={rows[0][1] or '(missing)'}" in shown
    assert "price" in shown
    page = run("report", "m.model", "t.csv").out
    assert (tmp_path / page.strip()).read_text(encoding="utf-8").count("colour=") > 0


def test_columns_of_numbers_can_be_categories(run, tmp_path):
    written(table(1), tmp_path / "t.csv")
    words = ["--labels", "is_", "--ignore", "id", "--method", "cmll", "--json"]
    record = json.loads(
        run("fit", "t.csv", *words, "--categories", "wheels,colour", "-o", "m.model").out
    )
    assert record["categories"] == {"colour": 4, "wheels": 4}
    assert record["missing"]["price"]["as"] > 0
    for source in ("t.csv", written(table(1), tmp_path / "t.parquet")):
        run("evaluate", "m.model", source)


def test_tags_of_a_table(run, tmp_path):
    rows = [(c, p, ";".join(["old"] * o + ["cheap"] * k)) for _, c, _, p, o, k in table(2)]
    written(rows, tmp_path / "t.csv", ("colour", "price", "tags"))
    words = ["--categories", "auto", "--tags", "tags", "--method", "cmll", "-o", "m.model"]
    run("fit", "t.csv", *words)
    assert load_model("m.model")[-1].label_names_ == ["cheap", "old"]
    assert json.loads(run("evaluate", "m.model", "t.csv", "--json").out)["rows"] == 60
    run(
        "predict",
        "m.model",
        written([r[:2] for r in rows], tmp_path / "n.csv", ("colour", "price")),
    )


def test_a_table_without_names(run, tmp_path):
    (tmp_path / "t.csv").write_text(
        "".join(",".join("" if c is None else str(c) for c in row) + "\n" for row in table(3))
    )
    words = ["--no-header", "--labels", "-2", "--ignore", "0", "--categories", "auto"]
    output = run("fit", "t.csv", *words, "--method", "cmll", "-o", "m.model").out
    assert "Categories: 1 (4 values)." in output
    assert len(run("predict", "m.model", "t.csv").out.splitlines()) == 61


def test_a_column_that_the_model_needs(run, tmp_path):
    fitted(run, written(table(0), tmp_path / "t.csv"))
    (tmp_path / "new.csv").write_text("colour,wheels\nred,3\n")
    assert "needs a column 'price'" in run("predict", "m.model", "new.csv", status=2).err

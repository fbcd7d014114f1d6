"""The table of docs/results/speed.md."""

from pages.shared import Parts, Record, class_of, table, times

SHOWN = {
    ("dense", "Ridge, dense X and Y"): "fit, dense X and Y",
    ("sparse", "Ridge, dense X and Y"): "fit, sparse X and Y, against Ridge on dense copies",
    ("sparse", "Ridge, sparse X and dense Y"): "fit, sparse X and Y, against Ridge on sparse X",
    ("literal", "Algorithm 1, full eigenvectors"): "fit, against Algorithm 1 with `eigh`",
    ("literal", "Algorithm 1, arpack eigenvectors"): "fit, against Algorithm 1 with `eigsh`",
    ("predict", "Ridge.predict, dense X"): "predict, dense X",
}


@table
def speed(record: Record) -> Parts:
    """Fits and predictions as ratios."""
    yield ["what", "data", "ours", "theirs", "ours / theirs"]
    for row in record["measurements"]:
        name = SHOWN.get((row["group"], row["against"]))
        if name is not None:
            yield [name, row["data"], *times(row, "ours_s", "theirs_s"), f"{row['ratio']:.2g}"]
    versions = record["machine"]["versions"]
    packages = f"scikit-learn {versions['scikit-learn']}, NumPy {versions['numpy']}"
    yield class_of(record, f"{record['threads']} threads", packages)

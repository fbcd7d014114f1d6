"""The tables of docs/how-to/unknown-labels.md."""

from pages.shared import Parts, Record, formatted, table

FIT_TO = {
    "all": "true labels",
    "seen": "not corrected",
    "given": "corrected by the true rates",
    "auto": '`label_noise="auto"`',
    "estimated": "`positive_unlabelled=True`",
}


@table
def unknown_labels(record: Record) -> Parts:
    """Loss by unknown labels, completed and counted as absent."""
    head = ["all", "known", "absent", "fewer rows", "lost (of each mask)"]
    columns = [f"{metric}: {head[0]}" for metric in ("AP", "F1")]
    yield ["data", "model", "folds", columns[0], *head[1:], columns[1], *head[1:]]
    for row in record["measurements"]:
        line = [row["data"], f"`{row['model']}`", f"{row['folds']}"]
        for found in (row["average_precision"], row["micro_f1"]):
            shares = [share for share in found["lost_by_mask"] if share is not None]
            line += formatted(found, "all", "known", "zeros", "rows")
            line.append(f"{found['lost']:.0%} ({min(shares):.0%} to {max(shares):.0%})")
        yield line
    yield f"{min(row['masks'] for row in record['measurements'])} masks on each of the folds."


@table
def noisy_labels(record: Record) -> Parts:
    """Loss by flipped labels and missing positives, and gain by correcting."""
    yield ["data", "fit to", "average precision", "micro-F1", "PSP@1", "PSP@3", "PSP@5"]
    for row in record["measurements"]:
        what = f"{row['data']}, positives missing"
        if row["kind"] == "flipped":
            what = f"{row['data']}, {row['rates'][0]:.0%} flipped, {row['decoder']} decoder"
        places = [f"{row[f'psp_at_{k}']:.3f}" if "psp_at_1" in row else "" for k in (1, 3, 5)]
        yield [what, FIT_TO[row["way"]], *formatted(row, "average_precision", "micro_f1"), *places]
    yield f"Means over {record['measurements'][0]['folds']} folds."

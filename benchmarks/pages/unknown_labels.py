"""The tables of docs/guide/unknown-labels.md."""

from pages.shared import Page, Parts, Record, figures

page = Page("docs/guide/unknown-labels.md")

FIT_TO = {
    "all": "true labels",
    "seen": "not corrected",
    "given": "corrected by the true rates",
    "auto": '`label_noise="auto"`',
    "estimated": "`positive_unlabelled=True`",
}


@page.table
def unknown_labels(record: Record) -> Parts:
    """What unknown labels cost, completed and counted as absent."""
    ways = ["known", "absent", "lost"]
    yield ["data", "model", "AP: all", *ways, "micro-F1: all", *ways]
    for row in record["measurements"]:
        line = [row["data"], f"`{row['model']}`"]
        for found in (row["average_precision"], row["micro_f1"]):
            lost = found["share_lost"]
            line += figures(found, "all_mean", "known_mean", "zeros_mean")
            line.append("" if lost is None else f"{lost:.0%}")
        yield line
    folds = {row["data"]: row["folds"] for row in record["measurements"]}
    yield f"Means over folds: {', '.join(f'{count} of {data}' for data, count in folds.items())}."


@page.table
def noisy_labels(record: Record) -> Parts:
    """What flipped labels and missing positives cost, and what correcting gives back."""
    yield ["data", "fit to", "average precision", "micro-F1", "PSP@1", "PSP@3", "PSP@5"]
    for row in record["measurements"]:
        what = f"{row['data']}, positives missing"
        if row["kind"] == "flipped":
            what = f"{row['data']}, {row['rates'][0]:.0%} flipped, {row['decoder']} decoder"
        places = [f"{row[f'psp_at_{k}']:.3f}" if "psp_at_1" in row else "" for k in (1, 3, 5)]
        yield [what, FIT_TO[row["way"]], *figures(row, "average_precision", "micro_f1"), *places]
    yield f"Means over {record['measurements'][0]['folds']} folds."

"""The tables of docs/results/text.md."""

from pages.shared import Parts, Record, class_of, formatted, measured, table, times


@table
def text(record: Record) -> Parts:
    """Every program on every set of texts; below, why some have no scores."""
    head = ["P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5", "macro R@5", "fit", "predict", "model"]
    cores = record["machine"]["cores"]
    for data in record["datasets"]:
        yield (
            f"**{data['data']}**: {data['train_rows']:,} training and {data['test_rows']:,} test "
            f"rows, {data['features']:,} features, {data['labels']:,} labels, "
            f"{data['cardinality']:.1f} of them in a row."
        )
        rows = [row for row in record["measurements"] if row["data"] == data["data"]]
        yield ["", *head]
        yield from ([row["entry"], *_text_scores(row, cores)] for row in rows if _done(row))
        failed = [row for row in rows if not _done(row)]
        yield from (f"Without scores: {row['entry']}. {row['reason']}" for row in failed)
    busy = any(row["free_cores"] < cores for row in record["measurements"])
    note = " Times with * are of a machine that was busy with other work as well." if busy else ""
    yield class_of(record) + note


def _done(row: Record) -> bool:
    return row["status"] == "done"


def _text_scores(row: Record, cores: int) -> list[str]:
    keys = [f"{name}_at_{k}" for name in ("precision", "psp") for k in (1, 3, 5)]
    mark = " *" if row["free_cores"] < cores else ""
    seconds = [time + mark for time in times(row, "fit_s", "predict_s")]
    recall = formatted(row["recall_at_5_of_labels"], "all")
    return [*formatted(row, *keys), *recall, *seconds, f"{row['model_bytes'] / 2**20:,.1f} MiB"]


@table
def text_frequency() -> Parts:
    """Recall of rare and of frequent labels, on the largest set."""
    record = measured("text")
    data = max(record["datasets"], key=lambda row: row["train_rows"])
    groups = {name: count for name, count in data["judged_labels"].items() if name != "all"}
    yield [data["data"], *(f"{name} rows ({n:,} labels)" for name, n in groups.items())]
    for row in record["measurements"]:
        if row["data"] == data["data"] and _done(row):
            recalls = [row["recall_at_5_of_labels"][name] for name in groups]
            yield [row["entry"], *("none" if r is None else f"{r:.3f}" for r in recalls)]


@table
def text_laws() -> Parts:
    """EURLEX57K: scores that are published for it, also by frequency, and processor seconds."""
    record, name = measured("text"), "eurlex57k"
    rows = [row for row in record["measurements"] if row["data"] == name and _done(row)]
    scores = ["r_precision_at_5", "ndcg_at_5", "micro_f1", "macro_f1"]
    head = ["RP@5", "nDCG@5", "micro-F1", "macro-F1"]
    yield ["", *head, "fit, processors", "predict, processors"]
    for row in rows:
        seconds = times(row, "fit_processor_s", "predict_processor_s")
        yield [row["entry"], *(_or_none(row.get(key)) for key in scores), *seconds]
    yield "Macro R@5 and macro-F1 of the labels of test rows, by their training rows:"
    counts = next(row["judged_labels"] for row in record["datasets"] if row["data"] == name)
    groups = {"frequent": "above 50", "few": "1 to 50", "none": "none"}
    yield ["", *(f"{groups[name]} ({counts[name]:,} labels)" for name in groups)]
    for row in rows:
        recall, f1 = row["recall_at_5_of_labels"], row.get("f1_of_labels", {})
        means = (f"{_or_none(recall[name])}, {_or_none(f1.get(name))}" for name in groups)
        yield [row["entry"], *means]
    busy = any(row["free_cores"] < record["machine"]["cores"] for row in rows)
    yield class_of(record) + (" The machine was busy with other work as well." if busy else "")


def _or_none(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


@table
def text_whole(record: Record) -> Parts:
    """Scores and costs of text_classifier() on all of WordNet."""
    head = ["texts", "words", "labels", "P@1", "P@3", "P@5"]
    yield [*head, "fit, processors", "predict, processors"]
    for row in record["measurements"]:
        sizes = formatted(row, "rows", "features", "labels", form=",")
        precisions = [f"{value:.3f}" for value in row["precision"]]
        yield [*sizes, *precisions, *times(row, "fit_processor_s", "predict_processor_s")]
    yield f"{class_of(record)} Seconds are those of all processors together."


@table
def text_search(record: Record) -> Parts:
    """The automatic search compared with a shortlist on sparse sets."""
    yield [
        "data", "rows", "labels", "P@1", "P@1, search", "nDCG@5", "nDCG@5, search",
        "fit, processors", "search, processors", "ratio", "model", "model of the search", "peak",
        "peak of the search", "limit",
    ]  # fmt: skip
    for row in record["measurements"]:
        both = row["shortlist"], row["search"]
        yield [
            row["data"],
            *formatted(row, "rows", "labels", form=","),
            *(f"{one['precision'][0]:.3f}" for one in both),
            *(f"{one['ndcg_at_5']:.3f}" for one in both),
            *(time for one in both for time in times(one, "processor_s")),
            f"{row['ratio']:.2f}",
            *(f"{one['bytes'] / 1e6:,.1f} MB" for one in both),
            *(f"{one['peak_mib']:,.0f} MiB" for one in both),
            f"{both[0]['limit_mib']:,.0f} MiB",
        ]
    yield f"{class_of(record)} The machine was busy with other work as well."


@table
def estimates(record: Record) -> Parts:
    """Estimates of a shortlist's fit, on shapes that they were not fitted to."""
    yield ["data", "rows", "labels", "fit", "estimate", "memory of the fit", "estimate"]
    rows = [row for row in record["measurements"] if row["part"] == "checked"]
    for row in (one for one in rows if one["what"] == "COMPILED_SECONDS"):
        key = row["data"], row["rows"], row["labels"]
        (more,) = (
            one
            for one in rows
            if one["what"] == "BYTES" and (one["data"], one["rows"], one["labels"]) == key
        )
        seconds, size = row["measured"], more["measured"] / 2**20
        yield [
            row["data"],
            *formatted(row, "rows", "labels", form=","),
            *(f"{value:.1f} s" for value in (seconds, seconds * row["ratio"])),
            *(f"{value:,.0f} MiB" for value in (size, size * more["ratio"])),
        ]
    yield f"{class_of(record)} Seconds of one core, with Numba."


@table
def text_budgets(record: Record) -> Parts:
    """The automatic search on texts at size: seconds, size and precision, and its budgets."""
    yield ["", "P@1", "P@3", "P@5", "fit", "fit, processors", "model"]
    for row in record["measurements"]:
        precisions = [f"{value:.3f}" for value in row["precision"]]
        size = f"{row['bytes'] / 1e6:,.1f} MB"
        yield [row["entry"], *precisions, *times(row, "fit_s", "fit_processor_s"), size]
    cores = record["machine"]["cores"]
    busy = any(row["free_cores"] < cores for row in record["measurements"])
    note = " Other work ran at the same time: only seconds of processors compare." if busy else ""
    yield f"{class_of(record)}{note}"


@table
def suggested_labels(record: Record) -> Parts:
    """Probability and precision of suggested labels: the largest gap of any bin."""
    yield [
        "data", "P@1", "P@3", "P@5", "expected labels", "true labels", "best label", "best five",
        "predicted", "labels of at most 3 rows",
    ]  # fmt: skip
    for row in record["measurements"]:
        gaps = [f"{row[part]['largest_gap']:.2f}" for part in ("best", "best_five", "predicted")]
        counts = formatted(row, "expected_labels", "true_labels", form=".2f")
        rare = _rare(row["by_frequency"])
        yield [row["data"], *(f"{value:.3f}" for value in row["precision"]), *counts, *gaps, rare]
    yield class_of(record)


def _rare(groups: list[Record]) -> str:
    """Return mean probability and precision of best labels that at most three rows have."""
    own = [group for group in groups if group["at_most"] is not None and group["at_most"] <= 3]
    n = sum(group["rows"] for group in own)
    if not n:
        return "none"
    means = [sum(g["rows"] * g[key] for g in own) / n for key in ("probability", "precision")]
    return f"{means[0]:.2f}, right {means[1]:.2f} ({n:,})"


@table
def long_tails(record: Record) -> Parts:
    """The shortlist, one-vs-rest and label trees where most labels have few rows."""
    rows = record["measurements"]
    for about in (row for row in rows if row["entry"] == "about"):
        yield (
            f"**{about['data']}**: {about['train_rows']:,} training and {about['test_rows']:,} "
            f"test rows, {about['labels']:,} labels, {about['cardinality']:.1f} of them in a row; "
            f"{about['rarest']:.0%} of the labels have fewer than five rows."
        )
        groups = {name: n for name, n in about["judged_labels"].items() if name != "all"}
        recall = [f"R@5, rows {name} ({n:,} labels)" for name, n in groups.items()]
        yield ["", "P@1", "P@3", "P@5", *recall, "fit, processors", "predict, processors"]
        for row in (row for row in rows if row["data"] == about["data"] and "fit_s" in row):
            yield [
                row["entry"],
                *formatted(row, *(f"precision_at_{k}" for k in (1, 3, 5))),
                *formatted(row["recall_at_5_of_labels"], *groups),
                *times(row, "fit_processor_s", "predict_processor_s"),
            ]
    yield class_of(record)


@table
def long_tails_stages() -> Parts:
    """Recall of candidates, and the precision of each stage of the shortlist."""
    record = measured("long_tails")
    yield [
        "data", "setting", "candidates of a row", "recall", "prior: P@1, P@5", "margins",
        "final", "true candidates first",
    ]  # fmt: skip
    for row in record["measurements"]:
        for one in row.get("settings", ()):
            ranks = [one[name] for name in ("prior", "margins", "final", "at most")]
            yield [
                row["data"],
                one["setting"],
                f"{one['candidates']:.0f}",
                f"{one['recall']:.3f}",
                *(f"{values[0]:.3f}, {values[2]:.3f}" for values in ranks),
            ]


@table
def languages(record: Record) -> Parts:
    """P@1 and P@5 of words, pairs, characters and both, by language."""
    rows = record["measurements"]
    yield [
        "language", "texts", "labels", "words in no other text", "words: P@1, P@5", "pairs",
        "characters", "both", "fit with words", "with characters",
    ]  # fmt: skip
    for name in dict.fromkeys(row["language"] for row in rows):
        own = {row["features"]: row for row in rows if row["language"] == name}
        words = own.pop("words")
        yield [
            name,
            *formatted(words, "rows", "labels", form=",d"),
            f"{words['single']:.0%}",
            _precisions(words),
            *(
                _differences(own[one]) if one in own else "none"
                for one in ("pairs", "characters", "both")
            ),
            *times(words, "fit_processor_s"),
            *times(own["characters"], "fit_processor_s"),
        ]
    yield class_of(record)


@table
def vectorizer(record: Record) -> Parts:
    """P@1 and P@5 of each setting of the words, relative to the first, by the number of texts."""
    rows = record["measurements"]
    sizes = sorted({row["rows"] for row in rows})
    yield ["setting", *(f"{size:,} texts: P@1, P@5, words" for size in sizes)]
    for name in dict.fromkeys(row["setting"] for row in rows):
        form = _precisions if name == rows[0]["setting"] else _differences
        own = sorted((r for r in rows if r["setting"] == name), key=lambda row: row["rows"])
        yield [name, *(f"{form(row)}, {row['features']:,.0f}" for row in own)]
    yield class_of(record)


@table
def word_forms(record: Record) -> Parts:
    """P@1 of words, characters and both, by the number of forms of a word and of texts."""
    rows = record["measurements"]
    yield [
        "forms of a word", "texts", "words in no other text", "words: P@1", "characters", "both",
    ]  # fmt: skip
    for key in dict.fromkeys((row["language"], row["rows"]) for row in rows):
        words, *others = (row for row in rows if (row["language"], row["rows"]) == key)
        gained = [f"{row['difference'][0]:+.3f} ({row['error'][0]:.3f})" for row in others]
        sizes = [key[0].split()[0], f"{key[1]:,}", f"{words['single']:.0%}"]
        yield [*sizes, f"{words['precision'][0]:.3f}", *gained]
    yield class_of(record)


def _precisions(row: Record) -> str:
    return ", ".join(f"{row['precision'][k]:.3f}" for k in (0, 2))


def _differences(row: Record) -> str:
    return ", ".join(f"{row['difference'][k]:+.3f} ({row['error'][k]:.3f})" for k in (0, 2))

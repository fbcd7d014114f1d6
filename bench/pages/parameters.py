"""The table of docs/how-to/tune.md."""

from pages.shared import Parts, Record, class_of, table


@table
def grid(record: Record) -> Parts:
    """The paper's grid by one search."""
    yield ["data", "settings × folds", "in all", "each", "one fit, predict and score", "ratio"]
    for row in record["measurements"]:
        each = f"{row['milliseconds_per_setting']:.2g} ms"
        alone = f"{row['milliseconds_alone']:.0f} ms"
        work = f"{row['settings']} × {row['folds']}"
        yield [row["data"], work, f"{row['seconds']:.0f} s", each, alone, f"{row['ratio']:.0f}"]
    yield class_of(record)

"""The table of docs/how-to/save.md."""

from pages.shared import Parts, Record, class_of, seconds, table


@table
def model_files(record: Record) -> Parts:
    """Loading times, and what one row and ten processes need."""
    yield ["model", "file", "`load_model`", "nothing in the cache", "`verify=True`", "joblib"]
    loads, (one,), (ten,) = (
        [row for row in record["measurements"] if row["what"] == what]
        for what in ("load", "one row", "share")
    )
    for row in loads:
        times = [row[f"{name}_ms"] for name in ("least", "cold", "verified", "joblib")]
        cells = [seconds(value / 1000) for value in times]
        yield [row["kind"], f"{row['file_mb']:.0f} MB", *cells]
    yield (
        f"The first row of 40 features that the dense model of {one['file_mb']:.0f} MB scores "
        f"takes {seconds(one['first_ms'] / 1000)} and {one['in_memory_mb']:.0f} MB of the file "
        f"(after `joblib.load` {seconds(one['after_pickle_ms'] / 1000)}). Ten processes that have "
        f"loaded it and scored a row take {ten['ten_mb']:.0f} MB together, one of them "
        f"{ten['one_mb']:.0f} MB, and ten that have loaded a pickle {ten['ten_pickles_mb']:,.0f} "
        f"MB. Times of loading are the least of several. {class_of(record)}"
    )

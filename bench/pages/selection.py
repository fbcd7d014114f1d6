"""The tables of docs/results/tuning.md."""

from pages.shared import Parts, Record, class_of, formatted, table


@table
def selection(record: Record) -> Parts:
    """Scores and costs of a search without arguments."""
    yield ["data", "the search", "tuned ridge", "larger grid", "loss", "single fits"]
    for row in record["measurements"]:
        scores = formatted(row, "ours", "ridge", "larger_grid")
        yield [row["data"], *scores, f"{row['loss']:+.3f}", f"{row['fits']:.0f}"]
    yield class_of(record)


@table
def decoder_choice(record: Record) -> Parts:
    """Gain of a search by trying the logistic decoder, and by trying it more often."""
    titles = {
        "linear": "linear",
        "logistic": "logistic",
        "one_first": "the better on the first fold",
        "one_all": "the better on all",
        "two_first": "of two settings, on the first",
        "three_all": "of three, on all",
    }
    rows = record["measurements"]
    yield ["data", *titles.values()]
    yield from ([row["data"], *formatted(row, *titles)] for row in rows)
    means = {key: sum(row[key] for row in rows) / len(rows) for key in titles}
    yield ["mean", *formatted(means, *titles, form=".4f")]


@table
def small_models(record: Record) -> Parts:
    """Return the best kind of codes under a bound on the number of parameters."""
    titles = {
        "reduced_rank": "CPLST",
        "kept": "CMLL, features kept",
        "krylov": 'CMLL, "krylov"',
        "projected": "CMLL, projected",
    }
    head = ["data", "parameters (share of ridge's)", "codes"]
    yield [*head, *titles.values(), "ridge, all its parameters"]
    for row in record["measurements"]:
        for size in row["sizes"]:
            line = [row["data"], f"{size['numbers']:,} ({size['share']:.0%})", f"{size['rank']}"]
            yield [*line, *formatted(size, *titles), *formatted(row, "ridge")]


@table
def splits(record: Record) -> Parts:
    """Stratified folds compared with those of other packages."""
    yield ["data", "against", "deviation of labels, ours / theirs", "of sizes, ours / theirs"]
    for row in record["measurements"]:
        labels = f"{1e3 * row['ours_ld']:.2f} / {1e3 * row['theirs_ld']:.2f}"
        sizes = f"{row['ours_ed']:.2g} / {row['theirs_ed']:.2g}"
        yield [row["data"], row["against"], labels, sizes]
    yield class_of(record)

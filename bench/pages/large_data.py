"""The table of docs/how-to/large-data.md."""

from compactlearn.utils import human_bytes
from pages.shared import Parts, Record, class_of, table

GROUPS = {
    "dense": "300 features, 100 labels",
    "wordnet": "text of wordnet",
    "defaults": "text of wordnet, 500 codes",
}


@table
def blocks(record: Record) -> Parts:
    """Rows that come in blocks: rates, and memory that does not grow."""
    yield ["rows", "passes", "time", "rows a second and pass", "peak of memory"]
    for group, what in GROUPS.items():
        for run in record.get(group, {"runs": ()})["runs"]:
            rate = run["rows"] * run["passes"] / run["seconds"]
            cells = [f"{run['passes']}", f"{run['seconds']:.0f} s", f"{rate:,.0f}"]
            yield [f"{run['rows']:,}, {what}", *cells, human_bytes(run["peak_bytes"])]
    turns, codes = record["dense"]["beside_plain_products"], record["wordnet"]["runs"][0]
    yield (
        f"The dense rows are summed, checked and set aside at {turns['share']:.0%} of the rate of "
        "a plain `A.T @ A` of all 400 columns (median of the pairs). wordnet has "
        f"{codes['label_components']} codes here, of a share of {codes['objective_share']:.6f} of "
        "the objective, or the 500 that are the default (a run on a busy machine, for its memory), "
        "and is parsed from text in every pass. All runs tune their threshold. "
        f"{class_of(record)}"
    )

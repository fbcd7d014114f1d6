"""The tables of docs/scaling.md, by the cost model of bench/scaling.py."""

import scaling

from compactlearn.utils import human_bytes
from pages.shared import Page, Parts

page = Page("docs/scaling.md")


@page.table
def scaling_routes() -> Parts:
    """What fits of large data ask for."""
    c = scaling.Constants.measured()
    yield ["rows", "features", "labels", "way", "passes", "one thread", "client", "a sum"]
    for data in scaling.CASES.values():
        way, summing, solving, size, passes = scaling.route(data, c)
        sparse = "" if data.entries is None else f", {data.entries:g} in a row"
        shape = [f"{data.rows:,.0f}", f"{data.features:,}{sparse}", f"{data.labels:,}"]
        needs = [f"{summing / 3600:,.1f} h", f"{solving:,.1f} s", human_bytes(round(size))]
        yield [*shape, way, str(passes), *needs]


@page.table
def scaling_workers() -> Parts:
    """The same on many workers, simulated."""
    c = scaling.Constants.measured()
    ways = [(n, block) for n in (10, 100) for block in scaling.BLOCK_SECONDS]
    yield ["rows, features, labels", *(f"{n} workers, blocks of {b:g} s" for n, b in ways)]
    for data in scaling.CASES.values():
        found = (scaling.with_workers(data, n, c, block) for n, block in ways)
        cells = [f"{seconds / 60:,.0f} min ({times:.0f} times)" for seconds, times in found]
        yield [f"{data.rows:,.0f}, {data.features:,}, {data.labels:,}", *cells]

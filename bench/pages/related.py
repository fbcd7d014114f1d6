"""The tables of docs/RELATED.md; ``bench/related_tables.py`` makes them."""

from related_tables import related_cost, related_nested, related_paper, related_rare

from pages.shared import Page

page = Page("docs/RELATED.md")
for maker in (related_nested, related_rare, related_cost, related_paper):
    page.table(maker)

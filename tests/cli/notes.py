"""A small table of texts and tags."""

import csv
import json

NOTES = [
    ("boil the pasta in salted water", ["food", "pasta"]),
    ("bake the bread in a hot oven", ["food", "bread"]),
    ("salted bread with olive oil", ["food", "bread"]),
    ("the keeper saved a late penalty", ["sport"]),
    ("a penalty goal won the match", ["sport"]),
    ("the match was lost in the rain", ["sport", "weather"]),
    ("rain and wind until friday", ["weather"]),
    ("wind from the west, no rain", ["weather"]),
]
TEXTS, TAGS = [text for text, _ in NOTES], [tags for _, tags in NOTES]


def write_notes(path, notes=NOTES):
    """Write texts and tags as CSV or JSON lines."""
    if path.suffix == ".jsonl":
        lines = [json.dumps({"body": text, "topics": tags}) + "\n" for text, tags in notes]
        path.write_text("".join(lines))
        return path
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["body", "topics"])
        table.writerows([[text, ";".join(tags)] for text, tags in notes])
    return path

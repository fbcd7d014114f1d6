"""Data sets by name: known ones, fetched or in the package, and those that a user has added."""

"""Specification of a benchmark: from a TOML file to cells."""

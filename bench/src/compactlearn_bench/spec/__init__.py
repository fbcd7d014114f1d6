"""What a benchmark shall run: from a TOML file to cells."""

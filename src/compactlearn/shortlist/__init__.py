"""Rank a short list of candidate labels for each row."""

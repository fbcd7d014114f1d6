"""Compact models: prepare rows, embed, regress, decode."""

"""Shared parts of all readers: unpack files, parse numbers, and assemble rows into a Dataset."""

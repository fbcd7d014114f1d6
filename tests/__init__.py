"""The tests; helpers that several folders share are in makers.py."""

"""The tests; what several folders of them share stands in makers.py."""

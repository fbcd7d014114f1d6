"""The tables of the pages in docs/, a module for each page; ``tables.py`` writes them there."""

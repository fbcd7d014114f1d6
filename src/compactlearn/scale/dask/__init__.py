"""Rows in blocks on a Dask cluster: sums of them are reduced there, predictions stay there.

``chunks.py`` checks collections and aligns them, ``running.py`` computes on the scheduler that the
user has, ``source.py`` gives the blocks to the fits that read block by block, ``predicting.py`` and
``evaluating.py`` ask a fitted model.
"""

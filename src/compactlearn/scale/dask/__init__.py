"""Rows in blocks on a Dask cluster: sums are reduced there, predictions stay there."""

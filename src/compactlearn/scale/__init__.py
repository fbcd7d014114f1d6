"""Fits of blocks of rows, of streams and of Dask collections."""

"""Results as tables: figures beside the published ones, ranks, and how all of it is printed."""

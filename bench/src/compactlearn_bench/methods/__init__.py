"""The methods that a benchmark measures, and what they share: grids, clocks, sizes."""

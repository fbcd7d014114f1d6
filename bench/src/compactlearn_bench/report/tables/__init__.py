"""Results as tables: scores, published scores, ranks, and the formats CSV and LaTeX."""

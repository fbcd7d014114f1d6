"""Results in sentences: what the methods are, how near the paper the figures are, what to use."""

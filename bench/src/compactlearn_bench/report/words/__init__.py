"""Results in sentences: what the methods are, how near the paper the scores are, what to use."""

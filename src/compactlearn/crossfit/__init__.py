"""Scores of rows by models that were not trained on them, and what is learnt from such scores."""

"""Rank a short list of candidate labels for each row.

A row passes through four stages: candidate generation (``_generation``), prior (``_prior``), label
re-ranking (``_label_reranking``) and co-occurrence re-ranking (``_cooccurrence_reranking``).
"""

"""Tests of statements of the theory, which hold for every implementation."""

"""Classifiers of the paper's related work that are no embedding with a learner beside it."""

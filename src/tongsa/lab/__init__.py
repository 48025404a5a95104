"""Experiments with the systems of the paper."""

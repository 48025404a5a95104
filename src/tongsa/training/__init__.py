"""Training: from pairs to weights."""

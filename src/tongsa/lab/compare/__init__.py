"""Several architectures on the same ids with the same budget, and what became of them."""

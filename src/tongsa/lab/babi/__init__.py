"""Question answering on the 20 bAbI tasks (Weston et al. 2015) with the memory network."""

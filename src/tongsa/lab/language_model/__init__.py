"""Language models: the memory network's, and the trigram that it is measured against."""

"""From a sentence to its translation, equation by equation, with the numbers of one model."""

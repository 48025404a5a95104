"""Text: reading pairs, cleaning them, cutting them into subwords. Nothing here knows of tensors."""

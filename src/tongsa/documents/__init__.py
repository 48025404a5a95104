"""Documents: files with structure in, the same files in another language out."""

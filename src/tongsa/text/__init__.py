"""Text: lines, languages, sentences, placeholders, subwords. Nothing in here knows of tensors.

May import base and config.
"""

"""Text: lines, languages, sentences, placeholders, subwords. No tensors here.

May import base and config.
"""

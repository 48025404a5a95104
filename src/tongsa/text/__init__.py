"""Text: lines, languages, Korean, sentences, placeholders, subwords. No tensors here.

May import base and config.
"""

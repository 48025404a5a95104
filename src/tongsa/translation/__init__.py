"""All that stands between a text and an engine: the Translator, streams of lines.

May import engines and the rooms below.
"""

"""File formats, one module each: pairs are read and written, documents opened and written.

registry.py lists them, pairs.py opens corpora, writers.py writes them; segments.py, spans.py, wrapping.py, xml_tree.py,
xml_stream.py and zipped.py are shared by several formats. May import base, config and text.
"""

"""File formats, one file each with all that is known of it: pairs are read and written, documents opened and written.

registry.py lists them, pairs.py opens corpora, writers.py writes them; segments.py, spans.py, wrapping.py, xml_tree.py,
xml_stream.py and zipped.py are what several formats share. May import base, config and text.
"""

"""File formats, one file each with all that is known of it: pairs are read and written, documents opened and written.

May import base, config and text.
"""

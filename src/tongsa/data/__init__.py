"""From pairs to batches: selection, the one pass over the text, ids on disk, batches.

May import formats and what is below it.
"""

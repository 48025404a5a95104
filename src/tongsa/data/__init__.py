"""From pairs to batches: filters, a single pass over the text, ids on disk, batches.

May import formats and what is below it.
"""

"""The run directory, which a training writes and everything else reads.

directory.py: the files; card.py: translator.json; header.py, weights.py: the weights, checked before they are used;
job.py: the options of the training; log.py: its log.
Imports base, config, text and data, and torch only where weights are written.
"""

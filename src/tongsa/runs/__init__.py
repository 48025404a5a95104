"""The run directory: what a training writes and everything else reads, people copy and zip.

directory.py knows the files, card.py what translator.json says, job.py what the training was told, log.py what it did.
Imports base, config, text and data, and torch only where weights are written.
"""

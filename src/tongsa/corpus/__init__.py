"""Inspect and repair corpora: report, clean, split, sample, dedupe. Does not import torch."""

"""Shared basics: errors, atomic files, devices, progress. Nothing here depends on translation."""

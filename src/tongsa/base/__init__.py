"""What every room stands on: errors, atomic files, devices, progress. Knows nothing of translation."""

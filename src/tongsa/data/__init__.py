"""From pairs to batches: cleaning, ids on disk, batches. May import formats and what is below it."""

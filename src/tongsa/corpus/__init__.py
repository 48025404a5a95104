"""Looking at corpora and mending them: report, clean, split, sample, dedupe. No torch in here."""

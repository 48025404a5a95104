"""Translators in the formats of others, and theirs in ours."""

"""Options of a translation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tongsa.decoding.search import Search
from tongsa.translation.glossary import Glossary


@dataclass(frozen=True, kw_only=True)
class TranslateOptions:
    """How texts are translated, and what is returned besides the text."""

    search: Search | None = None
    """Search options; None uses the translator's defaults."""
    alternatives: int = 0
    """Number of further hypotheses to return for each text, as with `Search.nbest`."""
    alignment: bool = False
    """Also return the source token that each target token aligns to, as `Search.alignment` does."""
    tokens: bool = True
    """Return tokens, ids and confidence. Without them only text, score and notes are returned, which is faster."""
    words: bool = False
    """Also return the confidence of each word, which takes a second pass over the translation."""
    glossary: Glossary | None = None
    """Terms that translations must hold; see `tongsa.translation.terms`."""
    fallback: bool = False
    """Take another of the n-best, with a note, where the best translation is a loop, cut off, a copy or in another
    script. Sentences with terms keep theirs."""
    split: Literal["auto", "long", "always"] = "auto"
    """Which texts are cut into sentences: those longer than any the model was trained on (`long`), also those of
    several sentences if it was trained on single ones (`auto`), or all (`always`). With `always` the white space
    between sentences is kept, and what has no letters is copied."""

    @classmethod
    def of(cls, options: TranslateOptions | Search | None) -> TranslateOptions:
        """Build options from the argument of a caller, who may pass search options alone."""
        if options is None:
            return cls()
        return cls(search=options) if isinstance(options, Search) else options

    def search_settings(self, default: Search) -> Search:
        """Return the settings for the engine."""
        search = self.search or default
        return replace(
            search,
            nbest=max(search.nbest, self.alternatives + 1),
            alignment=search.alignment or self.alignment,
        )

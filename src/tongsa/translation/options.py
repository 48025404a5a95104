"""What is asked of a translator, in one object."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tongsa.decoding.search import Search


@dataclass(frozen=True, kw_only=True)
class TranslateOptions:
    """How texts are translated, and what is returned beside the text."""

    search: Search | None = None
    """How to search; None takes the translator's own settings."""
    alternatives: int = 0
    """Return so many further hypotheses for each text, as `Search.nbest` does."""
    alignment: bool = False
    """Also return the source token that each target token aligns to, as `Search.alignment` does."""
    tokens: bool = True
    """Return tokens, ids and confidence. Without them there are text, score and notes alone, which is faster."""
    words: bool = False
    """Also return the confidence of each word, which takes a second pass over the translation."""
    split: Literal["long", "always"] = "long"
    """Which texts are cut into sentences: those longer than any the model was trained on, or all of them. With `always`
    the white space between sentences is kept, and what has no letters is copied."""

    @classmethod
    def of(cls, options: TranslateOptions | Search | None) -> TranslateOptions:
        """Make options of what a caller gave: search settings alone are enough."""
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

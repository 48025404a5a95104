"""A translation, with the source token that each of its characters belongs to."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tongsa.translation.alignment import Span, token_spans
from tongsa.translation.evidence import Evidence
from tongsa.translation.sentences import Translation

T = TypeVar("T")
ALIGNED = 0.5
"""Share of the characters of a word that belong to a source term, from which the word is taken for its translation."""
SPANS = 4
"""Most places returned for a term."""
PLACES = 12
"""Most places between words returned for a term that no word is clearly aligned to."""
NEAR = 2
"""Largest distance in tokens of source tokens that are next to a term."""
PART = 2
"""Fewest letters of a word that is a part of a longer one."""
LETTERS = 5
"""Letters of a word that counts as one; in scripts whose letters are syllables or words, one."""
LONG = 1.0
"""Weight from which on words are more than an article or a preposition."""
FOR, AGAINST = 1.0, -2.5
"""Evidence above which a word is taken for the translation of a source term, and up to which it is not, although it is
aligned to it."""

_WORDS = re.compile(r"\w+(?:[-'’·]\w+)*")
_SYLLABLES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True)
class AlignedText:
    text: str
    words: Sequence[Span]
    """Places of the words; in scripts without spaces, of the tokens."""
    origins: Sequence[int]
    """For each character, the index of a source token; -1 for white space and unaligned characters."""
    source: Sequence[Span]
    """Places of the source tokens in the source text."""

    @classmethod
    def of(cls, source: str, text: str, translation: Translation) -> AlignedText:
        """`source` and `text` are those of the translation, as tidy text."""
        origins = [-1] * len(text)
        places = token_places(text, translation.tokens)
        source_places = token_places(source, translation.source_tokens)
        for s, t in translation.alignment:
            if s < len(source_places) and t < len(places):
                begin, end = places[t]
                origins[begin:end] = [s] * (end - begin)
        words = [match.span() for match in _WORDS.finditer(text)]
        if places and _UNSPACED.search(text):
            words = [(begin, end) for begin, end in places if any(map(str.isalnum, text[begin:end]))]
        return cls(text, words, origins, source_places)

    def free(self, taken: Iterable[Span]) -> list[Span]:
        """Return the words outside of the places in `taken`."""
        taken = list(taken)
        return [word for word in self.words if not any(word[0] < end and word[1] > begin for begin, end in taken)]

    def aligned(self, term: Span, free: Iterable[Span]) -> list[Span]:
        """Return the words that are aligned to source[term]."""
        return [word for word in free if self.share(word, term) >= ALIGNED]

    def places(self, term: Span, free: Sequence[Span], evidence: Evidence, *, several: bool) -> tuple[list[Span], bool]:
        """Return the places of words that translate source[term], the best aligned first, and whether they clearly do.

        If not, return words that may do so, and places between words all over the text. With `several`, a place may
        hold several words.
        """
        known = {word: evidence.get(self.text[word[0] : word[1]], -math.inf) for word in free}
        aligned = set(self.aligned(term, free))
        possible = [word for word in free if known[word] > AGAINST or word in aligned]
        clear = [word for word in possible if known[word] > (AGAINST if word in aligned else FOR)]
        if not clear:
            ends = [end for _, end in self.words] or [0]
            return [*possible, *((end, end) for end in _spread(ends))], False
        shares = {word: self.share(word, term) + known[word] for word in clear}
        spans = {word: shares[word] for word in clear}
        run: list[Span] = []
        for word in clear if several else ():
            if run and _WORDS.search(self.text[run[-1][1] : word[0]]):
                run = []
            run.append(word)
            spans[run[0][0], word[1]] = sum(shares[each] for each in run)
        return sorted(spans, key=lambda span: -spans[span])[:SPANS], True

    def with_parts(self, place: Span, form: str) -> Span:
        """Add the words beside a place that a form also begins or ends with: `보여 줍니다` for `보여줍니다`."""
        begin, end = place
        if begin == end:
            return place
        before = next((word for word in reversed(self.words) if word[1] <= begin), None)
        after = next((word for word in self.words if word[0] >= end), None)
        if before and PART <= before[1] - before[0] < len(form) and form.startswith(self.text[before[0] : before[1]]):
            begin = before[0]
        if after and PART <= after[1] - after[0] < len(form) and form.endswith(self.text[after[0] : after[1]]):
            end = after[1]
        return begin, end

    def share(self, span: Span, term: Span) -> float:
        """Return the share of the characters of text[span] that belong to source[term]."""
        tokens = self.tokens(term)
        return sum(origin in tokens for origin in self.origins[span[0] : span[1]]) / (span[1] - span[0])

    def others(self, place: Span, term: Span) -> float:
        """Count the words outside of a place that also translate source[term]; a longer word counts for more.

        Short words, such as articles and prepositions, often look at the noun that comes next.
        """
        words = [word for word in self.words if word[1] <= place[0] or word[0] >= place[1]]
        return sum(_weight(self.text[begin:end]) for begin, end in self.aligned(term, words))

    def near(self, at: Span, term: Span) -> int:
        """Count the words next to a place that are aligned to source tokens next to source[term]."""
        tokens = self.tokens(term)
        if not tokens:
            return 0
        first, last = min(tokens) - NEAR, max(tokens) + NEAR
        before = next((word for word in reversed(self.words) if word[1] <= at[0]), None)
        after = next((word for word in self.words if word[0] >= at[1]), None)
        return sum(
            any(first <= origin <= last for origin in self.origins[a:b]) for a, b in filter(None, (before, after))
        )

    def covered(self, term: Span) -> int:
        """Count the source tokens outside of source[term] that something is aligned to."""
        return len({*self.origins} - self.tokens(term) - {-1})

    def tokens(self, term: Span) -> set[int]:
        """Return the source tokens of source[term]."""
        return {token for token, (begin, end) in enumerate(self.source) if begin < term[1] and end > term[0]}


def _weight(word: str) -> float:
    return min(3.0, len(word) if _SYLLABLES.search(word) else len(word) / LETTERS)


def token_places(text: str, tokens: Sequence[str]) -> list[Span]:
    """Return where tokens are in a text; nothing if they are not those of the text."""
    characters = [place for place, c in enumerate(text) if not c.isspace()] + [len(text)]
    return [(characters[a], characters[b - 1] + 1 if b > a else characters[a]) for a, b in token_spans(tokens, text)]


def _spread(places: Sequence[T]) -> Sequence[T]:
    """Return all places, or as many as allowed at equal distances."""
    return places[:: max(1, -(-len(places) // PLACES))]

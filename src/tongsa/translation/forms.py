"""Inflected forms of terms that were seen in the training text.

A translator keeps no list of words, but frequent words are pieces of its vocabulary, which was learnt from the training
text. One of them is a form of another if it adds an ending that many others add: `Kinder` to `Kind`, `roten` to `rote`.
`Hand` and `Handy` are two words: few others differ by a `y`. A piece may also be the beginning of longer words; a model
that scores it in a sentence knows that. Forms that are shorter than the term are not looked for: a glossary has the
basic form of a word, and a shorter one is often another word (`corner`, `corn`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

STEM = 3
"""Fewest letters that a term and its forms have in common."""
ENDING = 3
"""Most letters of an ending."""
PAIRS, SHARE = 12, 0.03
"""Fewest pairs of words that an ending must distinguish, and its least share of all pairs."""
FORMS = 4
"""Most forms returned for a term."""

_WORD = re.compile(r"▁([^\W\d_]+)$")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class SeenForms:
    """The inflected forms of words among the pieces of a vocabulary."""

    def __init__(self, pieces: Iterable[str]) -> None:
        found = [match[1] for piece in pieces if (match := _WORD.match(piece)) and not _UNSPACED.search(piece)]
        self.words = frozenset(found)
        counts = Counter(word[len(stem) :] for word in found for stem in _stems(word) if stem in self.words)
        least = max(PAIRS, SHARE * counts.total())
        self.endings = sorted((ending for ending, count in counts.items() if count >= least), key=lambda e: (len(e), e))

    def of(self, term: str) -> tuple[str, ...]:
        """Return other forms of a term, with its last word inflected; none if the word itself was not seen."""
        before, space, word = term.rpartition(" ")
        if word not in self.words or len(word) < STEM:
            return ()
        forms = [word + ending for ending in self.endings if word + ending in self.words]
        return tuple(before + space + form for form in forms[:FORMS])


def _stems(word: str) -> list[str]:
    """Return a word without its last letters, in every way that leaves a stem."""
    return [word[:-count] for count in range(1, ENDING + 1) if len(word) - count >= STEM]

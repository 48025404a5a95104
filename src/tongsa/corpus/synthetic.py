"""Synthetic pairs: text in one language, and a translator's translation of it (Sennrich et al. 2016).

Back-translation gives text of the target language a synthetic source, so that the model learns to write as people do.
A tag at the beginning of such sources (Caswell et al. 2019) tells the model which ones are synthetic; it is plain text,
so frequent that it becomes a subword of its own. Forward translation (self-training) gives text of the source language
a synthetic target. Broken translations are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading, Tally
from tongsa.formats.writers import write_corpus
from tongsa.text.breakage import foreign_text, is_loop
from tongsa.text.lines import read_lines

TAG = "<BT>"


def fault_of(original: str, translation: str, language: str, other: str) -> str | None:
    """Why a text and a translator's translation of it are no pair to learn from; None if they are one."""
    if not original.strip() or not translation.strip():
        return "with an empty side"
    if is_loop(original, translation):
        return "with a translation that repeats itself"
    if foreign_text(original, translation, language, other):
        return "with a translation that is a copy or in another script"
    return None


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """Text and its translations, line by line."""

    text: Path
    translations: Path
    language: str
    """Language of the text."""
    other: str
    """Language of the translations."""
    forward: bool = False
    """The text is the source of the pairs, not the target."""
    tag: str = TAG
    """First word of synthetic sources; empty for none."""

    def pairs(self, tally: Tally) -> Iterator[Pair]:
        """Yield the pairs that are not broken; the others are counted."""
        lines = zip_longest(read_lines(self.text), read_lines(self.translations))
        for number, (original, translation) in enumerate(lines, start=1):
            if original is None or translation is None:
                raise CorpusError(f"{self.translations} does not have as many lines as {self.text}")
            tally.seen += 1
            where = Place(self.text, number)
            if reason := fault_of(original, translation, self.language, self.other):
                tally.drop(reason, where)
            elif self.forward:
                yield Pair(original, translation, where)
            else:
                yield Pair(f"{self.tag} {translation}".lstrip(), original, where)

    def write(self, out: Path) -> Tally:
        """Write the pairs; return counts of those read and left out."""
        tally = Tally()
        sides = (self.language, self.other) if self.forward else (self.other, self.language)
        write_corpus(self.pairs(tally), out, Reading(source=sides[0], target=sides[1]))
        return tally

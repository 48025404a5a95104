"""Which characters of a translation belong to which characters of its source, from the alignment of their tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tongsa.text.lines import nfc

_BYTE = re.compile(r"<0x([0-9A-F]{2})>$")

Span = tuple[int, int]


@dataclass(frozen=True)
class TokenAlignment:
    """Tokens of a pair as spans, counted in non-space characters, on which tokens and text agree."""

    source: list[Span]
    target: list[Span]
    targets: list[list[int]]
    """For each source token, the target tokens that attend to it."""

    @classmethod
    def of(
        cls, texts: tuple[str, str], tokens: tuple[Sequence[str], Sequence[str]], alignment: Sequence[tuple[int, int]]
    ) -> TokenAlignment | None:
        source, target = token_spans(tokens[0], texts[0]), token_spans(tokens[1], texts[1])
        if not source or not target or not alignment:
            return None
        targets: list[list[int]] = [[] for _ in source]
        for s, t in alignment:
            if s < len(source) and t < len(target):
                targets[s].append(t)
        return cls(source, target, targets)

    @classmethod
    def proportional(cls, source: str, target: str) -> TokenAlignment:
        """Align words by their places alone, for a model that has no alignment to give."""
        source_words, target_words = _word_spans(source), _word_spans(target)
        targets: list[list[int]] = [[] for _ in source_words]
        for t in range(len(target_words)):
            targets[min(len(targets) - 1, t * len(targets) // len(target_words))].append(t)
        return cls(source_words, target_words, targets)

    def span(self, begin: int, end: int) -> Span | None:
        """Return the target span of the source characters from `begin` to `end`."""
        found = [t for (a, b), row in zip(self.source, self.targets, strict=True) if a < end and b > begin for t in row]
        return (min(self.target[t][0] for t in found), max(self.target[t][1] for t in found)) if found else None

    def place(self, at: int) -> int:
        """Return the target position for a place between two words: after the translation of the word before it."""
        if not self.source or at >= self.source[-1][1]:
            return max((end for _, end in self.target), default=0)
        before = [row for (a, _), row in zip(self.source, self.targets, strict=True) if a < at and row]
        return max(self.target[t][1] for t in before[-1]) if at and before else 0

    def place_before(self, at: int) -> int:
        """Return the target position for a place between two words: before the translation of the word after it."""
        after = [row for (a, _), row in zip(self.source, self.targets, strict=True) if a >= at and row]
        return min(self.target[t][0] for t in after[0]) if after else self.place(at)

    def moved(
        self, source: Sequence[Span], target: Sequence[Span], pairs: Sequence[tuple[Span, Span]]
    ) -> TokenAlignment:
        """Return the alignment after both texts were changed.

        `source` and `target` are the new spans of each old character, `pairs` those of texts that were added to both.
        """
        targets = [_covered(span, target) for span in self.target]
        rows = [(_covered(span, source), list(row)) for span, row in zip(self.source, self.targets, strict=True)]
        for left, right in pairs:
            rows.append((left, [len(targets)]))
            targets.append(right)
        rows.sort(key=lambda row: row[0])
        return TokenAlignment([span for span, _ in rows], targets, [row for _, row in rows])


def _covered(span: Span, characters: Sequence[Span]) -> Span:
    begin, end = span
    if begin < end:
        return characters[begin][0], characters[end - 1][1]
    place = characters[begin][0] if begin < len(characters) else (characters[-1][1] if characters else 0)
    return place, place


def _word_spans(text: str) -> list[Span]:
    ends = list(accumulate(count_characters(word) for word in text.split()))
    return list(pairwise([0, *ends]))


def count_characters(text: str) -> int:
    """Count the characters that are not white space."""
    return sum(not c.isspace() for c in nfc(text))


def token_spans(tokens: Sequence[str], text: str) -> list[Span]:
    """Return the spans of the tokens; empty if tokens and text do not agree."""
    spans: list[Span] = []
    at = 0
    waiting = b""
    for token in tokens:
        begin = at
        if match := _BYTE.match(token):
            waiting += bytes([int(match[1], 16)])
            try:
                at += count_characters(waiting.decode())
                waiting = b""
            except UnicodeDecodeError:
                pass  # the character continues in the next token
        else:
            at += count_characters(token.replace("▁", ""))
        spans.append((begin, at))
    return spans if at == count_characters(text) else []

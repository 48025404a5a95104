"""Which characters of a translation belong to which characters of its source, from the alignment of their tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

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

    def span(self, begin: int, end: int) -> Span | None:
        """Return the target span of the source characters from `begin` to `end`."""
        found = [t for (a, b), row in zip(self.source, self.targets, strict=True) if a < end and b > begin for t in row]
        return (self.target[min(found)][0], self.target[max(found)][1]) if found else None

    def place(self, at: int) -> int:
        """Return the target position for a place between two words: after the translation of the word before it."""
        if at >= self.source[-1][1]:
            return self.target[-1][1]
        before = [row for (a, _), row in zip(self.source, self.targets, strict=True) if a < at and row]
        return self.target[max(before[-1])][1] if at and before else 0


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

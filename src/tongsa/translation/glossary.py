"""Terms: words that a translation must use, and words that must stay untranslated.

A glossary is a TSV file of SOURCE, tab, TARGET; a do-not-translate list has one term per line. A term matches whole
words (in scripts without spaces, anywhere), the longest first. A lower-case term also matches with a capital.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tongsa.base.errors import UsageError
from tongsa.formats.segments import Mark
from tongsa.text.lines import read_lines

ENDING = 4
"""Most letters that an inflected form may add to the term, or put in place of its last ones."""

_NO_BLANKS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class Glossary:
    """Target terms by source term; a term that stays untranslated maps to itself."""

    terms: dict[str, str] = field(default_factory=dict)
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _capitalized: dict[str, str] = field(init=False, repr=False, compare=False)
    """Terms by their form with a capital letter."""

    def __post_init__(self) -> None:
        capitalized = {term[0].upper() + term[1:]: term for term in self.terms if term[0].islower()}
        object.__setattr__(self, "_capitalized", capitalized)
        longest_first = sorted(self.terms, key=len, reverse=True)
        pattern = re.compile("|".join(map(_matching, longest_first))) if longest_first else None
        object.__setattr__(self, "_pattern", pattern)

    def terms_in(self, text: str) -> list[str | Mark]:
        """Split the text at its terms, each of which becomes a mark."""
        if not self._pattern:
            return [text]
        pieces: list[str | Mark] = []
        end = 0
        for match in self._pattern.finditer(text):
            pieces += [text[end : match.start()], self._term(match.group())]
            end = match.end()
        return [piece for piece in (*pieces, text[end:]) if piece]

    def _term(self, seen: str) -> Mark:
        term = seen if seen in self.terms else self._capitalized[seen]
        target = self.terms[term]
        if target == term:
            return Mark(text=seen)
        # At the beginning of a sentence both are capitalised; German nouns always are.
        capital = seen != term and target[0].islower()
        return Mark(text=seen, written=target[0].upper() + target[1:] if capital else target, term=True)


def _matching(term: str) -> str:
    first, rest = re.escape(term[0]), re.escape(term[1:])
    if term[0].islower():
        first = f"[{term[0]}{term[0].upper()}]" if len(term[0].upper()) == 1 else first
    left = "" if _NO_BLANKS.match(term[0]) or not re.match(r"\w", term[0]) else r"(?<!\w)"
    right = "" if _NO_BLANKS.match(term[-1]) or not re.match(r"\w", term[-1]) else r"(?!\w)"
    return f"{left}{first}{rest}{right}"


def seen_form(term: str, text: str) -> re.Match[str] | None:
    """Find the term in a translation, possibly inflected: the last letters of each word may differ.

    `Haus` is found in `Hauses`, `Datei` in `Dateien`, `mettre` in `mettons`; not in `Haustür`. A word of three letters
    or fewer may only get longer.
    """
    words = []
    for word in term.split():
        stem = word if len(word) <= 3 else word[: max(3, len(word) - min(ENDING, len(word) // 3))]
        words.append(re.escape(stem) + rf"\w{{0,{len(word) - len(stem) + ENDING - 2}}}")
    begins = "" if _NO_BLANKS.match(term) else r"(?<!\w)"
    ends = "" if _NO_BLANKS.match(term) else r"(?!\w)"
    exact = re.search(rf"{begins}{re.escape(term)}{ends}", text)
    return exact or re.search(begins + r"\s+".join(words) + ends, text, re.IGNORECASE)


def read_glossary(glossary: Path | None, keep: Iterable[Path]) -> Glossary:
    """Read terms from a TSV file, and untranslated terms from lists."""
    terms: dict[str, str] = {}
    for path in keep:
        for line in read_lines(path):
            if line.strip() and not line.startswith("#"):
                terms[line.strip()] = line.strip()
    for number, line in enumerate(read_lines(glossary), 1) if glossary else ():
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) < 2 or not columns[0] or not columns[1]:
            raise UsageError(
                f"{glossary}, line {number:,}: {line[:60]!r} is not a term",
                "A term is SOURCE, a tab, TARGET. Put terms that stay untranslated into --do-not-translate.",
            )
        terms[columns[0]] = columns[1]
    return Glossary(terms)

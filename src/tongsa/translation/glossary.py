"""Terms: words that a translation must use, and words that must stay untranslated.

A glossary is a TSV file of SOURCE, tab, TARGET; a do-not-translate list has one term per line. TARGET may list forms,
the usual one first: `Drahtesel|Drahtesels`. A term matches whole words (in scripts without spaces, anywhere), the
longest first. A lower-case term also matches with a capital.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

from tongsa.base.errors import UsageError
from tongsa.text.lines import read_lines
from tongsa.text.particles import at_word_end, is_hangul

ENDING = 4
"""Most letters that an inflected form may add to the term, or put in place of its last ones."""
SEPARATOR = "|"
"""Between the forms of a target."""
PATTERNS = 4096
"""Number of compiled patterns that are kept."""

_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts whose words are not always separated by spaces; Korean joins particles to words."""
_LETTER = rf"[^\W{_UNSPACED}]"
_IS_LETTER = re.compile(_LETTER)
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")


@dataclass(frozen=True)
class Target:
    """What a translation writes for a term."""

    forms: tuple[str, ...]
    """The usual form first."""
    kind: Literal["kept", "listed", "inflected"] = "listed"
    """Written exactly so, or in one of the forms that are listed, or inflected as the translation needs it."""

    @cached_property
    def _stems(self) -> list[str]:
        """One of these is in every text that holds the term."""
        return [_stem(form.split()[0] if self.kind == "inflected" else form).lower() for form in self.forms]

    @classmethod
    def of(cls, target: str) -> Target:
        forms = tuple(dict.fromkeys(form.strip() for form in target.split(SEPARATOR) if form.strip()))
        return cls(forms or (target,), "listed" if len(forms) > 1 else "inflected")

    def found(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of the term in a translation, in order."""
        lower = text.lower()
        if not any(stem in lower for stem in self._stems):
            return []  # a pattern takes milliseconds to compile, and most terms are in few texts
        pattern = _pattern(self)
        spans = [match.span() for match in pattern.finditer(text)]
        return [(begin, end) for begin, end in spans if is_word(text, begin, end)]


@dataclass(frozen=True)
class Term:
    """A term at text[start:end] of a source text."""

    start: int
    end: int
    target: Target


@dataclass(frozen=True, eq=False)  # two are equal if they are the same object: comparing 10,000 terms takes time
class Glossary:
    """Target terms by source term; a term that stays untranslated maps to itself."""

    terms: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.terms)

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        """The forms in which terms are seen, by their first two characters, the longest first."""
        index: dict[str, list[str]] = {}
        for seen in self._seen:
            index.setdefault(seen[:2], []).append(seen)
        return {beginning: sorted(group, key=len, reverse=True) for beginning, group in index.items()}

    @cached_property
    def _seen(self) -> dict[str, str]:
        """Terms by the form in which they are seen, with a capital or without."""
        capitalized = {
            term[0].upper() + term[1:]: term for term in self.terms if term[0].islower() and len(term[0].upper()) == 1
        }
        return {**capitalized, **{term: term for term in self.terms}}

    def find(self, text: str) -> list[Term]:
        """Return the terms in a text, in order; they do not overlap."""
        found: list[Term] = []
        at = 0
        while self.terms and at < len(text):
            seen = self._at(text, at)
            if seen:
                found.append(Term(at, at + len(seen), self._target(seen)))
                at += len(seen)
            else:
                at += 1
        return found

    def _at(self, text: str, at: int) -> str | None:
        for beginning in (text[at : at + 2], text[at]):
            for seen in self._by_beginning.get(beginning, ()):
                if text.startswith(seen, at) and is_word(text, at, at + len(seen)):
                    return seen
        return None

    def _target(self, seen: str) -> Target:
        term = self._seen[seen]
        target = self.terms[term]
        return Target((seen,), "kept") if target == term else Target.of(target)


def missing(terms: Sequence[Term], text: str) -> list[Term]:
    """Return the terms of a source that a translation lacks. If a term occurs several times, the first are present."""
    written = {target: len(target.found(text)) for target in {term.target for term in terms}}
    found = []
    for term in terms:
        written[term.target] -= 1
        if written[term.target] < 0:
            found.append(term)
    return found


def missing_note(source: str, term: Term) -> str:
    return f"term missing: {source[term.start : term.end]} -> {term.target.forms[0]}"


def is_word(text: str, begin: int, end: int) -> bool:
    """Return True if neither side continues a word; a Korean word of one syllable is part of too many others."""
    before, after = text[max(0, begin - 1) : begin], text[end : end + 1]
    if end - begin == 1 and is_hangul(text[begin]):
        return not is_hangul(before) and at_word_end(text, end)
    joined_left = _IS_LETTER.match(before) and _IS_LETTER.match(text, begin)
    joined_right = _IS_LETTER.match(after) and _IS_LETTER.match(text, end - 1)
    return not joined_left and not joined_right


@lru_cache(PATTERNS)
def _pattern(target: Target) -> re.Pattern[str]:
    """Return a pattern for the forms of a target."""
    patterns = [_whole_word(form, target.kind) for form in sorted(target.forms, key=len, reverse=True)]
    if target.kind == "inflected":
        patterns.append(_inflected(target.forms[0]))
    return re.compile("|".join(patterns))


def with_capital(form: str) -> str:
    return form[0].upper() + form[1:]


def _whole_word(form: str, kind: str) -> str:
    left = rf"(?<!{_LETTER})" if _IS_LETTER.match(form[0]) else ""
    right = rf"(?!{_LETTER})" if _IS_LETTER.match(form[-1]) else ""
    first = re.escape(form[0]) if kind == "kept" else f"(?:{re.escape(form[0])}|{re.escape(form[0].upper())})"
    return f"{left}{first}{re.escape(form[1:])}{right}"


def _inflected(term: str) -> str:
    """Return a pattern for a term whose last letters may differ in each word.

    `Haus` is found in `Hauses`, `Datei` in `Dateien`, `mettre` in `mettons`; not in `Haustür`. A word of three letters
    or fewer may only get longer.
    """
    words = []
    for word in term.split():
        stem = _stem(word)
        ending = rf"{_LETTER}{{0,{len(word) - len(stem) + ENDING - 2}}}"
        words.append(f"(?i:{re.escape(word)})" if _IS_UNSPACED.search(word) else f"(?i:{re.escape(stem)}){ending}")
    whole = r"\s+".join(words)  # (?i:...) around the letters alone: around a class it takes 30 ms to compile
    return rf"(?<!{_LETTER}){whole}(?!{_LETTER})"


def _stem(word: str) -> str:
    """Return the letters of a word that all its forms have."""
    return word if len(word) <= 3 else word[: max(3, len(word) - min(ENDING, len(word) // 3))]


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

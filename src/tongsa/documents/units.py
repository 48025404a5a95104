"""Take marks out of a sentence before it is translated, together with what would be left without meaning.

A unit is what is taken out as one: a mark, the marks beside it, the brackets or quotes around it, and punctuation that
would be left without a word.

    Hello, {name}!        the model sees `Hello!`          the unit is `, {name}`
    %s: no such file      the model sees `no such file`    the unit is `%s:`
    Open "{file}" now     the model sees `Open now`        the unit is `"{file}"`
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Literal

from tongsa.documents.placeholders import MaskedText
from tongsa.translation.alignment import Span, count_characters

_PAIRS = {
    "(": ")",
    "[": "]",
    "{": "}",
    '"': '"',
    "'": "'",
    "«": "»",
    "“": "”",
    "„": "“",
    "‘": "’",
    "「": "」",
    "`": "`",
}
_BETWEEN = re.compile(r"[^\w.!?…。\U000f0000-\U000ffffd]{0,4}")
"""Between two marks of one unit."""
_LETTERS_BEFORE = re.compile(r"(?<![^\W_])[A-Za-z]{1,2}$")
_LETTERS_AFTER = re.compile(r"[A-Za-z]{1,2}(?![^\W_])")
"""`v{version}`, `{count}x`: one or two letters that are written together with a mark."""
_ENDING = re.compile(
    r"(?:['’]s|[님씨]?(?:을\(를\)|를\(을\)|이\(가\)|은\(는\)|와\(과\)|\(으\)로|에서|에게|께서|으로|까지|부터|[을를이가은는의에께로와과도만]|(?<=[님씨])))"
    r"(?![^\W\d_])"
)
"""The ending of a noun that a mark stands for; without the noun it means nothing."""
_AFTER_FIRST = re.compile(r"[,;:)\]/|.…!?]++|[ \t]{1,3}[/|–—-](?=\s)")
_LAST = re.compile(r"[\s.!?…。！？\"'»”)\]]*+")
_CLOSING = tuple(".,;:!?…)]}»”。、，！？")


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A part of a sentence that the model does not see."""

    text: str
    """The masks, with the brackets and punctuation that stay with them."""
    at: int
    """The number of visible characters before it, without white space."""
    width: int
    """The number of characters that were taken out, without white space; a mask is one."""
    edge: Literal["first", "inner", "last", "after all"]
    """Its place in the sentence; the last one may be followed by punctuation."""
    touches: Literal["none", "before", "after", "both"] = "none"
    """The words that it is written together with."""


@dataclass(frozen=True)
class View:
    """What the model sees of a sentence."""

    text: str
    units: tuple[Unit, ...] = ()
    shown: dict[str, Span] = field(default_factory=dict)
    """The marks that it sees, as spans of visible characters."""


def view(source: MaskedText, hidden: Collection[str], tags: Collection[str]) -> View:
    """Take hidden marks out of a sentence; `tags` take no room, and may enclose words and units."""
    text = source.text
    seen, count, end = "", 0, 0
    units: list[Unit] = []
    shown: dict[str, Span] = {}
    for start, after, taken in [*_spans(source, set(hidden), tags), (len(text), len(text), "")]:
        piece = []
        for character in text[end:start]:
            if character in source.marks and character not in tags:
                word = source.marks[character].text
                shown[character] = (count, count + count_characters(word))
                piece.append(word)
            elif character not in tags:
                piece.append(character)
            count += count_characters(piece[-1]) if character not in tags else 0
        seen = _joined(seen, "".join(piece)) if units else "".join(piece)
        if taken:
            units.append(
                Unit(
                    text=taken,
                    at=count,
                    width=count_characters(text[start:after]),
                    edge=_edge(text, start, after, tags),
                    touches=_touches(source, text, start, after),
                )
            )
        end = after
    return View(seen.strip() if units else seen, tuple(units), shown)


def _touches(source: MaskedText, text: str, start: int, end: int) -> Literal["none", "before", "after", "both"]:
    """Letters of scripts with blanks belong to a placeholder that they touch; marks without text touch anything."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if any(source.marks[c].text for c in text[start:end] if c in source.marks):
        left, right = (c.isascii() and c.isalnum() for c in (before, after))
    else:
        left = bool(before) and not before.isspace()
        right = bool(after) and not after.isspace() and (not left or (before.isalnum() and after.isalnum()))
    return ("both" if right else "before") if left else ("after" if right else "none")


def _joined(left: str, right: str) -> str:
    """Join what is left on both sides of a unit."""
    if not left or not right.strip():
        return left.rstrip() + right.lstrip()
    if left[-1].isspace():
        right = right.lstrip()
        return left.rstrip() + right if right.startswith(_CLOSING) else left + right
    return f"{left} {right}" if left[-1].isalnum() and right[0].isalnum() else left + right


def _spans(source: MaskedText, hidden: set[str], tags: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield units as (start, end, text without an ending), from left to right."""
    text = source.text
    groups: list[list[int]] = []
    for at, character in enumerate(text):
        if character not in hidden:
            continue
        if groups and _BETWEEN.fullmatch(text, groups[-1][1], at):
            groups[-1][1] = at + 1
        else:
            groups.append([at, at + 1])
    least = 0
    for number, (start, end) in enumerate(groups):
        most = groups[number + 1][0] if number + 1 < len(groups) else len(text)
        has_text = any(source.marks[c].text for c in text[start:end] if c in source.marks)
        start, end = _widened(text, start, end, least, most, letters=has_text)
        ending = _ENDING.match(text, end, most) if has_text else None
        begin, stop = _with_punctuation(text, start, ending.end() if ending else end, least, most, tags)
        yield begin, stop, text[begin:end] + text[ending.end() : stop] if ending else text[begin:stop]
        least = stop


def _widened(text: str, start: int, end: int, least: int, most: int, *, letters: bool) -> tuple[int, int]:
    """Include brackets and quotes around a unit, and a letter or two that touch it."""
    while least < start and end < most and _PAIRS.get(text[start - 1]) == text[end]:
        start, end = start - 1, end + 1
    if letters and (before := _LETTERS_BEFORE.search(text[max(least, start - 4) : start])):
        start -= len(before.group())
    if letters and (after := _LETTERS_AFTER.match(text, end, most)):
        end = after.end()
    return start, end


def _with_punctuation(text: str, start: int, end: int, least: int, most: int, tags: Collection[str]) -> tuple[int, int]:
    """Include punctuation that separates a unit from the rest of the sentence."""
    edge = _edge(text, start, end, tags)
    if edge == "first":
        after = _AFTER_FIRST.match(text, end, most)
        return start, after.end() if after else end
    before = text[least:start]
    bare = before.rstrip(" \t,;:/|–—-")
    separates = before[len(bare) :].strip()
    if separates and bare and (edge != "inner" or text[end : end + 1] in tuple(",;:.!?)")):
        start = least + before.index(separates, len(bare))
    return start, end


def _edge(text: str, start: int, end: int, tags: Collection[str]) -> Literal["first", "inner", "last", "after all"]:
    if not any(c.isalnum() or (c > "\U000effff" and c not in tags) for c in text[:start]):
        return "first"
    rest = "".join(c for c in text[end:] if c not in tags)
    if not rest.strip():
        return "after all"
    return "last" if _LAST.fullmatch(rest) else "inner"

"""Placeholders: parts of a text that a translation must keep unchanged: `%s`, `{name}`, `<b>`, `&amp;`, URLs, code.

One regular expression with one alternative per kind, tried in the order below at every position from left to right, so
placeholders never overlap: a URL inside a tag is part of the tag. Ambiguous quantifiers are possessive or bounded, and
a tag holds only a few `<`, so that no character is read from many beginnings: the time is linear for every text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple


class Placeholder(NamedTuple):
    """text[start:end] == self.text"""

    start: int
    end: int
    text: str
    kind: str


_BARE = r"""\s++[\w:.@-]++(?:\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'|[^\s"'<>=`]++)|(?!\s*+=))"""
_WITH_LESS_THAN = r"""\s++[\w:.@-]++\s*+=\s*+(?:"(?:[^"<]*+<){1,4}+[^"<]*+"|'(?:[^'<]*+<){1,4}+[^'<]*+')"""
ATTRIBUTES = rf"(?:{_BARE})*+(?:{_WITH_LESS_THAN}(?:{_BARE})*+){{0,4}}+"
"""The attributes of a tag; at most four of their values have a `<`, and at most four each."""
_COMMENT_REST = r"!--(?:[^<-]|-(?!->)|<(?!!--))*+-->"
COMMENT = f"<{_COMMENT_REST}"
_NESTED = r"(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\})*+"
# Scripts written without spaces, and closing marks, end a URL: "https://tongsa.example에서" is a URL and a particle.
_URL = r"""[^\s<>"'`{}|\\^\u2018-\u201f\u2026\u00ab\u00bb\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]"""
_DIGITS = r"\d++(?:[.,'\u202f\u00a0]\d++)*+"
_UNITS = (
    r"%(?![%(\w])|‰|°\s?[CFK]?|[€$£¥₩]"
    r"|[kcmµμn]?m[²³23]?|km/h|mph|m/s|[kmµμ]?g|[mc]?[lL]|[kKMGT]i?[bB](?:/s|ps)?|[kKMGT]?bit/s|[kMG]?bps|[kMGT]?Hz|rpm"
    r"|[km]?[VWA]|[kM]Wh|mAh|[kM]?Ω|[kM]?Pa|bar|dB|cd|lm|lx|px|pt|em|rem|dpi|ppi|fps|[mµμn]?s|min|h|ha|kcal|kJ|ft|in|lb|oz"
)

KINDS: dict[str, str] = {
    # `it's` is a span only where its quotes pair up: `file' and `other' are the old GNU way to quote
    "code": (
        r"(?<!`)(?P<ticks>`{1,3})(?!`)(?=[^`\s][^`\n]*+(?<!\s)(?P=ticks)(?!`))"
        r"[^`'\n]*+(?:'[^`'\n]*+'[^`'\n]*+)*+(?P=ticks)(?!`)"
    ),
    "tag": rf"<(?:{_COMMENT_REST}|/?+(?:[A-Za-z][\w:.-]*+|\d++){ATTRIBUTES}\s*+/?+>)",
    "url": rf"\b(?:(?:https?|ftps?|file|ssh|git|ws)://|mailto:|www\.(?=[a-z0-9])){_URL}++",
    "email": r"(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+",
    "entity": r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});",
    "icu": rf"\{{\s*+\w++\s*+,\s*+(?:plural|select|selectordinal|number|date|time|choice)\s*+(?:,{_NESTED})?\}}",
    "brace": (
        r"\{\{[^{}\n]{1,80}\}\}"
        r"|[#%$]?\{(?:[^\W\d][\w.\[\]'-]{0,80}|\d{1,4}[\w.\[\]'-]{0,80})?(?:![rsa])?(?::[^{}\s][^{}]{0,40})?\}"
    ),
    "nesting": (  # i18next: `$t(common.more)`; Vue: `@:common.more`, `@.lower:name`
        r"\$t\([^()\n]{1,200}\)"
        r"|(?<![A-Za-z0-9._+-])@(?:\.[a-z]{1,20})?:(?:\([\w.-]{1,80}\)|[A-Za-z](?:[\w.-]{0,80}[A-Za-z0-9_])?)"
    ),
    "shell": r"\$(?:\{[^{}\s]{1,80}\}|\([A-Za-z_][A-Za-z0-9_]{0,60}\)|(?<!\w\$)[A-Za-z_][A-Za-z0-9_]{0,60}\$?)",
    "printf": (
        r"%(?!(?<=\d%)[A-Za-z]{2})(?:%"
        r"|(?:\([^()\n%]{1,60}\)|\d{1,2}\$)?[-+#0']*+(?:\d{1,4}|\*(?:\d{1,2}\$)?)?(?:\.(?:\d{1,4}|\*(?:\d{1,2}\$)?)?)?"
        r"(?:<PRI\w{1,10}>|(?:hh|h|ll|l|L|q|j|z|t|I64)?[diouxXeEfFgGaAcCsSpn@r]|[A-Za-z](?![A-Za-z\d]))"
        r"|[A-Z_][A-Z0-9_]{1,40}%)"
    ),
    "qt": r"%L?\d{1,2}(?![\d$])",
    "number": (
        rf"(?<![\w.,])(?:[€$£¥₩]\s?{_DIGITS}"
        rf"|(?=\d)(?<!\d['\u202f\u00a0]){_DIGITS}[ \u00a0\u202f]?(?:{_UNITS})(?![A-Za-z\d'’]))"
    ),
}

SYMBOL = (
    r"[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2022\u2023\u25e6\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u2500-\u27bf"
    r"\u2900-\u297f\u2b00-\u2bff\u3030\u303d\U0001f000-\U0001faff]"
)
"""Arrows, bullets, pictographs and emoji."""
_JOINED = r"[\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
LOOSE: dict[str, str] = {
    "symbol": rf"(?:[0-9#*]\ufe0f?\u20e3|{SYMBOL}{_JOINED}*+)++",
    "colour": r"(?<![\w&#/])#(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3,4})(?![A-Za-z0-9_-])",
    "identifier": (
        r"(?<![A-Za-z0-9_$@./\\-])_{0,2}[A-Za-z][A-Za-z0-9]*+(?:_{1,2}[A-Za-z0-9]++)++_{0,2}+(?![A-Za-z0-9_])"
    ),
}
"""Kinds that documents keep unchanged as well, although a pair of a corpus may do without them on one side."""

_ANY = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in KINDS.items()))
_ANY_LOOSE = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in {**KINDS, **LOOSE}.items()))
_MAY_HOLD = re.compile(r"[<>&{}$%`@:€£¥₩°‰]|www\.|\d")
_MAY_HOLD_LOOSE = re.compile(rf"{_MAY_HOLD.pattern}|[_#]|{SYMBOL}")
_TEXT_KINDS = ("number", "entity")
_MAY_BE_MASKED = re.compile(r"[<{$%`@]|://|www\.|mailto:")
_CLOSING = {")": "(", "]": "["}


def find(text: str, *, loose: bool = False) -> list[Placeholder]:
    """Find the placeholders of a text, from left to right, without overlaps; `loose` adds symbols and identifiers."""
    if not (_MAY_HOLD_LOOSE if loose else _MAY_HOLD).search(text):
        return []
    found = []
    position = 0
    search = (_ANY_LOOSE if loose else _ANY).search
    while match := search(text, position):
        kind = match.lastgroup or ""
        start, end = match.span()
        if kind in ("url", "email"):
            end = start + len(_without_closing_marks(match.group()))
        found.append(Placeholder(start, end, text[start:end], kind))
        position = max(end, start + 1)
    return found


def counts(text: str) -> Counter[str]:
    """Count each placeholder of a text, except numbers with units, which languages write differently."""
    return Counter(each.text for each in find(text) if each.kind != "number")


def _without_closing_marks(text: str) -> str:
    """Exclude a full stop or bracket after a URL, unless the bracket was opened inside the URL."""
    counts = {bracket: text.count(bracket) for pair in _CLOSING.items() for bracket in pair}
    end = len(text)
    while end and text[end - 1] in ".,;:!?)]*_":
        last = text[end - 1]
        if last in _CLOSING:
            if counts[_CLOSING[last]] >= counts[last]:
                break
            counts[last] -= 1
        end -= 1
    return text[:end]


def masked(source: str, target: str) -> tuple[str, str] | None:
    """Replace the placeholders of both texts by `{1}`, `{2}`, ..., numbered in the order of the source.

    Numbers with units and references are text, which a model translates. Returns None if there is nothing to mask:
    the source has no placeholders, or the two sides have different ones.
    """
    if not _MAY_BE_MASKED.search(source):
        return None
    left, right = ([each for each in find(text) if each.kind not in _TEXT_KINDS] for text in (source, target))
    texts = Counter(placeholder.text for placeholder in left)
    if not left or texts != Counter(placeholder.text for placeholder in right) or max(texts.values()) > 1:
        return None
    numbers = {placeholder.text: number for number, placeholder in enumerate(left, 1)}
    return _with_numbers(source, left, numbers), _with_numbers(target, right, numbers)


def _with_numbers(text: str, placeholders: list[Placeholder], numbers: dict[str, int]) -> str:
    parts, end = [], 0
    for placeholder in placeholders:
        parts += [text[end : placeholder.start], f"{{{numbers[placeholder.text]}}}"]
        end = placeholder.end
    return "".join([*parts, text[end:]])

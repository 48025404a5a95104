"""Tags of HTML, read as browsers read them: what a quote or a `<` means depends on where in a tag it stands.

Every character is read once, so the time is linear for every text: a quote without a counterpart is part of a value,
and a tag that never ends takes the rest of the text, of which browsers show nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_START = re.compile(r"<(?:!--|!\[CDATA\[|[!?]|/?[A-Za-z])")
_TAG_NAME = re.compile(r"""</?([A-Za-z][^\s/>"'<]*+)""")
_BETWEEN = re.compile(r"[\s/]*+")
_NAME = re.compile(r"=?[^\s/>=]*+")
_EQUALS = re.compile(r"\s*+=\s*+")
_BARE_VALUE = re.compile(r"[^\s>]*+")
_CLOSING = {"<!--": "-->", "<![CDATA[": "]]>"}


class Attribute(NamedTuple):
    name: str
    """In lower case."""
    value: str
    start: int
    end: int
    quote: str
    """The quote around the value; empty for a value without quotes."""


@dataclass(frozen=True)
class Token:
    """A tag, a comment or a declaration."""

    start: int
    end: int
    name: str = ""
    """Name of the tag in lower case; empty for comments and declarations."""
    closes: bool = False
    alone: bool = False
    """Ends with `/>`."""
    attributes: tuple[Attribute, ...] = ()


class Tags:
    """Finds the tags of a text from left to right."""

    def __init__(self, text: str, *, braces: bool = False) -> None:
        """`braces`: values may be expressions in braces, as in JSX."""
        self._text = text
        self._closing = _closing_braces(text) if braces else {}
        self._last = {mark: text.rfind(mark) for mark in ">\"'"}

    def next(self, at: int) -> Token | None:
        """Return the first tag, comment or declaration that begins at `at` or later."""
        while start := _START.search(self._text, at):
            begin = start.start()
            if closing := _CLOSING.get(start.group()):
                end = self._text.find(closing, begin + 2)
                return Token(begin, end + 3 if end >= 0 else len(self._text))
            if begin > self._last[">"]:  # nothing ends it: text
                at = start.end()
            elif start.group() in ("<!", "<?"):
                return Token(begin, self._text.index(">", begin) + 1)
            else:
                return self._tag(begin)
        return None

    def _tag(self, begin: int) -> Token:
        text = self._text
        name = _TAG_NAME.match(text, begin)
        assert name, "a tag begins with a letter"
        attributes = []
        at = _end(_BETWEEN, text, name.end())
        while at < len(text) and text[at] != ">":
            word = _NAME.match(text, at)
            assert word, "it matches the empty text"
            at = word.end()
            if equals := _EQUALS.match(text, at):
                value = self._value(equals.end())
                attributes.append(Attribute(word.group().lower(), *value))
                at = value[2] + len(value[3])
            at = _end(_BETWEEN, text, at)
        if at == len(text):
            return Token(begin, at)
        alone = text[at - 1] == "/"
        return Token(begin, at + 1, name[1].lower(), text[begin + 1] == "/", alone, tuple(attributes))

    def _value(self, at: int) -> tuple[str, int, int, str]:
        """Return the value that begins here, its span, and its quote."""
        text = self._text
        quote = text[at : at + 1]
        if quote in ('"', "'") and at < self._last[quote]:
            end = text.index(quote, at + 1)
            return text[at + 1 : end], at + 1, end, quote
        end = self._closing.get(at) or _end(_BARE_VALUE, text, at)
        return text[at:end], at, end, ""


def _closing_braces(text: str) -> dict[int, int]:
    """Map the position of each opening brace to the one after its closing brace."""
    waiting: list[int] = []
    found: dict[int, int] = {}
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            waiting.append(match.start())
        elif waiting:
            found[waiting.pop()] = match.end()
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def end_of_element(name: str, text: str, at: int) -> int:
    """Return the position after the element's closing tag; inside scripts, nothing else is a tag."""
    depth = 1
    pattern = re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])[^>]*+>?", re.IGNORECASE)
    for match in pattern.finditer(text, at):
        depth += -1 if match[1] else 0 if name in ("script", "style", "textarea") else 1
        if depth == 0:
            return match.end()
    return len(text)

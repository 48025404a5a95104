"""The text of a segment of TMX or XLIFF: inline elements become placeholders in plain text.

| element                                        | becomes                                                    |
| ---------------------------------------------- | ---------------------------------------------------------- |
| bpt ept ph it ut that hold a code such as <b>  | the code itself, where plain text would have a placeholder |
| other codes that open and close: bpt bx sc g pc | `<g id="1">`, `</g>`                                       |
| other codes that stand alone: ph it x           | `<x id="1"/>`                                              |
| mrk, hi, and what is unknown                    | nothing: their text stays                                  |

So text that passed through a memory looks as it did in the software, and every placeholder is one that
`tongsa.text.placeholders` finds again.
"""

from __future__ import annotations

from collections import Counter

from tongsa.text.lines import nfc
from tongsa.text.placeholders import find

_WRAPS = {"g", "pc"}
_OPENS = {"bpt", "bx", "sc"}
_CLOSES = {"ept", "ex", "ec"}
_ALONE = {"ph", "it", "ut", "x"}


class Inline:
    """Collects one segment while its events go by."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._code: list[str] | None = None
        self._mark = ""
        self._depth = 0
        self._numbers: Counter[str] = Counter()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._code is not None:  # <sub> inside of a code
            self._depth += 1
            return
        if tag in _WRAPS:
            self._parts.append(f'<g id="{self._number(tag, attributes)}">')
        elif tag in _OPENS | _ALONE:
            number = self._number(tag, attributes)
            self._begin(f'<g id="{number}">' if tag in _OPENS else f'<x id="{number}"/>')
        elif tag in _CLOSES:
            self._begin("</g>")

    def end(self, tag: str) -> None:
        if self._code is None:
            if tag in _WRAPS:
                self._parts.append("</g>")
        elif self._depth:
            self._depth -= 1
        else:
            code = "".join(self._code)
            self._parts.append(code if _is_placeholder(code) else self._mark)
            self._code = None

    def text(self, data: str) -> None:
        (self._parts if self._code is None else self._code).append(data)

    def __str__(self) -> str:
        return nfc("".join(self._parts))

    def _begin(self, mark: str) -> None:
        self._code, self._mark, self._depth = [], mark, 0

    def _number(self, tag: str, attributes: dict[str, str]) -> str:
        self._numbers[tag] += 1
        # x joins the same code of two languages in TMX; i only joins an opening to its closing one
        given = attributes.get("x") or attributes.get("id") or attributes.get("i") or str(self._numbers[tag])
        return "".join(character for character in given if character not in '"<>&\n\t')


def _is_placeholder(code: str) -> bool:
    found = find(code)
    return len(found) == 1 and found[0].text == code

"""XML elements with text and inline children: into content with marks, and back."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from lxml import etree

from tongsa.formats.segments import Content, Mark

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CODE_PAIRS = 1000
"""Codes that open and close without enclosing (`<bpt>`, `<ept>`) are paired by their ids, numbered from here on."""


@dataclass(frozen=True)
class Inline:
    """Which children of a text are what; all others stand alone, whatever is in them."""

    wraps: frozenset[str]
    """Elements around text: `<g>`, `<text:span>`."""
    opens: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    breaks: frozenset[str] = frozenset()
    """Line ends and tabs: what is on their two sides is translated apart."""


def local(element: Any) -> str:
    """The name without its namespace; comments and processing instructions have none."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


@dataclass
class Elements:
    """The inline children of one element, each known by its number."""

    inline: Inline
    found: list[tuple[Literal["wrap", "end", "code"], Any]] = field(default_factory=list)
    _pairs: dict[str, int] = field(default_factory=dict)

    def content(self, parent: Any) -> Content:
        parts: list[str | Mark] = []
        self._read(parent, parts)
        return tuple(part for part in parts if part)

    def _read(self, parent: Any, parts: list[str | Mark]) -> None:
        parts.append(parent.text or "")
        for child in parent:
            name = local(child)
            number = len(self.found)
            if name in self.inline.wraps and not _is_kept(child):
                self.found.append(("wrap", child))
                parts.append(Mark(role="open", number=number, pair=number))
                self._read(child, parts)
                parts.append(Mark(role="close", number=len(self.found), pair=number))
                self.found.append(("end", None))
            else:
                self.found.append(("code", child))
                parts.append(self._code(child, name, number))
            parts.append(child.tail or "")

    def _code(self, child: Any, name: str, number: int) -> Mark:
        if name not in self.inline.opens | self.inline.closes:
            return Mark(number=number, breaks=name in self.inline.breaks)
        key = next((child.get(id) for id in ("rid", "startRef", "i", "id") if child.get(id)), "")
        pair = self._pairs.setdefault(key, _CODE_PAIRS + len(self._pairs))
        return Mark(role="open" if name in self.inline.opens else "close", number=number, pair=pair)

    def fill(self, parent: Any, content: Content, *, move: bool) -> None:
        """Put content into an element: its children are copies of the ones that were read, or those themselves."""
        for child in list(parent):
            parent.remove(child)
        parent.text = None
        stack = [parent]
        for part in content:
            if isinstance(part, str):
                _append_text(stack[-1], part)
                continue
            kind, element = self.found[part.number]
            if kind == "end":
                stack.pop()
            elif kind == "code":
                stack[-1].append(_alone(element if move else copy.deepcopy(element)))
            else:
                new = element if move else etree.Element(element.tag, element.attrib, element.nsmap)
                for child in list(new):
                    new.remove(child)
                new.text = new.tail = None
                stack[-1].append(new)
                stack.append(new)


def legal(text: str) -> str:
    """Without what XML cannot hold: control characters and halves of characters."""
    return _ILLEGAL.sub("", text)


def _is_kept(element: Any) -> bool:
    return bool(element.get("translate") == "no")


def _alone(element: Any) -> Any:
    element.tail = None
    return element


def _append_text(parent: Any, text: str) -> None:
    text = legal(text)
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def insert_after(element: Any, new: Any) -> None:
    """As the next sibling, on a line of its own where the element is on one."""
    tail = element.tail
    element.addnext(new)  # lxml moves the tail along with the element's place
    new.tail = tail
    element.tail = tail if tail and not tail.strip() else None

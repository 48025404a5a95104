"""XML documents as trees: parsed with care, their text as content with marks, and written back.

Billion laughs, external entities and DTDs from elsewhere have one thing in common: entities. None is ever expanded, and
a file that declares its own is refused outright.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from tongsa.base.errors import CorpusError
from tongsa.formats.segments import Content, Mark

PARSER_SETTINGS: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
}
"""For `etree.XMLParser` and `etree.iterparse` alike. `huge_tree` off keeps libxml2's limits on depth and text."""


def parse(data: bytes, where: Path | str) -> Any:
    """The tree of a whole document, written back as it was but for white space inside of tags."""
    parser = etree.XMLParser(remove_blank_text=False, strip_cdata=False, **PARSER_SETTINGS)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"{where}, line {error.lineno or 1:,}: not XML: {error.msg}") from error
    refuse_entities(root.getroottree(), where)
    return root


def refuse_entities(tree: Any, where: Path | str) -> None:
    """A document type may be named, but must not declare entities."""
    dtd = tree.docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise CorpusError(
            f"{where} declares entities of its own, which are never expanded here",
            "Write what they stand for into the text, and take the declarations out.",
        )


def serialize(root: Any, original: bytes) -> bytes:
    """The tree as bytes: in the original's encoding, with its declaration, document type and last line end."""
    tree = root.getroottree()
    encoding = tree.docinfo.encoding or "UTF-8"
    body = _bytes(tree, encoding, declaration=False)
    declaration = (
        re.match(rb"\s*<\?xml[^>]*\?>\s*", original) if not original.startswith((b"\xfe\xff", b"\xff\xfe")) else None
    )
    if declaration:
        body = declaration.group() + body
    elif encoding.lower().replace("-", "") not in ("utf8", "ascii", "usascii"):
        body = _bytes(tree, encoding, declaration=True)
    end = re.search(rb"\s*$", original)
    return body.rstrip() + (end.group() if end else b"")


def _bytes(tree: Any, encoding: str, *, declaration: bool) -> bytes:
    return bytes(etree.tostring(tree, encoding=encoding, xml_declaration=declaration))  # type: ignore[arg-type]


_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CODE_PAIRS = 1000
"""Codes that open and close without enclosing (`<bpt>`, `<ept>`) are paired by their ids, numbered from here on."""


@dataclass(frozen=True)
class InlineKinds:
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

    inline: InlineKinds
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

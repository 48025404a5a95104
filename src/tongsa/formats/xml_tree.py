"""XML documents as trees: safe parsing, text as content with marks, and writing.

Attacks such as billion laughs, external entities and remote DTDs all use entities. No entity is ever expanded, and a
file that declares its own is refused.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from tongsa.base.errors import CorpusError
from tongsa.formats.segments import Content, Mark, visible
from tongsa.text.lines import encoding_name

PARSER_SETTINGS: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
}
"""Options for `etree.XMLParser` and `etree.iterparse`. `huge_tree` off keeps libxml2's limits on depth and text."""


MOST_TAGS = 1_500_000
"""Most tags, attributes and references of one document: a tree takes some hundred bytes for each."""


@dataclass
class TagLimit:
    """Counts markup before it is parsed, over all parts of a document."""

    left: int = MOST_TAGS

    def count(self, data: bytes, where: Path | str) -> None:
        """Count by bytes that begin or hold markup in every encoding that is let through."""
        self.left -= data.count(b"<") + data.count(b"=") + data.count(b"&")
        if self.left < 0:
            raise CorpusError(
                f"{where} is refused: it has more than {MOST_TAGS:,} tags and attributes",
                "Split the document, and translate the parts.",
            )


_DECLARED = re.compile(rb"<\?xml[^<>]{0,200}?\sencoding\s*=\s*[\"']([^\"'<>]{0,80})")


def _check_encoding(data: bytes, where: Path | str) -> None:
    """Refuse encodings in which a tag does not begin with the byte `<`, such as EBCDIC and UTF-7."""
    declared = _DECLARED.search(data[:400])
    name = encoding_name(declared[1].decode("latin-1")) if declared else "utf-8"
    begin = data.partition(b"<")[0].strip(b" \t\r\n\0\xef\xbb\xbf\xfe\xff")
    if begin or name == "utf-7" or "<".encode(name).strip(b"\0\xef\xbb\xbf\xfe\xff") != b"<":
        raise CorpusError(f"{where}: not XML in an encoding that can be read here", "Convert the file to UTF-8.")


def parse(data: bytes, where: Path | str, limit: TagLimit | None = None) -> Any:
    """Parse a whole document; writing it back changes only white space inside tags."""
    _check_encoding(data, where)
    (limit or TagLimit()).count(data, where)
    parser = etree.XMLParser(remove_blank_text=False, strip_cdata=False, **PARSER_SETTINGS)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"{where}, line {error.lineno or 1:,}: not XML: {error.msg}") from error
    except (ValueError, LookupError) as error:
        raise CorpusError(f"{where}: not XML: {error}") from error
    refuse_entities(root.getroottree(), where)
    return root


def refuse_entities(tree: Any, where: Path | str) -> None:
    """Refuse a document type that declares entities."""
    dtd = tree.docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise CorpusError(
            f"{where} declares entities of its own, which are never expanded here",
            "Replace them by their text, and remove the declarations.",
        )


def serialize(root: Any, original: bytes) -> bytes:
    """Serialise the tree in the original's encoding, with its declaration, document type and last line end."""
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
    return body.rstrip() + original[len(original.rstrip()) :]


def _bytes(tree: Any, encoding: str, *, declaration: bool) -> bytes:
    return bytes(etree.tostring(tree, encoding=encoding, xml_declaration=declaration))  # type: ignore[arg-type]


_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CODE_PAIRS = 1 << 32
"""First number for codes that open and close without enclosing (`<bpt>`, `<ept>`), which are paired by their ids."""


@dataclass(frozen=True)
class InlineKinds:
    """The roles of inline elements; all others are single marks, whatever they contain."""

    wraps: frozenset[str]
    """Elements that enclose text: `<g>`, `<text:span>`."""
    opens: frozenset[str] = frozenset()
    closes: frozenset[str] = frozenset()
    breaks: frozenset[str] = frozenset()
    """Line ends and tabs: the text before and after them is translated separately."""


def local(element: Any) -> str:
    """Return the name without its namespace; empty for comments and processing instructions."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


@dataclass
class Elements:
    """The inline children of one element, by number."""

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
        """Put content into an element, with the original children or copies of them."""
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


@dataclass(frozen=True)
class Value:
    """The text of an element, or of one of its attributes: the title of a document, the description of a picture."""

    element: Any
    attribute: str = ""

    def content(self) -> Content:
        return ((self.element.get(self.attribute) if self.attribute else self.element.text) or "",)

    def fill(self, content: Content) -> None:
        text = legal(visible(content))
        if self.attribute:
            self.element.set(self.attribute, text)
        else:
            self.element.text = text


def legal(text: str) -> str:
    """Remove what XML cannot hold: control characters and lone surrogates."""
    return _ILLEGAL.sub("", text)


def _is_kept(element: Any) -> bool:
    return bool(element.get("translate") == "no")


def _alone(element: Any) -> Any:
    element.tail = None
    return element


def _append_text(parent: Any, text: str) -> None:
    text = legal(text)
    last = next(parent.iterchildren(reversed=True), None)  # len() would count all of them
    if last is not None:
        last.tail = (last.tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def insert_after(element: Any, new: Any) -> None:
    """Insert as the next sibling, on a separate line if the element has one."""
    tail = element.tail
    element.addnext(new)  # lxml moves the tail along with the element's place
    new.tail = tail
    element.tail = tail if tail and not tail.strip() else None

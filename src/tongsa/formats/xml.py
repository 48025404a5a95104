"""XML from strangers: no entities, no network, no document of unbounded depth.

Billion laughs, external entities and DTDs from elsewhere have one thing in common: entities. None is ever expanded, and
a file that declares its own is refused outright.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lxml import etree

from tongsa.base.errors import CorpusError

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
        raise CorpusError(f"{where}, line {error.lineno or 1:,}: no XML that can be read: {error.msg}") from error
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

"""No XML entity is expanded, no document type loaded, nothing fetched: every parser in the source is known."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from lxml import etree

from tongsa.formats import xml_stream, xml_tree
from tongsa.formats.xml_tree import PARSER_SETTINGS

SOURCE = Path(xml_tree.__file__).parents[1]
PARSERS = {
    "XMLParser", "XMLPullParser", "HTMLParser", "HTMLPullParser", "iterparse", "fromstring", "fromstringlist",
    "parse", "XML", "HTML", "XMLID", "parseid", "ParserCreate", "make_parser", "parseString", "XInclude", "XSLT",
    "ElementTree", "XMLSchema", "RelaxNG", "DTD", "Schematron",
}  # fmt: skip
"""Everything of lxml and Python's xml that reads XML, or what XML refers to."""


def uses() -> set[tuple[str, str]]:
    """Find each `etree.X` or `expat.X` of the names above, and each import that could hide one."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in PARSERS and isinstance(node.value, ast.Name):
                if node.value.id in ("etree", "expat", "lxml", "xml", "html", "minidom", "sax", "ElementTree", "ET"):
                    found.add((name, f"{node.value.id}.{node.attr}"))
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("lxml", "xml", "html"):
                found |= {(name, f"from {node.module} import {each.name}") for each in node.names}
            elif isinstance(node, ast.Import):
                found |= {(name, each.name) for each in node.names if each.name.split(".")[0] in ("lxml", "xml")}
    return found


HARMLESS = {"from lxml import etree", "from html import escape", "from html import unescape"}
HARMLESS |= {f"from xml.sax.saxutils import {name}" for name in ("escape", "quoteattr")}


def test_every_parser_of_xml_is_one_of_the_two_that_are_hardened() -> None:
    assert {use for use in uses() if use[1] not in HARMLESS} == {
        ("formats/xml_tree.py", "etree.XMLParser"),
        ("formats/xml_tree.py", "etree.fromstring"),
        ("formats/xml_stream.py", "from xml.parsers import expat"),
        ("formats/xml_stream.py", "expat.ParserCreate"),
    }


def test_the_settings_of_the_tree_parser() -> None:
    assert PARSER_SETTINGS == {
        "resolve_entities": False,
        "no_network": True,
        "load_dtd": False,
        "dtd_validation": False,
        "huge_tree": False,
    }


def test_the_tree_parser_is_made_with_these_settings_and_given_to_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    made, used = [], []
    parser, fromstring = etree.XMLParser, etree.fromstring
    monkeypatch.setattr(etree, "XMLParser", lambda **settings: made.append(settings) or parser(**settings))
    monkeypatch.setattr(etree, "fromstring", lambda data, given: used.append(given) or fromstring(data, given))
    xml_tree.parse(b"<a/>", "a")
    assert all(made[0][name] == value for name, value in PARSER_SETTINGS.items())
    assert used
    assert used[0] is not None


def test_the_stream_parser_reads_no_external_entity(tmp_path: Path) -> None:
    class Nothing:
        found: list = []  # noqa: RUF012
        in_text = False

        def start(self, *_: object) -> None: ...
        def end(self, *_: object) -> None: ...
        def text(self, *_: object) -> None: ...

    parser = xml_stream._Events(tmp_path / "a", Nothing(), None).parser
    assert parser.ExternalEntityRefHandler is None, "without a handler expat opens nothing"
    assert parser.EntityDeclHandler is not None

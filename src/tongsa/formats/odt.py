"""OpenDocument text: paragraphs and headings of the body, headers, footers and notes; spans and styles stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tongsa.base.errors import CorpusError
from tongsa.formats.segments import Content, Languages, Options, Outcome, Segment, visible
from tongsa.formats.xml_tree import Elements, InlineKinds, Value, local, serialize
from tongsa.formats.zipped import Archive
from tongsa.text.languages import EAST_ASIAN, RIGHT_TO_LEFT, matches, with_region

PARTS = ("content.xml", "styles.xml")
PROPERTIES = "meta.xml"
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
INLINE = InlineKinds(wraps=frozenset({"span", "a", "meta", "ruby-base"}), breaks=frozenset({"line-break", "tab"}))
_SVG = "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
_FO = "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
_STYLE = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
_TITLES = {"title", "subject", "description", "keyword"}
_KINDS = {
    "": (f"{{{_FO}}}language", f"{{{_FO}}}country"),
    "asian": (f"{{{_STYLE}}}language-asian", f"{{{_STYLE}}}country-asian"),
    "complex": (f"{{{_STYLE}}}language-complex", f"{{{_STYLE}}}country-complex"),
}
"""Attributes for the languages of Western, East Asian and right-to-left text."""
_NOT_TRANSLATED = (f"{{{_TEXT}}}tracked-changes",)


def open_document(data: bytes, path: Path, options: Options) -> OdtDocument:
    archive = Archive(data, path)
    if "content.xml" not in archive.names:
        raise CorpusError(f"{path} is not an OpenDocument file: it has no content.xml")
    names = [name for name in (*PARTS, PROPERTIES) if name in archive.names]
    document = OdtDocument(archive, archive.parse(names), options.languages)
    for name in names:
        document.add_part(name)
    return document


@dataclass
class OdtDocument:
    archive: Archive
    roots: dict[str, Any]
    languages: Languages
    segments: list[Segment] = field(default_factory=list)
    _places: list[tuple[Callable[[Content], None], str]] = field(default_factory=list)
    """For each segment, how its text is filled in, and the part."""

    def add_part(self, part: str) -> None:
        root = self.roots[part]
        shown = part.removesuffix(".xml")
        if part == PROPERTIES:
            for element in root.iter():
                if local(element) in _TITLES:
                    self._add(Value(element).content(), f"properties, {local(element)}", Value(element).fill, part)
            return
        for number, paragraph in enumerate(root.iter(f"{{{_TEXT}}}p", f"{{{_TEXT}}}h"), 1):
            if not any(True for _ in paragraph.iterancestors(*_NOT_TRANSLATED)):
                elements = Elements(INLINE)
                content = elements.content(paragraph)
                # Nested paragraphs (notes, frames) are children of marks, which are moved, never copied.
                fill = partial(elements.fill, paragraph, move=True)
                self._add(content, f"{shown}, paragraph {number}", fill, part)
        for number, element in enumerate(root.iter(f"{{{_SVG}}}title", f"{{{_SVG}}}desc"), 1):
            self._add(Value(element).content(), f"{shown}, description {number}", Value(element).fill, part)

    def _add(self, content: Content, name: str, fill: Callable[[Content], None], part: str) -> None:
        if visible(content).strip():
            self.segments.append(Segment(id=name, content=content))
            self._places.append((fill, part))

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        changed: set[str] = set()
        for (fill, part), segment, outcome in (
            zip(self._places, self.segments, outcomes, strict=True) if outcomes else ()
        ):
            if outcome.changed and outcome.content != segment.content:
                fill(outcome.content)
                changed.add(part)
        if not changed:
            return self.archive.data
        changed.update(part for part, root in self.roots.items() if self._set_language(root))
        return self.archive.replaced({name: serialize(self.roots[name], self.archive.read(name)) for name in changed})

    def _set_language(self, root: Any) -> bool:
        """Declare the target language wherever the source language is declared."""
        language, region = with_region(self.languages.target)
        kind = "asian" if language in EAST_ASIAN else "complex" if language in RIGHT_TO_LEFT else ""
        found = False
        for element in root.iter():
            if local(element) == "language" and matches(element.text or "", self.languages.source):
                element.text = f"{language}-{region}" if region else language
                found = True
            declared = (element.get(name) for name, _ in _KINDS.values()) if isinstance(element.tag, str) else ()
            if any(value and matches(value, self.languages.source) for value in declared):
                element.set(_KINDS[kind][0], language)
                element.set(_KINDS[kind][1], region or "none")
                found = True
        return found

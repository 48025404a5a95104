"""OpenDocument text: paragraphs and headings of the body, headers, footers and notes; spans and styles stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tongsa.base.errors import CorpusError
from tongsa.formats.segments import Options, Outcome, Segment, visible
from tongsa.formats.xml_tree import Elements, InlineKinds, serialize
from tongsa.formats.zipped import Archive

PARTS = ("content.xml", "styles.xml")
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
INLINE = InlineKinds(wraps=frozenset({"span", "a", "meta", "ruby-base"}), breaks=frozenset({"line-break", "tab"}))
_NOT_TRANSLATED = (f"{{{_TEXT}}}tracked-changes",)


def open_document(data: bytes, path: Path, options: Options) -> OdtDocument:
    archive = Archive(data, path)
    if "content.xml" not in archive.names:
        raise CorpusError(f"{path} is not an OpenDocument file: it has no content.xml")
    document = OdtDocument(archive, archive.parse(name for name in PARTS if name in archive.names))
    for name, root in document.roots.items():
        for number, paragraph in enumerate(root.iter(f"{{{_TEXT}}}p", f"{{{_TEXT}}}h"), 1):
            if not any(True for _ in paragraph.iterancestors(*_NOT_TRANSLATED)):
                document.add(paragraph, f"{name.removesuffix('.xml')}, paragraph {number}")
    return document


@dataclass
class OdtDocument:
    archive: Archive
    roots: dict[str, Any]
    segments: list[Segment] = field(default_factory=list)
    _places: list[tuple[Any, Elements]] = field(default_factory=list)

    def add(self, paragraph: Any, name: str) -> None:
        elements = Elements(INLINE)
        content = elements.content(paragraph)
        if visible(content).strip():
            self.segments.append(Segment(id=name, content=content))
            self._places.append((paragraph, elements))

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        """Nested paragraphs (notes, frames) are children of marks, which are moved, never copied."""
        changed = False
        for (paragraph, elements), segment, outcome in (
            zip(self._places, self.segments, outcomes, strict=True) if outcomes else ()
        ):
            if outcome.changed and outcome.content != segment.content:
                elements.fill(paragraph, outcome.content, move=True)
                changed = True
        if not changed:
            return self.archive.data
        return self.archive.replaced(
            {name: serialize(root, self.archive.read(name)) for name, root in self.roots.items()}
        )

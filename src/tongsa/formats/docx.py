"""Word documents: paragraphs of the body, headers, footers, notes and comments; runs and styles stay.

Word cuts a sentence into runs wherever formatting changes, and often where it does not. Adjacent runs with the same
formatting are merged into one span; a span that differs from most of its paragraph is enclosed by marks. Fields,
drawings, breaks and notes are single marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tongsa.base.errors import CorpusError
from tongsa.formats.docx_paragraphs import Paragraph, W
from tongsa.formats.segments import Content, Languages, Options, Outcome, Segment, visible
from tongsa.formats.xml_tree import Value, local, serialize
from tongsa.formats.zipped import Archive
from tongsa.text.languages import EAST_ASIAN, RIGHT_TO_LEFT, matches, with_region

PARTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml")
PROPERTIES = "docProps/core.xml"
SETTINGS = ("word/styles.xml", "word/settings.xml")
UNTRANSLATED = re.compile(r"word/(?:charts/chart|diagrams/data)\d*\.xml")
MOST_COPIED = 128 << 20
"""Most characters of formatting: that of a run is written again for each part of the run."""
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_TITLES = {"title", "subject", "description", "keywords", "category"}


def open_document(data: bytes, path: Path, options: Options) -> DocxDocument:
    archive = Archive(data, path)
    if "word/document.xml" not in archive.names:
        raise CorpusError(f"{path} is not a Word document: it has no word/document.xml")
    texts = [name for name in archive.names if PARTS.fullmatch(name)]
    others = [name for name in archive.names if name in (PROPERTIES, *SETTINGS) or UNTRANSLATED.fullmatch(name)]
    document = DocxDocument(archive, archive.parse([*texts, *others]), options.languages)
    for name in texts:
        for number, paragraph in enumerate(document.roots[name].iter(f"{W}p"), 1):
            document.add_paragraph(paragraph, f"{Path(name).stem}, paragraph {number}", name)
        document.add_descriptions(name)
    for name in others:
        if name == PROPERTIES:
            document.add_properties()
        elif UNTRANSLATED.fullmatch(name):
            document.add_untranslated(name)
    return document


class Place(Protocol):
    """Something that holds the text of a segment."""

    def fill(self, content: Content) -> None: ...


@dataclass
class DocxDocument:
    archive: Archive
    roots: dict[str, Any]
    languages: Languages
    segments: list[Segment] = field(default_factory=list)
    _places: list[tuple[Place | None, str]] = field(default_factory=list)
    """For each segment, what holds its text (None for what is not translated), and the part."""
    _copied: int = 0

    def add_paragraph(self, element: Any, name: str, part: str) -> None:
        paragraph = Paragraph(element)
        self._copied += paragraph.copied
        if self._copied > MOST_COPIED:
            raise CorpusError(
                f"{self.archive.path} is refused: its formatting has more than {MOST_COPIED >> 20} MB",
                f"See {name}.",
            )
        content = paragraph.content()
        if visible(content).strip():
            self._add(Segment(id=name, content=content), paragraph, part)
        for text in paragraph.choices():
            self._add(Segment(id=name, content=(text,), left="the choice of a list is not translated"), None, part)

    def add_descriptions(self, part: str) -> None:
        """Pictures have descriptions for people who cannot see them."""
        for number, element in enumerate(self.roots[part].iter("{*}docPr"), 1):
            for attribute in ("title", "descr"):
                self._add_value(Value(element, attribute), f"{Path(part).stem}, picture {number}, {attribute}", part)

    def add_properties(self) -> None:
        for element in self.roots[PROPERTIES]:
            if local(element) in _TITLES:
                self._add_value(Value(element), f"properties, {local(element)}", PROPERTIES)

    def add_untranslated(self, part: str) -> None:
        """Charts and diagrams hold copies of their text in several places, which must agree."""
        texts = (each.text for each in self.roots[part].iter(f"{_DRAWING}t", "{*}v") if each.text)
        for text in dict.fromkeys(text for text in texts if any(map(str.isalpha, text))):
            left = f"the text of a {'chart' if 'chart' in part else 'diagram'} is not translated"
            self._add(Segment(id=Path(part).stem, content=(text,), left=left), None, part)

    def _add_value(self, value: Value, name: str, part: str) -> None:
        content = value.content()
        if any(map(str.isalpha, visible(content))):
            self._add(Segment(id=name, content=content), value, part)

    def _add(self, segment: Segment, place: Place | None, part: str) -> None:
        self.segments.append(segment)
        self._places.append((place, part))

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        changed: set[str] = set()
        for (place, part), segment, outcome in (
            zip(self._places, self.segments, outcomes, strict=True) if outcomes else ()
        ):
            if place and outcome.changed and outcome.content != segment.content:
                place.fill(outcome.content)
                changed.add(part)
        if not changed:
            return self.archive.data
        changed.update(part for part, root in self.roots.items() if self._set_language(root))
        return self.archive.replaced({name: serialize(self.roots[name], self.archive.read(name)) for name in changed})

    def _set_language(self, root: Any) -> bool:
        """Declare the target language wherever the source language is declared."""
        language, region = with_region(self.languages.target)
        kind = "eastAsia" if language in EAST_ASIAN else "bidi" if language in RIGHT_TO_LEFT else "val"
        tag = f"{language}-{region}" if region else language
        found = False
        for element in root.iter(f"{W}lang", f"{W}themeFontLang"):
            if any(matches(value, self.languages.source) for value in element.values()):
                element.set(f"{W}{kind}", tag)
                found = True
        for element in root if local(root) == "coreProperties" else ():
            if local(element) == "language" and matches(element.text or "", self.languages.source):
                element.text = tag
                found = True
        return found

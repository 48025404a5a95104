"""Word documents: paragraphs of the body, headers, footers, notes and comments; runs and styles stay.

Word cuts a sentence into runs wherever formatting changes, and often where it does not. Adjacent runs with the same
formatting are merged into one span; a span that differs from most of its paragraph is enclosed by marks. Fields,
drawings, breaks and notes are single marks.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree

from tongsa.base.errors import CorpusError
from tongsa.formats.segments import Content, Mark, Options, Outcome, Segment, visible
from tongsa.formats.xml_tree import legal, local, serialize
from tongsa.formats.zipped import Archive

PARTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml")
MOST_COPIED = 128 << 20
"""Most characters of formatting: that of a run is written again for each part of the run."""
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_DROPPED = {"proofErr", "lastRenderedPageBreak"}
"""Elements left by Word's spelling checker and layout, which Word creates again."""
_BREAKS = {"br", "cr", "tab", "ptab"}
_WRAPS = {"hyperlink", "ins", "smartTag", "moveTo"}
_UNSEEN = {"lang", "noProof"}
"""Properties of a run that are not visible."""


def open_document(data: bytes, path: Path, options: Options) -> DocxDocument:
    archive = Archive(data, path)
    if "word/document.xml" not in archive.names:
        raise CorpusError(f"{path} is not a Word document: it has no word/document.xml")
    document = DocxDocument(archive, archive.parse(filter(PARTS.fullmatch, archive.names)))
    for name, root in document.roots.items():
        for number, paragraph in enumerate(root.iter(f"{W}p"), 1):
            document.add(paragraph, f"{Path(name).stem}, paragraph {number}")
    return document


@dataclass
class DocxDocument:
    archive: Archive
    roots: dict[str, Any]
    segments: list[Segment] = field(default_factory=list)
    _places: list[Paragraph] = field(default_factory=list)
    _copied: int = 0

    def add(self, element: Any, name: str) -> None:
        paragraph = Paragraph(element)
        self._copied += paragraph.copied
        if self._copied > MOST_COPIED:
            raise CorpusError(
                f"{self.archive.path} is refused: its formatting has more than {MOST_COPIED >> 20} MB",
                f"See {name}.",
            )
        content = paragraph.content()
        if visible(content).strip():
            self.segments.append(Segment(id=name, content=content))
            self._places.append(paragraph)

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        changed = False
        for paragraph, segment, outcome in zip(self._places, self.segments, outcomes, strict=True) if outcomes else ():
            if outcome.changed and outcome.content != segment.content:
                paragraph.fill(outcome.content)
                changed = True
        if not changed:
            return self.archive.data
        return self.archive.replaced(
            {name: serialize(root, self.archive.read(name)) for name, root in self.roots.items()}
        )


Look = tuple[Any, ...]
"""What is visible of a run's formatting; equal looks are equal formatting."""


@dataclass(slots=True)
class _Stretch:
    """Text with one formatting, or an element that is not text."""

    text: str = ""
    look: Look = ()
    properties: Any = None
    copied: int = 0
    """Characters of formatting that are copied with it."""
    elements: Sequence[Any] = ()
    wrap: Any = None
    ends: bool = False
    breaks: bool = False


class Paragraph:
    """A <w:p> element, which is read once and filled once."""

    def __init__(self, element: Any) -> None:
        self.element = element
        self.stretches = _joined(_read(element))
        self.copied = sum(stretch.copied for stretch in self.stretches)
        lengths: Counter[Look] = Counter()
        for stretch in self.stretches:
            lengths[stretch.look] += len(stretch.text)
        self.usual = max(lengths, key=lambda look: lengths[look], default=())

    def content(self) -> Content:
        parts: list[str | Mark] = []
        open_wraps: list[int] = []
        for number, stretch in enumerate(self.stretches):
            # Mark numbers: 2n for opening and single marks, 2n + 1 for closing ones.
            if stretch.wrap is not None:
                parts.append(Mark(role="open", number=2 * number, pair=number))
                open_wraps.append(number)
            elif stretch.ends:
                parts.append(Mark(role="close", number=2 * number + 1, pair=open_wraps.pop()))
            elif stretch.elements:
                parts.append(Mark(number=2 * number, breaks=stretch.breaks))
            elif stretch.look == self.usual:
                parts.append(stretch.text)
            else:
                opening = Mark(role="open", number=2 * number, pair=number)
                parts += [opening, stretch.text, Mark(role="close", number=2 * number + 1, pair=number)]
        return tuple(parts)

    def fill(self, content: Content) -> None:
        properties = [child for child in self.element if local(child) == "pPr"]
        for child in list(self.element):
            self.element.remove(child)
        self.element.extend(properties)
        usual = next((s.properties for s in self.stretches if s.look == self.usual and s.text), None)
        stack = [self.element]
        looks = [usual]
        for part in content:
            if isinstance(part, str):
                _append_run(stack[-1], part, looks[-1])
                continue
            stretch = self.stretches[part.number // 2]
            if stretch.wrap is not None:
                for child in list(stretch.wrap):
                    stretch.wrap.remove(child)
                stack[-1].append(stretch.wrap)
                stack.append(stretch.wrap)
            elif stretch.ends:
                stack.pop()
            elif stretch.elements:
                stack[-1].extend(each.whole() if isinstance(each, _Moved) else each for each in stretch.elements)
            elif part.role == "open":
                looks.append(stretch.properties)
            else:
                looks.pop()


def _append_run(parent: Any, text: str, properties: Any) -> None:
    run = etree.SubElement(parent, f"{W}r")
    if properties is not None:
        run.append(copy.deepcopy(properties))
    written = etree.SubElement(run, f"{W}t")
    written.text = legal(text)
    written.set(_SPACE, "preserve")


def _read(container: Any) -> Iterator[_Stretch]:
    """Group runs into spans; a field, from its beginning to its end, is one span."""
    in_field: list[Any] = []
    depth = 0
    for child in container:
        name = local(child)
        if name == "pPr" or name in _DROPPED:
            continue
        change = _field_change(child)
        if depth or change > 0:
            depth += change
            in_field.append(child)
            if depth <= 0:
                yield _Stretch(elements=in_field)
                in_field, depth = [], 0
        elif name == "r":
            yield from _run(child)
        elif name in _WRAPS:
            yield _Stretch(wrap=child)
            yield from _read(child)
            yield _Stretch(ends=True)
        else:
            yield _Stretch(elements=[child])
    if in_field:  # a field that ends in another paragraph
        yield _Stretch(elements=in_field)


def _field_change(element: Any) -> int:
    """Return the number of fields that begin in this run minus those that end in it."""
    kinds = [each.get(f"{W}fldCharType") for each in element.iter(f"{W}fldChar")]
    return kinds.count("begin") - kinds.count("end")


def _run(run: Any) -> Iterator[_Stretch]:
    properties = next((child for child in run if local(child) == "rPr"), None)
    look = _look(properties)
    copied = _length(run, deep=False) + (_length(properties) if properties is not None else 0)
    for child in list(run):
        name = local(child)
        if name == "rPr" or name in _DROPPED:
            continue
        if name == "t":
            if child.text:
                yield _Stretch(text=child.text, look=look, properties=properties, copied=copied)
            continue
        yield _Stretch(elements=(_Moved(run, properties, child),), breaks=name in _BREAKS, copied=copied)


class _Moved:
    """A new run for one child, which is moved out of its old run only when the paragraph is filled."""

    __slots__ = ("child", "properties", "run")

    def __init__(self, run: Any, properties: Any, child: Any) -> None:
        self.run, self.properties, self.child = run, properties, child

    def whole(self) -> Any:
        run = etree.Element(f"{W}r", self.run.attrib)
        if self.properties is not None:
            run.append(copy.deepcopy(self.properties))
        run.append(self.child)
        return run


def _look(properties: Any) -> Look:
    if properties is None:
        return ()
    return tuple(sorted(_form(child) for child in properties if local(child) not in _UNSEEN))


def _form(element: Any) -> Look:
    """Return a form of an element that can be compared: name, attributes, text, children."""
    return (str(element.tag), tuple(sorted(element.items())), element.text or "", tuple(map(_form, element)))


def _length(element: Any, *, deep: bool = True) -> int:
    """Return about how many characters an element has, with everything in it or by its own attributes alone."""
    return sum(
        16 + len(each.text or "") + sum(map(len, each.values()))
        for each in (element.iter() if deep else (element,))
        if isinstance(each.tag, str)
    )


def _joined(stretches: Iterator[_Stretch]) -> list[_Stretch]:
    joined: list[_Stretch] = []
    for stretch in stretches:
        if stretch.text and joined and joined[-1].text and joined[-1].look == stretch.look:
            joined[-1].text += stretch.text
        else:
            joined.append(stretch)
    return joined

"""Paragraphs of Word: runs of text with their formatting as content with marks, and content as runs again."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree

from tongsa.formats.segments import Content, Mark, Role
from tongsa.formats.xml_tree import legal, local

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_DROPPED = {"proofErr", "lastRenderedPageBreak"}
"""Elements left by Word's spelling checker and layout, which Word creates again."""
_BREAKS = {"br", "cr", "tab", "ptab"}
_WRAPS = {"hyperlink", "ins", "smartTag", "moveTo", "sdt"}
_CHOICES = ("dropDownList", "comboBox", "date", "checkbox", "picture")
"""Content controls whose text is chosen, not written."""
_UNSEEN = {"lang", "noProof"}
"""Properties of a run that are not visible."""

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
    role: Role = "alone"
    """`open` and `close` for a field whose result is text, around it."""
    wrap: Any = None
    holder: Any = None
    """The element inside `wrap` that holds the text."""
    ends: bool = False
    breaks: bool = False

    @property
    def is_alone(self) -> bool:
        return bool(self.elements) and self.role == "alone"


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

        # Notes' own numbers, bookmarks and the like at the edges stay there, and are no part of the text.
        alone = [stretch.is_alone for stretch in self.stretches]
        self.first = alone.index(False) if False in alone else len(alone)
        self.last = len(alone) - alone[::-1].index(False) if False in alone else self.first

    def content(self) -> Content:
        parts: list[str | Mark] = []
        waiting: list[int] = []
        for number, stretch in enumerate(self.stretches[self.first : self.last], self.first):
            # Mark numbers: 2n for opening and single marks, 2n + 1 for closing ones.
            if stretch.wrap is not None or (stretch.elements and stretch.role == "open"):
                parts.append(Mark(role="open", number=2 * number, pair=number))
                waiting.append(number)
            elif stretch.ends or (stretch.elements and stretch.role == "close"):
                parts.append(Mark(role="close", number=2 * number + 1, pair=waiting.pop()))
            elif stretch.elements:
                parts.append(Mark(number=2 * number, breaks=stretch.breaks))
            elif stretch.look == self.usual:
                parts.append(stretch.text)
            else:
                opening = Mark(role="open", number=2 * number, pair=number)
                parts += [opening, stretch.text, Mark(role="close", number=2 * number + 1, pair=number)]
        return tuple(parts)

    def choices(self) -> Iterator[str]:
        """Yield the texts of lists to choose from, which stay as they are."""
        for stretch in self.stretches:
            for element in stretch.elements:
                if not isinstance(element, _Moved) and local(element) == "sdt" and _has(element, _CHOICES[:2]):
                    text = "".join(each.text or "" for each in element.iter(f"{W}t"))
                    if any(map(str.isalpha, text)):
                        yield text

    def fill(self, content: Content) -> None:
        properties = [child for child in self.element if local(child) == "pPr"]
        for child in list(self.element):
            self.element.remove(child)
        self.element.extend(properties)
        usual = next((s.properties for s in self.stretches if s.look == self.usual and s.text), None)
        stack = [self.element]
        looks = [usual]
        for stretch in self.stretches[: self.first]:
            self.element.extend(_whole(stretch))
        for part in content:
            if isinstance(part, str):
                _append_run(stack[-1], part, looks[-1])
                continue
            stretch = self.stretches[part.number // 2]
            if stretch.wrap is not None:
                for child in list(stretch.holder):
                    stretch.holder.remove(child)
                stack[-1].append(stretch.wrap)
                stack.append(stretch.holder)
            elif stretch.ends:
                stack.pop()
            elif stretch.elements:
                stack[-1].extend(_whole(stretch))
            elif part.role == "open":
                looks.append(stretch.properties)
            else:
                looks.pop()
        for stretch in self.stretches[self.last :]:
            self.element.extend(_whole(stretch))


def _whole(stretch: _Stretch) -> list[Any]:
    return [each.whole() if isinstance(each, _Moved) else each for each in stretch.elements]


def _has(element: Any, names: Sequence[str]) -> bool:
    """Return True for a content control with one of these properties."""
    properties = next((child for child in element if local(child) == "sdtPr"), ())
    return any(local(child) in names for child in properties)


def _append_run(parent: Any, text: str, properties: Any) -> None:
    run = etree.SubElement(parent, f"{W}r")
    if properties is not None:
        run.append(copy.deepcopy(properties))
    written = etree.SubElement(run, f"{W}t")
    written.text = legal(text)
    written.set(_SPACE, "preserve")


def _read(container: Any) -> Iterator[_Stretch]:
    """Group runs into spans; a field, from its beginning to its end, is one span, unless it is a link."""
    children = [child for child in container if local(child) not in _DROPPED and local(child) not in ("pPr", "rPr")]
    ends = _ends_of_fields(children)
    at = 0
    while at < len(children):
        child, name = children[at], local(children[at])
        if at in ends:
            separate, end = ends[at]
            if end < 0:  # it ends in another paragraph: what is here of its result is text
                stop = separate if separate >= 0 else len(children) - 1
                yield _Stretch(elements=children[at : stop + 1])
                at = stop
            elif separate >= 0 and _instruction(children[at:separate]).startswith("HYPERLINK"):
                yield _Stretch(elements=children[at : separate + 1], role="open")
                yield from _read(children[separate + 1 : end])
                yield _Stretch(elements=children[end : end + 1], role="close")
                at = end
            else:
                yield _Stretch(elements=children[at : end + 1])
                at = end
        elif name == "r" and next(child.iter(f"{W}fldChar"), None) is not None:
            yield _Stretch(elements=[child])
        elif name == "r":
            yield from _run(child)
        elif name in _WRAPS and (holder := _holder(child)) is not None:
            yield _Stretch(wrap=child, holder=holder)
            yield from _read(holder)
            yield _Stretch(ends=True)
        else:
            yield _Stretch(elements=[child])
        at += 1


def _holder(element: Any) -> Any:
    """Return what holds the runs of a link or a content control; None for a choice."""
    if local(element) != "sdt":
        return element
    return None if _has(element, _CHOICES) else next((each for each in element if local(each) == "sdtContent"), None)


def _ends_of_fields(children: Sequence[Any]) -> dict[int, tuple[int, int]]:
    """Map where an outer field begins to its separator and its end, -1 for what is not here."""
    found: dict[int, tuple[int, int]] = {}
    waiting: list[int] = []
    separators: dict[int, int] = {}
    for at, child in enumerate(children):
        kinds = [each.get(f"{W}fldCharType") for each in child.iter(f"{W}fldChar")]
        change = kinds.count("begin") - kinds.count("end")
        waiting += [at] * max(0, change)
        if "separate" in kinds and waiting:
            separators.setdefault(waiting[-1], at)
        for _ in range(min(len(waiting), -change)):
            opened = waiting.pop()
            found[opened] = (separators.get(opened, -1), at)
    for opened in waiting:
        found[opened] = (separators.get(opened, -1), -1)
    return found


def _instruction(runs: Sequence[Any]) -> str:
    return "".join(each.text or "" for run in runs for each in run.iter(f"{W}instrText")).strip().upper()


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

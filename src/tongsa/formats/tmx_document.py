"""TMX: units without a variant in the target language get one, with the confidence as a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml import etree

from tongsa.formats.elements import Elements, Inline, insert_after, local
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.xml import parse, serialize
from tongsa.text.languages import matches

INLINE = Inline(wraps=frozenset({"hi"}), opens=frozenset({"bpt"}), closes=frozenset({"ept"}))
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
CONFIDENCE = "x-tongsa-confidence"
STATE = "x-tongsa-state"


def read_tmx(data: bytes, path: Path, options: Options) -> TmxDocument:
    root = parse(data, path)
    document = TmxDocument(data, root, options.languages.target)
    for number, unit in enumerate((each for each in root.iter() if local(each) == "tu"), 1):
        variants = [each for each in unit if local(each) == "tuv"]
        source = [each for each in variants if matches(_language(each), options.languages.source)]
        if source and not any(matches(_language(each), options.languages.target) for each in variants):
            document.add(source[0], f"unit {unit.get('tuid') or number}")
    return document


def _language(variant: Any) -> str:
    return variant.get(_LANG) or variant.get("lang") or ""


@dataclass
class TmxDocument:
    data: bytes
    root: Any
    target: str
    segments: list[Segment] = field(default_factory=list)
    _places: list[tuple[Any, Any, Elements]] = field(default_factory=list)

    def add(self, variant: Any, name: str) -> None:
        seg = next((each for each in variant if local(each) == "seg"), None)
        if seg is not None:
            elements = Elements(INLINE)
            self.segments.append(Segment(id=name, content=elements.content(seg)))
            self._places.append((variant, seg, elements))

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        if not outcomes:
            return self.data
        for (variant, seg, elements), outcome in zip(self._places, outcomes, strict=True):
            new = etree.Element(variant.tag, {_LANG: self.target}, variant.nsmap)
            new.text = variant.text
            for name, value in ((CONFIDENCE, f"{outcome.confidence:.2f}"), (STATE, outcome.state)):
                prop = etree.SubElement(new, seg.tag.replace("seg", "prop"), {"type": name})
                prop.text, prop.tail = value, variant.text
            written = etree.SubElement(new, seg.tag, seg.attrib)
            written.tail = seg.tail
            elements.fill(written, outcome.content, move=False)
            insert_after(variant, new)
        return serialize(self.root, self.data)

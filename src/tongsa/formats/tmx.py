"""TMX 1.4, the exchange format of translation memories: <tu> with a <tuv> for each language.

As a corpus, a unit with several variants of a language (de-DE and de-AT) gives a pair for each. As a document, units
without a variant in the target language get one, with the confidence as a property.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from lxml import etree

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.writers import WritePair, text_file
from tongsa.formats.xml_stream import InlineText, escaped_segment, stream
from tongsa.formats.xml_tree import Elements, InlineKinds, insert_after, local, parse, serialize
from tongsa.text.languages import matches

INLINE = InlineKinds(wraps=frozenset({"hi"}), opens=frozenset({"bpt"}), closes=frozenset({"ept"}))
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
MOST_VARIANTS = 500
"""Most variants of a unit; each in the source language is paired with each in the target language."""
CONFIDENCE = "x-tongsa-confidence"
STATE = "x-tongsa-state"


def read_pairs(path: Path, reading: Reading) -> Iterator[Pair]:
    return stream(path, reading, _Units(path, reading))


class _Units:
    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.reading = path, reading
        self.found: list[Pair] = []
        self.where = Place(path, 1)
        self.variants: list[tuple[str, str]] = []
        self.language = ""
        self.segment: InlineText | None = None

    @property
    def in_text(self) -> bool:
        return self.segment is not None

    def start(self, tag: str, attributes: dict[str, str], parent: str, line: int) -> None:
        if self.segment:
            self.segment.start(tag, attributes)
        elif tag == "tu":
            unit = attributes.get("tuid")
            self.where = Place(self.path, f"line {line:,} (unit {unit})" if unit else line)
            self.variants = []
        elif tag == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif tag == "seg" and parent == "tuv":
            self.segment = InlineText()

    def end(self, tag: str, parent: str) -> None:
        if self.segment:
            if tag == "seg":
                self.variants.append((self.language, str(self.segment)))
                if len(self.variants) > MOST_VARIANTS:
                    raise CorpusError(f"{self.where}: a unit with more than {MOST_VARIANTS} variants")
                self.segment = None
            else:
                self.segment.end(tag)
        elif tag == "tu":
            self.found += self.pairs()

    def text(self, data: str) -> None:
        if self.segment:
            self.segment.text(data)

    def pairs(self) -> list[Pair]:
        texts = [
            list(dict.fromkeys(text for language, text in self.variants if matches(language, wanted) and text.strip()))
            for wanted in (self.reading.source, self.reading.target)
        ]
        if not all(texts):
            named = {language for language, _ in self.variants}
            both = all(
                any(matches(language, wanted) for language in named)
                for wanted in (self.reading.source, self.reading.target)
            )
            why = "untranslated" if both else f"without {self.reading.source} or without {self.reading.target}"
            self.reading.left_out.drop(f"units {why}", self.where)
        return [Pair(source, target, self.where) for source in texts[0] for target in texts[1]]


@contextmanager
def write_pairs(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    with text_file(path) as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
            '<header creationtool="tongsa" creationtoolversion="1" segtype="sentence" o-tmf="tongsa" adminlang="en"'
            f' srclang={quoteattr(reading.source)} datatype="plaintext"/>\n<body>\n'
        )

        def write(pair: Pair) -> None:
            file.write("<tu>")
            for language, text in zip((reading.source, reading.target), pair[:2], strict=True):
                file.write(
                    f"<tuv xml:lang={quoteattr(language)}><seg>{escaped_segment(text, 'x', changed)}</seg></tuv>"
                )
            file.write("</tu>\n")

        yield write
        file.write("</body>\n</tmx>\n")


def open_document(data: bytes, path: Path, options: Options) -> TmxDocument:
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
            for name, value in ((CONFIDENCE, f"{outcome.confidence:.5f}"), (STATE, outcome.state)):
                prop = etree.SubElement(new, seg.tag.replace("seg", "prop"), {"type": name})
                prop.text, prop.tail = value, variant.text
            written = etree.SubElement(new, seg.tag, seg.attrib)
            written.tail = seg.tail
            elements.fill(written, outcome.content, move=False)
            insert_after(variant, new)
        return serialize(self.root, self.data)

"""XLIFF 1.2 (<trans-unit>) and 2.x (<unit> with <segment>s).

As a corpus, units marked as unfinished are left out and counted; a file of the opposite direction is read with the
sides swapped. As a document, units without a translation get a target, its state and the quality of the match: 1.2 has
`state` and `state-qualifier` on the target and `match-quality` on an `alt-trans`; 2.x has `state` on the segment and
`matchQuality` in the matches module. Inline codes are copied with their ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from lxml import etree

from tongsa.base.errors import CorpusError
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.segments import Options, Outcome, Segment
from tongsa.formats.writers import WritePair, text_file
from tongsa.formats.xliff_limits import Limit
from tongsa.formats.xml_stream import InlineText, escaped_segment, stream
from tongsa.formats.xml_tree import Elements, InlineKinds, insert_after, local, parse, serialize
from tongsa.text.languages import matches

UNFINISHED = {
    "new",
    "needs-translation",
    "needs-adaptation",
    "needs-l10n",
    "needs-review-translation",
    "needs-review-adaptation",
    "needs-review-l10n",
    "initial",
}
INLINE = InlineKinds(
    wraps=frozenset({"g", "mrk", "pc"}), opens=frozenset({"bpt", "bx", "sc"}), closes=frozenset({"ept", "ex", "ec"})
)
LONGEST_ID = 60
"""Characters of an id that are shown in the name of a place."""
MATCHES = "urn:oasis:names:tc:xliff:matches:2.0"
ORIGIN = "Tongsa"

_UNTRANSLATED = {"new", "needs-translation", "initial"}
_STATES_1 = {
    "source": ("needs-translation", None),
    "translated": ("needs-review-translation", "mt-suggestion"),
    "fuzzy": ("needs-review-translation", "fuzzy-match"),
    "memory": ("translated", "exact-match"),
    "copied": ("translated", None),
}
"""State and qualifier by outcome, from the least finished: that of a segmented unit is that of its worst segment."""
_STATES_2 = {"source": "initial", **dict.fromkeys(("translated", "fuzzy", "memory", "copied"), "translated")}


def read_pairs(path: Path, reading: Reading) -> Iterator[Pair]:
    return stream(path, reading, _Units(path, reading))


class _Units:
    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.reading = path, reading
        self.found: list[Pair] = []
        self.languages = ("", "")
        self.unit = self.state = ""
        self.line = 1
        self.texts: dict[str, str] = {}
        self.part: InlineText | None = None

    @property
    def in_text(self) -> bool:
        return self.part is not None

    def start(self, tag: str, attributes: dict[str, str], parent: str, line: int) -> None:
        if self.part:
            self.part.start(tag, attributes)
        elif tag == "xliff" and "srcLang" in attributes:
            self.languages = (attributes["srcLang"], attributes.get("trgLang", ""))
        elif tag == "file" and "source-language" in attributes:
            self.languages = (attributes["source-language"], attributes.get("target-language", ""))
        elif tag == "unit":
            self.unit = attributes.get("id", "")
        elif tag in ("trans-unit", "segment"):
            if tag == "trans-unit":
                self.unit = attributes.get("id", "")
            self.state, self.line, self.texts = attributes.get("state", ""), line, {}
        elif tag in ("source", "target") and parent in ("trans-unit", "segment"):  # not those of <alt-trans>, <match>
            self.part = InlineText()
            self.state = attributes.get("state", self.state)

    def end(self, tag: str, parent: str) -> None:
        if self.part:
            if tag in ("source", "target"):
                self.texts[tag] = str(self.part)
                self.part = None
            else:
                self.part.end(tag)
        elif tag in ("trans-unit", "segment"):
            self.close()

    def text(self, data: str) -> None:
        if self.part:
            self.part.text(data)

    def close(self) -> None:
        unit = f" (unit {self.unit[:LONGEST_ID]})" if self.unit else ""
        where = Place(self.path, f"line {self.line:,}{unit}")
        source, target = self.texts.get("source", ""), self.texts.get("target", "")
        wanted = (self.reading.source, self.reading.target)
        if not source.strip() or not target.strip():
            self.reading.left_out.drop("units untranslated", where)
        elif self.state in UNFINISHED:
            self.reading.left_out.drop(f"units that are marked as unfinished ({self.state})", where)
        elif self.fits(wanted):
            self.found.append(Pair(source, target, where))
        elif self.fits(wanted[::-1]):
            self.found.append(Pair(target, source, where))
        else:
            languages = " to ".join(language[:LONGEST_ID] or "?" for language in self.languages)
            self.reading.left_out.drop(f"units of other languages ({languages})", where)

    def fits(self, wanted: tuple[str, ...]) -> bool:
        """Compare languages; a language that the file does not declare matches."""
        return all(not have or matches(have, want) for have, want in zip(self.languages, wanted, strict=True))


@contextmanager
def write_pairs(path: Path, reading: Reading, changed: Counter[str]) -> Iterator[WritePair]:
    numbers = iter(range(1, 1 << 62))
    with text_file(path) as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">\n'
            f"<file original={quoteattr(path.name)} source-language={quoteattr(reading.source)}"
            f' target-language={quoteattr(reading.target)} datatype="plaintext">\n<body>\n'
        )

        def write(pair: Pair) -> None:
            source, target = (escaped_segment(text, "id", changed) for text in pair[:2])
            file.write(f'<trans-unit id="{next(numbers)}" xml:space="preserve"><source>{source}</source>')
            file.write(f'<target state="translated">{target}</target></trans-unit>\n')

        yield write
        file.write("</body>\n</file>\n</xliff>\n")


def open_document(data: bytes, path: Path, options: Options) -> XliffDocument:
    root = parse(data, path)
    if local(root) != "xliff":
        raise CorpusError(f"{path} is not XLIFF: its root is <{local(root)}>")
    document = XliffDocument(data, root, options.languages.target, is_2=(root.get("version") or "1.2").startswith("2"))
    for holder in [root] if document.is_2 else [each for each in root.iter() if local(each) == "file"]:
        _check_languages(holder, path, options)
    for unit, places in groupby(_units_2(root) if document.is_2 else _units_1(root), key=document.unit):
        document.add(list(places), Limit.of(unit))
    return document


def _check_languages(holder: Any, path: Path, options: Options) -> None:
    for names, wanted in (
        (("source-language", "srcLang"), options.languages.source),
        (("target-language", "trgLang"), options.languages.target),
    ):
        given = next((holder.get(name) for name in names if holder.get(name)), "")
        if given and not matches(given, wanted):
            raise CorpusError(f"{path}: {names[0]} is {given}; this translator has {wanted}")


@dataclass
class _Place:
    """A source to translate, and the element that gets a target."""

    name: str
    holder: Any
    """<trans-unit>, or <segment>."""
    source: Any
    mrk: str | None = None
    """In 1.2 a unit may be split into <mrk mtype="seg" mid="...">: the id of this one."""
    elements: Elements = field(default_factory=lambda: Elements(INLINE))


def _child(element: Any, name: str) -> Any:
    return next((each for each in element if local(each) == name), None)


def _may_translate(element: Any) -> bool:
    """`translate` is inherited from groups and files."""
    for each in (element, *element.iterancestors()):
        if each.get("translate"):
            return bool(each.get("translate") == "yes")
    return True


def _is_done(target: Any, state: str | None) -> bool:
    has_text = target is not None and bool("".join(target.itertext()).strip())
    return has_text and (state or "") not in _UNTRANSLATED


def _units_1(root: Any) -> Iterator[_Place]:
    for unit in root.iter():
        if local(unit) != "trans-unit" or not _may_translate(unit) or unit.get("approved") == "yes":
            continue
        source, target = _child(unit, "source"), _child(unit, "target")
        if source is None or _is_done(target, target.get("state") if target is not None else None):
            continue
        name = f"unit {(unit.get('id') or unit.get('resname') or '?')[:LONGEST_ID]}"
        parts = _cuts(_child(unit, "seg-source"))
        for mid, mrk in parts.items():
            yield _Place(f"{name}, {mid[:LONGEST_ID]}", unit, mrk, mid)
        if not parts:
            yield _Place(name, unit, source)


def _cuts(parent: Any) -> dict[str, Any]:
    """Return the segments of a <seg-source> or <target> by their ids; none if an id is missing or not unique."""
    found: dict[str, Any] = {}
    waiting = [] if parent is None else [*reversed(parent)]
    while waiting:
        each = waiting.pop()
        if local(each) == "mrk" and each.get("mtype") == "seg":
            mid = each.get("mid")
            if not mid or mid in found:
                return {}
            found[mid] = each
        else:
            waiting += reversed(each)
    return found


def _units_2(root: Any) -> Iterator[_Place]:
    for unit in root.iter():
        if local(unit) != "unit" or not _may_translate(unit):
            continue
        for number, segment in enumerate((each for each in unit if local(each) == "segment"), 1):
            source, target = _child(segment, "source"), _child(segment, "target")
            # An empty target does not count; one with state `initial` is only a copy or a guess.
            done = _is_done(target, segment.get("state") or "translated")
            if source is not None and not done:
                names = (unit.get("id") or "?", segment.get("id") or str(number))
                yield _Place(f"unit {', '.join(name[:LONGEST_ID] for name in names)}", segment, source)


@dataclass
class XliffDocument:
    data: bytes
    root: Any
    language: str
    is_2: bool
    segments: list[Segment] = field(default_factory=list)
    _places: list[_Place] = field(default_factory=list)

    def add(self, places: Sequence[_Place], limit: Limit | None) -> None:
        """Add the segments of a unit, which share its limit: each may take what the sources of the others leave."""
        contents = [place.elements.content(place.source) for place in places]
        sizes = [limit.size(content) if limit else 0 for content in contents]
        total = sum(sizes)
        for place, content, size in zip(places, contents, sizes, strict=True):
            most = max(0, limit.most - (total - size)) if limit else None
            in_bytes = bool(limit and limit.in_bytes)
            self._places.append(place)
            self.segments.append(Segment(id=place.name, content=content, longest=most, in_bytes=in_bytes))

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        if not outcomes:
            return self.data
        write = self._write_2 if self.is_2 else self._write_1
        for unit, group in groupby(zip(self._places, outcomes, strict=True), key=lambda each: self.unit(each[0])):
            write(unit, list(group))
        for holder in [self.root] if self.is_2 else [each for each in self.root.iter() if local(each) == "file"]:
            name = "trgLang" if self.is_2 else "target-language"
            if not holder.get(name):
                holder.set(name, self.language)
        return serialize(self.root, self.data)

    def unit(self, place: _Place) -> Any:
        return place.holder.getparent() if self.is_2 else place.holder

    def _write_1(self, unit: Any, group: Sequence[tuple[_Place, Outcome]]) -> None:
        target = _target(unit, [place.mrk for place, _ in group])
        cuts = _cuts(target)
        for place, outcome in group:
            place.elements.fill(target if place.mrk is None else cuts[place.mrk], outcome.content, move=False)
        outcomes = [outcome for _, outcome in group]
        state, qualifier = _STATES_1[min((outcome.state for outcome in outcomes), key=list(_STATES_1).index)]
        target.set("state", state)
        if qualifier:
            target.set("state-qualifier", qualifier)
        match = _child_of(unit, "alt-trans", target)
        match.set("match-quality", f"{100 * min(outcome.confidence for outcome in outcomes):.2f}%")
        match.set("origin", ORIGIN)
        for child in list(match):
            match.remove(child)
        match.append(_twin(target))

    def _write_2(self, unit: Any, group: Sequence[tuple[_Place, Outcome]]) -> None:
        used = {each.get("id") for each in unit.iter() if isinstance(each.tag, str)}
        ids = (f"s{number}" for number in count(1) if f"s{number}" not in used)
        matches = []
        for place, outcome in group:
            target = _target(place.holder, [])
            place.elements.fill(target, outcome.content, move=False)
            place.holder.set("state", _STATES_2[outcome.state])
            if outcome.state == "copied":
                continue
            if not place.holder.get("id"):
                place.holder.set("id", next(ids))
            attributes = {
                "ref": f"#{place.holder.get('id')}",
                "matchQuality": f"{100 * outcome.confidence:.3f}",
                "type": "tm" if outcome.state in ("memory", "fuzzy") else "mt",
                "origin": ORIGIN,
            }
            match = etree.Element(f"{{{MATCHES}}}match", attributes, nsmap={"mtc": MATCHES})
            match.extend([_twin(place.source), _twin(target)])
            matches.append(match)
        if matches:
            _matches(unit).extend(matches)


def _matches(unit: Any) -> Any:
    """Return the <mtc:matches> of a unit, created if missing."""
    found = next((each for each in unit if each.tag == f"{{{MATCHES}}}matches"), None)
    if found is None:
        found = etree.Element(f"{{{MATCHES}}}matches", nsmap={"mtc": MATCHES})
        found.tail = unit.text
        unit.insert(0, found)
    return found


def _target(holder: Any, mids: Sequence[str | None]) -> Any:
    """Return the target, created if missing; if the source is segmented, with the segments that are to be filled."""
    cut = _child(holder, "seg-source") if any(mid is not None for mid in mids) else None
    target = _child(holder, "target")
    if target is None:
        source = cut if cut is not None else _child(holder, "source")
        target = etree.Element(_named("target", source), nsmap=source.nsmap)
        insert_after(source, target)
    if cut is not None and not set(mids) <= set(_cuts(target)):
        whole = Elements(INLINE)
        whole.fill(target, whole.content(cut), move=False)
    return target


def _named(name: str, like: Any) -> Any:
    """Return a name in the namespace of another element."""
    return etree.QName(etree.QName(like).namespace, name)


def _child_of(unit: Any, name: str, after: Any) -> Any:
    """Return Tongsa's <alt-trans>, created if missing."""
    ours = next((each for each in unit if local(each) == name and each.get("origin") == ORIGIN), None)
    if ours is None:
        ours = etree.Element(_named(name, after), nsmap=after.nsmap)
        insert_after(after, ours)
    return ours


def _twin(element: Any) -> Any:
    """Copy the content into an element of the same name, without states."""
    elements = Elements(INLINE)
    twin = etree.Element(element.tag, nsmap=element.nsmap)
    elements.fill(twin, elements.content(element), move=False)
    return twin

"""HTML: text and visible attributes are translated; tags, scripts, code and layout are kept byte for byte.

No tree is built, since browsers accept HTML that is not a tree: the file is a sequence of tags and text. Inline tags
(`<b>`, `<a>`) are marks within a segment; any other tag ends it. `translate="no"` and `notranslate` are obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.html_escapes import REFERENCE, Escapes
from tongsa.formats.html_tags import Attribute, Tags, Token, end_of_element
from tongsa.formats.segments import ContentBuilder, Options, Outcome, Segment
from tongsa.formats.spans import Edit, Encoded, Inside, Lines, Slot, SpanDocument
from tongsa.text.lines import encoding_name

# fmt: off
INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "img", "ins",
    "mark", "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "wbr",
}
UNTOUCHED = {
    "script", "style", "code", "pre", "kbd", "samp", "var", "svg", "math", "textarea", "object", "noembed", "iframe",
}
UNTOUCHED_WORDS = {"code", "kbd", "samp", "var"}
"""Elements that stay unchanged and are words of their sentence."""
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
ATTRIBUTES = {
    "alt", "title", "placeholder", "summary", "aria-label", "aria-description", "aria-placeholder",
    "aria-roledescription", "aria-valuetext",
}
LABELLED = {"optgroup", "option", "track", "menuitem"}
"""Elements whose attribute `label` is shown."""
COMPONENT_ATTRIBUTES = {"label", "description", "caption", "heading"}
"""Attributes that components of MDX show."""
_META = {
    "description", "keywords", "abstract", "application-name", "apple-mobile-web-app-title", "dc.title",
    "dc.description", "og:title", "og:description", "og:site_name", "og:image:alt", "twitter:title",
    "twitter:description", "twitter:image:alt",
}
# fmt: on
_SPACES = re.compile(r"[ \t\r\n\f]+")
_REFERENCE_OR_NOTE = re.compile(rf"{REFERENCE.pattern}|\[\d{{1,3}}(?:[,–-] ?\d{{1,3}}){{0,8}}\]")
"""`[1]`, `[2, 3]` and `[4-6]` point to notes or sources, and are no words of their sentence."""
_REFERENCE_OR_EXPRESSION = re.compile(rf"{_REFERENCE_OR_NOTE.pattern}|\{{{{[^{{}}\n]*+\}}}}|\{{[^{{}}\n]*+\}}")
_UNTRANSLATED_TEXT = {
    "textarea": re.compile(r"<textarea\b[^>]*+>([^<]++)", re.IGNORECASE),
    "svg": re.compile(r"<(?:title|desc|text|tspan)\b[^>]*+>([^<]++)", re.IGNORECASE),
    "object": re.compile(r">([^<>]++)"),
}
"""Text that people see inside elements that are left alone."""
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?([A-Za-z0-9_.:-]+)|<\?xml[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9_.-]+)""",
    re.IGNORECASE,
)
_ASCII = b"<meta charset='x'> 1+ACY-2 \\u0041"
"""Read differently by UTF-16, UTF-7 and codecs that are no encodings of text."""
FRAGILE = "%{}"
"""`<`, `>` and `&` have no meaning in a segment: they are escaped when it is written."""


@dataclass(frozen=True)
class Item:
    """A piece of text, a tag, or a whole element that must stay unchanged."""

    start: int
    end: int
    name: str = ""
    """Name of the tag; empty for text."""
    closes: bool = False
    alone: bool = False
    inline: bool = True
    attributes: tuple[Attribute, ...] = ()
    whole: bool = False
    """A whole element without letters; `attributes` are those of all its tags that people read."""


def open_document(data: bytes, path: Path, options: Options) -> SpanDocument:
    encoded = Encoded.read(data, path, options.encoding or _charset(data), errors="xmlcharrefreplace")
    document = SpanDocument(path, data, encoded)
    page = Page(encoded.text, Lines(encoded.text).name)
    items = list(_items(page))
    document.slots += _slots(page, items)
    document.also += _languages(items, options)
    return document


@dataclass(frozen=True)
class Page:
    """A text of HTML, or a piece of it inside another document."""

    text: str
    name: Callable[[int], str]
    """Names the place of a position."""
    fragile: str = FRAGILE
    is_jsx: bool = False
    """Braces enclose expressions, as in MDX."""

    def slots(self) -> Iterator[Slot]:
        return _slots(self, _items(self))


def _slots(page: Page, items: Iterable[Item]) -> Iterator[Slot]:
    group: list[Item] = []
    for item in items:
        if item.inline:
            group.append(item)
            continue
        yield from _group_slots(page, group)
        group = []
        yield from _attributes(page, item)
        yield from _untranslated(page, item)
    yield from _group_slots(page, group)


def _charset(data: bytes) -> str | None:
    """Return the encoding that the file declares, unless it cannot be what the declaration itself is written in."""
    match = _CHARSET.search(data[:2048])
    name = (match[1] or match[2]).decode("ascii").lower() if match else ""
    name = {"iso-8859-1": "cp1252", "latin1": "cp1252"}.get(name, name)  # as browsers read it
    try:
        return name if name and _ASCII.decode(encoding_name(name)) == _ASCII.decode("ascii") else None
    except (CorpusError, UnicodeError):
        return None


def _items(page: Page) -> Iterator[Item]:
    text = page.text
    tags = Tags(text, braces=page.is_jsx)
    at = 0
    while tag := tags.next(at):
        start, name = tag.start, tag.name
        if start > at:
            yield Item(at, start)
        at = tag.end
        if not name:
            yield Item(start, at, "!", alone=True, inline=text.startswith("<!--", start))
        elif tag.closes:
            yield Item(start, at, name, closes=True, inline=name in INLINE)
        elif (kept := _kept(tag)) or name in UNTOUCHED:
            at = at if name in VOID or tag.alone else end_of_element(name, text, at)
            inline = name in INLINE or name in UNTOUCHED_WORDS or name in ("svg", "math")
            seen = () if kept else tag.attributes
            yield Item(start, at, name if name in UNTOUCHED else "code", alone=True, inline=inline, attributes=seen)
        else:
            alone = name in VOID or tag.alone
            yield Item(start, at, name, alone=alone, inline=name in INLINE, attributes=tag.attributes)
    if at < len(text):
        yield Item(at, len(text))


def _kept(tag: Token) -> bool:
    """Return True for an element that says that it is not to be translated."""
    found = {each.name: each.value for each in tag.attributes}
    return found.get("translate", "").lower() == "no" or "notranslate" in found.get("class", "").split()


def _group_slots(page: Page, group: list[Item]) -> Iterator[Slot]:
    """Yield the slots of text and inline tags between two other tags."""
    pairs = _pairs(group)
    blank = [not item.name and page.text[item.start : item.end].isspace() for item in group]
    is_tag = [bool(item.name) and item.name not in UNTOUCHED_WORDS for item in group]
    if all(item.name or is_blank for item, is_blank in zip(group, blank, strict=True)):
        is_tag = [bool(item.name) for item in group]  # words that stay unchanged alone are no sentence
    first, last = 0, len(group) - 1
    while first <= last:
        if blank[first] or (is_tag[first] and pairs.get(first, -1) < first):
            first += 1  # spaces, and tags without a counterpart here
        elif blank[last] or (is_tag[last] and last not in pairs):
            last -= 1
        elif pairs.get(first) == last:
            first, last = first + 1, last - 1
        else:
            break
    for item in group[:first]:
        yield from _attributes(page, item)
    if first <= last:
        yield from _Run(page).slots(_collapsed(page, group[first : last + 1]))
    for item in group[last + 1 :] if first <= last else group[first:]:
        yield from _attributes(page, item)
    for item in group:
        yield from _untranslated(page, item)


def _pairs(group: list[Item]) -> dict[int, int]:
    """Map opening tags to closing tags and back, by their positions in the group."""
    pairs: dict[int, int] = {}
    waiting: list[int] = []
    for index, item in enumerate(group):
        if not item.name or item.alone:
            continue
        if not item.closes:
            waiting.append(index)
        elif waiting and group[waiting[-1]].name == item.name:
            opened = waiting.pop()
            pairs[opened], pairs[index] = index, opened
    return pairs


def _collapsed(page: Page, items: list[Item]) -> list[Item]:
    """Make one item of each element without letters: `<sup><a href="#fn1">1</a></sup>` moves as a whole."""
    pairs = _pairs(items)
    words = [0]
    for item in items:
        shown = "" if item.name else Escapes().decoded(page.text[item.start : item.end])
        words.append(words[-1] + (item.name in UNTOUCHED or any(map(str.isalpha, shown))))
    collapsed: list[Item] = []
    at = 0
    while at < len(items):
        last = pairs.get(at, -1)
        if last > at and words[last] == words[at]:
            inner = tuple(each for item in items[at : last + 1] for each in _readable(page, item))
            first = items[at]
            collapsed.append(Item(first.start, items[last].end, first.name, alone=True, attributes=inner, whole=True))
            at = last
        else:
            collapsed.append(items[at])
        at += 1
    return collapsed


class _Run:
    """Builds a slot of text and inline tags."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.marked = ContentBuilder()
        self.escapes = Escapes()
        self.inside: list[Inside] = []

    def slots(self, items: list[Item]) -> Iterator[Slot]:
        text = self.page.text
        start, end = items[0].start, items[-1].end
        if not items[0].name:
            start += len(text[start : items[0].end]) - len(text[start : items[0].end].lstrip())
        if not items[-1].name:
            end -= len(text[items[-1].start : end]) - len(text[items[-1].start : end].rstrip())
        for item in items:
            self._add(item, max(item.start, start), min(item.end, end))
        if not any(isinstance(part, str) for part in self.marked.parts):
            yield from (each.slot for each in self.inside)
            return
        segment = Segment(id=self.page.name(start), content=self.marked.content(), fragile=self.page.fragile)
        yield Slot(
            start=start, end=end, segment=segment, render=self._rendered, raws=self.marked.raws, inside=self.inside
        )

    def _add(self, item: Item, start: int, end: int) -> None:
        raw = self.page.text[start:end]
        if not item.name:
            self._add_text(raw)
            return
        number = len(self.marked.raws)
        for slot in _attributes(self.page, item):
            self.inside.append(Inside(mark=number, start=slot.start - start, end=slot.end - start, slot=slot))
        if item.whole:
            self.marked.alone(raw, _seen(item.name, raw))
        elif item.alone:
            self.marked.alone(raw, _word(raw) if item.name in UNTOUCHED_WORDS else "")
        elif item.closes:
            self.marked.close(raw, item.name)
        else:
            self.marked.open(raw, item.name)

    def _add_text(self, raw: str) -> None:
        """References are characters; those of no character, and those to notes, are marks."""
        waiting: list[str] = []
        at = 0
        for match in (_REFERENCE_OR_EXPRESSION if self.page.is_jsx else _REFERENCE_OR_NOTE).finditer(raw):
            waiting.append(_SPACES.sub(" ", raw[at : match.start()]))
            at = match.end()
            if character := self.escapes.character(match.group()) if match.group().startswith("&") else "":
                waiting.append(character)
                continue
            self.marked.text("".join(waiting))
            waiting = []
            self.marked.alone(match.group())
        self.marked.text("".join([*waiting, _SPACES.sub(" ", raw[at:])]))

    def _rendered(self, outcome: Outcome, raws: Sequence[str]) -> str:
        return "".join(
            self.escapes.encoded(part) if isinstance(part, str) else raws[part.number] for part in outcome.content
        )


def _word(element: str) -> str:
    """Return the text a model sees for an element that stays unchanged: `<code>rm</code>` is a word of its sentence."""
    inner = re.fullmatch(r"<[^<>]*+>([^<>&\n]{1,40}+)</[^<>]*+>", element)
    return inner[1].strip() if inner else ""


def _seen(name: str, element: str) -> str:
    """Return the text a model sees for an element without letters: a number, unless it points to a note."""
    if name == "sup" or re.search(r"""\shref\s*+=\s*+["']?#""", element, re.IGNORECASE):
        return ""
    inner = re.sub(r"<[^<>]*+>", "", element).strip()
    return inner if re.fullmatch(r"[^<>&\s]{1,20}", inner) and any(map(str.isdigit, inner)) else ""


def _readable(page: Page, item: Item) -> Iterator[Attribute]:
    """Yield the attributes that people read."""
    values = {each.name: each.value for each in item.attributes}
    for each in item.attributes:
        described = (values.get("name") or values.get("property") or "").lower()
        if (
            each.name in ATTRIBUTES
            or (item.name == "meta" and each.name == "content" and described in _META)
            or (item.name == "input" and each.name == "value" and values.get("type") in ("submit", "button", "reset"))
            or (item.name in LABELLED and each.name == "label")
            or (page.is_jsx and each.name in COMPONENT_ATTRIBUTES and each.quote)
            or (item.name == "th" and each.name == "abbr")
        ):
            yield each


def _attributes(page: Page, item: Item) -> Iterator[Slot]:
    for attribute in item.attributes if item.whole else _readable(page, item):
        needed = {'"': "&quot;"} if attribute.quote != "'" else {"'": "&#39;"}
        escapes = Escapes({"&": "&amp;", **needed})
        content = escapes.decoded(attribute.value)
        if any(map(str.isalpha, content)):
            segment = Segment(id=f"{page.name(attribute.start)}, {attribute.name}", content=(content,), fragile=FRAGILE)
            render = partial(_quoted, escapes, "" if attribute.quote else '"')
            yield Slot(start=attribute.start, end=attribute.end, segment=segment, render=render)


def _quoted(escapes: Escapes, quote: str, outcome: Outcome, _: object) -> str:
    return f"{quote}{escapes.encoded(outcome.text)}{quote}"


def _untranslated(page: Page, item: Item) -> Iterator[Slot]:
    """Yield the texts that people see inside elements that are left alone, for the review."""
    pattern = _UNTRANSLATED_TEXT.get(item.name)
    for match in pattern.finditer(page.text, item.start, item.end) if pattern else ():
        shown = _SPACES.sub(" ", match[1]).strip()
        if any(map(str.isalpha, shown)):
            left = f"text in <{item.name}> is not translated"
            yield Slot.left(match.start(1), Segment(id=page.name(match.start(1)), content=(shown,), left=left))


def _languages(items: Iterable[Item], options: Options) -> Iterator[Edit]:
    """Change `<html lang="en">` and `<meta http-equiv="content-language" content="en">` to the target language."""
    for item in items:
        values = {each.name: each.value.lower() for each in item.attributes} if item.name in ("html", "meta") else {}
        for name, value, start, end, _ in item.attributes if values else ():
            declares = item.name == "html" or values.get("http-equiv") == "content-language"
            named = name in (("lang", "xml:lang") if item.name == "html" else ("content",))
            if declares and named and value.lower().split("-")[0] == options.languages.source.lower():
                yield start, end, options.languages.target

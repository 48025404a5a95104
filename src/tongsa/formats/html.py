"""HTML: text and visible attributes are translated; tags, scripts, code and layout are kept byte for byte.

No tree is built, since browsers accept HTML that is not a tree: the file is a sequence of tags and text. Inline tags
(`<b>`, `<a>`) are marks within a segment; any other tag ends it. `translate="no"` and `notranslate` are obeyed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tongsa.base.errors import CorpusError
from tongsa.formats.html_tags import Attribute, Tags, Token, end_of_element
from tongsa.formats.segments import Content, ContentBuilder, Options, Outcome, Segment
from tongsa.formats.spans import Edits, Encoded, Lines, Slot, SpanDocument, replaced
from tongsa.text.lines import encoding_name

# fmt: off
INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em", "font", "i", "img", "ins",
    "mark", "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "wbr",
}
UNTOUCHED = {
    "script", "style", "code", "pre", "kbd", "samp", "var", "svg", "math", "textarea", "template", "object", "noembed",
    "iframe",
}
# fmt: on
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
ATTRIBUTES = {"alt", "title", "placeholder", "aria-label", "summary", "aria-description", "aria-placeholder"}
_META = {"description", "keywords", "og:title", "og:description", "twitter:title", "twitter:description"}

_SPACES = re.compile(r"\s+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?([A-Za-z0-9_.:-]+)|<\?xml[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9_.-]+)""",
    re.IGNORECASE,
)
_ASCII = b"<meta charset='x'> 1+ACY-2 \\u0041"
"""Read differently by UTF-16, UTF-7 and codecs that are no encodings of text."""


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


def open_document(data: bytes, path: Path, options: Options) -> HtmlDocument:
    encoded = Encoded.read(data, path, options.encoding or _charset(data), errors="xmlcharrefreplace")
    document = HtmlDocument(path, data, encoded)
    text = encoded.text
    lines = Lines(text)
    group: list[Item] = []
    for item in _items(text):
        if item.inline:
            group.append(item)
        else:
            document.slots += _slots(text, group, lines)
            group = []
        document.attributes += _attributes(item, lines)
        document.also += _language(item, options)
    document.slots += _slots(text, group, lines)
    return document


def _charset(data: bytes) -> str | None:
    """Return the encoding that the file declares, unless it cannot be what the declaration itself is written in."""
    match = _CHARSET.search(data[:2048])
    name = (match[1] or match[2]).decode("ascii").lower() if match else ""
    name = {"iso-8859-1": "cp1252", "latin1": "cp1252"}.get(name, name)  # as browsers read it
    try:
        return name if name and _ASCII.decode(encoding_name(name)) == _ASCII.decode("ascii") else None
    except (CorpusError, UnicodeError):
        return None


@dataclass
class HtmlDocument(SpanDocument):
    """An HTML file. Attributes inside tags of a segment are written into the tag first."""

    def __post_init__(self) -> None:
        self.attributes: list[Slot] = []

    @property
    def segments(self) -> list[Segment]:
        return [slot.segment for slot in (*self.slots, *self.attributes)]

    def write(self, outcomes: Sequence[Outcome]) -> bytes:
        slots = [*self.slots, *self.attributes]
        changed = [
            (number, slot, outcome)
            for number, (slot, outcome) in enumerate(zip(slots, outcomes, strict=True) if outcomes else ())
            if outcome.changed and outcome.content != slot.segment.content
        ]
        if not changed:
            return self.data
        text = self.encoded.text
        inner = Edits((s.start, s.end, s.render(o)) for number, s, o in changed if number >= len(self.slots))
        edits = []
        for _, slot, outcome in changed:
            if isinstance(slot, _Run):
                edits.append((slot.start, slot.end, slot.rendered(outcome, text, inner)))
        outside = inner.outside([(start, end) for start, end, _ in edits])
        return self.encoded.write(replaced(text, [*edits, *outside, *self.also]), self.path)


@dataclass(frozen=True, kw_only=True)
class _Run(Slot):
    """A segment of text and inline tags."""

    spans: dict[int, tuple[int, int]]
    """Position of the raw form, by mark number."""

    def rendered(self, outcome: Outcome, text: str, inner: Edits) -> str:
        parts = []
        for part in outcome.content:
            if isinstance(part, str):
                parts.append(html.escape(part, quote=False))
            else:
                start, end = self.spans[part.number]
                here = [(a - start, b - start, new) for a, b, new in inner.inside(start, end)]
                parts.append(replaced(text[start:end], here))
        return "".join(parts)


def _items(text: str) -> Iterator[Item]:
    tags = Tags(text)
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
        elif _untouched(tag) and name not in VOID and not tag.alone:
            at = end_of_element(name, text, at)
            inline = name in INLINE or name in ("code", "kbd", "samp", "var")
            yield Item(start, at, name if name in UNTOUCHED else "code", alone=True, inline=inline)
        else:
            alone = name in VOID or tag.alone
            yield Item(start, at, name, alone=alone, inline=name in INLINE, attributes=tag.attributes)
    if at < len(text):
        yield Item(at, len(text))


def _untouched(tag: Token) -> bool:
    found = {each.name: each.value for each in tag.attributes}
    return (
        tag.name in UNTOUCHED
        or found.get("translate", "").lower() == "no"
        or "notranslate" in found.get("class", "").split()
    )


def _slots(text: str, group: list[Item], lines: Lines) -> Iterator[Slot]:
    pairs = _pairs(group)
    blank = [not item.name and text[item.start : item.end].isspace() for item in group]
    first, last = 0, len(group) - 1
    while first <= last:
        if blank[first] or (group[first].name and pairs.get(first, -1) < first):
            first += 1  # spaces, and tags without a counterpart here
        elif blank[last] or (group[last].name and last not in pairs):
            last -= 1
        elif pairs.get(first) == last:
            first, last = first + 1, last - 1
        else:
            break
    if first <= last:
        yield _run(text, group[first : last + 1], lines)


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


def _run(text: str, items: list[Item], lines: Lines) -> _Run:
    marked = ContentBuilder()
    spans: dict[int, tuple[int, int]] = {}

    def note(start: int, end: int) -> str:
        spans[len(marked.raws)] = (start, end)
        return text[start:end]

    start = items[0].start
    end = items[-1].end
    if not items[0].name:
        start += len(text[start : items[0].end]) - len(text[start : items[0].end].lstrip())
    if not items[-1].name:
        end -= len(text[items[-1].start : end]) - len(text[items[-1].start : end].rstrip())
    for item in items:
        a, b = max(item.start, start), min(item.end, end)
        if not item.name:
            _text(text, a, b, marked, note)
        elif item.alone:
            marked.alone(note(a, b), _word(text[a:b]) if item.name in UNTOUCHED else "")
        elif item.closes:
            marked.close(note(a, b), item.name)
        else:
            marked.open(note(a, b), item.name)
    segment = Segment(id=lines.name(start), content=marked.content())
    return _Run(start=start, end=end, segment=segment, render=lambda _: "", spans=spans)


def _word(element: str) -> str:
    """Return the text a model sees for an element that stays unchanged: `<code>rm</code>` is a word of its sentence."""
    inner = re.fullmatch(r"<[^<>]*+>([^<>&\n]{1,40}+)</[^<>]*+>", element)
    return inner[1].strip() if inner else ""


def _text(text: str, start: int, end: int, marked: ContentBuilder, note: Callable[[int, int], str]) -> None:
    """Decode entities for letters and punctuation; entities with a special meaning become marks."""
    waiting: list[str] = []
    at = start
    for match in _ENTITY.finditer(text, start, end):
        decoded = html.unescape(match.group())
        waiting.append(text[at : match.start()])
        at = match.end()
        if decoded != match.group() and decoded.isprintable() and not decoded.isspace() and decoded not in "&<>\"'":
            waiting.append(decoded)
            continue
        marked.text(_SPACES.sub(" ", "".join(waiting)))
        waiting = []
        marked.alone(note(match.start(), match.end()), decoded if decoded in "&<>\"'" else "")
    marked.text(_SPACES.sub(" ", "".join([*waiting, text[at:end]])))


def _attributes(item: Item, lines: Lines) -> Iterator[Slot]:
    values = {each.name: each.value for each in item.attributes}
    for name, value, start, end, quote in item.attributes:
        is_meta = item.name == "meta" and name == "content" and (values.get("name") or values.get("property")) in _META
        is_button = item.name == "input" and name == "value" and values.get("type") in ("submit", "button", "reset")
        if name not in ATTRIBUTES and not is_meta and not is_button:
            continue
        content = _decoded(value)
        if any(isinstance(part, str) and part.strip() for part in content):
            segment = Segment(id=f"{lines.name(start)}, {name}", content=content)
            yield Slot(start=start, end=end, segment=segment, render=lambda o, q=quote: _quoted(o, q))  # type: ignore[misc]


def _decoded(raw: str) -> Content:
    """Decode letters only; placeholders such as `&amp;` are found later."""
    return (_ENTITY.sub(lambda m: html.unescape(m.group()) if html.unescape(m.group()).isalpha() else m.group(), raw),)


def _quoted(outcome: Outcome, quote: str) -> str:
    text = "".join(part if isinstance(part, str) else part.output for part in outcome.content)
    if not quote:
        return '"' + text.replace('"', "&quot;") + '"'
    return text.replace('"', "&quot;") if quote == '"' else text.replace("'", "&#39;")


def _language(item: Item, options: Options) -> Iterator[tuple[int, int, str]]:
    """Change <html lang="en"> to <html lang="de">."""
    for name, value, start, end, _ in item.attributes if item.name == "html" else ():
        if name in ("lang", "xml:lang") and value.lower().split("-")[0] == options.languages.source.lower():
            yield start, end, options.languages.target

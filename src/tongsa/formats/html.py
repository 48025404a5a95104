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

from tongsa.formats.segments import Content, ContentBuilder, Options, Outcome, Segment
from tongsa.formats.spans import Encoded, Slot, SpanDocument, line_of, replaced

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

_ATTRIBUTE = re.compile(
    r"""(?P<name>[^\s"'<>/=]+)\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'<>=`]+))"""
)
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?][^>]*+>"
    r"""|<(?P<close>/?)(?P<name>[A-Za-z][^\s/>"'<]*+)(?P<rest>(?:[^>"']|"[^"]{0,20000}+"|'[^']{0,20000}+')*+)>""",
    re.DOTALL,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?([A-Za-z0-9_.:-]+)|<\?xml[^>]{0,100}encoding\s*=\s*["']([A-Za-z0-9_.-]+)""",
    re.IGNORECASE,
)


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


def open_document(data: bytes, path: Path, options: Options) -> HtmlDocument:
    encoded = Encoded.read(data, path, options.encoding or _charset(data), errors="xmlcharrefreplace")
    document = HtmlDocument(path, data, encoded)
    text = encoded.text
    group: list[Item] = []
    for item in _items(text):
        if item.inline:
            group.append(item)
        else:
            document.slots += _slots(text, group)
            group = []
        if item.name and not item.closes and not (item.alone and item.name in UNTOUCHED):
            document.attributes += _attributes(text, item)
            document.also += _language(text, item, options)
    document.slots += _slots(text, group)
    return document


def _charset(data: bytes) -> str | None:
    match = _CHARSET.search(data[:2048])
    name = (match[1] or match[2]).decode("ascii").lower() if match else ""
    return {"iso-8859-1": "cp1252", "latin1": "cp1252"}.get(name, name) or None  # as browsers read it


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
        changed = (
            [(s, o) for s, o in zip(slots, outcomes, strict=True) if o.changed and o.content != s.segment.content]
            if outcomes
            else []
        )
        if not changed:
            return self.data
        text = self.encoded.text
        inner = [(s.start, s.end, s.render(o)) for s, o in changed if s in self.attributes]
        edits = []
        for slot, outcome in changed:
            if isinstance(slot, _Run):
                here = [edit for edit in inner if slot.start <= edit[0] and edit[1] <= slot.end]
                inner = [edit for edit in inner if edit not in here]
                edits.append((slot.start, slot.end, slot.rendered(outcome, text, here)))
        return self.encoded.write(replaced(text, [*edits, *inner, *self.also]), self.path)


@dataclass(frozen=True, kw_only=True)
class _Run(Slot):
    """A segment of text and inline tags."""

    spans: dict[int, tuple[int, int]]
    """Position of the raw form, by mark number."""

    def rendered(self, outcome: Outcome, text: str, inner: list[tuple[int, int, str]]) -> str:
        parts = []
        for part in outcome.content:
            if isinstance(part, str):
                parts.append(html.escape(part, quote=False))
            else:
                start, end = self.spans[part.number]
                here = [(a - start, b - start, new) for a, b, new in inner if start <= a and b <= end]
                parts.append(replaced(text[start:end], here))
        return "".join(parts)


def _items(text: str) -> Iterator[Item]:
    at = 0
    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        if match.start() > at:
            yield Item(at, match.start())
        name = (match["name"] or "").lower()
        at = match.end()
        if not name:
            yield Item(match.start(), at, "!", alone=True, inline=match.group().startswith("<!--"))
        elif match["close"]:
            yield Item(match.start(), at, name, closes=True, inline=name in INLINE)
        elif _untouched(name, match["rest"]) and name not in VOID and not match["rest"].endswith("/"):
            at = position = _end_of(name, text, at)
            yield Item(
                match.start(),
                at,
                name if name in UNTOUCHED else "code",
                alone=True,
                inline=name in INLINE or name in ("code", "kbd", "samp", "var"),
            )
        else:
            yield Item(
                match.start(), at, name, alone=name in VOID or match["rest"].endswith("/"), inline=name in INLINE
            )
    if at < len(text):
        yield Item(at, len(text))


def _untouched(name: str, rest: str) -> bool:
    if name in UNTOUCHED:
        return True
    found = {m["name"].lower(): m["double"] or m["single"] or m["bare"] or "" for m in _ATTRIBUTE.finditer(rest)}
    return ("translate" in found and found["translate"].lower() == "no") or (
        "class" in found and "notranslate" in found["class"].split()
    )


def _end_of(name: str, text: str, at: int) -> int:
    """Return the position after the element's closing tag; inside scripts, nothing else is a tag."""
    depth = 1
    for match in re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])[^>]*>?", re.IGNORECASE).finditer(text, at):
        depth += -1 if match[1] else 0 if name in ("script", "style", "textarea") else 1
        if depth == 0:
            return match.end()
    return len(text)


def _slots(text: str, group: list[Item]) -> Iterator[Slot]:
    pairs = _pairs(group)
    first, last = 0, len(group) - 1
    while first <= last:
        if _is_blank(text, group[first]) or (group[first].name and pairs.get(first, -1) < first):
            first += 1  # spaces, and tags without a counterpart here
        elif _is_blank(text, group[last]) or (group[last].name and last not in pairs):
            last -= 1
        elif pairs.get(first) == last:
            first, last = first + 1, last - 1
        else:
            break
    if first <= last:
        yield _run(text, group[first : last + 1])


def _is_blank(text: str, item: Item) -> bool:
    return not item.name and not text[item.start : item.end].strip()


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


def _run(text: str, items: list[Item]) -> _Run:
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
    segment = Segment(id=line_of(text, start), content=marked.content())
    return _Run(start=start, end=end, segment=segment, render=lambda _: "", spans=spans)


def _word(element: str) -> str:
    """Return the text a model sees for an element that stays unchanged: `<code>rm</code>` is a word of its sentence."""
    inner = re.fullmatch(r"<[^<>]*>([^<>&\n]{1,40})</[^<>]*>", element)
    return inner[1].strip() if inner else ""


def _text(text: str, start: int, end: int, marked: ContentBuilder, note: Callable[[int, int], str]) -> None:
    """Decode entities for letters and punctuation; entities with a special meaning become marks."""
    waiting = ""
    at = start
    for match in _ENTITY.finditer(text, start, end):
        decoded = html.unescape(match.group())
        waiting += text[at : match.start()]
        at = match.end()
        if decoded != match.group() and decoded.isprintable() and not decoded.isspace() and decoded not in "&<>\"'":
            waiting += decoded
            continue
        marked.text(re.sub(r"\s+", " ", waiting))
        waiting = ""
        marked.alone(note(match.start(), match.end()), decoded if decoded in "&<>\"'" else "")
    marked.text(re.sub(r"\s+", " ", waiting + text[at:end]))


def _attributes(text: str, item: Item) -> Iterator[Slot]:
    found = list(_ATTRIBUTE.finditer(text, item.start, item.end))
    values = {m["name"].lower(): m["double"] or m["single"] or m["bare"] or "" for m in found}
    for match in found:
        name = match["name"].lower()
        is_meta = item.name == "meta" and name == "content" and (values.get("name") or values.get("property")) in _META
        is_button = item.name == "input" and name == "value" and values.get("type") in ("submit", "button", "reset")
        if name not in ATTRIBUTES and not is_meta and not is_button:
            continue
        quote = next(kind for kind in ("double", "single", "bare") if match[kind] is not None)
        start, end = match.span(quote)
        content = _decoded(text[start:end])
        if any(isinstance(part, str) and part.strip() for part in content):
            segment = Segment(id=f"{line_of(text, start)}, {name}", content=content)
            yield Slot(start=start, end=end, segment=segment, render=lambda o, q=quote: _quoted(o, q))  # type: ignore[misc]


def _decoded(raw: str) -> Content:
    """Decode letters only; placeholders such as `&amp;` are found later."""
    return (_ENTITY.sub(lambda m: html.unescape(m.group()) if html.unescape(m.group()).isalpha() else m.group(), raw),)


def _quoted(outcome: Outcome, quote: str) -> str:
    text = "".join(part if isinstance(part, str) else part.output for part in outcome.content)
    if quote == "bare":
        return '"' + text.replace('"', "&quot;") + '"'
    return text.replace('"', "&quot;") if quote == "double" else text.replace("'", "&#39;")


def _language(text: str, item: Item, options: Options) -> Iterator[tuple[int, int, str]]:
    """Change <html lang="en"> to <html lang="de">."""
    if item.name != "html":
        return
    for match in _ATTRIBUTE.finditer(text, item.start, item.end):
        value = next(kind for kind in ("double", "single", "bare") if match[kind] is not None)
        if (
            match["name"].lower() in ("lang", "xml:lang")
            and match[value].lower().split("-")[0] == options.languages.source.lower()
        ):
            yield *match.span(value), options.languages.target

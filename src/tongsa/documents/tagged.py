"""Content as one text with numbered tags, `<1>bold</1> and <2/>`: what translators see in a review, and memories keep.

A tag stands for a mark of the format (an element, a link, a footnote); placeholders such as `%s` stay as they are.
"""

from __future__ import annotations

import re

from tongsa.formats.segments import Content, Mark

_TAG = re.compile(r"(</?\d{1,6}/?>)")


def tagged(content: Content) -> str | None:
    """Return the content with a tag for each mark; None if its text has such tags of its own."""
    marks = [part for part in content if isinstance(part, Mark)]
    if marks and any(isinstance(part, str) and _TAG.search(part) for part in content):
        return None
    tags = iter(tags_of(content))
    return "".join(part if isinstance(part, str) else next(tags) for part in content)


def tagged_like(source: Content, content: Content) -> str:
    """Return a translation with the tags that its marks have in the source."""
    tags = dict(zip((part for part in source if isinstance(part, Mark)), tags_of(source), strict=True))
    return "".join(part if isinstance(part, str) else tags.get(part, part.output) for part in content)


def untagged(text: str, content: Content) -> Content | None:
    """Turn the tags of a text back into the marks of `content`; None unless each is there once, and nested properly."""
    marks = dict(zip(tags_of(content), (part for part in content if isinstance(part, Mark)), strict=True))
    if not marks:
        return (text,)
    parts: list[str | Mark] = []
    opened: list[int] = []
    for piece in _TAG.split(text):
        if not _TAG.fullmatch(piece):
            parts += [piece] if piece else []
            continue
        mark = marks.pop(piece, None)
        if mark is None or (mark.role == "close" and (not opened or opened.pop() != mark.pair)):
            return None
        if mark.role == "open":
            opened.append(mark.pair)
        parts.append(mark)
    return None if marks else tuple(parts)


def tags_of(content: Content) -> list[str]:
    """The tag of each mark, in order: a closing mark has the number of its opening mark."""
    tags: list[str] = []
    numbers: dict[int, int] = {}
    count = 0
    for part in content:
        if not isinstance(part, Mark):
            continue
        if part.role == "close" and part.pair in numbers:
            tags.append(f"</{numbers[part.pair]}>")
            continue
        count += 1
        if part.role == "open":
            numbers[part.pair] = count
        tags.append(f"<{count}>" if part.role == "open" else f"<{count}/>")
    return tags

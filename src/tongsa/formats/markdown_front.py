"""Front matter of Markdown: the title, the description and the like of YAML and TOML are translated, all else stays.

Only values on the line of their key are read; what a block of lines holds is listed for the review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from tongsa.formats.segments import Outcome, Segment
from tongsa.formats.spans import Slot

_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\r?\n(?P<body>.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEYS = (
    "title|linktitle|subtitle|description|summary|excerpt|abstract|tagline|heading|caption|sidebar_label"
    "|pagination_label|nav_title|short_title|menu_title|seo_title|meta_description|image_alt"
)
_YAML = re.compile(
    rf"""^[ \t]{{0,8}}(?:-[ \t])?(?P<key>{_KEYS})[ \t]*+:[ \t]++"""
    r"""(?:"(?P<double>(?:[^"\\\r\n]|\\.)++)"|'(?P<single>(?:[^'\r\n]|'')++)'|(?P<plain>[^\s"'|>&*!%@`\[{#][^\r\n#]*+)"""
    r"""|(?P<block>[|>][-+\d]*+))""",
    re.MULTILINE | re.IGNORECASE,
)
_TOML = re.compile(
    rf"""^[ \t]{{0,8}}(?P<key>{_KEYS})[ \t]*+=[ \t]*+(?:"(?P<double>(?:[^"\\\r\n]|\\.)++)"|'(?P<single>[^'\r\n]++)')""",
    re.MULTILINE | re.IGNORECASE,
)
_NOT_PLAIN = re.compile(
    r"[-?:,\[\]{}#&*!|>'\"%@`]|.*?(?::(?:\s|$)|\s#)|(?:true|false|null|yes|no|on|off|~)$", re.IGNORECASE
)
"""A YAML value that needs quotes."""


def front_matter(text: str) -> re.Match[str] | None:
    return _FRONT.match(text)


def front_slots(front: re.Match[str], name: Callable[[int], str]) -> Iterator[Slot]:
    is_toml = front[1] == "+++"
    for match in (_TOML if is_toml else _YAML).finditer(front.string, *front.span("body")):
        kind = match.lastgroup or ""
        place = f"{name(match.start(kind))}, {match['key']}"
        if kind == "block":
            reason = f"{match['key']} of several lines is not translated"
            yield Slot.left(match.start(kind), Segment(id=place, content=(match["key"],), left=reason))
            continue
        value = _read(match[kind].rstrip(), kind, is_toml=is_toml)
        if any(map(str.isalpha, value)):
            start = match.start(kind)
            yield Slot(
                start=start,
                end=start + len(match[kind].rstrip()),
                segment=Segment(id=place, content=(value,), fragile="%{}<>&*_`[]"),
                render=lambda outcome, _, kind=kind: _written(outcome, kind, is_toml),  # type: ignore[misc]
            )


def _read(raw: str, kind: str, *, is_toml: bool) -> str:
    if kind == "double":
        try:
            return str(json.loads(f'"{raw}"'))
        except ValueError:  # escapes that JSON lacks
            return raw
    return raw.replace("''", "'") if kind == "single" and not is_toml else raw


def _written(outcome: Outcome, kind: str, is_toml: bool) -> str:
    text = " ".join(outcome.text.split())
    if kind == "double":
        return json.dumps(text, ensure_ascii=False)[1:-1]
    if kind == "single":
        return text.replace("'", "’") if is_toml else text.replace("'", "''")
    return json.dumps(text, ensure_ascii=False) if _NOT_PLAIN.match(text) else text

"""The frame of every page: one self-contained file that loads nothing and runs only its own script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tongsa.pages.markup import escape

STATIC = Path(__file__).parent / "static"
"""Styles and scripts of the kit; the server serves this folder too, for its own page."""

STYLES, SCRIPT = ("colours.css", "kit.css"), "kit.js"

SEAL = '<div class="seal" lang="ko" title="통사, the court interpreters of Joseon"><span>통</span><span>사</span></div>'


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page, with an entry in its navigation."""

    key: str
    title: str
    content: str
    """HTML."""
    note: str = ""
    """HTML shown beside the title."""

    def draw(self) -> str:
        aside = f' <span class="aside">{self.note}</span>' if self.note else ""
        return f'<section id="{self.key}"><h2>{escape(self.title)}{aside}</h2>{self.content}</section>'


def page(
    title: str,
    *,
    heading: str,
    sections: Sequence[Section],
    footer: str,
    served: str = "",
    scripts: Sequence[str] = (),
    language: str = "en",
) -> str:
    """A page in the kit's style: navigation, a heading, sections. All but `title` is HTML.

    The file contains everything, unless `served` is the URL of the kit's files on a server, which may add `scripts`.
    """
    links = "".join(f'<a href="#{section.key}">{escape(section.title)}</a>' for section in sections)
    drawn = "".join(section.draw() for section in sections)
    body = f'<main><nav>{links}</nav>{heading}{drawn}<footer>{footer}</footer></main><div id="tip" hidden></div>'
    if served:
        links = "".join(f'<link rel="stylesheet" href="{served}/{name}">' for name in STYLES)
        run = "".join(f'<script src="{url}"></script>' for url in (f"{served}/{SCRIPT}", *scripts))
        return _html(title, f"{body}{run}", links, language)
    return document(title, body, style=read(*STYLES), script=read(SCRIPT), style_attributes=True, language=language)


def heading(title: str, *, over: str = "", text: str = "") -> str:
    """The top of a page: the seal, a title with a line above it, and a sentence below. All of it is HTML."""
    above = f'<p class="over">{over}</p>' if over else ""
    below = f'<p class="model">{text}</p>' if text else ""
    return f"<header>{SEAL}<div>{above}<h1>{title}</h1>{below}</div></header>"


def document(
    title: str, body: str, *, style: str, script: str = "", style_attributes: bool = False, language: str = "en"
) -> str:
    """A whole HTML file. Its policy allows only this script and style and no requests, whatever the data
    may hold; `style_attributes` also allows style="..." in the body."""
    styles = "'unsafe-inline'" if style_attributes else _digest(style)
    scripts = f"; script-src {_digest(script)}" if script else ""
    policy = f"default-src 'none'; img-src data:; style-src {styles}{scripts}"
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}"><style>{style}</style>'
    return _html(title, f"{body}{f'<script>{script}</script>' if script else ''}", head, language)


def _html(title: str, body: str, head: str, language: str) -> str:
    return (
        f'<!doctype html>\n<html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"{head}<title>{escape(title)}</title></head><body>{body}</body></html>\n"
    )


@cache
def read(*names: str) -> str:
    """Contents of files of the kit, concatenated."""
    return "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

"""The attention view of the server's page as one self-contained file: the same script and style, and the data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path

from tongsa.engines.inspection import Inspection, payload, shown

STATIC = Path(__file__).parents[1] / "server" / "page"
MODULES = (
    "i18n.js",
    "attention/dom.js",
    "attention/tokens.js",
    "attention/colours.js",
    "attention/data.js",
    "attention/formula.js",
    "attention/stack.js",
    "attention/heads.js",
    "attention/lines.js",
    "attention/heatmap.js",
    "attention/positions.js",
    "attention/view.js",
    "attention/standalone.js",
)
"""In an order in which every module finds what it imports above it."""
STYLES = ("colours.css", "attention/view.css", "attention/standalone.css")
HEIGHT = 860
"""Pixels of the frame in a notebook: formula, heads and a sentence of twelve tokens."""
_IMPORT = re.compile(r"^import \{[^}]*\} from \"[^\"]+\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


def page(inspection: Inspection) -> str:
    """The policy lets only this script and style work and nothing be fetched, whatever the tokens may hold."""
    script, style = bundle(), "\n".join((STATIC / name).read_text(encoding="utf-8") for name in STYLES)
    policy = f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}"
    facts = inspection.facts
    title = f"{sentence(inspection.source_tokens)} → {sentence(inspection.target_tokens)}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html.escape(title)}</title><style>{style}</style></head><body>"
        f'<header><p class="seal" aria-hidden="true">통사</p><div><h1 lang="{html.escape(facts.source)}" dir="auto">'
        f"{html.escape(sentence(inspection.source_tokens))}</h1>"
        f'<p lang="{html.escape(facts.target)}" dir="auto">{html.escape(sentence(inspection.target_tokens))}</p></div>'
        '</header><main id="view"></main>'
        f'<script type="application/json" id="data">{_data(inspection)}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def frame(inspection: Inspection) -> str:
    """The page in a frame of its own: a notebook's styles and it leave each other alone."""
    inside = html.escape(page(inspection), quote=True)
    return (
        f'<iframe title="Attention" sandbox="allow-scripts" width="100%" height="{HEIGHT}" frameborder="0" '
        f'srcdoc="{inside}"></iframe>'
    )


@cache
def bundle() -> str:
    """The modules one after the other in one scope, as a browser that may fetch nothing needs them."""
    parts = [(STATIC / name).read_text(encoding="utf-8") for name in MODULES]
    body = "\n".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


def sentence(tokens: tuple[str, ...]) -> str:
    """The text that the tokens were made of, without its end."""
    return "".join(tokens[:-1]).replace("▁", " ").strip() or shown(tokens[-1])


def _data(inspection: Inspection) -> str:
    text = json.dumps(payload(inspection), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

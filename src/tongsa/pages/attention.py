"""The interactive attention view as a page of its own, and in a frame for notebooks; the server's page shows it too."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import cache

from tongsa.engines.inspection import Inspection, payload, shown
from tongsa.pages.frame import SEAL, STATIC, document, read
from tongsa.pages.markup import data, escape

MODULES = (
    "language.js",
    "attention/texts.js",
    "attention/experiment_texts.js",
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
    "attention/asking.js",
    "attention/interventions.js",
    "attention/beam.js",
    "attention/training.js",
    "attention/numbers.js",
    "attention/view.js",
    "attention/standalone.js",
)
"""JavaScript modules, each after the modules that it imports."""
STYLES = ("colours.css", "attention/view.css", "attention/experiments.css", "attention/standalone.css")
HEIGHT = 860
"""Height of the frame in a notebook, in pixels: room for the formula, the heads and a sentence of twelve tokens."""
_IMPORT = re.compile(r"^import \{[^}]*\} from \"[^\"]+\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|const|let|class)", re.MULTILINE)


def page(inspection: Inspection, experiments: Mapping[str, object] | None = None) -> str:
    """The interactive view of one pair, with its data; `experiments` are stored answers, by their names."""
    values = {**payload(inspection), "experiments": experiments or {}}
    facts = inspection.facts
    source, target = sentence(inspection.source_tokens), sentence(inspection.target_tokens)
    body = (
        f'<header>{SEAL}<div><h1 lang="{escape(facts.source)}" dir="auto">{escape(source)}</h1>'
        f'<p lang="{escape(facts.target)}" dir="auto">{escape(target)}</p></div></header><main id="view"></main>'
        f"{data(values, key='data')}"
    )
    return document(f"{source} → {target}", body, style=read(*STYLES), script=bundle())


def frame(inspection: Inspection) -> str:
    """The page in an iframe, isolated from the styles of the notebook."""
    inside = html.escape(page(inspection), quote=True)
    return (
        f'<iframe title="Attention" sandbox="allow-scripts" width="100%" height="{HEIGHT}" frameborder="0" '
        f'srcdoc="{inside}"></iframe>'
    )


@cache
def bundle() -> str:
    """All modules concatenated in one scope, for a page that may not fetch anything."""
    parts = [(STATIC / name).read_text(encoding="utf-8") for name in MODULES]
    body = "\n".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


def sentence(tokens: tuple[str, ...]) -> str:
    """The text of the tokens, without the end token."""
    return "".join(tokens[:-1]).replace("▁", " ").strip() or shown(tokens[-1])

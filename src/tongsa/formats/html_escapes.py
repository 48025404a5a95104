"""Character references of HTML, XML and Markdown: `&eacute;`, `&#39;`, `&amp;` are characters of the text.

They are decoded before translation and written again the way the source wrote them, wherever the translation has the
same character.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
NEEDED: Mapping[str, str] = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
"""Characters that text between tags cannot hold."""


def decoded_reference(reference: str) -> str:
    """Return the character of a reference; empty if it has none that can be part of a text, such as `&#0;`."""
    character = html.unescape(reference)
    is_text = character != reference and all(c.isprintable() or c.isspace() for c in character)
    return character if is_text and "\n" not in character and "\r" not in character else ""


@dataclass
class Escapes:
    """How a text writes its characters."""

    needed: Mapping[str, str] = field(default_factory=lambda: NEEDED)
    """Characters that must be escaped, and how, where the source does not tell."""
    forms: dict[str, str] = field(default_factory=dict)
    """References of the source, by their characters."""

    def decoded(self, raw: str) -> str:
        """Decode the references of a text, and remember how they were written."""
        return REFERENCE.sub(lambda match: self.character(match.group()) or match.group(), raw)

    def character(self, reference: str) -> str:
        """Decode one reference; empty if it is none of a text."""
        character = decoded_reference(reference)
        if len(character) == 1:
            self.forms.setdefault(character, reference)
        return character

    def encoded(self, text: str) -> str:
        """Escape a translation."""
        table: dict[str, str | int | None] = {**self.needed, **self.forms}
        return text.translate(str.maketrans(table))

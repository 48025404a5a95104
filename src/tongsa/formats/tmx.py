"""TMX 1.4, the exchange format of translation memories: <tu> with a <tuv> for each language.

A unit with several variants of a language (de-DE and de-AT) gives a pair for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tongsa.formats.inline import Inline
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.xmlstream import stream
from tongsa.text.languages import matches


def read_tmx(path: Path, reading: Reading) -> Iterator[Pair]:
    return stream(path, reading, _Units(path, reading))


class _Units:
    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.reading = path, reading
        self.found: list[Pair] = []
        self.where = Place(path, 1)
        self.variants: list[tuple[str, str]] = []
        self.language = ""
        self.segment: Inline | None = None

    def start(self, tag: str, attributes: dict[str, str], parent: str, line: int) -> None:
        if self.segment:
            self.segment.start(tag, attributes)
        elif tag == "tu":
            unit = attributes.get("tuid")
            self.where = Place(self.path, f"line {line:,} (unit {unit})" if unit else line)
            self.variants = []
        elif tag == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
        elif tag == "seg" and parent == "tuv":
            self.segment = Inline()

    def end(self, tag: str, parent: str) -> None:
        if self.segment:
            if tag == "seg":
                self.variants.append((self.language, str(self.segment)))
                self.segment = None
            else:
                self.segment.end(tag)
        elif tag == "tu":
            self.found += self.pairs()

    def text(self, data: str) -> None:
        if self.segment:
            self.segment.text(data)

    def pairs(self) -> list[Pair]:
        texts = [
            list(dict.fromkeys(text for language, text in self.variants if matches(language, wanted) and text.strip()))
            for wanted in (self.reading.source, self.reading.target)
        ]
        if not all(texts):
            named = {language for language, _ in self.variants}
            both = all(
                any(matches(language, wanted) for language in named)
                for wanted in (self.reading.source, self.reading.target)
            )
            why = "untranslated" if both else f"without {self.reading.source} or without {self.reading.target}"
            self.reading.left_out.drop(f"units {why}", self.where)
        return [Pair(source, target, self.where) for source in texts[0] for target in texts[1]]

"""XLIFF 1.2 (<trans-unit>) and 2.x (<unit> with <segment>s).

What the file marks as unfinished is left out and counted. A file of the opposite direction is read backwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tongsa.formats.inline import Inline
from tongsa.formats.pairs import Pair, Place, Reading
from tongsa.formats.xmlstream import stream
from tongsa.text.languages import matches

UNFINISHED = {
    "new",
    "needs-translation",
    "needs-adaptation",
    "needs-l10n",
    "needs-review-translation",
    "needs-review-adaptation",
    "needs-review-l10n",
    "initial",
}


def read_xliff(path: Path, reading: Reading) -> Iterator[Pair]:
    return stream(path, reading, _Units(path, reading))


class _Units:
    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.reading = path, reading
        self.found: list[Pair] = []
        self.languages = ("", "")
        self.unit = self.state = ""
        self.line = 1
        self.texts: dict[str, str] = {}
        self.part: Inline | None = None

    def start(self, tag: str, attributes: dict[str, str], parent: str, line: int) -> None:
        if self.part:
            self.part.start(tag, attributes)
        elif tag == "xliff" and "srcLang" in attributes:
            self.languages = (attributes["srcLang"], attributes.get("trgLang", ""))
        elif tag == "file" and "source-language" in attributes:
            self.languages = (attributes["source-language"], attributes.get("target-language", ""))
        elif tag == "unit":
            self.unit = attributes.get("id", "")
        elif tag in ("trans-unit", "segment"):
            if tag == "trans-unit":
                self.unit = attributes.get("id", "")
            self.state, self.line, self.texts = attributes.get("state", ""), line, {}
        elif tag in ("source", "target") and parent in ("trans-unit", "segment"):  # not those of <alt-trans>, <match>
            self.part = Inline()
            self.state = attributes.get("state", self.state)

    def end(self, tag: str, parent: str) -> None:
        if self.part:
            if tag in ("source", "target"):
                self.texts[tag] = str(self.part)
                self.part = None
            else:
                self.part.end(tag)
        elif tag in ("trans-unit", "segment"):
            self.close()

    def text(self, data: str) -> None:
        if self.part:
            self.part.text(data)

    def close(self) -> None:
        unit = f" (unit {self.unit})" if self.unit else ""
        where = Place(self.path, f"line {self.line:,}{unit}")
        source, target = self.texts.get("source", ""), self.texts.get("target", "")
        wanted = (self.reading.source, self.reading.target)
        if not source.strip() or not target.strip():
            self.reading.left_out.drop("units untranslated", where)
        elif self.state in UNFINISHED:
            self.reading.left_out.drop(f"units that are marked as unfinished ({self.state})", where)
        elif self.fits(wanted):
            self.found.append(Pair(source, target, where))
        elif self.fits(wanted[::-1]):
            self.found.append(Pair(target, source, where))
        else:
            languages = " to ".join(language or "?" for language in self.languages)
            self.reading.left_out.drop(f"units of other languages ({languages})", where)

    def fits(self, wanted: tuple[str, ...]) -> bool:
        """A language that the file leaves unsaid fits."""
        return all(not have or matches(have, want) for have, want in zip(self.languages, wanted, strict=True))

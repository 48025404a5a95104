"""Translators that need no training, good and bad ones."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translation

CONFIDENCE = 0.75
"""Confidence of every translation of a `Fake`."""


@dataclass
class FakeCard:
    source: str = "en"
    target: str = "de"


@dataclass
class Fake:
    """Applies a function to each text; remembers what it was asked."""

    change: Callable[[str], str]
    card: FakeCard = field(default_factory=FakeCard)
    asked: list[str] = field(default_factory=list)

    def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
        self.asked += texts
        return [self._one(text, options) for text in texts]

    def _one(self, text: str, options: TranslateOptions) -> Translation:
        alignment = options.alignment
        new = self.change(text)
        source, target = text.split(), new.split()
        for term in options.glossary.find(text) if options.glossary else []:
            if not term.target.found(new):  # in place of the word at the same place
                at = len(text[: term.start].split())
                target[at] = re.sub(r"\w+", term.target.forms[0], target[at], count=1)
                new = " ".join(target)
        count = min(len(source), len(target))
        return Translation(
            text=new,
            log_probability=-0.2 * (len(target) + 1),
            confidence=CONFIDENCE,
            source_tokens=tuple("▁" + word for word in source),
            tokens=tuple("▁" + word for word in target),
            alignment=tuple((i, i) for i in range(count)) if alignment else (),
        )


def identity() -> Fake:
    return Fake(lambda text: text)


def upper() -> Fake:
    """Upper-cases words, and carries placeholders over as a good model does."""
    return Fake(lambda text: re.sub(r"(?<![%{$\w(])[a-zà-ÿ]{2,}(?![\w}).@:])", lambda m: m.group().upper(), text))


def losing() -> Fake:
    """Loses everything that is no letter."""
    return Fake(lambda text: re.sub(r"[^\w\s]", "", text))


def doubling() -> Fake:
    return Fake(lambda text: f"{text} {text}")


def reordering() -> Fake:
    return Fake(lambda text: " ".join(reversed(text.split())))


def garbage(seed: int = 1) -> Fake:
    """Writes what it likes: placeholders, tags and markup among it."""
    chance = random.Random(seed)
    words = [
        "das",
        "%s",
        "{0}",
        "<b>",
        "</i>",
        "&amp;",
        "100%",
        "und",
        "**",
        "`",
        "[x](y)",
        "|",
        "\n",
        "",
        "]]>",
        "--",
        '"',
        "5 km",
    ]
    return Fake(lambda text: " ".join(chance.choice(words) for _ in range(chance.randint(0, 9))))


def silent() -> Fake:
    return Fake(lambda text: "")


BAD: dict[str, Callable[[], Fake]] = {
    "losing": losing,
    "doubling": doubling,
    "reordering": reordering,
    "garbage": garbage,
    "silent": silent,
}

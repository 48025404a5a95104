"""Texts and files with something in them that must be kept: tags, placeholders, terms. Runs in threads.

Each text becomes a document of `tongsa.documents`; those of a request are translated together, way through a third
language or not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from tongsa.documents import Options, beside, read_document
from tongsa.documents.engine import Help, translate_segments
from tongsa.formats.html import HtmlDocument
from tongsa.formats.html import open_document as open_html
from tongsa.formats.segments import Document, Languages, Mark, Outcome, Segment
from tongsa.server.work.blocking import BlockingQueue, BlockingTranslator
from tongsa.server.work.translators import TranslatorChain
from tongsa.server.work.trust import Trust, evenly

Kind = Literal["text", "html", "xml"]

NAME = "document"
"""What an uploaded file is called in what is said of it, whatever its name was."""


@dataclass(frozen=True)
class TranslatedText:
    """A translated text, and what was asked for besides."""

    text: str
    alternatives: tuple[str, ...] = ()
    trust: Trust = field(default_factory=lambda: Trust(0.0, ()))


class Written(Protocol):
    """A text as a document."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def text(self, outcomes: Sequence[Outcome]) -> str: ...


@dataclass(frozen=True)
class Html:
    document: HtmlDocument

    @classmethod
    def of(cls, text: str, languages: Languages) -> Html:
        options = Options(languages=languages, encoding="utf-8")
        return cls(open_html(text.encode(), Path(f"{NAME}.html"), options))

    @property
    def segments(self) -> Sequence[Segment]:
        return self.document.segments

    def text(self, outcomes: Sequence[Outcome]) -> str:
        return self.document.write(outcomes).decode()


@dataclass(frozen=True)
class Running:
    """Text in which elements of some names are to stay as they are; other tags are found by the engine."""

    whole: str
    untouched: tuple[str, ...] = ()

    @property
    def segments(self) -> Sequence[Segment]:
        if not self.untouched:
            return [Segment(id="", content=(self.whole,))]
        names = "|".join(map(re.escape, self.untouched))
        pieces = re.split(rf"(<({names})(?:\s[^<>]*)?>.*?</\2\s*>)", self.whole, flags=re.DOTALL)
        content: list[str | Mark] = []
        for at in range(0, len(pieces), 3):  # text, element, the element's name
            content.append(pieces[at])
            content += [Mark(number=at, text=element) for element in pieces[at + 1 : at + 2]]
        return [Segment(id="", content=tuple(part for part in content if part))]

    def text(self, outcomes: Sequence[Outcome]) -> str:
        return outcomes[0].text


def say_texts(
    texts: Sequence[str],
    queue: BlockingQueue,
    chain: TranslatorChain,
    kind: Kind,
    alternatives: int,
    untouched: tuple[str, ...],
    help: Help,
) -> list[TranslatedText]:
    """Each text, and so many other ways to say it, best first; fewer where the search knows no more."""
    translators = [BlockingTranslator(queue, translator) for translator in chain.translators[:-1]]
    translators.append(BlockingTranslator(queue, chain.translators[-1], nbest=alternatives + 1))
    found: list[list[TranslatedText]] = []
    for rank in range(alternatives + 1):
        translators[-1].rank = rank
        found.append(_through(texts, translators, kind, untouched, help))
    said = []
    for best, *others in zip(*found, strict=True):
        different = dict.fromkeys(other.text for other in others if other.text != best.text)
        said.append(TranslatedText(best.text, tuple(different), best.trust))
    return said


def _through(
    texts: Sequence[str], translators: Sequence[BlockingTranslator], kind: Kind, untouched: tuple[str, ...], help: Help
) -> list[TranslatedText]:
    said = [TranslatedText(text, trust=Trust(1.0, ())) for text in texts]
    for translator in translators:
        languages = Languages(source=translator.card.source, target=translator.card.target)
        written: list[Written] = [
            Html.of(each.text, languages) if kind == "html" else Running(each.text, untouched) for each in said
        ]
        groups = [list(each.segments) for each in written]
        outcomes = iter(translate_segments([segment for group in groups for segment in group], translator, help))
        done = [[next(outcomes) for _ in group] for group in groups]
        said = [_said(before, each.text(group), group) for before, each, group in zip(said, written, done, strict=True)]
    return said


def _said(before: TranslatedText, text: str, outcomes: Sequence[Outcome]) -> TranslatedText:
    lengths = [len(outcome.text) for outcome in outcomes]
    weighed = sum(outcome.confidence * length for outcome, length in zip(outcomes, lengths, strict=True))
    score = before.trust.score * (weighed / sum(lengths) if sum(lengths) else 1.0)
    return TranslatedText(text, trust=Trust(score, tuple(evenly(text, round(score, 3)))))


def say_document(data: bytes, suffix: str, queue: BlockingQueue, chain: TranslatorChain) -> tuple[bytes, str]:
    """A file of a known kind."""
    for translator in chain.translators:
        languages = Languages(source=translator.card.source, target=translator.card.target)
        path = Path(NAME + suffix)
        document: Document = read_document(data, path, Options(languages=languages))
        segments = list(document.segments)
        data = document.write(translate_segments(segments, BlockingTranslator(queue, translator)))
        suffix = beside(path, languages).suffix
    return data, suffix

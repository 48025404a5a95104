"""Translate texts and files with parts that must be kept: tags, placeholders, terms. Runs in threads.

Each text becomes a document of `tongsa.documents`; those of a request are translated together, through a third
language or not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from tongsa.documents import Options, default_target, read_document
from tongsa.documents.translate import Resources, translate_segments
from tongsa.formats.html import HtmlDocument
from tongsa.formats.html import open_document as open_html
from tongsa.formats.segments import Document, Languages, Mark, Outcome, Segment
from tongsa.server.work.blocking import BlockingQueue, BlockingTranslator
from tongsa.server.work.translators import TranslatorChain
from tongsa.translation.confidence import Word, same_for_all_words, weighted_mean
from tongsa.translation.sentences import Translation

TextKind = Literal["text", "html", "xml"]

NAME = "document"
"""The name of an uploaded file in messages, instead of its real name, which is private."""


@dataclass(frozen=True)
class TranslatedText:
    """A translated text, with its alternatives and confidence if requested."""

    text: str
    alternatives: tuple[str, ...] = ()
    """Other translations, best first, all different."""
    confidence: float = 0.0
    words: tuple[Word, ...] = ()

    @classmethod
    def of(cls, translation: Translation, before: float) -> TranslatedText:
        """`before` is the confidence of the source, if the source is itself a translation."""
        others = dict.fromkeys(each.text for each in translation.alternatives if each.text != translation.text)
        confidence = 1.0 if translation.confidence is None else translation.confidence
        return cls(translation.text, tuple(others), before * confidence, translation.words)


class TextDocument(Protocol):
    """A text as a document."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def text(self, outcomes: Sequence[Outcome]) -> str: ...


@dataclass(frozen=True)
class HtmlText:
    document: HtmlDocument

    @classmethod
    def of(cls, text: str, languages: Languages) -> HtmlText:
        options = Options(languages=languages, encoding="utf-8")
        return cls(open_html(text.encode(), Path(f"{NAME}.html"), options))

    @property
    def segments(self) -> Sequence[Segment]:
        return self.document.segments

    def text(self, outcomes: Sequence[Outcome]) -> str:
        return self.document.write(outcomes).decode()


@dataclass(frozen=True)
class PlainText:
    """Text in which elements of some names are kept unchanged; other tags are found in the text itself."""

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


@dataclass(frozen=True, kw_only=True)
class MarkedTexts:
    """Texts of a request, all of the same kind."""

    texts: Sequence[str]
    kind: TextKind
    untouched: tuple[str, ...]
    resources: Resources

    def documents(self, texts: Sequence[str], languages: Languages) -> list[TextDocument]:
        """The texts, or their translations by a first translator, as documents."""
        if self.kind == "html":
            return [HtmlText.of(text, languages) for text in texts]
        return [PlainText(text, self.untouched) for text in texts]


def translate_marked(
    marked: MarkedTexts, translators: Sequence[BlockingTranslator], alternatives: int
) -> list[TranslatedText]:
    """Each text with at most the given number of alternatives, best first; fewer if the search found no more."""
    found: list[list[TranslatedText]] = []
    for rank in range(alternatives + 1):
        translators[-1].rank = rank
        found.append(_through(marked, translators))
    translated = []
    for best, *others in zip(*found, strict=True):
        different = dict.fromkeys(other.text for other in others if other.text != best.text)
        translated.append(replace(best, alternatives=tuple(different)))
    return translated


def _through(marked: MarkedTexts, translators: Sequence[BlockingTranslator]) -> list[TranslatedText]:
    translated = [TranslatedText(text, confidence=1.0) for text in marked.texts]
    for translator in translators:
        languages = Languages(source=translator.card.source, target=translator.card.target)
        documents = marked.documents([each.text for each in translated], languages)
        groups = [list(document.segments) for document in documents]
        segments = [segment for group in groups for segment in group]
        outcomes = iter(translate_segments(segments, translator, marked.resources))
        done = [[next(outcomes) for _ in group] for group in groups]
        translated = [
            _translated_text(before, document.text(group), group)
            for before, document, group in zip(translated, documents, done, strict=True)
        ]
    return translated


def _translated_text(before: TranslatedText, text: str, outcomes: Sequence[Outcome]) -> TranslatedText:
    mean = weighted_mean([(outcome.confidence, len(outcome.text)) for outcome in outcomes], empty=1.0)
    confidence = before.confidence * mean
    return TranslatedText(text, confidence=confidence, words=tuple(same_for_all_words(text, round(confidence, 3))))


def translate_document(data: bytes, suffix: str, queue: BlockingQueue, chain: TranslatorChain) -> tuple[bytes, str]:
    """A file of a known format."""
    for translator in chain.translators:
        languages = Languages(source=translator.card.source, target=translator.card.target)
        path = Path(NAME + suffix)
        document: Document = read_document(data, path, Options(languages=languages))
        segments = list(document.segments)
        data = document.write(translate_segments(segments, BlockingTranslator(queue, translator)))
        suffix = default_target(path, languages).suffix
    return data, suffix

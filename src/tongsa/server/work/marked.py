"""Translate texts and files with parts that must be kept: tags and placeholders.

Each text becomes a document of `tongsa.documents`; those of a request are translated together, through a third
language or not. Runs in worker processes, and for short texts in threads of the service.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from tongsa.documents import Options, default_target, read_document
from tongsa.documents.translate import CardLike, translate_segments
from tongsa.formats.html import open_document as open_html
from tongsa.formats.segments import Document, Languages, Mark, Outcome, Segment
from tongsa.formats.spans import SpanDocument
from tongsa.translation.confidence import Word, same_for_all_words, weighted_mean
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import TextPlan, Translation, cut

TextKind = Literal["text", "html", "xml"]
LONGEST = 1_000
"""Maximum characters in a piece. Longer sentences are cut at blanks, or anywhere if they have none."""

Cache = dict[tuple[str, bool], Translation]
"""Translations by their source text, and whether they have an alignment."""

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

    @classmethod
    def of_marked(cls, text: str, alternatives: Sequence[str], confidence: float) -> TranslatedText:
        """A text with marks, whose words all have the confidence of the whole."""
        words = same_for_all_words(text, round(confidence, 3))
        return cls(text, tuple(alternatives), confidence, tuple(words))


@dataclass
class RequestTranslator:
    """A translator for the texts of one request, with the `translate` that `tongsa.documents` calls."""

    card: CardLike
    run: Callable[[Sequence[str], TranslateOptions], Sequence[Translation]]
    """Translates texts of at most LONGEST characters, each with as many alternatives as the request asks for."""
    cache: Cache = field(default_factory=dict)
    """What was translated for the request before."""
    rank: int = 0
    """The hypothesis that is returned: 0 is the best one."""

    def translate(self, texts: Sequence[str], options: TranslateOptions, /) -> list[Translation]:
        new = [text for text in dict.fromkeys(texts) if (text, options.alignment) not in self.cache]
        source, target = self.card.source, self.card.target
        plans = [
            TextPlan(cut(text, source, whole=True, longest=LONGEST), source, target) if len(text) > LONGEST else None
            for text in new
        ]
        groups = [plan.sentences if plan else [text] for text, plan in zip(new, plans, strict=True)]
        pieces = [piece for group in groups for piece in group]
        found = iter(self.run(pieces, options) if pieces else ())
        for text, plan, group in zip(new, plans, groups, strict=True):
            translations = [next(found) for _ in group]
            self.cache[text, options.alignment] = plan.join(translations) if plan else translations[0]
        return [self.cache[text, options.alignment].ranked(self.rank) for text in texts]


class TextDocument(Protocol):
    """A text as a document."""

    @property
    def segments(self) -> Sequence[Segment]: ...

    def text(self, outcomes: Sequence[Outcome]) -> str: ...


@dataclass(frozen=True)
class HtmlText:
    document: SpanDocument

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
        content: list[str | Mark] = []
        end = 0
        for number, (start, stop) in enumerate(elements(self.whole, self.untouched)):
            content += [self.whole[end:start], Mark(number=number, text=self.whole[start:stop])]
            end = stop
        content.append(self.whole[end:])
        return [Segment(id="", content=tuple(part for part in content if part) or ("",))]

    def text(self, outcomes: Sequence[Outcome]) -> str:
        return outcomes[0].text


def elements(text: str, names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The spans of elements with one of these names, each up to its first closing tag.

    A name whose closing tag does not come is not searched for again, so the time is linear in the text.
    """
    if not names:
        return
    alike = "|".join(map(re.escape, names))
    end, closings = 0, {name: re.compile(rf"</{re.escape(name)}\s*>") for name in names}
    for opening in re.finditer(rf"<({alike})(?:\s[^<>]*)?>", text):
        name = opening[1]
        if opening.start() < end or name not in closings:
            continue
        closing = closings[name].search(text, opening.end())
        if closing is None:
            del closings[name]
        else:
            end = closing.end()
            yield opening.start(), end


@dataclass(frozen=True, kw_only=True)
class MarkedTexts:
    """Texts of a request, all of the same kind."""

    texts: Sequence[str]
    kind: TextKind
    untouched: tuple[str, ...] = ()

    def documents(self, texts: Sequence[str], languages: Languages) -> list[TextDocument]:
        """The texts, or their translations by a first translator, as documents."""
        if self.kind == "html":
            return [HtmlText.of(text, languages) for text in texts]
        return [PlainText(text, self.untouched) for text in texts]


def translate_marked(
    marked: MarkedTexts, translators: Sequence[RequestTranslator], alternatives: int
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


def _through(marked: MarkedTexts, translators: Sequence[RequestTranslator]) -> list[TranslatedText]:
    translated = [TranslatedText(text, confidence=1.0) for text in marked.texts]
    for translator in translators:
        languages = Languages(source=translator.card.source, target=translator.card.target)
        documents = marked.documents([each.text for each in translated], languages)
        groups = [list(document.segments) for document in documents]
        segments = [segment for group in groups for segment in group]
        outcomes = iter(translate_segments(segments, translator))
        done = [[next(outcomes) for _ in group] for group in groups]
        translated = [
            _translated_text(before, document.text(group), group)
            for before, document, group in zip(translated, documents, done, strict=True)
        ]
    return translated


def _translated_text(before: TranslatedText, text: str, outcomes: Sequence[Outcome]) -> TranslatedText:
    mean = weighted_mean([(outcome.confidence, len(outcome.text)) for outcome in outcomes], empty=1.0)
    return TranslatedText.of_marked(text, (), before.confidence * mean)


def translate_document(data: bytes, suffix: str, translators: Sequence[RequestTranslator]) -> tuple[bytes, str]:
    """The translation of a file of a known format, and its suffix."""
    for translator in translators:
        languages = Languages(source=translator.card.source, target=translator.card.target)
        path = Path(NAME + suffix)
        document: Document = read_document(data, path, Options(languages=languages))
        segments = list(document.segments)
        data = document.write(translate_segments(segments, translator))
        suffix = default_target(path, languages).suffix
    return data, suffix

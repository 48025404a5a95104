"""Split a text into sentences, and join the translations of the sentences.

    text ─ cut ─▶ parts ─ Translator.encode ─▶ sentences with ids ─ engine ─▶ translations ─ TextPlan.join ─▶ one

Commands, documents and the server all use this module. A sentence is encoded once and keeps its ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tongsa.text.sentences import gap, split
from tongsa.translation.confidence import Word, same_for_all_words, weighted_mean, word_confidences

if TYPE_CHECKING:
    from tongsa.engines.inspection import Inspection

T = TypeVar("T")
SPLIT_NOTE = "translated sentence by sentence"


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A translation and its details."""

    text: str
    score: float = 0.0
    """Log-probability divided by the length penalty; hypotheses are ranked by it."""
    log_probability: float = 0.0
    source_tokens: tuple[str, ...] = ()
    """What the model read: a sentence in capitals in lower case, without unknown characters."""
    tokens: tuple[str, ...] = ()
    """What it wrote."""
    source_ids: tuple[int, ...] = field(default=(), repr=False)
    ids: tuple[int, ...] = field(default=(), repr=False)
    """The ids of `source_tokens` and `tokens`."""
    alignment: tuple[tuple[int, int], ...] = ()
    """(source token, target token) for every target token, if requested."""
    confidence: float | None = None
    """From 0 to 1; see `tongsa.translation.confidence`."""
    words: tuple[Word, ...] = ()
    """The confidence of each word, if requested."""
    notes: tuple[str, ...] = ()
    """`blank`, `copied`, `repetition cut`, `length limit`: how the text differs from plain model output."""
    alternatives: tuple[Translation, ...] = ()
    """The other hypotheses, best first, if requested."""
    _inspect: Callable[[], Inspection] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def attention(self) -> Inspection | None:
        """The model's attention, computed on first use; None for text that the model never saw."""
        return self._inspect() if self._inspect else None

    def ranked(self, rank: int) -> Translation:
        """Return the hypothesis of this rank (0 is the best), or the best if there are fewer."""
        return self.alternatives[rank - 1] if 0 < rank <= len(self.alternatives) else self


def with_words(translation: Translation, log_probabilities: Sequence[float]) -> Translation:
    """Add the confidence of each word, from the log-probabilities of the tokens and the end."""
    words = word_confidences(translation.text.strip(), translation.tokens, log_probabilities)
    return replace(translation, words=tuple(words))


class Sentence(NamedTuple):
    """A text to translate as a unit, and its ids."""

    text: str
    ids: list[int]


class Part(NamedTuple):
    """A sentence of a text, and the white space before and after it."""

    before: str
    text: str
    after: str

    @property
    def has_letters(self) -> bool:
        return has_letters(self.text)


def has_letters(text: str) -> bool:
    return any(c.isalpha() for c in text)


def cut(text: str, language: str, *, whole: bool = False, longest: int | None = None) -> list[Part]:
    """Split a text into sentences; joined, the parts are the text.

    `whole` keeps the text in one part. No part has more than `longest` characters: sentences are cut at spaces
    well before that, and text without spaces anywhere.
    """
    fits = longest is None or len(text) <= longest
    sentences = [text] if whole and fits else split(text, language)
    if longest is not None:
        sentences = [piece for sentence in sentences for piece in slices(sentence, longest)]
    return [_part(sentence) for sentence in sentences]


def slices(text: str, longest: int) -> list[str]:
    if len(text) <= longest:
        return [text]
    return [text[at : at + longest] for at in range(0, len(text), longest)]


def _part(text: str) -> Part:
    inner = text.strip()
    if not inner:
        return Part(text, "", "")
    begin = len(text) - len(text.lstrip())
    return Part(text[:begin], inner, text[begin + len(inner) :])


def gaps(parts: Sequence[Part], source: str, target: str) -> list[str]:
    """Return the gap after each part of the translation, which depends on the target language."""
    letters = [*(part.has_letters for part in parts), False]
    return [
        gap(part.after, source, target) if letters[number] and letters[number + 1] else part.after
        for number, part in enumerate(parts)
    ]


def join_texts(parts: Sequence[Part], texts: Sequence[str | None], source: str, target: str) -> str:
    """Rebuild the text with `texts` for its sentences; None keeps the original sentence."""
    return "".join(
        part.before + (part.text if text is None else text) + after
        for part, text, after in zip(parts, texts, gaps(parts, source, target), strict=True)
    )


@dataclass(frozen=True)
class TextPlan:
    """The parts of a text; those with letters are translated."""

    parts: Sequence[Part]
    source: str
    """The languages."""
    target: str
    note: str = ""
    """Note to add to the joined translation."""

    @property
    def sentences(self) -> list[str]:
        return [part.text for part in self.parts if part.has_letters]

    def join(self, translations: Sequence[Translation]) -> Translation:
        """Join the translations of the sentences into one.

        The score is their mean, the log-probability their sum, the confidence their mean weighted by the lengths of
        the sentences. The alternative of rank n has the n-th alternative of each sentence, or its best translation
        where there are fewer.
        """
        if len(translations) == len(self.parts) == 1 and not (self.parts[0].before or self.parts[0].after):
            return translations[0]
        ranks = max((len(each.alternatives) for each in translations), default=0)
        best = self._joined(translations)
        if not ranks:
            return best
        others = [self._joined([each.ranked(rank) for each in translations]) for rank in range(1, ranks + 1)]
        return replace(best, alternatives=tuple(others))

    def _joined(self, translations: Sequence[Translation]) -> Translation:
        rest = iter(translations)
        filled = [next(rest) if part.has_letters else None for part in self.parts]
        texts = [each.text.strip() if each else None for each in filled]
        text = self._ended(join_texts(self.parts, texts, self.source, self.target))
        notes = dict.fromkeys(note for each in translations for note in each.notes)
        return Translation(
            text=text,
            score=sum(each.score for each in translations) / max(1, len(translations)),
            log_probability=sum(each.log_probability for each in translations),
            source_tokens=_chained([each.source_tokens for each in translations]),
            tokens=_chained([each.tokens for each in translations]),
            source_ids=_chained([each.source_ids for each in translations]),
            ids=_chained([each.ids for each in translations]),
            alignment=_alignment(translations),
            confidence=self._confidence(translations),
            words=self._words(filled) if any(each.words for each in translations) else (),
            notes=(*((self.note,) if self.note else ()), *notes),
        )

    def _confidence(self, translations: Sequence[Translation]) -> float | None:
        pairs = [(each.confidence, len(sentence)) for each, sentence in zip(translations, self.sentences, strict=True)]
        known = [(confidence, length) for confidence, length in pairs if confidence is not None]
        return weighted_mean(known, empty=1.0) if len(known) == len(pairs) else None

    def _words(self, filled: Sequence[Translation | None]) -> tuple[Word, ...]:
        """Join the words of all sentences, with the gaps between them."""
        words: list[Word] = []
        between = ""
        for part, each, after in zip(self.parts, filled, gaps(self.parts, self.source, self.target), strict=True):
            between += part.before
            if each and each.words:
                words += [*same_for_all_words(between, None), *each.words]
                between = after
            else:
                between += (each.text.strip() if each else part.text) + after
        return (*words, *same_for_all_words(self._ended(between), None))

    def _ended(self, text: str) -> str:
        """Remove white space at the end if the source has none: the last translation may be empty."""
        source = "".join(self.parts[-1]) if self.parts else ""
        return text if source[-1:].isspace() else text.rstrip()


def _chained(groups: Sequence[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(chain.from_iterable(groups))


def _alignment(translations: Sequence[Translation]) -> tuple[tuple[int, int], ...]:
    """Shift token positions from the beginning of a sentence to the beginning of the text."""
    sources = [0, *accumulate(len(each.source_tokens) for each in translations)]
    targets = [0, *accumulate(len(each.tokens) for each in translations)]
    return tuple(
        (source + sources[number], target + targets[number])
        for number, each in enumerate(translations)
        for source, target in each.alignment
    )

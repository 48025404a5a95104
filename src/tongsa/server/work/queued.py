"""Translates texts and documents through the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from tongsa.documents.glossary import Glossary
from tongsa.documents.placeholders import is_plain, keeps_plain_text
from tongsa.documents.translate import Resources
from tongsa.server.work.blocking import LONGEST, BlockingQueue, BlockingTranslator, Cache
from tongsa.server.work.kinds import EncodedPair, ScoreTranslations, TranslateSentences
from tongsa.server.work.marked import MarkedTexts, TextKind, TranslatedText, translate_document, translate_marked
from tongsa.server.work.queue import Queue
from tongsa.server.work.translators import TranslatorChain
from tongsa.text.lines import tidy
from tongsa.translation.confidence import same_for_all_words
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Sentence, TextPlan, Translation, cut, with_words

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

T = TypeVar("T")
LARGE = 5_000
"""Texts of at least this many characters are split into sentences in a thread, to keep the event loop free."""


@dataclass(frozen=True, kw_only=True)
class TextOptions:
    """How to translate the texts of a request, and what to return besides the translation."""

    kind: TextKind = "text"
    alternatives: int = 0
    confidence: bool = False
    """Also return the confidence of each word."""
    whole: bool = False
    """Do not split the text into sentences."""
    glossary: Glossary | None = None
    untouched: tuple[str, ...] = ()
    """Names of XML elements to leave as they are."""

    @property
    def plain(self) -> bool:
        return self.kind == "text" and not self.glossary


class QueuedTranslator:
    """`await translator.texts(["..."], chain, TextOptions())`; cancelling it stops the work."""

    def __init__(self, queue: Queue, *, threads: int = 64, documents: int = 2) -> None:
        self.queue = queue
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="text")
        self._documents = ThreadPoolExecutor(documents, thread_name_prefix="document")

    async def texts(self, texts: Sequence[str], chain: TranslatorChain, options: TextOptions) -> list[TranslatedText]:
        """One result per text, in order."""
        if not chain.translators:
            return [TranslatedText(text, confidence=1.0, words=tuple(same_for_all_words(text, 1.0))) for text in texts]
        steps = chain_steps(chain, options)
        found: dict[int, TranslatedText] = {}
        if options.plain and (options.confidence or sum(map(len, texts)) < LARGE):
            found = await self._plain_texts(texts, steps, options)
        rest = [index for index in range(len(texts)) if index not in found]
        if rest:
            marked = MarkedTexts(
                texts=[texts[index] for index in rest],
                kind=options.kind,
                untouched=options.untouched,
                resources=Resources(glossary=options.glossary or Glossary()),
            )
            translated = await self._in_thread(
                self._threads,
                lambda queue: translate_marked(marked, [step.blocking(queue) for step in steps], options.alternatives),
            )
            found |= zip(rest, translated, strict=True)
        return [found[index] for index in range(len(texts))]

    async def document(self, data: bytes, suffix: str, chain: TranslatorChain) -> tuple[bytes, str]:
        """The translated file, and its suffix."""
        return await self._in_thread(self._documents, lambda queue: translate_document(data, suffix, queue, chain))

    async def score(self, translator: Translator, source: str, target: str) -> list[tuple[str, float]]:
        """The tokens of the target and the end, each with its log-probability."""
        ids = translator.subwords.target.encode(tidy(target))
        pair = EncodedPair(translator.encode([source])[0].ids, ids)
        (log_probabilities,) = await self.queue.run(ScoreTranslations(translator), [pair])
        return list(zip([*translator.subwords.target.pieces(ids), "</s>"], log_probabilities, strict=True))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Run blocking work in a thread."""
        return await self._in_thread(self._threads, lambda _: work())

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._documents.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, threads: ThreadPoolExecutor, work: Callable[[BlockingQueue], T]) -> T:
        loop = asyncio.get_running_loop()
        queue = BlockingQueue(self.queue, loop)

        def run() -> T:
            try:
                return work(queue)
            except StopIteration as error:  # a future cannot hold one, and the request would wait forever
                raise RuntimeError("StopIteration in a thread") from error

        try:
            return await loop.run_in_executor(threads, run)
        finally:
            queue.end()

    async def _plain_texts(
        self, texts: Sequence[str], steps: Sequence[ChainStep], options: TextOptions
    ) -> dict[int, TranslatedText]:
        """Translations of texts without marks, by index; texts that need more care are missing.

        The result is the same as with `tongsa.documents`, without a thread. A text is left to it if a translation lost
        or invented something that must be kept.
        """
        found = {index: TranslatedText(text, confidence=1.0) for index, text in enumerate(texts)}
        for step in steps:
            card = step.translator.card
            plans = {
                index: TextPlan(
                    cut(each.text, card.source, whole=options.whole, longest=LONGEST), card.source, card.target
                )
                for index, each in found.items()
                if is_plain(each.text)
            }
            translated = await step.run(self.queue, list(plans.values()))
            found = {
                index: TranslatedText.of(new, before=found[index].confidence)
                for index, new in zip(plans, translated, strict=True)
                if new
            }
        return found


def chain_steps(chain: TranslatorChain, options: TextOptions) -> list[ChainStep]:
    """Only the last translator returns alternatives and the confidence of words."""
    *first, last = chain.translators
    return [*map(ChainStep, first), ChainStep(last, alternatives=options.alternatives, words=options.confidence)]


@dataclass(frozen=True)
class ChainStep:
    """One translator of a chain, and what it has translated for the request."""

    translator: Translator
    alternatives: int = 0
    words: bool = False
    cache: Cache = field(default_factory=dict)

    def blocking(self, queue: BlockingQueue) -> BlockingTranslator:
        return BlockingTranslator(queue, self.translator, self.alternatives, self.cache)

    async def run(self, queue: Queue, plans: Sequence[TextPlan]) -> list[Translation | None]:
        """The translation of each text; None where a sentence lost or gained something that must be kept."""
        groups = [plan.sentences for plan in plans]
        sentences = self.translator.encode([text for group in groups for text in group])
        kind = TranslateSentences(self.translator, TranslateOptions(alternatives=self.alternatives))
        translations = await queue.run(kind, sentences)
        self.cache.update(
            ((sentence.text, False), each) for sentence, each in zip(sentences, translations, strict=True)
        )
        if self.words:
            translations = await self._with_words(queue, sentences, translations)
        checked = iter([_checked(source.text, each) for source, each in zip(sentences, translations, strict=True)])
        joined: list[Translation | None] = []
        for plan, group in zip(plans, groups, strict=True):
            parts = [next(checked) for _ in group]
            whole = [part for part in parts if part]
            joined.append(plan.join(whole) if len(whole) == len(parts) else None)
        return joined

    async def _with_words(
        self, queue: Queue, sentences: Sequence[Sentence], translations: Sequence[Translation]
    ) -> list[Translation]:
        """Translations with the confidence of each word, except for copied text."""
        places = [place for place, each in enumerate(translations) if each.ids]
        pairs = [EncodedPair(sentences[place].ids, translations[place].ids) for place in places]
        scores = dict(zip(places, await queue.run(ScoreTranslations(self.translator), pairs), strict=True))
        return [with_words(each, scores[place]) if place in scores else each for place, each in enumerate(translations)]


def _checked(source: str, translation: Translation) -> Translation | None:
    """None for a translation that lost something that must be kept; such an alternative is replaced by the best one."""
    if not keeps_plain_text(source, translation.text):
        return None
    if not translation.alternatives:
        return translation
    best = replace(translation, alternatives=())
    others = (each if keeps_plain_text(source, each.text) else best for each in translation.alternatives)
    return replace(translation, alternatives=tuple(others))

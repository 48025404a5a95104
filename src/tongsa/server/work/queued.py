"""Translates texts and documents through the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tongsa.documents.placeholders import is_plain, keeps_plain_text
from tongsa.server.http.limits import Limits
from tongsa.server.work.blocking import BlockingQueue
from tongsa.server.work.kinds import EncodedPair, ScoreTranslations, TranslateSentences
from tongsa.server.work.marked import (
    LONGEST,
    Cache,
    MarkedTexts,
    RequestTranslator,
    TextKind,
    TranslatedText,
    translate_marked,
)
from tongsa.server.work.processes import Workers
from tongsa.server.work.queue import Queue
from tongsa.server.work.translators import TranslatorChain
from tongsa.text.lines import tidy
from tongsa.translation.confidence import same_for_all_words
from tongsa.translation.glossary import Glossary
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Part, Sentence, TextPlan, Translation, cut, with_words

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator

T = TypeVar("T")
LARGE = 2_000
"""Texts of at least this many characters are cut in a worker process, to keep the event loop free."""


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
    """Terms to use, of a chain with one translator."""
    untouched: tuple[str, ...] = ()
    """Names of XML elements to leave as they are."""


class QueuedTranslator:
    """`await translator.texts(["..."], chain, TextOptions())`; cancelling it stops the work."""

    def __init__(
        self, queue: Queue, limits: Limits | None = None, *, threads: int = 64, large: int = 4, documents: int = 2
    ) -> None:
        """So many large texts and documents are processed at the same time, each in a worker process."""
        limits = limits or Limits()
        self.queue = queue
        self.workers = Workers(seconds=limits.parse_seconds, memory=limits.parse_memory)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="text")
        self._large = ThreadPoolExecutor(large, thread_name_prefix="large")
        self._cuts = ThreadPoolExecutor(2, thread_name_prefix="cut")  # short tasks that wait for no translation
        self._documents = ThreadPoolExecutor(documents, thread_name_prefix="document")

    async def texts(self, texts: Sequence[str], chain: TranslatorChain, options: TextOptions) -> list[TranslatedText]:
        """One result per text, in order."""
        if not chain.translators:
            return [TranslatedText(text, confidence=1.0, words=tuple(same_for_all_words(text, 1.0))) for text in texts]
        steps = chain_steps(chain, options)
        found = await self._plain_texts(texts, steps, options) if options.kind == "text" else {}
        rest = [index for index in range(len(texts)) if index not in found]
        if rest:
            translated = await self._marked_texts([texts[index] for index in rest], steps, options)
            found |= zip(rest, translated, strict=True)
        return [found[index] for index in range(len(texts))]

    async def document(
        self, data: bytes, suffix: str, chain: TranslatorChain, glossary: Glossary | None = None
    ) -> tuple[bytes, str]:
        """The translated file, and its suffix."""
        steps = chain_steps(chain, TextOptions(glossary=glossary))
        return await self._in_thread(
            self._documents,
            lambda queue: self.workers.document(data, suffix, [step.blocking(queue) for step in steps], queue),
        )

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
        self.workers.close()
        for threads in (self._threads, self._large, self._cuts, self._documents):
            threads.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, threads: ThreadPoolExecutor, work: Callable[[BlockingQueue], T]) -> T:
        loop = asyncio.get_running_loop()
        queue = BlockingQueue(self.queue, loop)

        def run() -> T:
            try:
                return work(queue)
            except BaseException as error:
                if isinstance(error, Exception) and not isinstance(error, StopIteration):
                    raise
                # A future cannot hold a StopIteration: the request would wait forever. The others end the event loop.
                raise RuntimeError(f"{type(error).__name__} in a thread") from error

        try:
            return await loop.run_in_executor(threads, run)
        finally:
            queue.end()

    async def _marked_texts(
        self, texts: Sequence[str], steps: Sequence[ChainStep], options: TextOptions
    ) -> list[TranslatedText]:
        """Translations of texts with marks: in a thread, or where reading them may take long, in a worker process."""
        marked = MarkedTexts(texts=texts, kind=options.kind, untouched=options.untouched)
        if is_large(texts):
            return await self._in_thread(
                self._large,
                lambda queue: self.workers.texts(
                    marked, options.alternatives, [step.blocking(queue) for step in steps], queue
                ),
            )
        return await self._in_thread(
            self._threads,
            lambda queue: translate_marked(marked, [step.blocking(queue) for step in steps], options.alternatives),
        )

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
            now = [each.text for each in found.values()]
            run = self._aside if is_large(now) else _at_once
            cuts = await self._cut(now, card.source, options)
            plans = {
                index: TextPlan(parts, card.source, card.target)
                for index, parts in zip(found, cuts, strict=True)
                if parts is not None
            }
            translated = await step.run(self.queue, list(plans.values()), run)
            found = {
                index: TranslatedText.of(new, before=found[index].confidence)
                for index, new in zip(plans, translated, strict=True)
                if new
            }
        return found

    async def _cut(self, texts: Sequence[str], language: str, options: TextOptions) -> Sequence[list[Part] | None]:
        """The sentences of each text; None for a text with marks."""
        if is_large(texts):
            return await self._in_thread(
                self._cuts, lambda queue: self.workers.cut(texts, language, queue, whole=options.whole)
            )
        return [cut(text, language, whole=options.whole, longest=LONGEST) if is_plain(text) else None for text in texts]

    async def _aside(self, work: Callable[[], T]) -> T:
        return await self.in_thread(work)


Run = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs a function: at once, or in a thread."""


async def _at_once(work: Callable[[], T]) -> T:
    return work()


def is_large(texts: Sequence[str]) -> bool:
    return sum(map(len, texts)) >= LARGE


def chain_steps(chain: TranslatorChain, options: TextOptions) -> list[ChainStep]:
    """Only the last translator returns alternatives and the confidence of words."""
    *first, last = chain.translators
    asked = TranslateOptions(alternatives=options.alternatives, glossary=options.glossary)
    return [*map(ChainStep, first), ChainStep(last, asked, words=options.confidence)]


@dataclass(frozen=True)
class ChainStep:
    """One translator of a chain, and what it has translated for the request."""

    translator: Translator
    options: TranslateOptions = field(default_factory=TranslateOptions)
    """The options of the request."""
    words: bool = False
    cache: Cache = field(default_factory=dict)

    def blocking(self, queue: BlockingQueue) -> RequestTranslator:
        """The translator for a thread."""

        def run(texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
            kind = TranslateSentences(self.translator, replace(self.options, alignment=options.alignment))
            return queue.run(kind, self.translator.encode(texts))

        return RequestTranslator(self.translator.card, run, self.cache)

    async def run(self, queue: Queue, plans: Sequence[TextPlan], run: Run) -> list[Translation | None]:
        """The translation of each text; None where a sentence lost or gained something that must be kept."""
        groups = [plan.sentences for plan in plans]
        sentences = await run(lambda: self.translator.encode([text for group in groups for text in group]))
        kind = TranslateSentences(self.translator, self.options)
        translations = await queue.run(kind, sentences)
        self.cache.update(
            ((sentence.text, False), each) for sentence, each in zip(sentences, translations, strict=True)
        )
        scores = await self._scores(queue, translations) if self.words else {}
        joined: list[Translation | None] = await run(lambda: _joined(plans, sentences, translations, scores))
        return joined

    async def _scores(self, queue: Queue, translations: Sequence[Translation]) -> dict[int, list[float]]:
        """The log-probabilities of the tokens of each translation, by index, except for copied text."""
        places = [place for place, each in enumerate(translations) if each.ids]
        pairs = [EncodedPair(translations[place].source_ids, translations[place].ids) for place in places]
        return dict(zip(places, await queue.run(ScoreTranslations(self.translator), pairs), strict=True))


def _joined(
    plans: Sequence[TextPlan],
    sentences: Sequence[Sentence],
    translations: Sequence[Translation],
    scores: Mapping[int, Sequence[float]],
) -> list[Translation | None]:
    """The translation of each text, from those of its sentences; None if a sentence broke something."""
    told = [with_words(each, scores[at]) if at in scores else each for at, each in enumerate(translations)]
    checked = iter([_checked(source.text, each) for source, each in zip(sentences, told, strict=True)])
    joined: list[Translation | None] = []
    for plan in plans:
        parts = [next(checked) for _ in plan.sentences]
        whole = [part for part in parts if part]
        joined.append(plan.join(whole) if len(whole) == len(parts) else None)
    return joined


def _checked(source: str, translation: Translation) -> Translation | None:
    """None for a translation that lost something that must be kept; such an alternative is replaced by the best one."""
    if not keeps_plain_text(source, translation.text):
        return None
    if not translation.alternatives:
        return translation
    best = replace(translation, alternatives=())
    others = (each if keeps_plain_text(source, each.text) else best for each in translation.alternatives)
    return replace(translation, alternatives=tuple(others))

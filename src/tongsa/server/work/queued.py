"""Translates texts and documents through the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from tongsa.documents.engine import Help
from tongsa.documents.glossary import Glossary
from tongsa.server.work.blocking import BlockingQueue, ranked
from tongsa.server.work.cutting import Part, cut, joined, sound
from tongsa.server.work.kinds import ScoreTranslations, TranslateSentences
from tongsa.server.work.marked import Kind, TranslatedText, say_document, say_texts
from tongsa.server.work.queue import Queue
from tongsa.server.work.translators import TranslatorChain
from tongsa.server.work.trust import Trust, Word, evenly, words_of
from tongsa.translation.confidence import Calibration, average

if TYPE_CHECKING:
    from tongsa.translation.translator import Translation, Translator

T = TypeVar("T")
LARGE = 5_000
"""Texts of at least this many characters are split into sentences in a thread, to keep the event loop free."""


@dataclass(frozen=True, kw_only=True)
class TranslateOptions:
    """How a text is to be translated, and what is wanted besides the translation."""

    kind: Kind = "text"
    alternatives: int = 0
    trust: bool = False
    whole: bool = False
    """Do not split the text into sentences."""
    glossary: Glossary | None = None
    untouched: tuple[str, ...] = ()
    """Names of XML elements to leave as they are."""

    @property
    def plain(self) -> bool:
        return self.kind == "text" and not self.glossary


class QueuedTranslator:
    """`await translator.texts(["..."], chain, TranslateOptions())`; cancelling it stops the work."""

    def __init__(self, queue: Queue, *, threads: int = 64, documents: int = 2) -> None:
        self.queue = queue
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="text")
        self._documents = ThreadPoolExecutor(documents, thread_name_prefix="document")

    async def texts(
        self, texts: Sequence[str], chain: TranslatorChain, options: TranslateOptions
    ) -> list[TranslatedText]:
        """One result per text, in order."""
        found: dict[int, TranslatedText] = {}
        if not chain.translators:
            return [TranslatedText(text, trust=Trust(1.0, tuple(evenly(text, 1.0)))) for text in texts]
        if options.plain and (options.trust or sum(map(len, texts)) < LARGE):
            found = await self._plainly(texts, chain, options)
        rest = [place for place in range(len(texts)) if place not in found]
        if rest:
            left = [texts[place] for place in rest]
            arguments = (
                chain,
                options.kind,
                options.alternatives,
                options.untouched,
                Help(glossary=options.glossary or Glossary()),
            )
            said = await self._in_thread(self._threads, lambda queue: say_texts(left, queue, *arguments))
            found |= zip(rest, said, strict=True)
        return [found[place] for place in range(len(texts))]

    async def document(self, data: bytes, suffix: str, chain: TranslatorChain) -> tuple[bytes, str]:
        """The translated file, and its suffix."""
        return await self._in_thread(self._documents, lambda queue: say_document(data, suffix, queue, chain))

    async def score(self, translator: Translator, source: str, target: str) -> list[float]:
        return (await self.queue.run(ScoreTranslations(translator), [(source, target)]))[0]

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
            except StopIteration as error:  # a future refuses to carry one, and the request would wait forever
                raise RuntimeError("StopIteration in a thread") from error

        try:
            return await loop.run_in_executor(threads, run)
        finally:
            queue.end()

    async def _plainly(
        self, texts: Sequence[str], chain: TranslatorChain, options: TranslateOptions
    ) -> dict[int, TranslatedText]:
        """Texts without marks, by their places; those that need more care are missing."""
        found = {place: TranslatedText(text, trust=Trust(1.0, ())) for place, text in enumerate(texts)}
        for translator in chain.translators:
            places, cuts = [], []
            for place, said in found.items():
                parts = cut(said.text, translator.card.source, whole=options.whole)
                if parts is not None:
                    places.append(place)
                    cuts.append(parts)
            last = translator is chain.translators[-1]
            step = PivotStep(
                translator, cuts, by_word=options.trust and last, alternatives=options.alternatives if last else 0
            )
            before, found = found, {}
            for place, new in zip(places, await step.say(self.queue), strict=True):
                if new is not None:
                    score = before[place].trust.score * new.trust.score
                    found[place] = replace(new, trust=replace(new.trust, score=score))
        return found


@dataclass(frozen=True)
class PivotStep:
    """Texts as sentences, on their way through one translator."""

    translator: Translator
    cuts: Sequence[list[Part]]
    by_word: bool
    alternatives: int

    async def say(self, queue: Queue) -> list[TranslatedText | None]:
        """What each text becomes; None where a sentence came back broken."""
        sentences = [part.sentence for parts in self.cuts for part in parts if part.wanted]
        answers = await queue.run(TranslateSentences(self.translator, self.alternatives + 1), sentences)
        fine = [sound(source, answer.text) for source, answer in zip(sentences, answers, strict=True)]
        logs: Sequence[Sequence[float]] = [()] * len(sentences)
        if self.by_word:
            pairs = [(source, answer.text) for source, answer in zip(sentences, answers, strict=True)]
            logs = await queue.run(ScoreTranslations(self.translator), pairs)
        said: list[TranslatedText | None] = []
        first = 0
        for parts in self.cuts:
            end = first + sum(part.wanted for part in parts)
            whole = all(fine[first:end])
            said.append(self._text(parts, answers[first:end], logs[first:end]) if whole else None)
            first = end
        return said

    def _text(
        self, parts: list[Part], answers: Sequence[Translation], logs: Sequence[Sequence[float]]
    ) -> TranslatedText:
        card = self.translator.card
        text, *others = (self._ranked(parts, answers, rank) for rank in range(self.alternatives + 1))
        score = 1.0
        if answers:
            totals, lengths = [each.log_probability for each in answers], [len(each.tokens) for each in answers]
            score = Calibration.of(card.confidence)(average(totals, lengths))
        words = self._words(text, answers, logs) if self.by_word else ()
        different = tuple(dict.fromkeys(other for other in others if other != text))
        return TranslatedText(text, different, Trust(score, tuple(words)))

    def _ranked(self, parts: list[Part], answers: Sequence[Translation], rank: int) -> str:
        """The text of this rank: of each sentence the hypothesis of it, or the best where that one is broken."""
        wanted = [part.sentence for part in parts if part.wanted]

        def sentence(number: int) -> str:
            text = ranked(answers[number], rank).text
            return text if not rank or sound(wanted[number], text) else answers[number].text

        return joined(parts, sentence, self.translator.card.source, self.translator.card.target)

    def _words(self, text: str, answers: Sequence[Translation], logs: Sequence[Sequence[float]]) -> list[Word]:
        """Sentence by sentence; what stands between them was not translated."""
        vocabulary = self.translator.subwords.target
        words: list[Word] = []
        at = 0
        for answer, log in zip(answers, logs, strict=True):
            sentence = answer.text.strip()
            start = text.index(sentence, at)
            words += evenly(text[at:start], None)
            words += words_of(sentence, vocabulary.pieces(vocabulary.encode(sentence)), log)
            at = start + len(sentence)
        return words + evenly(text[at:], None)

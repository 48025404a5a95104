"""The queue for threads: a document is processed in a thread, which blocks while its sentences are translated.

`BlockingTranslator` has the `translate` that `tongsa.documents` calls; its work goes through the queue that all
requests share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from tongsa.server.work.cutting import LONGEST, slices
from tongsa.server.work.kinds import TranslateSentences
from tongsa.server.work.queue import Queue, WorkKind

if TYPE_CHECKING:
    from tongsa.runs.card import Card
    from tongsa.translation.translator import Translation, Translator

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class BlockingQueue:
    """The queue as a thread sees it, for one request: when the request ends, `run` stops blocking."""

    def __init__(self, queue: Queue, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = queue
        self._loop = loop
        self._future: Future[Any] | None = None
        self._ended = False

    def run(self, kind: WorkKind[Piece, Result], pieces: Sequence[Piece]) -> list[Result]:
        """Call from the thread. Raises CancelledError when the request has ended."""
        future = asyncio.run_coroutine_threadsafe(self._queue.run(kind, pieces), self._loop)
        self._future = future
        if self._ended:
            future.cancel()
        return future.result()

    def end(self) -> None:
        """Call from the event loop."""
        self._ended = True
        if self._future:
            self._future.cancel()


class BlockingTranslator:
    """A translator whose work is done by the queue; translations are cached for the lifetime of this object.

    `rank` selects the hypothesis that is returned: 0 is the best one.
    """

    def __init__(self, queue: BlockingQueue, translator: Translator, nbest: int = 1) -> None:
        self.card: Card = translator.card
        self.rank = 0
        self._queue = queue
        self._translator = translator
        self._nbest = nbest
        self._cache: dict[tuple[str, bool], Translation] = {}

    def translate(self, texts: Sequence[str], /, *, alignment: bool = False) -> list[Translation]:
        new = [text for text in dict.fromkeys(texts) if (text, alignment) not in self._cache]
        pieces = [slices(text) if len(text) > LONGEST else [text] for text in new]
        kind = TranslateSentences(self._translator, self._nbest, alignment)
        answers = iter(self._queue.run(kind, [piece for group in pieces for piece in group]))
        for text, group in zip(new, pieces, strict=True):
            self._cache[text, alignment] = as_one([next(answers) for _ in group])
        return [ranked(self._cache[text, alignment], self.rank) for text in texts]


def ranked(translation: Translation, rank: int) -> Translation:
    """The hypothesis of this rank, or the best one where there are fewer."""
    return translation.alternatives[rank - 1] if 0 < rank <= len(translation.alternatives) else translation


def as_one(translations: Sequence[Translation]) -> Translation:
    """The translation of a text that had to be cut where nothing ends."""
    if len(translations) == 1:
        return translations[0]
    from tongsa.translation.translator import Translation

    sources = [0, *accumulate(len(each.source_tokens) for each in translations)]
    targets = [0, *accumulate(len(each.tokens) for each in translations)]
    return Translation(
        text="".join(each.text for each in translations),
        log_probability=sum(each.log_probability for each in translations),
        source_tokens=tuple(token for each in translations for token in each.source_tokens),
        tokens=tuple(token for each in translations for token in each.tokens),
        alignment=tuple(
            (source + sources[number], target + targets[number])
            for number, each in enumerate(translations)
            for source, target in each.alignment
        ),
        notes=tuple(dict.fromkeys(note for each in translations for note in each.notes)),
    )

"""Threads that need the queue: a document is read in a thread, which waits while its sentences are translated.

`Asking` is a translator as `tongsa.documents` knows one; behind it is the queue that all requests share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from tongsa.server.work.cutting import LONGEST, slices
from tongsa.server.work.kinds import Translating
from tongsa.server.work.queue import Lane, Queue

if TYPE_CHECKING:
    from tongsa.runs.directory import Card
    from tongsa.translation.translator import Translation, Translator

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Errand:
    """Ties a thread to the request it works for: when the request is over, so is its waiting."""

    def __init__(self, queue: Queue, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = queue
        self._loop = loop
        self._asked: Future[Any] | None = None
        self._over = False

    def run(self, lane: Lane[Piece, Result], pieces: Sequence[Piece]) -> list[Result]:
        """Called in the thread. Raises CancelledError where nobody waits for the answer any more."""
        future = asyncio.run_coroutine_threadsafe(self._queue.run(lane, pieces), self._loop)
        self._asked = future
        if self._over:
            future.cancel()
        return future.result()

    def end(self) -> None:
        """Called in the event loop."""
        self._over = True
        if self._asked:
            self._asked.cancel()


class Asking:
    """A translator whose work is done by the queue, and remembered as long as this object lives.

    `rank` says which hypothesis is given for the translation: 0 is the best one.
    """

    def __init__(self, errand: Errand, translator: Translator, nbest: int = 1) -> None:
        self.card: Card = translator.card
        self.rank = 0
        self._errand = errand
        self._translator = translator
        self._nbest = nbest
        self._known: dict[tuple[str, bool], Translation] = {}

    def translate(self, texts: Sequence[str], /, *, alignment: bool = False) -> list[Translation]:
        new = [text for text in dict.fromkeys(texts) if (text, alignment) not in self._known]
        pieces = [slices(text) if len(text) > LONGEST else [text] for text in new]
        lane = Translating(self._translator, self._nbest, alignment)
        answers = iter(self._errand.run(lane, [piece for group in pieces for piece in group]))
        for text, group in zip(new, pieces, strict=True):
            self._known[text, alignment] = as_one([next(answers) for _ in group])
        return [ranked(self._known[text, alignment], self.rank) for text in texts]


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

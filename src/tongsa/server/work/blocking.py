"""The queue for threads: a document is processed in a thread, which blocks while its sentences are translated.

`BlockingTranslator` has the `translate` that `tongsa.documents` calls; its work goes through the queue that all
requests share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from tongsa.server.work.kinds import TranslateSentences
from tongsa.server.work.queue import Queue, WorkKind
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import TextPlan, cut

if TYPE_CHECKING:
    from tongsa.runs.card import Card
    from tongsa.translation.sentences import Translation
    from tongsa.translation.translator import Translator

Piece = TypeVar("Piece")
Result = TypeVar("Result")

LONGEST = 1_000
"""Maximum characters in a piece. Longer sentences are cut at blanks, or anywhere if they have none."""

Cache = dict[tuple[str, bool], "Translation"]
"""Translations by their source text, and whether they have an alignment."""


class BlockingQueue:
    """The queue as a thread sees it, for one request: when the request ends, `run` stops blocking."""

    def __init__(self, queue: Queue, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = queue
        self._loop = loop
        self._future: Future[Any] | None = None
        self._ended = False

    def run(self, kind: WorkKind[Piece, Result], pieces: Sequence[Piece]) -> list[Result]:
        """Run work, called from the thread; raises CancelledError when the request has ended."""
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
    """A translator that works through the queue; translations are cached for the lifetime of this object.

    `rank` selects the hypothesis that is returned: 0 is the best one.
    """

    def __init__(
        self, queue: BlockingQueue, translator: Translator, alternatives: int = 0, cache: Cache | None = None
    ) -> None:
        """`cache` holds earlier translations of the same request, with the same number of alternatives."""
        self.card: Card = translator.card
        self.rank = 0
        self._queue = queue
        self._translator = translator
        self._alternatives = alternatives
        self._cache: Cache = {} if cache is None else cache

    def translate(self, texts: Sequence[str], options: TranslateOptions, /) -> list[Translation]:
        new = [text for text in dict.fromkeys(texts) if (text, options.alignment) not in self._cache]
        card = self._translator.card
        plans = [
            TextPlan(cut(text, card.source, whole=True, longest=LONGEST), card.source, card.target)
            if len(text) > LONGEST
            else None
            for text in new
        ]
        groups = [plan.sentences if plan else [text] for text, plan in zip(new, plans, strict=True)]
        sentences = self._translator.encode([sentence for group in groups for sentence in group])
        kind = TranslateSentences(self._translator, replace(options, alternatives=self._alternatives))
        found = iter(self._queue.run(kind, sentences))
        for text, plan, group in zip(new, plans, groups, strict=True):
            translations = [next(found) for _ in group]
            self._cache[text, options.alignment] = plan.join(translations) if plan else translations[0]
        return [self._cache[text, options.alignment].ranked(self.rank) for text in texts]

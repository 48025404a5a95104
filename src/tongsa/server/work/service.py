"""The service: the state that all requests share, and its operations for handlers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.errors import WriteError
from tongsa.runs.directory import Run
from tongsa.server.http.keys import Allowances, Keys, WrongKeys
from tongsa.server.http.limits import Limits
from tongsa.server.http.logs import log_event, log_failure
from tongsa.server.http.metrics import Metrics
from tongsa.server.http.refusals import invalid
from tongsa.server.work.files import Files
from tongsa.server.work.glossaries import Glossaries
from tongsa.server.work.kept_answers import KeptAnswers
from tongsa.server.work.marked import TranslatedText
from tongsa.server.work.queue import Batch, Queue
from tongsa.server.work.queued import QueuedTranslator, TextOptions
from tongsa.server.work.suggestions import Suggestions
from tongsa.server.work.translators import TranslatorChain, Translators
from tongsa.text.detection import percentages

if TYPE_CHECKING:
    from tongsa.tasks.parser import Parser
    from tongsa.translation.glossary import Glossary
    from tongsa.translation.translator import Translator

CHECKPOINT_ANSWERS = 32 << 20
"""Bytes of answers about checkpoints that are kept: for each, a model is loaded."""


@dataclass
class Service:
    """Everything behind the routes."""

    translators: Translators
    limits: Limits
    workers: int
    keys: Keys | None = None
    data: Path | None = None
    """Folder for data that survives a restart: glossaries, suggestions, the characters that keys have used."""
    parser: Parser | None = None
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.queue = Queue(workers=self.workers, capacity=self.limits.queue, on_batch=self._count_batch)
        self.translator = QueuedTranslator(self.queue, self.limits)
        self.files = Files(self.limits.keep_seconds)
        self.checkpoint_answers = KeptAnswers(CHECKPOINT_ANSWERS)
        self.wrong_keys = WrongKeys()
        self.allowances = Allowances(self.limits.requests, self.data)
        self.glossaries = Glossaries(self.data, self.limits)
        self.suggestions = Suggestions(self.data, self.limits)
        self.metrics.add_gauge("tongsa_places", "Requests translated or waiting", lambda: self.queue.places)
        self.metrics.add_gauge("tongsa_waiting_pieces", "Sentences waiting", lambda: self.queue.waiting)

    def chain(self, source: str, target: str) -> TranslatorChain:
        """The translators between two languages, given by codes as clients write them."""
        return self.translators.chain(self.translators.code(source), self.translators.code(target))

    def direct(self, source: str, target: str) -> Translator:
        """The single translator of a direction; refused where the direction needs a pivot language."""
        chain = self.chain(source, target)
        if len(chain.translators) != 1:
            raise invalid(f"there is no single translator from {chain.source} to {chain.target}")
        return chain.translators[0]

    def run_of(self, source: str, target: str) -> Run:
        """The run directory of the single translator of a direction."""
        self.direct(source, target)
        return Run(self.translators.directory(self.translators.code(source), self.translators.code(target)))

    def glossary(self, id: str, owner: str, chain: TranslatorChain) -> Glossary:
        """The terms of a client's glossary for a direction; refused where the direction needs a pivot language."""
        if len(chain.translators) != 1:
            raise invalid("a glossary needs a translator of exactly this direction")
        return self.glossaries.find(id, owner).dictionary(chain.source, chain.target).glossary

    async def detect(self, texts: Sequence[str], languages: Sequence[str]) -> list[list[tuple[str, int]]]:
        """Languages and percentages of each text, best first; in a thread, since loading the model takes a second."""
        return await self.translator.in_thread(lambda: [percentages(text, languages) for text in texts])

    async def translate(
        self, texts: Sequence[str], chains: Sequence[TranslatorChain], options: TextOptions
    ) -> list[TranslatedText]:
        """Translate each text by its chain; texts with the same chain are translated together."""
        for text, chain in zip(texts, chains, strict=True):
            self.metrics.count_characters(chain.source, chain.target, len(text))
        found: dict[int, TranslatedText] = {}
        for chain in dict.fromkeys(chains):
            indices = [index for index, each in enumerate(chains) if each == chain]
            translated = await self.translator.texts([texts[index] for index in indices], chain, options)
            found |= zip(indices, translated, strict=True)
        return [found[index] for index in range(len(texts))]

    async def reload(self, *, all_of_them: bool = False) -> None:
        """Load changed translators in a thread, while requests are served."""
        opened = await asyncio.to_thread(lambda: list(self.translators.reload(all_of_them=all_of_them)))
        for directory, error in opened:
            self.metrics.reloads.labels("failed" if error else "done").inc()
            if error:
                log_failure("translator not reloaded", error, {"translator": directory.name, "why": str(error)})
            else:
                log_event("translator reloaded", {"translator": directory.name})

    def save_usage(self) -> None:
        """Write what keys have used; a full disk must not stop the service."""
        try:
            self.allowances.save()
        except WriteError as error:
            log_failure("usage not written", error, {})

    def close(self) -> None:
        self.save_usage()
        self.translator.close()
        self.queue.close()
        self.files.close()

    def _count_batch(self, batch: Batch, seconds: float) -> None:
        self.metrics.count_batch(len(batch.items), batch.tokens, seconds)

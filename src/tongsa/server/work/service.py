"""The service: what all requests share, and the steps that each of them goes through."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request

from tongsa.base.errors import WriteError
from tongsa.server.http.keys import Allowances, Key, Keys
from tongsa.server.http.limits import Limits
from tongsa.server.http.logs import tell, tell_failure
from tongsa.server.http.metrics import Metrics
from tongsa.server.http.refusals import Refusal, invalid
from tongsa.server.work.detection import detect
from tongsa.server.work.files import Files
from tongsa.server.work.glossaries import Glossaries
from tongsa.server.work.queue import Queue
from tongsa.server.work.queued import QueuedTranslator
from tongsa.server.work.translators import TranslatorChain, Translators

if TYPE_CHECKING:
    from tongsa.translation.translator import Translator


@dataclass
class Service:
    """Everything behind the routes."""

    translators: Translators
    limits: Limits
    workers: int
    keys: Keys | None = None
    data: Path | None = None
    """A folder for what outlives the service: glossaries, suggestions, the characters that keys have used."""
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.queue = Queue(workers=self.workers, capacity=self.limits.queue, on_batch=self.metrics.count_batch)
        self.translator = QueuedTranslator(self.queue)
        self.files = Files(self.limits.keep_seconds)
        self.allowances = Allowances(self.limits.requests, self.data)
        self.glossaries = Glossaries(self.data, self.limits)
        self.metrics.show("tongsa_places", "Requests translated or waiting", lambda: self.queue.places)
        self.metrics.show("tongsa_waiting_pieces", "Sentences that wait", lambda: self.queue.waiting)

    def client(self, request: Request, key: str | None = None) -> Key:
        """Who asks; counted as a request of theirs, refused where that is one too many."""
        given = key or _key_of(request)
        client = Key(name=request.client.host if request.client else "")
        if self.keys is not None:
            if not given:
                raise Refusal(403 if deepl(request) else 400, "Please contact the server operator to get an API key")
            found = self.keys.find(given)
            if found is None:
                raise Refusal(403, "Invalid API key")
            client = found
        self.allowances.spend_request(client)
        request.scope["tongsa.client"] = client.name if client.digest else ""
        return client

    def chain(self, source: str, target: str) -> TranslatorChain:
        return self.translators.chain(self.translators.code(source), self.translators.code(target))

    async def detected(self, texts: Sequence[str], languages: Sequence[str]) -> list[list[tuple[str, int]]]:
        """Languages and percentages of each text, best first; in a thread, as the first time takes a second."""
        return await self.translator.in_thread(lambda: [detect(text, languages) for text in texts])

    def admit(self, request: Request, client: Key, texts: Sequence[str], chains: Iterable[TranslatorChain]) -> None:
        """Check the size of a request, and count it."""
        size = sum(map(len, texts))
        if not self.limits.allows("characters", size):
            raise invalid(f"request ({size}) exceeds text limit ({self.limits.characters})")
        if not self.limits.allows("texts", len(texts)):
            raise invalid(f"more than {self.limits.texts} texts")
        self.allowances.spend_characters(client, size)
        for text, chain in zip(texts, chains, strict=True):
            self.metrics.characters.labels(chain.source, chain.target).inc(len(text))
        request.scope["tongsa.characters"] = size

    def direct(self, source: str, target: str) -> Translator:
        """The one translator of a direction, for questions about it."""
        chain = self.chain(source, target)
        if len(chain.translators) != 1:
            raise invalid(f"there is no single translator from {chain.source} to {chain.target}")
        return chain.translators[0]

    async def reload(self, *, all_of_them: bool = False) -> None:
        """Requests go on meanwhile: a thread opens the new translators."""
        opened = await asyncio.to_thread(lambda: list(self.translators.reload(all_of_them=all_of_them)))
        for directory, error in opened:
            self.metrics.reloads.labels("failed" if error else "done").inc()
            if error:
                tell_failure("translator not reloaded", error, {"translator": directory.name, "why": str(error)})
            else:
                tell("translator reloaded", {"translator": directory.name})

    def keep_usage(self) -> None:
        """A disk that is full stops no translation."""
        try:
            self.allowances.keep()
        except WriteError as error:
            tell_failure("usage not written", error, {})

    def close(self) -> None:
        self.keep_usage()
        self.translator.close()
        self.queue.close()
        self.files.close()


def deepl(request: Request) -> bool:
    """DeepL's clients expect other words for the same things."""
    return str(request.scope["path"]).startswith(("/v2/", "/v3/"))


def _key_of(request: Request) -> str:
    """`DeepL-Auth-Key K` or `Bearer K`."""
    kind, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if kind.lower() in ("deepl-auth-key", "bearer") else ""

"""A service inside the test's own process, with a translator that only shouts: quick, and its limits can be set."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import uvicorn
from starlette.testclient import TestClient

from tongsa.server.app import application
from tongsa.server.http.keys import Keys
from tongsa.server.http.limits import parse
from tongsa.server.run import Address, bind, configured
from tongsa.server.work.service import Service
from tongsa.server.work.translators import Translators
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Sentence, Translation


def _with_terms(text: str, options: TranslateOptions) -> str:
    """Replace the terms of the request's glossary by their translations."""
    for term in reversed(options.glossary.find(text) if options.glossary else []):
        text = text[: term.start] + term.target.forms[0] + text[term.end :]
    return text


@dataclass(eq=False)
class Shouting:
    """Translates into upper case. A token has log-probability -0.1; the n-th alternative ends with n exclamation
    marks; into French it only changes an S; `slow` takes its time, `held` waits until the test lets it go,
    `exhausted` breaks the engine, `lost` is dropped and `found` becomes a placeholder.
    """

    source: str = "en"
    target: str = "de"
    let_go: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.card = SimpleNamespace(source=self.source, target=self.target)
        vocabulary = SimpleNamespace(encode=str.split, pieces=lambda words: ["▁" + word for word in words])
        self.subwords = SimpleNamespace(source=vocabulary, target=vocabulary)
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[Sentence]:
        """Words are their own ids."""
        self.encoded += texts
        return [Sentence(text, text.split()) for text in texts]  # type: ignore[arg-type]

    def translate(self, texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
        return self.translate_sentences(self.encode(texts), options)

    def translate_sentences(self, sentences: Sequence[Sentence], options: TranslateOptions) -> list[Translation]:
        found = [self._one(_with_terms(sentence.text, options), options.alignment) for sentence in sentences]
        count = options.alternatives
        return [
            replace(each, alternatives=tuple(replace(each, text=each.text + "!" * n) for n in range(1, count + 1)))
            for each in found
        ]

    def _one(self, text: str, alignment: bool) -> Translation:
        if "exhausted" in text:
            raise StopIteration
        if "slow" in text:
            time.sleep(1.5)
        if "held" in text:
            self.let_go.wait()
        new = (
            text.upper().replace("LOST", "").replace("FOUND", "100%") if self.target != "fr" else text.replace("S", "Ç")
        )
        words = tuple(new.split())
        return Translation(
            text=new,
            log_probability=-0.1 * (len(words) + 1),
            source_tokens=tuple("▁" + word for word in text.split()),
            tokens=tuple("▁" + word for word in words),
            ids=words,  # type: ignore[arg-type]
            alignment=tuple((i, i) for i in range(len(words))) if alignment else (),
            confidence=self.confidence([], -0.1, 0),
        )

    def confidence(self, source: Sequence[int], log_probability: float, tokens: int) -> float:
        return math.exp(log_probability / (tokens + 1))

    def score_ids(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        return [[-0.1] * (len(target) + 1) for target in targets]


def service_of(
    folder: Path,
    limits: str = "",
    *,
    keys: str = "",
    directions: Sequence[str] = ("en_de",),
    data: Path | None = None,
    let_go: threading.Event | None = None,
) -> Service:
    """A service with these limits; `keys` is the text of a file of keys."""
    paths = [folder / direction for direction in directions]
    for path in paths:
        path.mkdir(exist_ok=True)
        (path / "translator.json").write_text("{}")

    def load(directory: Path) -> Any:
        source, target = directory.name.split("_")
        return Shouting(source, target, let_go or threading.Event())

    (folder / "keys.toml").write_text(keys)
    return Service(
        translators=Translators(paths, load),
        limits=parse(limits),
        workers=1,
        keys=Keys.read(folder / "keys.toml") if keys else None,
        data=data,
    )


@contextmanager
def serving(folder: Path, limits: str = "", **more: Any) -> Iterator[TestClient]:
    """A client of such a service."""
    let_go = threading.Event()
    service = service_of(folder, limits, let_go=let_go, **more)
    with TestClient(application(service, background=False), raise_server_exceptions=False) as client:
        client.app_state["service"] = service
        client.app_state["let_go"] = let_go
        try:
            yield client
        finally:
            let_go.set()


@contextmanager
def held(client: TestClient, q: str = "held", **more: object) -> Iterator[None]:
    """Somebody's request is under way, for as long as the test likes."""
    first = threading.Thread(target=lambda: client.post("/translate", json=asked(q, **more)))
    first.start()
    while client.app_state["service"].queue.places == 0:
        time.sleep(0.01)
    yield
    client.app_state["let_go"].set()
    first.join()


@contextmanager
def listening(service: Service) -> Iterator[tuple[uvicorn.Server, int]]:
    """Such a service behind a real socket, as `tongsa serve` runs it, and its port."""
    listener = bind("127.0.0.1", 0)
    server = uvicorn.Server(configured(service, Address()))
    thread = threading.Thread(target=lambda: server.run(sockets=[listener]))
    thread.start()
    try:
        yield server, listener.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


def asked(q: object, **more: object) -> dict[str, object]:
    return {"q": q, "source": "en", "target": "de", **more}


def body_of(size: int) -> bytes:
    """A request to translate whose body has so many bytes."""
    body = json.dumps(asked("words", more="")).encode()
    return body.replace(b'"more": ""', b'"more": "' + b"a" * (size - len(body)) + b'"')

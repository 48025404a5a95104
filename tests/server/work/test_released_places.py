"""Whatever fails in a thread or an engine: its request is answered, its place in the queue is free again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.server.in_process import Shouting, asked, serving

from tongsa.base.errors import DirectoryError, MissingExtraError, UsageError
from tongsa.server.work import queued
from tongsa.server.work.glossaries import Glossaries
from tongsa.translation.glossary import Glossary

FAILURES = [StopIteration, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError, asyncio.CancelledError]
LARGE = "exhausted " * 300


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(tmp_path_factory.mktemp("service"), "seconds=60,queue=1") as client:
        yield client


REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "text": ("/translate", {"json": asked("exhausted")}),
    "several texts": ("/translate", {"json": asked(["exhausted", "words"], confidence=True)}),
    "html": ("/translate", {"json": asked("<b>exhausted</b>", format="html")}),
    "long html": ("/translate", {"json": asked(LARGE, format="html")}),
    "DeepL": ("/v2/translate", {"json": {"text": ["exhausted"], "source_lang": "en", "target_lang": "de"}}),
    "file": ("/translate_file", {"files": {"file": ("a.txt", b"exhausted")}, "data": {"source": "en", "target": "de"}}),
    "score": ("/api/score", {"json": asked("words", translation="exhausted")}),
    "attention": ("/api/attention", {"json": asked("words", translation="exhausted")}),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("request_name", REQUESTS)
def test_a_failure_in_an_engine_is_answered(
    client: TestClient, request_name: str, failure: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **more: Any) -> Any:
        raise failure

    for name in ("_one", "score_ids", "inspect"):
        monkeypatch.setattr(Shouting, name, fail, raising=False)
    path, content = REQUESTS[request_name]
    assert client.post(path, **content).status_code == 500
    queue = client.app_state["service"].queue
    assert (queue.places, queue.busy, queue.waiting) == (0, 0, 0)
    monkeypatch.undo()
    assert client.post("/translate", json=asked("words")).json() == {"translatedText": "WORDS"}


@pytest.mark.parametrize("results", [0, 2])
def test_an_engine_that_returns_too_few_or_too_many_results_fails_its_request(
    client: TestClient, results: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shouting, "translate_sentences", lambda *given: ["a translation"] * results)
    assert client.post("/translate", json=asked("words")).status_code == 500
    monkeypatch.undo()
    assert client.post("/translate", json=asked("words")).json() == {"translatedText": "WORDS"}


def test_without_a_thread_for_it_a_request_fails_and_the_next_is_served(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = client.app_state["service"].queue

    def submit(*given: Any) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(queue._threads, "submit", submit)
    assert client.post("/translate", json=asked("words")).status_code == 500
    monkeypatch.undo()
    assert (queue.places, queue.busy) == (0, 0)
    assert client.post("/translate", json=asked("words")).json() == {"translatedText": "WORDS"}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (DirectoryError("/home/me/runs/en-de: weights are missing"), 500),
        (UsageError("the glossary /home/me/data/a.json cannot be read"), 500),
        (UsageError("there is no text to inspect"), 400),
        (MissingExtraError("torch", "train"), 501),
    ],
)
def test_no_answer_names_a_file_of_the_server(
    client: TestClient, error: Exception, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any) -> Any:
        raise error

    monkeypatch.setattr(Shouting, "inspect", fail, raising=False)
    answer = client.post("/api/attention", json=asked("words", translation="WORDS"))
    assert answer.status_code == status
    assert "/home" not in answer.text
    assert "weights" not in answer.text


@pytest.mark.parametrize("more", [{}, {"confidence": True}, {"format": "html"}, {"alternatives": 1}])
def test_a_long_text_is_never_cut_encoded_or_joined_in_the_event_loop(
    tmp_path: Path, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request of many characters must not hold up all others."""
    in_the_loop: list[str] = []

    def watched(name: str, function: Any) -> Any:
        def call(*given: Any, **options: Any) -> Any:
            try:
                asyncio.get_running_loop()
                in_the_loop.append(name)
            except RuntimeError:
                pass
            return function(*given, **options)

        return call

    for name in ("cut", "is_plain", "_joined", "_checked"):
        monkeypatch.setattr(queued, name, watched(name, getattr(queued, name)))
    monkeypatch.setattr(Shouting, "encode", watched("encode", Shouting.encode))
    monkeypatch.setattr(Glossary, "find", watched("terms", Glossary.find))
    text = "Some words here. " * 500
    with serving(tmp_path) as client:
        found = client.post("/translate", json=asked(text, **more)).json()["translatedText"]
        assert found.strip() == text.upper().strip()
        assert in_the_loop == []
        assert client.post("/translate", json=asked("short", **more)).status_code == 200
        assert in_the_loop or more.get("format"), "short texts are not worth a thread"


def test_a_glossary_is_read_and_searched_for_outside_of_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[bool] = []

    def watched(function: Any) -> Any:
        def call(*given: Any) -> Any:
            threads.append(threading.current_thread().name.startswith("text"))
            return function(*given)

        return call

    monkeypatch.setattr(Glossaries, "terms", watched(Glossaries.terms))
    monkeypatch.setattr(Glossaries, "_write", watched(Glossaries._write))
    terms = "\n".join(f"term{number}\tBEGRIFF{number}" for number in range(101))
    with serving(tmp_path) as client:
        made = client.post("/v2/glossaries", json={"name": "a", "entries": terms, **DIRECTION}).json()
        assert threads == [True, True]
        find = Glossary.find
        monkeypatch.setattr(Glossary, "find", lambda *given: (threads.append(_in_the_loop()), find(*given))[1])
        asking = {"text": ["the term7 here"], "glossary_id": made["glossary_id"], **DIRECTION}
        answer = client.post("/v2/translate", json=asking).json()
        assert answer["translations"][0]["text"] == "THE BEGRIFF7 HERE"
        assert threads[2:] == [False], "terms are searched for by the thread that translates"


def _in_the_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


DIRECTION = {"source_lang": "en", "target_lang": "de"}


def test_names_of_elements_to_leave_are_limited(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        for count, status in ((100, 200), (101, 400)):
            asking = {"text": ["a"], "ignore_tags": [f"n{number}" for number in range(count)], **DIRECTION}
            assert client.post("/v2/translate", json=asking).status_code == status

"""Documents are read in processes that can be killed: whatever one does to its parser, the service goes on."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.server.in_process import asked, serving

from tongsa.formats.registry import FORMATS
from tongsa.server.work import processes, queued
from tongsa.server.work.blocking import BlockingQueue
from tongsa.server.work.marked import RequestTranslator
from tongsa.server.work.processes import Workers
from tongsa.translation.sentences import Translation

PARSER = r"""
import os, re, signal, tempfile, time
from pathlib import Path
from tongsa.formats import plain
from tongsa.formats.registry import Format

HOSTILE = Format((".hostile",), "hostile", ("open_document",))

def open_document(data, path, options):
    what = data.decode()
    if what == "freeze":
        re.match(r"(a+)+$", "a" * 64 + "b")
    if what == "sleep":
        time.sleep(1000)
    if what == "fill":
        whole = [bytearray(1 << 20) for _ in range(3000)]
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "deep":
        open_document(data, path, options)
    if what == "fail":
        raise KeyError("what a user wrote")
    if what == "write":
        (Path(tempfile.gettempdir()) / "hostile").write_text("x" * 100_000)
    print("a library's remark, which is no message")
    return plain.open_document(data, path, options)
"""
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limits for a process")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An installed package with a format whose parser does what a document tells it to."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "hostile.py").write_text(PARSER)
    information = folder / "hostile-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[tongsa.formats]\nhostile = hostile:HOSTILE\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        FORMATS.__dict__.pop("_entries", None)
        yield
    FORMATS.__dict__.pop("_entries", None)


@pytest.fixture(scope="module")
def client(hostile: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    limits = "parse_seconds=1,parse_memory=200M,document_seconds=600"
    with serving(tmp_path_factory.mktemp("service"), limits) as client:
        yield client


def sent(client: TestClient, text: str, suffix: str = ".hostile") -> httpx.Response:
    files = {"file": (f"a{suffix}", text.encode())}
    return client.post("/translate_file", files=files, data={"source": "en", "target": "de"})


def translated(client: TestClient, text: str, suffix: str = ".hostile") -> str:
    answer = sent(client, text, suffix)
    assert answer.status_code == 200, answer.text
    return client.get(answer.json()["translatedFileUrl"]).text


@UNIX
def test_a_document_that_would_be_read_for_ever_is_refused_while_others_are_served(client: TestClient) -> None:
    answers: list[httpx.Response] = []
    threads = [threading.Thread(target=lambda: answers.append(sent(client, "freeze"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert client.get("/health").status_code == 200
    assert client.post("/translate", json=asked("some <b>words</b>")).json() == {"translatedText": "SOME <b>WORDS</b>"}
    assert not answers, "they were served while the documents were read"
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [413, 413]
    assert answers[0].json() == {"error": "The document takes more than 1 seconds to read and rebuild"}
    assert translated(client, "some words") == "SOME WORDS"


@UNIX
def test_a_document_that_takes_too_much_memory_is_refused(client: TestClient) -> None:
    answer = sent(client, "fill")
    assert answer.status_code == 413
    assert answer.json() == {"error": "The document takes more than 200 MB of memory to read and rebuild"}
    assert translated(client, "some words") == "SOME WORDS"


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("crash", 500, "The document cannot be read: the process that read it has crashed"),
        ("deep", 400, "Invalid request: the document is nested too deeply"),
        ("fail", 500, "Internal error: the log of the server has the details"),
        pytest.param("write", 500, "Internal error: the log of the server has the details", marks=UNIX),
    ],
)
def test_a_parser_that_fails_fails_its_request_alone(
    client: TestClient, text: str, status: int, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = sent(client, text)
    assert (answer.status_code, answer.json()) == (status, {"error": message})
    assert "what a user wrote" not in caplog.text
    assert translated(client, "some words") == "SOME WORDS"


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".md", "`a" + 40 * "`" + "b"),
        (".html", "<a" * 2_000),
        (".srt", "1\n00:00:01,000 --> 00:00:02,000\nwords\n" * 200),
        (".txt", "a" + "." * 20_000),
        (".json", "[" * 100_000),
        (".po", 'msgid "a"\nmsgstr ""\n"Plural-Forms: nplurals=2; plural=' + "(" * 5_000 + '\\n"\n'),
    ],
)
def test_documents_that_once_froze_the_service_are_answered(client: TestClient, suffix: str, text: str) -> None:
    assert sent(client, text, suffix).status_code in (200, 400, 413)
    assert client.get("/health").status_code == 200


def test_a_parser_that_waits_for_ever_is_ended(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 1)
    assert sent(client, "sleep").status_code == 413


def test_a_request_that_ends_takes_its_worker_with_it(hostile: None, tmp_path: Path) -> None:
    with serving(tmp_path, "document_seconds=1") as client:
        answer = sent(client, "sleep")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
        workers = client.app_state["service"].translator.workers
        for _ in range(1000):
            if not workers._all:
                break
            threading.Event().wait(0.02)
        assert not workers._all


def test_a_worker_does_task_after_task_and_ends_when_idle(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    workers = client.app_state["service"].translator.workers
    translated(client, "some words")
    before = set(workers._all)
    assert before
    assert translated(client, "other words", ".md") == "OTHER WORDS"
    assert workers._all == before, "the same one did both"
    workers.end_idle()
    assert workers._all == before, "it may soon be needed again"
    monkeypatch.setattr(processes, "IDLE_SECONDS", -1)
    workers.end_idle()
    assert not workers._all
    assert translated(client, "more words") == "MORE WORDS"


def test_what_stops_a_service_does_not_stop_a_worker_before_its_task_is_done(hostile: None) -> None:
    """A service manager signals all processes; accepted requests are answered before the service ends."""

    def run(texts: Any, options: Any) -> Any:
        (worker,) = workers._all
        for name in ("SIGTERM", "SIGINT"):
            if sys.platform != "win32":
                os.kill(worker._process.pid, getattr(signal, name))
        if fails:
            raise InterruptedError("no translation")
        return [Translation(text=text.upper()) for text in texts]

    def upper(text: bytes) -> bytes:
        nothing: Any = None
        translator = RequestTranslator(card, run)
        return workers.document(text, ".txt", [translator], BlockingQueue(nothing, nothing))[0]

    fails = False
    workers = Workers(seconds=10, memory=0)
    card: Any = SimpleNamespace(source="en", target="de")
    try:
        assert upper(b"words") == b"WORDS"
        (before,) = workers._all
        fails = True
        with pytest.raises(InterruptedError):
            upper(b"words")
        fails = False
        assert upper(b"more") == b"MORE"
        assert workers._all == {before}, "a task without translations is abandoned, and the worker goes on"
    finally:
        workers.close()
    assert before._process.returncode is not None


def test_where_no_process_can_be_started_a_request_is_told_to_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: Any, **more: Any) -> Any:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with serving(tmp_path) as client:
        monkeypatch.setattr(processes.subprocess, "Popen", refuse)
        answer = sent(client, "some words", ".txt")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
        monkeypatch.undo()
        monkeypatch.setattr(sys, "executable", shutil.which("false"))
        assert sent(client, "some words", ".txt").status_code == 503
        monkeypatch.undo()
        assert translated(client, "some words", ".txt") == "SOME WORDS"


def test_a_worker_ends_with_the_service_that_started_it() -> None:
    nothing: Any = None
    worker = processes.WorkerProcess(0)
    worker.begin(1, BlockingQueue(nothing, nothing))
    worker._channel.close()
    assert worker._process.wait(600) == 0


TEXTS: list[dict[str, Any]] = [
    {"q": "some <b>words</b> and %s. More &amp; more <br> text", "format": "html"},
    {"q": ["one. Two! three?", "with %d found", "lost <i>here"], "alternatives": 2},
    {"q": ["one. Two! three?", "with %d found"], "confidence": True},
    {"q": "one\n\n two. \ud55c\uad6d\uc5b4  three", "target": "fr"},
]


@pytest.mark.parametrize("asking", TEXTS)
def test_a_worker_gives_what_a_thread_of_the_service_gives(
    tmp_path: Path, asking: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    with serving(tmp_path, directions=("en_de", "de_fr")) as client:
        for large in (0, 10**9):
            monkeypatch.setattr(queued, "LARGE", large)
            found.append(client.post("/translate", json={"source": "en", "target": "de", **asking}).json())
            assert bool(client.app_state["service"].translator.workers._all)
    assert found[0] == found[1]
    assert "translatedText" in found[0]

"""Worker processes, as the service sees them: started when needed, killed when over a limit, ended when idle.

A thread of the service hands a task to a worker, answers its requests for translations, and waits for the result.
Threads share the workers; a worker has one task at a time.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError

from tongsa.base.errors import CorpusError
from tongsa.server.http.logs import log_event, log_failure
from tongsa.server.http.refusals import INTERNAL_ERROR, Refusal
from tongsa.server.work.blocking import BlockingQueue
from tongsa.server.work.marked import MarkedTexts, RequestTranslator, TranslatedText
from tongsa.server.work.messages import Channel, Message, packed
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Part

IDLE_SECONDS = 60.0
"""An idle worker ends after this time."""
START_SECONDS = 120.0
"""Most seconds that a process may take to start."""
PATIENCE = 8
"""On a busy machine a second of processor time may take this many; on Windows, only this time is limited."""


class Workers:
    """All workers of a service. `seconds` of processor time and `memory` in bytes for each task; 0 is no limit."""

    def __init__(self, *, seconds: int, memory: int) -> None:
        self.seconds = seconds
        self.memory = memory
        self._lock = threading.Lock()
        self._all: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []
        self._closed = False

    def document(
        self, data: bytes, suffix: str, translators: Sequence[RequestTranslator], request: BlockingQueue
    ) -> tuple[bytes, str]:
        """The translated file, and its suffix."""
        task = {"task": "document", "suffix": suffix, "cards": _cards(translators)}
        answer, written = self._run(task, data, translators, request)
        return written, answer["suffix"]

    def texts(
        self, marked: MarkedTexts, alternatives: int, translators: Sequence[RequestTranslator], request: BlockingQueue
    ) -> list[TranslatedText]:
        task = {
            "task": "texts",
            "texts": marked.texts,
            "kind": marked.kind,
            "untouched": marked.untouched,
            "alternatives": alternatives,
            "cards": _cards(translators),
        }
        answer, _ = self._run(task, b"", translators, request)
        return [TranslatedText.of_marked(*each) for each in answer["texts"]]

    def cut(
        self, texts: Sequence[str], language: str, request: BlockingQueue, *, whole: bool
    ) -> list[list[Part] | None]:
        """The sentences of each text; None for a text with marks."""
        task = {"task": "cut", "texts": texts, "language": language, "whole": whole}
        answer, _ = self._run(task, b"", (), request)
        return [None if parts is None else [Part(*part) for part in parts] for parts in answer["parts"]]

    def end_idle(self) -> None:
        """End the workers that have had nothing to do for a while."""
        now = time.monotonic()
        with self._lock:
            old = [worker for worker in self._idle if now - worker.idle_since > IDLE_SECONDS]
            self._idle = [worker for worker in self._idle if worker not in old]
        for worker in old:
            self._end(worker)

    def close(self) -> None:
        """End all workers, busy or not."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            self._end(worker)

    def _run(
        self, task: Message, data: bytes, translators: Sequence[RequestTranslator], request: BlockingQueue
    ) -> tuple[Message, bytes]:
        worker = self._take()
        try:
            worker.begin(self.seconds, request)
            answer, result = worker.ask({**task, "seconds": self.seconds}, data, request)
            while "translate" in answer:
                reply = worker.translations(answer, translators)
                answer, result = worker.ask(reply, b"", request)
        except WorkerEnded as ended:
            raise self._why(ended, request) from None
        finally:
            self._give_back(worker)
        return self._checked(answer), result

    def _take(self) -> WorkerProcess:
        with self._lock:
            if self._closed:
                raise CancelledError
            while self._idle:
                worker = self._idle.pop()  # the one used last, so that the others end
                if worker.alive:
                    return worker
                self._all.discard(worker)
            try:
                worker = WorkerProcess(self.memory)
            except OSError as error:
                log_failure("worker not started", error, {"why": error.strerror})
                raise _not_started() from error
            self._all.add(worker)
            return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        with self._lock:
            keep = worker.ready and worker.alive and not self._closed
            if keep:
                worker.idle_since = time.monotonic()
                self._idle.append(worker)
        if not keep:
            self._end(worker)

    def _end(self, worker: WorkerProcess) -> None:
        worker.end()
        with self._lock:
            self._all.discard(worker)

    def _why(self, ended: WorkerEnded, request: BlockingQueue) -> Exception:
        """The error of a request whose worker has ended before its answer."""
        if request.ended or self._closed:
            return CancelledError()
        log_event("worker ended", {"why": ended.why, "code": ended.code}, logging.WARNING)
        if ended.why == "start":
            return _not_started()
        if ended.why == "time":
            return Refusal(413, f"The document takes more than {self.seconds} seconds to read and rebuild")
        return Refusal(500, "The document cannot be read: the process that read it has crashed")

    def _checked(self, answer: Message) -> Message:
        """Raise the error that a worker reports."""
        if "refused" in answer:
            raise CorpusError(answer["refused"])
        if "memory" in answer:
            log_event("worker ended", {"why": "memory"}, logging.WARNING)
            raise Refusal(413, f"The document takes more than {self.memory >> 20:,} MB of memory to read and rebuild")
        if "failed" in answer:
            log_event("document failed", {"failure": answer["failed"], "where": answer["where"]}, logging.ERROR)
            raise Refusal(500, INTERNAL_ERROR)
        return answer


class WorkerEnded(Exception):
    """A worker has ended instead of answering."""

    def __init__(self, why: str, code: int) -> None:
        super().__init__(why)
        self.why = why
        """`start`, `time` or `crash`."""
        self.code = code


class WorkerProcess:
    """One process. Only the thread that has taken it uses it, except for `kill` and `end`."""

    def __init__(self, memory: int) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tongsa.server.work.worker", str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback could hold what a user wrote
            env=environment,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._channel = Channel(self._process.stdout, self._process.stdin)
        self._killed = ""
        self._seconds = 0.0
        self._started = False
        self.ready = False
        """Whether it can take another task."""
        self.idle_since = 0.0

    @property
    def alive(self) -> bool:
        return not self._killed and self._process.poll() is None

    def begin(self, seconds: int, request: BlockingQueue) -> None:
        """Begin a task, with a limit of seconds for all its `ask`s together; wait for a new process to start."""
        self.ready = False
        if not self._started:
            self._limited(self._channel.receive, START_SECONDS, "start", request)
            self._started = True
        self._seconds = seconds * PATIENCE or threading.TIMEOUT_MAX

    def ask(self, message: Message, data: bytes, request: BlockingQueue) -> tuple[Message, bytes]:
        """Send a message and wait for the answer; the process is killed when the time or the request is over."""

        def exchange() -> tuple[Message, bytes]:
            self._channel.send(message, data)
            return self._channel.receive()

        began = time.monotonic()
        answer, result = self._limited(exchange, self._seconds, "time", request)
        self._seconds = max(0.001, self._seconds - (time.monotonic() - began))
        self.ready = answer.get("last") is False
        return answer, result

    def _limited(
        self, exchange: Callable[[], tuple[Message, bytes]], seconds: float, why: str, request: BlockingQueue
    ) -> tuple[Message, bytes]:
        timer = threading.Timer(seconds, self.kill, (why,))
        timer.daemon = True
        timer.start()
        try:
            with request.interrupted_by(lambda: self.kill("request")):
                return exchange()
        except (OSError, EOFError, ValueError):  # ValueError: the pipe was closed by `end`
            raise self._ended() from None
        finally:
            timer.cancel()

    def translations(self, asked: Message, translators: Sequence[RequestTranslator]) -> Message:
        """The reply to a request for translations. If there are none, the worker abandons its task."""
        try:
            options = TranslateOptions(alignment=asked["alignment"])
            found = translators[asked["step"]].translate(asked["translate"], options)
        except BaseException:
            self._abandon()
            raise
        return {"translations": [packed(each) for each in found]}

    def _abandon(self) -> None:
        try:
            self._channel.send({"abandoned": True})
        except (OSError, ValueError):  # it has ended
            return
        self.ready = True

    def _ended(self) -> WorkerEnded:
        code = self._process.wait()
        if not self._started:
            return WorkerEnded("start", code)
        over = self._killed == "time" or code == -getattr(signal, "SIGXCPU", 0)
        return WorkerEnded("time" if over else "crash", code)

    def kill(self, why: str) -> None:
        self._killed = self._killed or why
        self._process.kill()

    def end(self) -> None:
        self.kill("end")
        self._process.wait()
        self._channel.close()


def _not_started() -> Refusal:
    return Refusal(503, "No process can be started to read the document", retry_after=10)


def _cards(translators: Sequence[RequestTranslator]) -> list[Message]:
    return [{"source": each.card.source, "target": each.card.target} for each in translators]

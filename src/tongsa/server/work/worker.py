"""The worker process: reads, cuts and rebuilds documents and long texts, within limits of memory and time.

Whatever a stranger's document does to a parser happens here, in a process that can be killed: the service goes on. The
worker holds no model. It sends texts over a pipe to the service, which translates them through its queue:

    python -m tongsa.server.work.worker MEMORY

It runs until its standard input ends. It ignores SIGTERM and Ctrl+C, which ask the service to finish its work first.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tongsa.base.errors import TongsaError
from tongsa.documents.placeholders import is_plain
from tongsa.server.work.marked import LONGEST, MarkedTexts, RequestTranslator, translate_document, translate_marked
from tongsa.server.work.messages import Channel, Message, unpacked
from tongsa.translation.options import TranslateOptions
from tongsa.translation.sentences import Translation, cut

if sys.platform != "win32":
    import resource

NICE = 5
"""Added to the niceness of the process: under load, requests for short texts come first."""
KEEP = 100 << 20
"""A worker that holds more memory than this after a task ends, so that an idle service is small."""


class Abandoned(Exception):
    """The request has ended before its answer; the service waits for nothing."""


@dataclass(frozen=True)
class Card:
    """The part of a translator's card that documents use."""

    source: str
    target: str

    @classmethod
    def of(cls, values: Message) -> Card:
        return cls(values["source"], values["target"])


class Worker:
    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._tasks: dict[str, Callable[[Message, bytes], tuple[Message, bytes]]] = {
            "cut": self._cut,
            "document": self._document,
            "texts": self._texts,
        }

    def serve(self) -> None:
        """Do one task after the other, until the service closes the pipe or memory is to be given back."""
        last = False
        while not last:
            try:
                task, data = self.channel.receive()
            except EOFError:
                return
            _limit_seconds(task["seconds"])
            try:
                answer, result = self._tasks[task["task"]](task, data)
            except Abandoned:
                continue
            except Exception as error:
                answer, result = _failure(error), b""
            last = _memory() > KEEP or "memory" in answer
            self.channel.send({**answer, "last": last}, result)

    def _cut(self, task: Message, _: bytes) -> tuple[Message, bytes]:
        """Cut texts into sentences; None for a text with marks."""
        parts = [
            cut(text, task["language"], whole=task["whole"], longest=LONGEST) if is_plain(text) else None
            for text in task["texts"]
        ]
        return {"parts": parts}, b""

    def _document(self, task: Message, data: bytes) -> tuple[Message, bytes]:
        written, suffix = translate_document(data, task["suffix"], self._translators(task))
        return {"suffix": suffix}, written

    def _texts(self, task: Message, _: bytes) -> tuple[Message, bytes]:
        marked = MarkedTexts(texts=task["texts"], kind=task["kind"], untouched=tuple(task["untouched"]))
        found = translate_marked(marked, self._translators(task), task["alternatives"])
        return {"texts": [[each.text, each.alternatives, each.confidence] for each in found]}, b""

    def _translators(self, task: Message) -> list[RequestTranslator]:
        cards = [Card.of(values) for values in task["cards"]]
        return [RequestTranslator(card, self._asking(step)) for step, card in enumerate(cards)]

    def _asking(self, step: int) -> Callable[[Sequence[str], TranslateOptions], list[Translation]]:
        """A function that has texts translated by one translator of the request."""

        def ask(texts: Sequence[str], options: TranslateOptions) -> list[Translation]:
            self.channel.send({"translate": texts, "step": step, "alignment": options.alignment})
            answer, _ = self.channel.receive()
            if "translations" not in answer:
                raise Abandoned
            return [unpacked(values) for values in answer["translations"]]

        return ask


def _failure(error: Exception) -> Message:
    """What the service may tell the client, or the type and place of an error, without any of the user's text."""
    if isinstance(error, TongsaError):
        return {"refused": error.what}
    if isinstance(error, RecursionError):
        return {"refused": "the document is nested too deeply"}
    if isinstance(error, MemoryError):
        return {"memory": True}
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
    return {"failed": type(error).__name__, "where": where}


def _limit_memory(size: int) -> None:
    """Limit the memory of this process, and let it write no file."""
    if sys.platform == "win32":
        return
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    if size:
        _lower(resource.RLIMIT_DATA, size)


def _limit_seconds(seconds: int) -> None:
    """Limit the processor time from now on; beyond it, the system ends this process with SIGXCPU."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        wanted = int(time.process_time()) + seconds + 1 if seconds else resource.RLIM_INFINITY
        _set_limit(resource.RLIMIT_CPU, wanted, hard)


def _lower(kind: int, value: int) -> None:
    _set_limit(kind, value, resource.getrlimit(kind)[1])


def _set_limit(kind: int, value: int, hard: int) -> None:
    """Set a limit, within the one that the process was started with; not every system knows every limit."""
    finite = [each for each in (value, hard) if each != resource.RLIM_INFINITY]
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (min(finite, default=resource.RLIM_INFINITY), hard))


def _memory() -> int:
    """The memory that this process holds, in bytes; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return 0


def main() -> None:
    sys.dont_write_bytecode = True
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(NICE)
    writer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no message
    _limit_memory(int(sys.argv[1]))
    channel = Channel(sys.stdin.buffer, writer)
    channel.send({"started": True})
    Worker(channel).serve()


if __name__ == "__main__":
    main()

"""The queue for threads: a document is processed in a thread, which blocks while its sentences are translated."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any, TypeVar

from tongsa.server.work.queue import Queue, WorkKind

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class BlockingQueue:
    """The queue as a thread sees it, for one request: when the request ends, `run` stops blocking."""

    def __init__(self, queue: Queue, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = queue
        self._loop = loop
        self._future: Future[Any] | None = None
        self._interrupt: Callable[[], None] | None = None
        self._lock = threading.Lock()
        self.ended = False

    def run(self, kind: WorkKind[Piece, Result], pieces: Sequence[Piece]) -> list[Result]:
        """Run work, called from the thread; raises CancelledError when the request has ended."""
        if self.ended:
            raise CancelledError
        future = asyncio.run_coroutine_threadsafe(self._queue.run(kind, pieces), self._loop)
        self._future = future
        if self.ended:
            future.cancel()
        return future.result()

    @contextmanager
    def interrupted_by(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While the thread waits for something else than the queue: call `interrupt` when the request ends."""
        with self._lock:
            self._interrupt = interrupt
            if self.ended:
                interrupt()
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None

    def end(self) -> None:
        """Call from the event loop."""
        with self._lock:
            self.ended = True
            if self._interrupt:
                self._interrupt()
        if self._future:
            self._future.cancel()

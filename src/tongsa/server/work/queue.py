"""The queue that all requests share: pieces of requests in, batches for the engines out.

    request ─▶ submission: pieces of one kind ─┐
    request ─▶ submission: pieces of one kind ─┼─ one piece of each in turn ─▶ batch of one kind and length ─▶ worker
    request ─▶ submission: pieces of one kind ─┘

A request that arrives while a worker is idle is served at once. While all workers are busy, requests accumulate and
leave together: batches grow with the load, and no request waits for a batch to fill. A submission contributes one piece
per turn, so a long text gets a share of each batch and never all of it. Pieces of similar length share a batch, so a
short one does not wait for a long one. Only the event loop's thread changes the state; worker threads run batches.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from tongsa.server.http.refusals import slow_down

Piece = TypeVar("Piece")
Result = TypeVar("Result")
P = TypeVar("P", contravariant=True)
R = TypeVar("R", covariant=True)

SHORT = 32
"""Pieces of up to this many tokens belong to the same length class."""


class WorkKind(Hashable, Protocol[P, R]):
    """The kind of work for a piece. Pieces of equal kinds may share a batch."""

    def tokens(self, piece: P) -> int: ...

    def run(self, pieces: Sequence[P]) -> Sequence[R]: ...


class Submission(Generic[Piece, Result]):
    """The pieces of one request, and the indices of those that no worker has taken, by length class."""

    def __init__(self, kind: WorkKind[Piece, Result], pieces: Sequence[Piece], done: asyncio.Future[None]) -> None:
        self.kind = kind
        self.pieces = pieces
        self.results: list[Result | None] = [None] * len(pieces)
        self.left = len(pieces)
        self.done = done
        self.waiting: dict[int, list[int]] = {}
        self.tokens = [kind.tokens(piece) for piece in pieces]
        for index in reversed(range(len(pieces))):
            self.waiting.setdefault(length_class(self.tokens[index]), []).append(index)

    def take(self, length: int) -> int:
        """Remove the next piece of this length class from those waiting, and return its index."""
        indices = self.waiting[length]
        index = indices.pop()
        if not indices:
            del self.waiting[length]
        return index


def length_class(tokens: int) -> int:
    """32 or fewer, 64, 128, ...: within a class the longest piece takes at most about twice as long as the shortest."""
    return max(tokens - 1, SHORT - 1).bit_length()


@dataclass(frozen=True)
class Batch:
    """Pieces of several submissions that go through an engine together."""

    kind: WorkKind[Any, Any]
    items: list[tuple[Submission[Any, Any], int]]
    tokens: int

    def run(self) -> Sequence[Any]:
        """A result or an exception for each item: a piece that breaks the engine fails only its own request."""
        pieces = [submission.pieces[index] for submission, index in self.items]
        try:
            return self._results(pieces)
        except BaseException as error:  # whatever it is, the requests must not wait for ever
            return [error] if len(pieces) == 1 else [self._run_alone(piece) for piece in pieces]

    def _run_alone(self, piece: Any) -> Any:
        try:
            return self._results([piece])[0]
        except BaseException as error:
            return error

    def _results(self, pieces: Sequence[Any]) -> Sequence[Any]:
        results = list(self.kind.run(pieces))
        if len(results) != len(pieces):
            raise RuntimeError(f"an engine returned {len(results)} results for {len(pieces)} pieces")
        return results


class Queue:
    """`with queue.place(): results = await queue.run(kind, pieces)`"""

    def __init__(
        self,
        *,
        workers: int,
        capacity: int,
        batch_tokens: int = 1024,
        on_batch: Callable[[Batch, float], None] | None = None,
    ) -> None:
        """`capacity` is the number of places (0: unlimited); `on_batch` gets each batch and its seconds."""
        self.workers = workers
        self.capacity = capacity
        self.batch_tokens = batch_tokens
        self.places = 0
        """Requests that have a place now."""
        self.busy = 0
        """Workers that are running a batch."""
        self._submissions: deque[Submission[Any, Any]] = deque()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="engine")
        self._on_batch = on_batch
        self._throughput = Throughput()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place for a request until it is answered; refuse when all places are taken."""
        self.refuse_if_full()
        self.places += 1
        try:
            yield
            self._throughput.count()
        finally:
            self.places -= 1

    def refuse_if_full(self) -> None:
        if self.capacity and self.places >= self.capacity:
            raise slow_down("too many requests are waiting", self._throughput.seconds_for(self.places))

    async def run(self, kind: WorkKind[Piece, Result], pieces: Sequence[Piece]) -> list[Result]:
        """One result per piece, in order. Cancelling withdraws the pieces that no worker has taken."""
        if not pieces:
            return []
        submission = Submission(kind, pieces, asyncio.get_running_loop().create_future())
        self._submissions.append(submission)
        self._start_workers()
        try:
            await submission.done
        finally:
            if submission.waiting:
                submission.waiting.clear()
                self._submissions.remove(submission)
        return submission.results  # type: ignore[return-value]  # no None is left when `done` is set

    @property
    def waiting(self) -> int:
        """Pieces that no worker has taken yet."""
        return sum(len(indices) for submission in self._submissions for indices in submission.waiting.values())

    def close(self) -> None:
        self._threads.shutdown(wait=True)

    def _start_workers(self) -> None:
        while self.busy < self.workers and self._submissions:
            batch = self._next_batch()
            try:
                future = asyncio.get_running_loop().run_in_executor(self._threads, batch.run)
            except RuntimeError as error:  # no thread can be started
                self._deliver(batch, [error] * len(batch.items))
                continue
            self.busy += 1
            future.add_done_callback(partial(self._finish, batch, time.monotonic()))

    def _next_batch(self) -> Batch:
        """Take one piece of each submission in turn, until the batch is full.

        The first submission decides the kind of work and the length class.
        """
        kind, length = self._submissions[0].kind, max(self._submissions[0].waiting)
        items: list[tuple[Submission[Any, Any], int]] = []
        tokens = 0
        eligible = [each for each in self._submissions if each.kind == kind and length in each.waiting]
        while eligible and tokens < self.batch_tokens:
            for submission in eligible:
                index = submission.take(length)
                items.append((submission, index))
                tokens += submission.tokens[index]
                if tokens >= self.batch_tokens:
                    break
            eligible = [each for each in eligible if length in each.waiting]
        self._rotate(items)
        return Batch(kind, items, tokens)

    def _rotate(self, items: list[tuple[Submission[Any, Any], int]]) -> None:
        """Move submissions that had a turn behind those that had none; drop those with no piece waiting."""
        served = {id(submission) for submission, _ in items}
        behind = [each for each in self._submissions if id(each) in served and each.waiting]
        self._submissions = deque([each for each in self._submissions if id(each) not in served] + behind)

    def _finish(self, batch: Batch, began: float, done: asyncio.Future[Sequence[Any]]) -> None:
        self.busy -= 1
        try:
            self._deliver(batch, done.result())
            if self._on_batch:
                self._on_batch(batch, time.monotonic() - began)
        finally:
            self._start_workers()

    def _deliver(self, batch: Batch, results: Sequence[Any]) -> None:
        """Hand the results to the submissions; one fails with the first exception among its own."""
        for (submission, index), result in zip(batch.items, results, strict=True):
            if submission.done.done():  # cancelled, or failed with another piece
                continue
            if isinstance(result, BaseException):
                submission.done.set_exception(_for_a_future(result))
                continue
            submission.results[index] = result
            submission.left -= 1
            if not submission.left:
                submission.done.set_result(None)


def _for_a_future(error: BaseException) -> Exception:
    """A future cannot hold a StopIteration, and one that holds a SystemExit would end the event loop."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__} in an engine")


class Throughput:
    """Requests answered per second, to estimate when a refused client should return."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=64)

    def count(self) -> None:
        self._times.append(time.monotonic())

    def seconds_for(self, requests: int) -> float:
        if len(self._times) < 2:
            return 1.0
        rate = len(self._times) / max(time.monotonic() - self._times[0], 1e-3)
        return min(30.0, requests / rate)

"""The queue: pieces of requests in, batches for the engines out.

    request ─▶ job: pieces of one lane ─┐
    request ─▶ job: pieces of one lane ─┼─ a piece of each in turn ─▶ batch of one lane and like lengths ─▶ worker
    request ─▶ job: pieces of one lane ─┘

Who comes when a worker is free is served at once. While all work, requests gather, and leave together: batches grow
with the load, without anybody waiting for company. A job gives one piece a turn, so a long text takes a seat in each
batch and never the whole bus; pieces of like length travel together, so a short one does not wait for a long one.
The state belongs to the event loop's thread; workers are threads that only run a batch.
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
"""Tokens below which lengths count as alike."""


class Lane(Hashable, Protocol[P, R]):
    """A kind of work: pieces of equal lanes may share a batch."""

    def tokens(self, piece: P) -> int: ...

    def run(self, pieces: Sequence[P]) -> Sequence[R]: ...


class Job(Generic[Piece, Result]):
    """The pieces of one request, and the places of those that still wait, by the class of their length."""

    def __init__(self, lane: Lane[Piece, Result], pieces: Sequence[Piece], done: asyncio.Future[None]) -> None:
        self.lane = lane
        self.pieces = pieces
        self.results: list[Result | None] = [None] * len(pieces)
        self.left = len(pieces)
        self.done = done
        self.waiting: dict[int, list[int]] = {}
        self.tokens = [lane.tokens(piece) for piece in pieces]
        for place in reversed(range(len(pieces))):
            self.waiting.setdefault(length_class(self.tokens[place]), []).append(place)

    def take(self, length: int) -> int:
        """The place of the next piece of this class of length."""
        places = self.waiting[length]
        place = places.pop()
        if not places:
            del self.waiting[length]
        return place


def length_class(tokens: int) -> int:
    """32 or fewer, 64, 128, ...: within a class the longest piece takes at most about twice as long."""
    return max(tokens - 1, SHORT - 1).bit_length()


@dataclass(frozen=True)
class Batch:
    """Pieces of several jobs on their way through an engine."""

    lane: Lane[Any, Any]
    seats: list[tuple[Job[Any, Any], int]]
    tokens: int

    def run(self) -> Sequence[Any]:
        """A result for each seat, or what went wrong there: a piece that breaks the engine breaks no other request."""
        pieces = [job.pieces[place] for job, place in self.seats]
        try:
            return self.lane.run(pieces)
        except Exception as error:
            return [error] if len(pieces) == 1 else [self._alone(piece) for piece in pieces]

    def _alone(self, piece: Any) -> Any:
        try:
            return self.lane.run([piece])[0]
        except Exception as error:
            return error


class Queue:
    """`with queue.place(): results = await queue.run(lane, pieces)`"""

    def __init__(
        self, *, workers: int, most: int, batch_tokens: int = 1024, watch: Callable[[Batch, float], None] | None = None
    ) -> None:
        """`most` requests have a place at once; `watch` is told of every batch and the seconds it took."""
        self.workers = workers
        self.most = most
        self.batch_tokens = batch_tokens
        self.places = 0
        self.busy = 0
        self._ring: deque[Job[Any, Any]] = deque()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="engine")
        self._watch = watch
        self._pace = Pace()

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for a request, from its acceptance to its answer; refused where all are taken."""
        self.refuse_if_full()
        self.places += 1
        try:
            yield
            self._pace.tick()
        finally:
            self.places -= 1

    def refuse_if_full(self) -> None:
        if self.most and self.places >= self.most:
            raise slow_down("too many requests are waiting", self._pace.seconds_for(self.places))

    async def run(self, lane: Lane[Piece, Result], pieces: Sequence[Piece]) -> list[Result]:
        """One result for each piece. Who stops waiting takes the pieces along that have not begun."""
        if not pieces:
            return []
        job = Job(lane, pieces, asyncio.get_running_loop().create_future())
        self._ring.append(job)
        self._start_workers()
        try:
            await job.done
        finally:
            if job.waiting:
                job.waiting.clear()
                self._ring.remove(job)
        return job.results  # type: ignore[return-value]  # complete: `done` says so

    @property
    def waiting(self) -> int:
        """Pieces that no worker has taken yet."""
        return sum(len(places) for job in self._ring for places in job.waiting.values())

    def close(self) -> None:
        self._threads.shutdown(wait=True)

    def _start_workers(self) -> None:
        while self.busy < self.workers and self._ring:
            batch = self._batch()
            self.busy += 1
            future = asyncio.get_running_loop().run_in_executor(self._threads, batch.run)
            future.add_done_callback(partial(self._arrived, batch, time.monotonic()))

    def _batch(self) -> Batch:
        """A piece of each job in turn, of the lane and lengths of the job that is first; turn after turn until full."""
        lane, length = self._ring[0].lane, max(self._ring[0].waiting)
        seats: list[tuple[Job[Any, Any], int]] = []
        tokens = 0
        going = [job for job in self._ring if job.lane == lane and length in job.waiting]
        while going and tokens < self.batch_tokens:
            for job in going:
                place = job.take(length)
                seats.append((job, place))
                tokens += job.tokens[place]
                if tokens >= self.batch_tokens:
                    break
            going = [job for job in going if length in job.waiting]
        self._to_the_back(seats)
        return Batch(lane, seats, tokens)

    def _to_the_back(self, seats: list[tuple[Job[Any, Any], int]]) -> None:
        """Jobs that had a turn go behind those that had none; those with no piece left go home."""
        served = {id(job) for job, _ in seats}
        behind = [job for job in self._ring if id(job) in served and job.waiting]
        self._ring = deque([job for job in self._ring if id(job) not in served] + behind)

    def _arrived(self, batch: Batch, began: float, done: asyncio.Future[Sequence[Any]]) -> None:
        self.busy -= 1
        for (job, place), result in zip(batch.seats, done.result(), strict=True):
            if job.done.done():  # given up meanwhile
                continue
            if isinstance(result, StopIteration):  # no future takes one
                result = RuntimeError("StopIteration in an engine")
            if isinstance(result, Exception):
                job.done.set_exception(result)
                continue
            job.results[place] = result
            job.left -= 1
            if not job.left:
                job.done.set_result(None)
        if self._watch:
            self._watch(batch, time.monotonic() - began)
        self._start_workers()


class Pace:
    """How fast requests are being answered, for those who are told to come back."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=64)

    def tick(self) -> None:
        self._times.append(time.monotonic())

    def seconds_for(self, requests: int) -> float:
        if len(self._times) < 2:
            return 1.0
        rate = len(self._times) / max(time.monotonic() - self._times[0], 1e-3)
        return min(30.0, requests / rate)

"""Clients for the service, as light as they can be: they share the cores with what they measure."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import cast

import uvloop


@dataclass
class Tally:
    """What clients have seen."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    """Of every answer with status 200."""
    lost: list[float] = field(default_factory=list)
    """Requests without an answer: for how many seconds nothing had come over the connection before each."""
    elapsed: float = 0.0

    @property
    def rate(self) -> float:
        return len(self.seconds) / self.elapsed

    def percentile(self, share: float) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def messages(texts: Sequence[str], source: str, target: str, kind: str = "text") -> list[bytes]:
    """Whole HTTP requests, made before the clock runs."""
    found = []
    for text in texts:
        body = json.dumps({"q": text, "source": source, "target": target, "format": kind}).encode()
        head = f"POST /translate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        found.append(head.encode() + b"\r\n\r\n" + body)
    return found


class Client(asyncio.Protocol):
    """A connection that sends a message and waits for the answer, again and again."""

    def __init__(self) -> None:
        self._data = b""
        self._status: asyncio.Future[int] | None = None
        self._transport: asyncio.Transport | None = None
        self._heard = 0.0
        self.idle = 0.0
        """Seconds without a word from the service when the latest message was sent."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._heard = time.perf_counter()

    def data_received(self, data: bytes) -> None:
        self._heard = time.perf_counter()
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found or len(body) < int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            return
        self._data = b""
        if self._status and not self._status.done():
            self._status.set_result(int(head[9:12]))

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._status and not self._status.done():
            self._status.set_result(0)

    @property
    def closed(self) -> bool:
        """Services close connections on which nothing has come for some seconds."""
        return self._transport is None

    async def ask(self, message: bytes) -> int:
        """The status of the answer; 0 where the connection was lost."""
        if self._transport is None:
            return 0
        self.idle = time.perf_counter() - self._heard
        self._status = asyncio.get_running_loop().create_future()
        self._transport.write(message)
        return await self._status


async def connected(port: int) -> Client:
    return (await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port))[1]


def closed_loop(port: int, sent: Sequence[bytes], clients: int, *, seconds: float = 0.0) -> Tally:
    """So many clients, each with one request under way: every message once, or for so many seconds."""
    return uvloop.run(_closed_loop(port, sent, clients, seconds))


async def _closed_loop(port: int, sent: Sequence[bytes], clients: int, seconds: float) -> Tally:
    tally = Tally()
    end = time.perf_counter() + seconds
    supply: Iterator[bytes] = cycle(sent) if seconds else iter(sent)

    async def work() -> None:
        client = await connected(port)
        for message in supply:
            began = time.perf_counter()
            if seconds and began > end:
                return
            _note(tally, client, await client.ask(message), time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(clients)))
    tally.elapsed = time.perf_counter() - began
    return tally


def open_loop(
    port: int, sent: Sequence[bytes], rate: float, seconds: float, *, connections: int = 1024, slices: int = 1
) -> Iterator[Tally]:
    """So many requests a second, whatever becomes of them; who finds no free connection is not sent and not counted.

    A tally for each slice of the time; the connections stay.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        free = runner.run(_connected(port, connections))
        for _ in range(slices):
            yield runner.run(_open_loop(port, free, cycle(sent), rate, seconds / slices))


async def _connected(port: int, connections: int) -> list[Client]:
    return [await connected(port) for _ in range(connections)]


async def _open_loop(port: int, free: list[Client], supply: Iterator[bytes], rate: float, seconds: float) -> Tally:
    tally = Tally()
    tasks: set[asyncio.Task[None]] = set()

    async def send(client: Client) -> None:
        began = time.perf_counter()
        if client.closed:
            client = await connected(port)
        status = await client.ask(next(supply))
        _note(tally, client, status, time.perf_counter() - began)
        free.append(client)

    began = time.perf_counter()
    count = 0
    while (passed := time.perf_counter() - began) < seconds:
        while count < passed * rate:
            count += 1
            if free:
                task = asyncio.ensure_future(send(free.pop()))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    tally.elapsed = time.perf_counter() - began
    return tally


def _note(tally: Tally, client: Client, status: int, seconds: float) -> None:
    if not status:
        tally.lost.append(client.idle)
        return
    tally.statuses[status] += 1
    if status == 200:
        tally.seconds.append(seconds)

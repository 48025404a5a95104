"""Clients that read their answers slowly, or not at all: little is held for them, and not for ever."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Message
from tests.server.in_process import listening, service_of
from tests.server.running import in_a_loop, until

from tongsa.server.http.answers import CHUNK, AnswerSender, Held

SIZE = 12 << 20
"""Bytes of a file: more than the system's own buffers take."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[uvicorn.Server, int, str]]:
    """A service that cuts unread answers after a second, with a file to fetch."""
    service = service_of(tmp_path, "unread_seconds=1")
    name = in_a_loop(service.files.store(b"x" * SIZE, ".txt"))
    with listening(service) as (server, port):
        yield server, port, name


def fetching(port: int, name: str) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 10)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"GET /download_file/{name} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
    return connection


def test_for_clients_that_do_not_read_little_is_held_and_not_for_ever(served: tuple[uvicorn.Server, int, str]) -> None:
    server, port, name = served
    clients = [fetching(port, name) for _ in range(20)]
    connections = server.server_state.connections
    most = 0

    def all_cut() -> bool:
        nonlocal most
        held = [each.transport.get_write_buffer_size() for each in list(connections)]  # type: ignore[union-attr]
        most = max(most, *held, 0)
        return bool(most) and not connections

    until(all_cut)
    assert most <= 3 * CHUNK
    for client in clients:
        client.close()


def test_a_client_that_reads_slowly_gets_the_whole_file(served: tuple[uvicorn.Server, int, str]) -> None:
    """It takes longer than the limit, but never leaves the answer unread for so long."""
    _, port, name = served
    began, received = time.monotonic(), 0
    with fetching(port, name) as client:
        while received < SIZE:
            data = client.recv(SIZE // 8)
            assert data, f"cut after {received:,} bytes"
            received += len(data)
            if time.monotonic() - began < 2:
                time.sleep(0.02)
    assert received > SIZE, "with its headers"


def test_a_long_answer_is_sent_in_chunks_and_counted_until_it_is_read() -> None:
    held, sent = Held(), []

    async def send(message: Message) -> None:
        sent.append((len(message["body"]), message["more_body"], held.size))
        if len(sent) == 5:
            raise ConnectionError

    async def answered(size: int) -> None:
        await AnswerSender(send, held)({"type": "http.response.body", "body": b"x" * size})

    asyncio.run(answered(2 * CHUNK + 1))
    assert sent == [(CHUNK, True, 2 * CHUNK + 1), (CHUNK, True, 2 * CHUNK + 1), (1, False, 2 * CHUNK + 1)]
    with pytest.raises(ConnectionError):
        asyncio.run(answered(4 * CHUNK))
    assert held.size == 0

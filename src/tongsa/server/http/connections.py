"""HTTP connections with time limits, closed without losing a request.

uvicorn waits for the headers of a request without a limit of time or size. Here both are limited, from the first byte
of a request on, and so is the time for the rest of a body whose request was already refused. When the service stops,
uvicorn closes idle connections at once, even if a request is on its way; here they get a moment. Before a connection
is closed for being too slow, its socket is read once more: timers run before sockets are read, so after the whole
process was suspended, a request may have arrived that nobody has seen. When the limit of connections is reached, the
one that has been idle longest is closed in favour of the new one. uvicorn waits without a limit for a client that does
not read its answer; here such a connection is cut, with what was still to be sent.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from tongsa.server.http.limits import Limits

HEADER_BYTES = 64 << 10
LAST_SECONDS = 0.5
"""Seconds in which a request may still arrive on a connection when the service stops."""
LINGER_SECONDS = 10
"""Seconds in which the last bytes may still be read from a connection that is being closed."""
READ_SECONDS = 0.02
"""Seconds in which the event loop reads data that has already arrived."""


def protocol(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol class that uvicorn creates for each connection."""

    class Limited(Connection):
        header_seconds = limits.header_seconds
        unread_seconds = limits.unread_seconds
        max_connections = limits.connections
        idle: ClassVar[dict[HttpToolsProtocol, None]] = {}

    return Limited


class Connection(HttpToolsProtocol):
    """One connection; `protocol` sets the limits."""

    header_seconds: ClassVar[float]
    unread_seconds: ClassVar[float]
    max_connections: ClassVar[int]
    idle: ClassVar[dict[HttpToolsProtocol, None]]
    """Connections that wait for their next request, the longest idle first."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._in_body = False
        self._closing = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.max_connections and len(self.connections) > self.max_connections and not self._close_longest_idle():
            self._refuse(b"503 Service Unavailable")
        else:
            self._wait(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_watching()
        self.idle.pop(self, None)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Called when the client does not read and the buffer for it is full."""
        super().pause_writing()
        self._stop_watching()
        if self.unread_seconds:
            self._unread = self.loop.call_later(self.unread_seconds, self._check_once_more)

    def resume_writing(self) -> None:
        self._stop_watching()
        super().resume_writing()

    def _check_once_more(self) -> None:
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def _stop_watching(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def data_received(self, data: bytes) -> None:
        self.idle.pop(self, None)
        if not self._in_body:
            self._header_bytes += len(data)
        super().data_received(data)
        if not self._in_body and self._header_bytes > HEADER_BYTES:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait(self.header_seconds)

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        self._in_body = True
        self._header_bytes = 0
        super().on_headers_complete()
        if self._closing:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._in_body = False
        self._header_bytes = 0
        self._stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._in_body and not self.transport.is_closing():
            self._wait(self.header_seconds)
        elif self.timeout_keep_alive_task is not None:
            self.idle[self] = None

    def shutdown(self) -> None:
        self._closing = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        else:
            self._wait(LAST_SECONDS)

    def _close_longest_idle(self) -> bool:
        if not self.idle:
            return False
        longest = next(iter(self.idle))
        del self.idle[longest]
        _close(longest.transport, self.loop)
        return True

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        if seconds:
            self._deadline = self.loop.call_later(seconds, self._read_once_more)

    def timeout_keep_alive_handler(self) -> None:
        self._read_once_more()

    def _read_once_more(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(READ_SECONDS, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        """Answer 408 if a request has begun; just close an idle connection."""
        if self._header_bytes:
            self._refuse(b"408 Request Timeout")
        else:
            _close(self.transport, self.loop)

    def _refuse(self, status: bytes) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            _close(self.transport, self.loop)


def _close(transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
    """Close a connection, even if the client never reads what was still to be sent."""
    transport.close()
    loop.call_later(LINGER_SECONDS, transport.abort)
